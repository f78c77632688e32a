//! Sockets of daemons on the host, which act outside the remit: case N10, by pathname and abstract name, stream and
//! datagram, and the ways around socket(2). N11, a socket that is handed in, is in SECURITY.md and shown here.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;
#[path = "common/sampled.rs"]
mod sampled;

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::Stdio;

use host::{Host, host, set_mode};

/// Four daemons: stream and datagram, by pathname in the workspace and by abstract name.
struct Daemons {
    streams: [UnixListener; 2],
    datagrams: [UnixDatagram; 2],
    abstract_name: String,
}

impl Daemons {
    fn start(host: &Host) -> Self {
        let path = |name: &str| host.work().join(name);
        let abstract_name = format!("remit-{}", host.instance());
        let named = |kind: &str| {
            SocketAddr::from_abstract_name(format!("{abstract_name}-{kind}")).expect("an abstract name")
        };
        let daemons = Self {
            streams: [
                UnixListener::bind(path("docker.sock")).expect("a listener"),
                UnixListener::bind_addr(&named("stream")).expect("a listener"),
            ],
            datagrams: [
                UnixDatagram::bind(path("log.sock")).expect("a socket"),
                UnixDatagram::bind_addr(&named("datagram")).expect("a socket"),
            ],
            abstract_name,
        };
        for name in ["docker.sock", "log.sock"] {
            set_mode(&path(name), 0o777);
        }
        for stream in &daemons.streams {
            stream.set_nonblocking(true).expect("non-blocking");
        }
        for datagram in &daemons.datagrams {
            datagram.set_nonblocking(true).expect("non-blocking");
        }
        daemons
    }

    /// How many of them somebody reached.
    fn reached(&self) -> usize {
        let streams = self
            .streams
            .iter()
            .filter(|stream| stream.accept().is_ok())
            .count();
        let datagrams = self
            .datagrams
            .iter()
            .filter(|datagram| match datagram.recv(&mut [0; 8]) {
                Ok(_) => true,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    false
                }
            });
        streams + datagrams.count()
    }
}

const TRY: &str = r#"
import errno, os, socket, sys
from socket import AF_UNIX, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW
abstract = "\0" + sys.argv[1]
def attempt(name, call):
    try: call(); print(name, "done")
    except OSError as e: print(name, errno.errorcode[e.errno])
def stream(to): socket.socket(AF_UNIX, SOCK_STREAM).connect(to)
def packets(to): socket.socket(AF_UNIX, SOCK_SEQPACKET).connect(to)
def datagram(to): socket.socket(AF_UNIX, SOCK_DGRAM).sendto(b"x", to)
def connected(to): s = socket.socket(AF_UNIX, SOCK_DGRAM); s.connect(to); s.send(b"x")
def pair(kind, to): socket.socketpair(AF_UNIX, kind)[0].sendto(b"x", to)
def reconnected(kind, to): socket.socketpair(AF_UNIX, kind)[0].connect(to)
def bound(): socket.socket(AF_UNIX, SOCK_STREAM).bind("mine.sock")
for place, to, log in ("path", "docker.sock", "log.sock"), ("abstract", abstract + "-stream", abstract + "-datagram"):
    attempt(place + "-stream", lambda: stream(to))
    attempt(place + "-packets", lambda: packets(to))
    attempt(place + "-datagram", lambda: datagram(log))
    attempt(place + "-connected", lambda: connected(log))
    attempt(place + "-pair", lambda: pair(SOCK_DGRAM, log))
    attempt(place + "-raw-pair", lambda: pair(SOCK_RAW, log))
    attempt(place + "-stream-pair", lambda: pair(SOCK_STREAM, to))
    attempt(place + "-reconnected", lambda: reconnected(SOCK_STREAM, to))
    attempt(place + "-reconnected-packets", lambda: reconnected(SOCK_SEQPACKET, to))
attempt("bind", bound)
a, b = socket.socketpair(AF_UNIX, SOCK_STREAM); a.send(b"x"); print("control", b.recv(1).decode())
"#;

#[test]
fn daemons_behind_unix_sockets_are_out_of_reach_by_every_name_and_kind() {
    let Some(host) = host("n10", &[]) else { return };
    let daemons = Daemons::start(&host);
    let command = ["/usr/bin/python3", "-ISc", TRY, &daemons.abstract_name];
    let policy = host.policy("", "");
    let outcome = host.run(&policy, &command).expect_code(0);
    let refused = |kind: &str| format!("{kind} EPERM");
    for place in ["path", "abstract"] {
        for kind in ["stream", "packets", "datagram", "connected", "pair", "raw-pair"] {
            let line = refused(&format!("{place}-{kind}"));
            assert!(
                outcome.stdout.lines().any(|found| found == line),
                "{line} in\n{}",
                outcome.stdout
            );
        }
        // Streams cannot leave their pair.
        for kind in ["stream-pair", "reconnected", "reconnected-packets"] {
            let name = format!("{place}-{kind} ");
            let line = outcome
                .stdout
                .lines()
                .find(|line| line.starts_with(&name))
                .expect("a line");
            assert!(!line.ends_with("done"), "{line}");
        }
    }
    assert!(outcome.stdout.contains("bind EPERM"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("control x"), "{}", outcome.stdout);
    assert_eq!(daemons.reached(), 0);
    let rules = sampled::resolved(&host, &policy).rules;
    let rule = rules
        .iter()
        .find(|rule| rule.label.as_deref() == Some("built-in:unix-sockets"));
    let rule = rule.expect("a built-in rule").id.0;
    let names_it = |event: &&serde_json::Value| {
        let candidates = event["details"]["candidates"].as_array();
        event["mechanism"] == "seccomp"
            && candidates.is_some_and(|rules| rules.iter().any(|candidate| *candidate == rule))
    };
    let recorded = host.events().iter().filter(names_it).count();
    assert_eq!(recorded, 13, "six ways to two places, and bind");
}

#[test]
fn a_policy_that_opens_unix_streams_keeps_datagrams_abstract_names_and_the_host_s_run_shut() {
    let Some(host) = host("n10-open", &[]) else { return };
    let daemons = Daemons::start(&host);
    let opened = |suffix: &str| {
        let rule =
            "allow syscall \"socket\" where domain == AF_UNIX and type & SOCK_TYPE_MASK == SOCK_STREAM";
        host.policy(
            "",
            &format!("process {{ allow syscall @system-service {rule} {suffix} }}"),
        )
    };
    // Paths of sockets are not judged by the rules on files, which is said before it is permitted.
    let refused = host.sh(&opened(""), "true").expect_code(125);
    assert!(
        refused.stderr.contains("whose socket the run can see"),
        "{}",
        refused.stderr
    );
    let policy = opened("permit degraded");
    let run = std::path::Path::new("/run").join(format!("{}.sock", host.instance()));
    let in_run = UnixListener::bind(&run).expect("a listener");
    let script = format!("{TRY}\nattempt('run', lambda: stream('{}'))\n", run.display());
    let command = ["/usr/bin/python3", "-ISc", &script, &daemons.abstract_name];
    let outcome = host.run(&policy, &command);
    std::fs::remove_file(&run).expect("the socket");
    drop(in_run);
    let outcome = outcome.expect_code(0);
    for line in [
        "path-stream done",
        "path-datagram EPERM",
        "path-pair EPERM",
        "abstract-stream EPERM",
        "abstract-datagram EPERM",
        "run ENOENT",
    ] {
        assert!(
            outcome.stdout.lines().any(|found| found == line),
            "{line} in\n{}",
            outcome.stdout
        );
    }
    assert_eq!(daemons.reached(), 1);
    let events = host.events();
    let scope = |event: &&serde_json::Value| event["details"]["blockers"][0] == "scope.abstract_unix_socket";
    assert_eq!(events.iter().filter(scope).count(), 1);
}

#[test]
fn a_socket_that_is_handed_in_works_because_the_caller_chose_so() {
    let Some(host) = host("n11", &[]) else { return };
    let (ours, theirs) = UnixDatagram::pair().expect("a pair");
    ours.set_nonblocking(true).expect("non-blocking");
    let script = "import socket; socket.socket(fileno=0).send(b'given')";
    let mut command = host.remit_run(&host.policy("", ""), &["/usr/bin/python3", "-c", script]);
    let outcome = remit::output(command.stdin(Stdio::from(OwnedFd::from(theirs))));
    outcome.expect_code(0);
    let mut buffer = [0; 16];
    let length = ours.recv(&mut buffer).expect("a datagram");
    assert_eq!(&buffer[..length], b"given");
}
