//! A `docker run` line: volumes, variables, ports and limits. The image and what is inside it are no part of a policy.
//!
//! Source: the reference of `docker run`; the calls that Docker's default seccomp profile refuses come from moby/profiles.

use crate::draft::{Draft, Effect, Suffix, quoted};
use crate::paths::{self, Syntax};
use crate::source::Notes;
use crate::{ImportError, Imported, Options};

mod line;

use line::{Line, Option as Flag};

/// What `@system-service` has and Docker's default profile refuses to a process without capabilities.
const REFUSED_BY_DEFAULT: &[&str] = &[
    "get_mempolicy",
    "kcmp",
    "mbind",
    "migrate_pages",
    "move_pages",
    "personality",
    "process_madvise",
    "set_mempolicy",
    "set_mempolicy_home_node",
];

pub(crate) fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    let line = line::read(text)?;
    let mut notes = Notes::default();
    let mut draft = Draft::new(
        options
            .name
            .clone()
            .or_else(|| line.value("name").map(str::to_owned))
            .unwrap_or_else(|| "docker".to_owned()),
        "Imported from a `docker run` line.",
    );
    notes.narrower(
        &line.image,
        "a run sees this host's files, not an image's: grant what the command needs, as with `use std::linux`",
    );
    let mut publishes = Vec::new();
    for flag in &line.options {
        option(flag, &mut draft, &mut notes, &mut publishes)?;
    }
    network(&line, &publishes, &mut draft, &mut notes);
    draft.pass(&["PATH", "LANG", "TERM"]);
    draft.process("allow syscall @system-service");
    let refused: Vec<String> = REFUSED_BY_DEFAULT.iter().map(|call| quoted(call)).collect();
    draft.process(format!(
        "deny syscall {} because \"Docker's default profile refuses them\"",
        refused.join(", ")
    ));
    Ok(Imported {
        policy: draft.text(),
        left: notes.close(options.relax)?,
    })
}

fn option(
    flag: &Flag,
    draft: &mut Draft,
    notes: &mut Notes,
    publishes: &mut Vec<String>,
) -> Result<(), ImportError> {
    let place = flag.shown();
    let value = flag.value.as_deref().unwrap_or_default();
    match flag.name.as_str() {
        "volume" => volume(value, &place, draft, notes),
        "mount" => mount(value, &place, draft, notes),
        "tmpfs" => tmpfs(value, draft, notes, &place),
        "env" => variable(value, &place, draft, notes),
        "env-file" => notes.narrower(&place, "write the file's variables as `pass` or `set`"),
        "user" => user(value, &place, draft, notes),
        "publish" => publishes.push(value.to_owned()),
        "publish-all" => notes.narrower(&place, "name the ports that are served"),
        "memory" => limit("memory", size(value), &place, draft, notes),
        "pids-limit" => {
            let count = value.parse::<u32>().ok().filter(|count| *count > 0);
            limit(
                "processes",
                count.map(|count| count.to_string()),
                &place,
                draft,
                notes,
            );
        }
        "cpus" => limit("cpu", cpus(value), &place, draft, notes),
        "ulimit" => match value.split_once('=') {
            Some(("nofile", limits)) => {
                let least = limits
                    .split(':')
                    .filter_map(|limit| limit.parse::<u32>().ok())
                    .min();
                limit(
                    "open-files",
                    least.map(|least| least.to_string()),
                    &place,
                    draft,
                    notes,
                );
            }
            _ => restriction(&place, "a policy has no such limit", notes),
        },
        "privileged" | "cap-add" | "device" | "gpus" | "pid" | "ipc" | "uts" | "userns" | "cgroupns"
        | "group-add" | "security-opt" | "volumes-from" | "link" | "add-host" | "dns"
        | "device-cgroup-rule" => {
            security(flag, &place, notes)?;
        }
        // What only restricts more than Docker does by default, and holds for every run.
        "cap-drop" | "read-only" | "network" | "net" | "rm" | "init" | "interactive" | "tty" | "detach"
        | "name" | "hostname" | "label" | "pull" | "platform" | "restart" | "stop-signal"
        | "stop-timeout" | "log-driver" | "log-opt" | "entrypoint" | "sig-proxy" | "attach"
        | "detach-keys" | "cidfile" | "quiet" | "health-cmd" | "no-healthcheck" | "shm-size" => {}
        "workdir" => notes.equal(&place, "start the command in the directory it works in"),
        _ => restriction(&place, "this version does not know the option", notes),
    }
    Ok(())
}

/// Options that widen a container widen no run; one that names another profile restricts differently.
fn security(flag: &Flag, place: &str, notes: &mut Notes) -> Result<(), ImportError> {
    let value = flag.value.as_deref().unwrap_or_default();
    let profile = value
        .strip_prefix("seccomp=")
        .or_else(|| value.strip_prefix("seccomp:"))
        .filter(|profile| !matches!(*profile, "unconfined" | "builtin"));
    if flag.name == "security-opt" && profile.is_some() {
        return Err(ImportError::Restriction {
            place: place.to_owned(),
            why: "the profile is a file of its own: import it as `oci`, and remove the option here"
                .to_owned(),
        });
    }
    if !value.starts_with("no-new-privileges") {
        notes.narrower(
            place,
            "no run has a capability, a device of the host or a namespace of somebody else",
        );
    }
    Ok(())
}

fn restriction(place: &str, why: &str, notes: &mut Notes) {
    notes.equal(place, format!("{why}; check by hand whether it restricts"));
}

fn limit(resource: &str, value: Option<String>, place: &str, draft: &mut Draft, notes: &mut Notes) {
    match value {
        Some(value) => draft.process(format!("limit {resource} {value}")),
        None => notes.equal(place, "it sets no limit, or none that a policy has"),
    }
}

fn volume(value: &str, place: &str, draft: &mut Draft, notes: &mut Notes) {
    let mut parts = value.split(':');
    let (Some(source), target) = (parts.next(), parts.next()) else {
        return;
    };
    let modes = parts.next().unwrap_or_default();
    let Some(target) = target.filter(|_| source.starts_with(['/', '.', '~', '$'])) else {
        notes.narrower(place, "Docker keeps this volume; grant a directory of the host");
        return;
    };
    bind(
        source,
        target,
        modes.split(',').any(|mode| mode == "ro"),
        place,
        draft,
        notes,
    );
}

fn mount(value: &str, place: &str, draft: &mut Draft, notes: &mut Notes) {
    let field = |names: &[&str]| {
        value.split(',').find_map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, "true"));
            names.contains(&name).then_some(value)
        })
    };
    let target = field(&["target", "destination", "dst"]).unwrap_or_default();
    match (field(&["type"]), field(&["source", "src"])) {
        (Some("bind"), Some(source)) => {
            let read_only = field(&["readonly", "ro"]).is_some_and(|value| value != "false" && value != "0");
            bind(source, target, read_only, place, draft, notes);
        }
        (Some("tmpfs"), _) => {
            let size = field(&["tmpfs-size"])
                .map(|size| format!(":size={size}"))
                .unwrap_or_default();
            tmpfs(&format!("{target}{size}"), draft, notes, place);
        }
        _ => notes.narrower(place, "Docker keeps this volume; grant a directory of the host"),
    }
}

fn bind(source: &str, target: &str, read_only: bool, place: &str, draft: &mut Draft, notes: &mut Notes) {
    match paths::read(source, Syntax::Literal) {
        Ok(path) => {
            let accesses = if read_only {
                "read, execute"
            } else {
                "read, write, execute"
            };
            draft.file(Effect::Allow, accesses, &path, Suffix::NONE);
            if source.trim_end_matches('/') != target.trim_end_matches('/') {
                notes.equal(place, format!("the run sees it as `{source}`, not as `{target}`"));
            }
        }
        Err(why) => notes.narrower(place, why),
    }
}

fn tmpfs(value: &str, draft: &mut Draft, notes: &mut Notes, place: &str) {
    let (path, options) = value.split_once(':').unwrap_or((value, ""));
    let given = options
        .split(',')
        .find_map(|option| option.strip_prefix("size="))
        .and_then(size);
    let bytes = given.unwrap_or_else(|| {
        notes.narrower(place, "a scratch directory has a size; 64MiB was written");
        "64MiB".to_owned()
    });
    match paths::read(path, Syntax::Literal) {
        Ok(path) => draft.scratch(&path, &bytes),
        Err(why) => notes.narrower(place, why),
    }
}

fn variable(value: &str, place: &str, draft: &mut Draft, notes: &mut Notes) {
    let (name, content) = value
        .split_once('=')
        .map_or((value, None), |(name, content)| (name, Some(content)));
    let valid = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !valid {
        notes.narrower(place, "this is no variable's name");
        return;
    }
    let upper = name.to_ascii_uppercase();
    let secret = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "API_KEY",
        "ACCESS_KEY",
        "PRIVATE_KEY",
    ]
    .iter()
    .any(|word| upper.contains(word));
    match content {
        _ if secret => notes.narrower(
            &format!("--env {name}"),
            "it looks like a secret: write `broker` for the host it is for",
        ),
        Some(content) => draft.set(name, content),
        None => draft.pass(&[name]),
    }
}

fn user(value: &str, place: &str, draft: &mut Draft, notes: &mut Notes) {
    let (user, group) = value.split_once(':').unwrap_or((value, value));
    match (user.parse::<u32>(), group.parse::<u32>()) {
        (Ok(user), Ok(group)) if user > 0 && group > 0 && value.contains(':') => {
            draft.process(format!("identity {user}:{group}"));
        }
        _ => notes.narrower(place, "only `UID:GID` is carried; the run gets ids of its own"),
    }
}

/// A bridge reaches everything but this machine's own loopback; a published port is bound where the command runs.
fn network(line: &Line, publishes: &[String], draft: &mut Draft, notes: &mut Notes) {
    let mode = line
        .value("network")
        .or_else(|| line.value("net"))
        .unwrap_or("bridge");
    match mode {
        "none" => {}
        "host" => draft.network(Effect::Allow, "connect, bind tcp, udp", "*:*", Suffix::NONE),
        _ => {
            draft.network(Effect::Allow, "connect tcp, udp", "*:*", Suffix::NONE);
            let because = Suffix::because("a container's loopback is not the host's");
            for loopback in ["127.0.0.0/8:*", "[::1]:*"] {
                draft.network(Effect::Forbid, "connect", loopback, because);
            }
        }
    }
    for publish in publishes {
        let place = format!("--publish {publish}");
        if mode == "none" {
            continue;
        }
        match published(publish) {
            Ok((what, target)) => draft.network(Effect::Allow, what, &target, Suffix::NONE),
            Err(why) => notes.narrower(&place, why),
        }
    }
}

fn published(value: &str) -> Result<(&'static str, String), String> {
    let (ports, protocol) = value.split_once('/').unwrap_or((value, "tcp"));
    let what = match protocol {
        "tcp" => "bind tcp",
        "udp" => "bind udp",
        _ => return Err("a policy has rules on TCP and UDP".to_owned()),
    };
    let mut parts = ports.rsplitn(3, ':');
    let container = parts.next().unwrap_or_default();
    let host = parts.next().unwrap_or_default();
    let address = parts.next().filter(|address| !address.is_empty()).unwrap_or("*");
    if host != container {
        return Err(
            "a run has the host's ports: let the command listen on the port that is published".to_owned(),
        );
    }
    let valid = container
        .split('-')
        .all(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if !valid {
        return Err("this is no port".to_owned());
    }
    let address = match address.trim_matches(['[', ']']) {
        "*" => "*".to_owned(),
        text => match text.parse::<std::net::IpAddr>() {
            // Every address of a family, not the one that is written with zeros.
            Ok(std::net::IpAddr::V4(address)) if address.is_unspecified() => "0.0.0.0/0".to_owned(),
            Ok(std::net::IpAddr::V6(address)) if address.is_unspecified() => "[::]/0".to_owned(),
            Ok(std::net::IpAddr::V4(address)) => address.to_string(),
            Ok(std::net::IpAddr::V6(address)) => format!("[{address}]"),
            Err(_) => return Err("this is no address".to_owned()),
        },
    };
    Ok((what, format!("{address}:{container}")))
}

/// Docker's units are powers of 1,024.
fn size(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number = digits.parse::<u64>().ok().filter(|number| *number > 0)?;
    let unit = match lower.get(digits.len()..)? {
        "" | "b" => "B",
        "k" | "kb" | "kib" => "KiB",
        "m" | "mb" | "mib" => "MiB",
        "g" | "gb" | "gib" => "GiB",
        "t" | "tb" | "tib" => "TiB",
        _ => return None,
    };
    Some(format!("{number}{unit}"))
}

/// Whole hundredths of a CPU, rounded down.
fn cpus(text: &str) -> Option<String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let hundredths: u32 = format!("{part:0<2}").get(..2)?.parse().ok()?;
    let share = whole.checked_mul(100)?.checked_add(hundredths)?;
    (share > 0).then(|| format!("{share}%"))
}
