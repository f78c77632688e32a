//! Refusals by Landlock.
//!
//! A record of a refusal names a domain, not a run or a process; a domain's first refusal is followed by a record
//! of who made the domain. The run's own domain is made by the launcher; a domain that the run itself made inside
//! it is told apart, since what it refuses is no decision of the policy. Refusals of a domain that is not known
//! yet wait for that record.

use std::collections::{BTreeMap, VecDeque};
use std::os::unix::ffi::OsStrExt;

use artifact::filesystem::FileAccess;
use artifact::network::Verb;
use artifact::rule::{Effect, Mechanism, RuleId};

use super::seccomp::stamp_time;
use super::{Decision, Draft, Evidence};
use crate::audit::record::{Access, Caller, Domain, DomainStatus, Stamp};
use crate::event::{
    Details, DeviceDetails, FileDetails, LossStage, NetworkDetails, NetworkVerb, ScopeDetails, Text,
};
use crate::sink::SinkError;

/// Refusals that wait for their domain to be announced. The announcement is the next record, or was lost.
const WAITING_MAX: usize = 4_096;
/// Domains that are remembered.
const DOMAINS_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    /// The launcher: its refusals are the policy's.
    Launcher,
    /// A process of the run.
    Run,
    /// Not of this run.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    maker: Maker,
    /// Records of refusals that arrived.
    arrived: u64,
    /// What the kernel counted, once the domain is gone.
    counted: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Domains {
    known: BTreeMap<u64, Known>,
    waiting: VecDeque<(Stamp, Access, Option<Caller>)>,
    /// Refusals that waited in vain.
    given_up: u64,
}

impl Domains {
    /// Whether a domain of this run is still to report its end.
    pub(super) fn awaited(&self) -> bool {
        self.known
            .values()
            .any(|known| known.maker == Maker::Launcher && known.counted.is_none())
    }

    /// What the kernel counted for the run's own domains, once all of them are gone; zero when none refused.
    pub(super) fn denials(&self) -> Option<u64> {
        self.known
            .values()
            .filter(|known| known.maker == Maker::Launcher)
            .try_fold(0, |sum: u64, known| Some(sum.saturating_add(known.counted?)))
    }
}

pub(super) fn access(
    evidence: &mut Evidence,
    stamp: Stamp,
    access: &Access,
    caller: Option<&Caller>,
) -> Result<(), SinkError> {
    let Some(known) = evidence.domains.known.get_mut(&access.domain) else {
        let domains = &mut evidence.domains;
        if domains.waiting.len() >= WAITING_MAX {
            domains.waiting.pop_front();
            domains.given_up += 1;
        }
        domains
            .waiting
            .push_back((stamp, access.clone(), caller.cloned()));
        return Ok(());
    };
    known.arrived += 1;
    let maker = known.maker;
    if maker == Maker::Other {
        return Ok(());
    }
    emit(evidence, maker, stamp, access, caller)
}

pub(super) fn domain(evidence: &mut Evidence, domain: &Domain) -> Result<(), SinkError> {
    match &domain.status {
        DomainStatus::Allocated { pid, exe, .. } => {
            let maker = maker(evidence, *pid, exe);
            if evidence.domains.known.len() >= DOMAINS_MAX {
                evidence
                    .domains
                    .known
                    .retain(|_, known| known.maker == Maker::Launcher);
            }
            let known = Known {
                maker,
                arrived: 0,
                counted: None,
            };
            evidence.domains.known.insert(domain.domain, known);
            let waiting = std::mem::take(&mut evidence.domains.waiting);
            for (stamp, refused, caller) in waiting {
                if refused.domain == domain.domain {
                    access(evidence, stamp, &refused, caller.as_ref())?;
                } else {
                    evidence.domains.waiting.push_back((stamp, refused, caller));
                }
            }
            Ok(())
        }
        DomainStatus::Deallocated { denials } => {
            if let Some(known) = evidence.domains.known.get_mut(&domain.domain) {
                known.counted = Some(*denials);
                if known.maker != Maker::Launcher {
                    // Their maker chooses what they record; and they are no decision of the policy.
                    evidence.domains.known.remove(&domain.domain);
                }
            }
            Ok(())
        }
    }
}

/// At the end: what the kernel counted is compared with what arrived, less what is known to be lost already; and
/// refusals whose domain was never announced are ours only if our own never was.
pub(super) fn settle(evidence: &mut Evidence) -> Result<(), SinkError> {
    let domains = &mut evidence.domains;
    let unknown = domains
        .given_up
        .saturating_add(u64::try_from(domains.waiting.len()).unwrap_or(u64::MAX));
    domains.waiting.clear();
    domains.given_up = 0;
    let own = domains
        .known
        .values()
        .filter(|known| known.maker == Maker::Launcher);
    let missing = own.clone().fold(0u64, |sum, known| {
        sum.saturating_add(known.counted.unwrap_or(0).saturating_sub(known.arrived))
    });
    let own_is_known = own.count() > 0;
    evidence.lose(LossStage::Landlock, missing.saturating_sub(evidence.audit_lost))?;
    // When nothing was lost, an announcement that never came is one from before this stream.
    let ours = !own_is_known && evidence.audit_lost > 0;
    evidence.lose(LossStage::Attribution, if ours { unknown } else { 0 })
}

fn maker(evidence: &Evidence, pid: u32, exe: &[u8]) -> Maker {
    let processes = &evidence.processes;
    if !processes.knows(pid) && processes.root_pid() != Some(pid) {
        return Maker::Other;
    }
    let own = std::env::current_exe().is_ok_and(|own| own.as_os_str().as_bytes() == exe);
    if own && processes.is_near_root(pid) {
        Maker::Launcher
    } else {
        Maker::Run
    }
}

fn emit(
    evidence: &mut Evidence,
    maker: Maker,
    stamp: Stamp,
    access: &Access,
    caller: Option<&Caller>,
) -> Result<(), SinkError> {
    let time = stamp_time(stamp);
    let process = match caller {
        Some(caller) => Some(evidence.processes.of(caller.pid, caller.uid, Some(&caller.comm))),
        None => evidence.processes.at(time.0),
    };
    let (details, mechanism, (effect, rule)) = translate(evidence, access);
    // What a domain of the run's own making refuses is not decided by any rule of the policy.
    let rule = (maker == Maker::Launcher).then_some(rule);
    let decision = Some(Decision {
        effect,
        rule,
        mechanism,
    });
    evidence.emit(Draft {
        time,
        decision,
        process,
        details,
    })
}

type Ruling = (Effect, RuleId);

const BY_DEFAULT: Ruling = (Effect::Deny, RuleId::DEFAULT);

fn translate(evidence: &Evidence, access: &Access) -> (Details, Mechanism, Ruling) {
    let object = &access.object;
    let has = |word: &str| access.blockers.iter().any(|blocker| blocker == word);
    let first = access.blockers.first().map_or("", String::as_str);
    if has("net.connect_tcp") || has("net.bind_tcp") {
        let connect = has("net.connect_tcp");
        let (verb, address, port) = if connect {
            (Verb::Connect, object.remote, object.remote_port)
        } else {
            (Verb::Bind, object.local, object.local_port)
        };
        // What is zero is left out of the record.
        let port = port.unwrap_or(0);
        let ruling = evidence.rules.tcp(&evidence.artifact, verb, address, port);
        let family = match address {
            Some(address) if address.is_ipv6() => "ipv6",
            Some(_) => "ipv4",
            None => "ip",
        };
        let details = NetworkDetails {
            verb: NetworkVerb::Rule(verb),
            protocol: "tcp".into(),
            family: family.into(),
            address,
            port: Some(port),
            hook: "landlock",
            socket_type: None,
        };
        return (Details::Network(details), Mechanism::LandlockNet, ruling);
    }
    let path = object.path.as_deref().or(object.name.as_deref());
    // A link or rename that would give a file more rights is refused with every right that is handled.
    if first == "fs.ioctl_dev" && access.blockers.len() == 1 {
        let details = DeviceDetails {
            device_type: None,
            major: None,
            minor: None,
            access: vec!["ioctl"],
            path: path.map(Text::new),
            ioctl: object.ioctl.map(|command| format!("{command:#x}")),
        };
        return (Details::Device(details), Mechanism::LandlockFs, BY_DEFAULT);
    }
    if first.starts_with("fs.") && !has("fs.change_topology") {
        let path = path.unwrap_or_default();
        let verbs = verbs(&access.blockers);
        let ruling = verbs
            .iter()
            .map(|verb| evidence.rules.file(&evidence.artifact, *verb, path))
            // The strictest; among equals a rule of the policy rather than the default.
            .max_by_key(|(effect, rule)| (*effect, *rule != RuleId::DEFAULT))
            .unwrap_or(BY_DEFAULT);
        let path = Text::new(path);
        let details = FileDetails {
            access: verbs,
            path_hex: path.hex_if_lossy(),
            path,
            blockers: access.blockers.clone(),
            device: object.device.as_deref().map(Text::new),
            inode: object.inode,
        };
        return (Details::File(details), Mechanism::LandlockFs, ruling);
    }
    let mechanism = if has("fs.change_topology") {
        Mechanism::LandlockFs
    } else {
        Mechanism::LandlockScope
    };
    let details = ScopeDetails {
        blockers: access.blockers.clone(),
        target_pid: object.pid,
        target_comm: object.comm.as_deref().map(Text::new),
        object: path.map(Text::new),
    };
    (Details::Scope(details), mechanism, BY_DEFAULT)
}

/// Landlock's rights in the verbs of the language. Linking and renaming change names, whatever rights the file would
/// gain by it.
fn verbs(blockers: &[String]) -> Vec<FileAccess> {
    if blockers.iter().any(|blocker| blocker == "fs.refer") {
        return vec![FileAccess::Write];
    }
    let mut verbs: Vec<_> = blockers
        .iter()
        .map(|blocker| match blocker.as_str() {
            "fs.read_file" | "fs.read_dir" => FileAccess::Read,
            "fs.execute" => FileAccess::Execute,
            _ => FileAccess::Write,
        })
        .collect();
    verbs.sort_unstable();
    verbs.dedup();
    verbs
}
