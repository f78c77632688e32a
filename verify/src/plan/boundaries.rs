//! The boundaries that every run has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use policy_lang::policy::Subject as RuleSubject;

use super::control::Controls;
use super::{Facts, Flip, Probe};
use crate::expect::{About, Due, Expected, Record, Refusal, Subject, expected};
use crate::operation::{Operation, Outcome};

/// Addresses that are nobody's (RFC 5737, RFC 3849), for a host in production.
const PRODUCTION: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 10)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 10)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10)),
];
const PRODUCTION_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x10));
const HTTPS: u16 = 443;
const HTTP: u16 = 80;
const DNS: u16 = 53;

pub(super) fn probes(subject: Subject<'_>, facts: &Facts, controls: &Controls) -> Vec<Probe> {
    let mut probes = files(subject, facts, controls);
    probes.extend(network(subject, controls));
    probes.extend(sockets(subject, controls));
    probes.extend(environment(subject, facts, controls));
    probes.extend(processes(subject, facts, controls));
    probes.extend(privileges(subject, facts, controls));
    probes
}

fn files(subject: Subject<'_>, facts: &Facts, controls: &Controls) -> Vec<Probe> {
    let read = |path: &str| Operation::Read {
        path: path.to_owned(),
    };
    let write = |path: &str| Operation::Write {
        path: path.to_owned(),
    };
    let probe =
        |name: &str, boundary: &str, operation| Probe::by_rules(subject, name, boundary, operation, name);
    vec![
        probe("read-outside", "a file outside is not read", read(&facts.outside))
            .with_control(controls.read.as_ref()),
        probe(
            "write-outside",
            "a file outside is not written",
            write(&facts.outside),
        )
        .with_control(controls.write.as_ref()),
        probe(
            "read-other-run",
            "another run's workspace is not read",
            read(&facts.neighbour),
        )
        .with_control(controls.read.as_ref()),
        probe(
            "write-other-run",
            "another run's workspace is not written",
            write(&facts.neighbour),
        )
        .with_control(controls.write.as_ref()),
    ]
}

fn network(subject: Subject<'_>, controls: &Controls) -> Vec<Probe> {
    let connect = |udp, address, port| Operation::Connect { udp, address, port };
    let mut probes = Vec::new();
    for (address, shown) in metadata() {
        let name = format!("metadata:{shown}");
        let operation = connect(false, address, HTTP);
        probes.push(
            Probe::by_rules(
                subject,
                &name,
                "a metadata service is not reached",
                operation,
                "metadata",
            )
            .with_control(controls.tcp.as_ref()),
        );
    }
    let refused = |udp, port| {
        let granted = |address: &&IpAddr| expected(subject, &connect(udp, **address, port)) == Expected::Done;
        let fallback = PRODUCTION[0];
        PRODUCTION
            .iter()
            .find(|address| !granted(address))
            .copied()
            .unwrap_or(fallback)
    };
    let production = connect(false, refused(false, HTTPS), HTTPS);
    probes.push(
        Probe::by_rules(
            subject,
            "production",
            "a production host is not reached",
            production,
            "production",
        )
        .with_control(controls.tcp.as_ref()),
    );
    let datagram = connect(true, refused(true, DNS), DNS);
    probes.push(
        Probe::by_rules(subject, "udp", "no datagram leaves", datagram, "udp")
            .with_control(controls.udp.as_ref().or(controls.tcp.as_ref())),
    );
    let six = connect(false, PRODUCTION_V6, HTTPS);
    probes.push(
        Probe::by_rules(subject, "ipv6", "a host is not reached over IPv6", six, "ipv6")
            .with_control(controls.tcp.as_ref()),
    );
    let six = connect(true, PRODUCTION_V6, DNS);
    probes.push(
        Probe::by_rules(
            subject,
            "ipv6-udp",
            "no datagram leaves over IPv6",
            six,
            "ipv6-udp",
        )
        .with_control(controls.udp.as_ref().or(controls.tcp.as_ref())),
    );
    probes
}

/// The addresses of the floor, and the first in the forms that carry an IPv4 address.
fn metadata() -> Vec<(IpAddr, String)> {
    let floor = policy_lang::floor::rules();
    let rule = floor
        .iter()
        .find(|rule| rule.label.as_deref() == Some("built-in:metadata"));
    let mut addresses: Vec<IpAddr> = match rule.map(|rule| &rule.subject) {
        Some(RuleSubject::Network { targets, .. }) => targets.iter().map(|target| target.address).collect(),
        _ => Vec::new(),
    };
    let forms = ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"];
    addresses.extend(forms.iter().filter_map(|text| text.parse::<IpAddr>().ok()));
    addresses
        .into_iter()
        .map(|address| (address, address.to_string()))
        .collect()
}

/// Sockets that are no TCP and no UDP.
fn sockets(subject: Subject<'_>, controls: &Controls) -> Vec<Probe> {
    const RAW: u32 = 3;
    const DGRAM: u32 = 2;
    const STREAM: u32 = 1;
    const SEQPACKET: u32 = 5;
    // Name, boundary, family, type, protocol, whether it takes a privilege outside.
    let sockets: [(&str, &str, u32, u32, u32, bool); 12] = [
        ("raw-ipv4", "no raw IPv4 socket", 2, RAW, 1, true),
        ("raw-ipv6", "no raw IPv6 socket", 10, RAW, 58, true),
        ("ping", "no ping socket", 2, DGRAM, 1, false),
        ("sctp", "no SCTP socket", 2, STREAM, 132, false),
        ("mptcp", "no MPTCP socket", 2, STREAM, 262, false),
        ("packet", "no packet socket", 17, RAW, 0, true),
        ("netlink-audit", "no audit socket", 16, RAW, 9, false),
        ("netlink-uevent", "no kernel event socket", 16, RAW, 15, false),
        ("vsock", "no socket to the hypervisor", 40, STREAM, 0, false),
        (
            "alg",
            "no socket to the kernel's cryptography",
            38,
            SEQPACKET,
            0,
            false,
        ),
        ("unix-stream", "no UNIX socket", 1, STREAM, 0, false),
        ("unix-datagram", "no UNIX datagram socket", 1, DGRAM, 0, false),
    ];
    let probe = |(name, boundary, family, kind, protocol, as_root): (&str, &str, u32, u32, u32, bool)| {
        let operation = Operation::Socket {
            family,
            kind,
            protocol,
        };
        let name = format!("socket:{name}");
        let mut probe = Probe::by_rules(subject, &name, boundary, operation, &name)
            .with_control(controls.tcp.as_ref().or(controls.call.as_ref()));
        // Behind the filter other mechanisms refuse these too, and no grant opens those.
        if family != 1 && probe.flip != Flip::NotNeeded {
            probe.flip = Flip::Outside { as_root };
        }
        probe
    };
    sockets.into_iter().map(probe).collect()
}

fn environment(subject: Subject<'_>, facts: &Facts, controls: &Controls) -> Vec<Probe> {
    let variable = Operation::Variable {
        name: facts.variable.clone(),
    };
    let descriptor = Operation::Descriptor {
        number: facts.descriptor,
    };
    vec![
        Probe::by_rules(
            subject,
            "environment",
            "the caller's environment is not seen",
            variable,
            "environment",
        )
        .with_control(controls.variable.as_ref()),
        own(
            subject,
            "descriptors",
            "the caller's descriptors are closed",
            descriptor,
            Outcome::Errno(libc::EBADF),
            "descriptors",
            Record::None("the launcher closes them before the command starts"),
            false,
        )
        .with_control(Some(&Operation::Descriptor { number: 1 })),
    ]
}

fn processes(subject: Subject<'_>, facts: &Facts, controls: &Controls) -> Vec<Probe> {
    let pid = facts.neighbour_pid;
    let namespace = "pid-namespace";
    let absent = || Record::None("what is not in the run's own PID namespace does not exist in it");
    let this = || Operation::call("getpid", [0; 6]);
    vec![
        own(
            subject,
            "processes",
            "processes of others are not seen",
            Operation::Read {
                path: format!("/proc/{pid}/cmdline"),
            },
            Outcome::Errno(libc::ENOENT),
            namespace,
            absent(),
            false,
        )
        .with_control(this().as_ref()),
        own(
            subject,
            "signals",
            "processes of others are not signalled",
            Operation::Signal { pid },
            Outcome::Errno(libc::ESRCH),
            namespace,
            absent(),
            true,
        )
        .with_control(controls.call.as_ref()),
        Probe {
            name: "persistence".to_owned(),
            boundary: "nothing outlives the run".to_owned(),
            operation: Operation::Daemon,
            expected: Expected::Refused(vec![Refusal {
                outcomes: vec![Outcome::Killed(libc::SIGKILL)],
                mechanisms: vec!["supervisor"],
                record: Record::None("the kernel ends what is left of a run with its PID namespace"),
            }]),
            control: this(),
            flip: Flip::Outside { as_root: false },
            line: None,
        },
    ]
}

fn privileges(subject: Subject<'_>, facts: &Facts, controls: &Controls) -> Vec<Probe> {
    let eperm = Outcome::Errno(libc::EPERM);
    let control = controls.call.as_ref();
    let kernel = || Record::None("the run has no capability, so the kernel itself refuses");
    let mut probes = vec![
        own(
            subject,
            "set-user",
            "the run does not become another user",
            Operation::SetUser,
            eperm,
            "credentials",
            kernel(),
            true,
        ),
        own(
            subject,
            "privileges",
            "there is no privilege to use or to gain",
            Operation::Privileges,
            eperm,
            "credentials",
            kernel(),
            true,
        ),
        own(
            subject,
            "set-id-program",
            "a set-user-ID program gains nothing",
            Operation::SetIdProgram {
                path: facts.set_id_program.clone(),
            },
            eperm,
            "credentials",
            Record::NoneAbout(
                facts.set_id_program.clone(),
                "the program starts, as the run's own user: no_new_privs and nosuid",
            ),
            false,
        ),
    ];
    if cfg!(target_arch = "x86_64") {
        for (name, boundary, operation, architecture) in [
            ("x32", "no call by an x32 number", Operation::X32, "x32"),
            (
                "i386",
                "no call through the 32-bit entry",
                Operation::I386,
                "i386",
            ),
        ] {
            let due = Record::Due(Due {
                kind: "syscall",
                rules: vec![0],
                named: "the default".to_owned(),
                about: About::Architecture(architecture),
            });
            let killed = Outcome::Killed(libc::SIGSYS);
            probes.push(own(
                subject, name, boundary, operation, killed, "seccomp", due, false,
            ));
        }
    }
    probes
        .into_iter()
        .map(|probe| probe.with_control(control))
        .collect()
}

/// A boundary that no rule draws: whatever the rules refuse before it counts too.
#[allow(clippy::too_many_arguments, reason = "the fields of a probe, once")]
fn own(
    subject: Subject<'_>,
    name: &str,
    boundary: &str,
    operation: Operation,
    outcome: Outcome,
    mechanism: &'static str,
    record: Record,
    as_root: bool,
) -> Probe {
    let itself = Refusal {
        outcomes: vec![outcome],
        mechanisms: vec![mechanism],
        record,
    };
    let expected = match expected(subject, &operation) {
        Expected::Done => Expected::Refused(vec![itself]),
        Expected::Refused(_) if matches!(operation, Operation::Read { .. }) => {
            Expected::Refused(vec![itself])
        }
        refused => refused,
    };
    Probe {
        name: name.to_owned(),
        boundary: boundary.to_owned(),
        operation,
        expected,
        control: None,
        flip: Flip::Outside { as_root },
        line: None,
    }
}
