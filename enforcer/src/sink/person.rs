//! One short line on stderr for each refusal: what, which rule, why.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use artifact::rule::Mechanism;

use super::escape::escaped;
use crate::event::{Details, Event, NetworkVerb, effect_word};

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonStyle {
    /// Use colours.
    pub colour: bool,
    /// Break lines that would be wider.
    pub width: Option<usize>,
}

impl PersonStyle {
    /// For this process's stderr: colours on a terminal unless `NO_COLOR` is set (<https://no-color.org>).
    #[must_use]
    pub fn for_stderr() -> Self {
        let terminal = io::stderr().is_terminal();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let width = rustix::termios::tcgetwinsize(io::stderr())
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|width| *width >= 20);
        Self {
            colour: terminal && !refused,
            width,
        }
    }
}

/// Different refusals that are remembered to be counted instead of repeated.
const REMEMBERED: usize = 1_024;

/// Writes to stderr. The same refusal by the same program is shown once and counted after that; the stream of
/// events has every one.
#[derive(Debug)]
pub struct Person {
    style: PersonStyle,
    repeated: HashMap<String, u64>,
    unshown: u64,
}

impl Person {
    /// A sink with this style.
    #[must_use]
    pub fn new(style: PersonStyle) -> Self {
        Self {
            style,
            repeated: HashMap::new(),
            unshown: 0,
        }
    }

    /// Shows an event, if a person wants to see it. What stderr does not take is not an error: the run does not
    /// depend on a terminal.
    pub(crate) fn show(&mut self, event: &Event) {
        let Some(text) = self.line(event) else { return };
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Says how often things were repeated.
    pub(crate) fn finish(&mut self) {
        let mut text = String::new();
        let mut repeated: Vec<_> = self.repeated.drain().filter(|(_, more)| *more > 0).collect();
        repeated.sort();
        for (what, more) in repeated {
            let times = if more == 1 {
                "once more".to_owned()
            } else {
                format!("{more} more times")
            };
            let _ = writeln!(text, "remit: {what} {times}");
        }
        if self.unshown > 0 {
            let _ = writeln!(text, "remit: {} other refusals are not shown", self.unshown);
        }
        self.unshown = 0;
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn line(&mut self, event: &Event) -> Option<String> {
        match &event.details {
            Details::Loss(loss) => {
                return Some(format!(
                    "remit: {} records lost: {}\n",
                    loss.count,
                    escaped(loss.explanation.as_bytes())
                ));
            }
            Details::Degraded(degraded) => {
                return Some(format!(
                    "remit: not fully enforced: {} — {}\n",
                    why(event),
                    escaped(degraded.gap.as_bytes())
                ));
            }
            // The command says this itself, as its error.
            Details::AdmissionRefused(_) => return None,
            // Every C library tries it for each thread and process, is told that it does not exist, and goes on with
            // clone. Nothing was refused that a person could miss; the stream of events has it.
            Details::Syscall(call) if call.name.as_deref() == Some("clone3") => return None,
            _ if !event.is_refusal() => return None,
            _ => {}
        }
        let what = what(&event.details)?;
        if let Some(more) = self.repeated.get_mut(&what) {
            *more += 1;
            return None;
        }
        if self.repeated.len() >= REMEMBERED {
            self.unshown += 1;
            return None;
        }
        self.repeated.insert(what.clone(), 0);
        Some(self.compose(&what, &why(event), event.mechanism.map(short)))
    }

    fn compose(&self, what: &str, why: &str, mechanism: Option<&str>) -> String {
        let tail = mechanism.map(|word| format!("  [{word}]")).unwrap_or_default();
        let columns = |text: &str| text.chars().count();
        let total = columns("remit: ") + columns(what) + columns(" — ") + columns(why) + columns(&tail);
        let joint = if self.style.width.is_some_and(|width| total > width) {
            "\n    "
        } else {
            " — "
        };
        if self.style.colour {
            format!("\u{1b}[1;31mremit:\u{1b}[0m {what}{joint}{why}\u{1b}[2m{tail}\u{1b}[0m\n")
        } else {
            format!("remit: {what}{joint}{why}{tail}\n")
        }
    }
}

/// `refused read /etc/shadow`.
fn what(details: &Details) -> Option<String> {
    let text = match details {
        Details::File(file) => {
            let verbs: Vec<_> = file
                .access
                .iter()
                .map(|access| crate::event::access_word(*access))
                .collect();
            format!("{} {}", verbs.join(", "), escaped(file.path.as_bytes()))
        }
        Details::Network(network) => {
            let place = match (network.address, network.port) {
                (Some(address), Some(port)) => std::net::SocketAddr::new(address, port).to_string(),
                (Some(address), None) => address.to_string(),
                (None, Some(port)) => format!("port {port}"),
                (None, None) => String::new(),
            };
            match network.verb {
                NetworkVerb::Socket => {
                    format!("socket family {} protocol {}", network.family, network.protocol)
                }
                NetworkVerb::Rule(_) => format!("{} {} {place}", network.verb.word(), network.protocol),
            }
        }
        Details::Syscall(syscall) => match &syscall.name {
            Some(name) => format!("syscall {}", escaped(name.as_bytes())),
            None => format!("syscall {} ({})", syscall.number, syscall.architecture),
        },
        Details::Scope(scope) => {
            let object = match (&scope.object, scope.target_pid) {
                (Some(object), _) => format!(" {}", escaped(object.as_bytes())),
                (None, Some(pid)) => format!(" process {pid}"),
                (None, None) => String::new(),
            };
            format!("{}{object}", scope.blockers.join(", "))
        }
        Details::Device(device) => {
            let name = match (&device.path, device.device_type, device.major, device.minor) {
                (Some(path), ..) => escaped(path.as_bytes()),
                (None, Some(kind), Some(major), Some(minor)) => format!("{kind} {major}:{minor}"),
                _ => String::new(),
            };
            format!("device {} {name}", device.access.join(", "))
        }
        Details::Sysctl(sysctl) => format!("sysctl {}", escaped(sysctl.name.as_bytes())),
        _ => return None,
    };
    Some(format!("refused {}", text.trim_end()))
}

/// `policy.remit:12 deny connect tcp "10.0.0.0/8:*" because "…"`.
fn why(event: &Event) -> String {
    let Some(rule) = &event.rule else {
        return "no rule of this policy".to_owned();
    };
    if rule.id == 0 {
        return "no rule allows it (default)".to_owned();
    }
    let mut text = match &event.details {
        // The kernel does not record arguments, so the strictest rule is named and need not be the one.
        Details::Syscall(call) if call.candidates.len() > 1 => {
            format!(
                "one of {} rules about its arguments, such as ",
                call.candidates.len()
            )
        }
        _ => String::new(),
    };
    match rule.location.rsplit_once(':') {
        // The column helps an editor, not a reader.
        Some((place, _)) => text.push_str(&escaped(place.as_bytes())),
        None => text.push_str(&rule.location),
    }
    for (what, name) in [("ceiling", &rule.ceiling), ("group", &rule.group)] {
        if let Some(name) = name {
            let _ = write!(text, " ({what} \"{}\")", escaped(name.as_bytes()));
        }
    }
    let rule_text = escaped(rule.text.as_bytes());
    if !rule_text.starts_with(effect_word(rule.effect)) {
        let _ = write!(text, " {}", effect_word(rule.effect));
    }
    let _ = write!(text, " {rule_text}");
    if let Some(because) = &event.because
        && !rule_text.contains(" because ")
    {
        let _ = write!(text, " because \"{}\"", escaped(because.as_bytes()));
    }
    text
}

const fn short(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::LandlockFs | Mechanism::LandlockNet | Mechanism::LandlockScope => "landlock",
        Mechanism::MountMask | Mechanism::MountAttributes | Mechanism::PrivateMount => "mount",
        Mechanism::CgroupBpf => "bpf",
        other => crate::event::mechanism_word(other),
    }
}

#[cfg(test)]
#[path = "person_tests.rs"]
mod tests;
