//! Sockets of daemons that do for the run what the run may not do itself.
//!
//! Landlock and mounts do not stop connect(2) on a socket that the run can see. What stops it is the built-in denial of
//! `socket(AF_UNIX)`, and a private `/run`. So a broad grant is dangerous where that denial is opened, and a grant that
//! names such a socket is in any case.

use std::collections::BTreeMap;

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{FileAccess, Rule, RuleId};
use policy_lang::reference::Access;
use policy_lang::syscall::{Architecture, table};

use super::Context;
use super::context::some_of;

/// Whoever talks to one of these is root on the host.
const ENGINES: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/user/1000/podman/podman.sock",
    "/run/user/1000/docker.sock",
    "/run/crio/crio.sock",
    "/var/run/crio/crio.sock",
    "/run/k3s/containerd/containerd.sock",
    "/run/buildkit/buildkitd.sock",
    "/run/libvirt/libvirt-sock",
    "/run/snapd.socket",
    "~/.docker/run/docker.sock",
    "~/.colima/default/docker.sock",
    "~/.rd/docker.sock",
];

/// These start programs outside the run, or sign and decrypt with keys that the run does not hold.
const AGENTS: &[&str] = &[
    "/run/dbus/system_bus_socket",
    "/var/run/dbus/system_bus_socket",
    "/run/user/1000/bus",
    "/run/systemd/private",
    "/run/user/1000/systemd/private",
    "/run/user/1000/keyring/ssh",
    "/run/user/1000/gnupg/S.gpg-agent",
    "/run/user/1000/wayland-0",
    "/tmp/.X11-unix/X0",
    "~/.gnupg/S.gpg-agent",
    "~/.1password/agent.sock",
];

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let opened = unix_sockets_opened(context);
    for (code, sockets) in [(Code::EngineSocket, ENGINES), (Code::AgentSocket, AGENTS)] {
        let mut reached: BTreeMap<(RuleId, usize), (Vec<&str>, bool)> = BTreeMap::new();
        for socket in sockets {
            let path = match socket.strip_prefix("~/") {
                Some(rest) => context.at_home(rest),
                None => (*socket).to_owned(),
            };
            for access in [FileAccess::Read, FileAccess::Write, FileAccess::Execute] {
                if let Some(grant) = context.grant_of(access, &path) {
                    let named = names_it(grant.target, &path);
                    if named || opened.is_some() {
                        let entry = reached.entry((grant.rule.id, grant.index)).or_default();
                        entry.0.push(socket);
                        entry.1 |= named;
                    }
                    break;
                }
            }
        }
        for ((rule, index), (names, _)) in reached {
            if let Some(rule) = context.policy.rule(rule) {
                found.push(say(context, code, rule, index, &names, opened));
            }
        }
    }
}

fn say(
    context: &Context<'_>,
    code: Code,
    rule: &Rule,
    index: usize,
    names: &[&str],
    opened: Option<&Rule>,
) -> Diagnostic {
    let (what, label) = if code == Code::EngineSocket {
        (
            "the socket of a container engine",
            "who talks to the engine can start a container that mounts the host",
        )
    } else {
        (
            "the socket of a message bus or an agent",
            "who talks to it can start programs outside the run, or use keys it does not hold",
        )
    };
    let mut finding = context.target(rule, index).found(|span| {
        Diagnostic::warning(code, span, format!("{what} is within reach: {}", some_of(names)))
            .label(label)
            .help("grant the files that are needed instead of the directory, or `deny` the socket; no rule on files keeps a run from a socket it sees")
    });
    match opened {
        Some(opener) => {
            let place = context.place(opener);
            finding = finding.also_in(place.file, place.span, "UNIX sockets are opened here");
        }
        None => {
            finding = finding.note(
                "it cannot connect yet: the built-in rule `unix-sockets` still refuses `socket(AF_UNIX)`",
            )
        }
    }
    finding
}

/// Whether the pattern is about this socket and not about half the host.
fn names_it(target: &PathPattern, socket: &str) -> bool {
    let parent = artifact::filesystem::path::parent(socket).unwrap_or("/");
    let shared = ["/run", "/var/run", "/tmp", "/run/user/1000"].contains(&parent);
    match target {
        PathPattern::Literal(path) => path == socket || (path == parent && !shared),
        PathPattern::Glob(_) => target.covers(socket) && !target.covers(parent),
    }
}

/// The rule that allows `socket(AF_UNIX, SOCK_STREAM, 0)`.
fn unix_sockets_opened<'a>(context: &Context<'a>) -> Option<&'a Rule> {
    const AF_UNIX: u64 = 1;
    const SOCK_STREAM: u64 = 1;
    let number = table::number("socket", Architecture::X86_64)?;
    context.granted(&Access::Syscall {
        architecture: Architecture::X86_64,
        number,
        arguments: [AF_UNIX, SOCK_STREAM, 0, 0, 0, 0],
    })
}
