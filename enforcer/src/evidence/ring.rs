//! Records from the run's ring.

use artifact::network::Verb;
use artifact::rule::{Effect, Mechanism, RuleId};
use ebpf::layout::NetworkHook;

use super::{Decision, Draft, Evidence};
use crate::bpf::{DecodeError, NetworkRecord, ProcessStamp, Record};
use crate::event::{
    Details, DeviceDetails, ExecDetails, ExitDetails, ForkDetails, LossStage, NetworkDetails, NetworkVerb,
    SysctlDetails, Text,
};
use crate::sink::SinkError;

pub(super) fn take(evidence: &mut Evidence, record: Result<Record, DecodeError>) -> Result<(), SinkError> {
    let Ok(record) = record else {
        return evidence.lose(LossStage::Record, 1);
    };
    match record {
        Record::Exec {
            process,
            parent,
            path,
        } => exec(evidence, &process, parent, &path),
        Record::Fork { process, child } => fork(evidence, &process, child),
        Record::Exit { process, status } => exit(evidence, &process, status),
        Record::Network { process, decision } => network(evidence, &process, &decision),
        Record::Device {
            process,
            block,
            major,
            minor,
            access,
        } => {
            let device_type = if block { "block" } else { "char" };
            let words = [(1, "mknod"), (2, "read"), (4, "write")];
            let details = DeviceDetails {
                device_type: Some(device_type),
                major: Some(major),
                minor: Some(minor),
                access: words
                    .iter()
                    .filter(|(bit, _)| access & bit != 0)
                    .map(|(_, word)| *word)
                    .collect(),
                path: None,
                ioctl: None,
            };
            refusal(evidence, &process, Details::Device(details))
        }
        Record::Sysctl { process, name } => {
            let details = SysctlDetails {
                name: Text::from(name.as_str()),
            };
            refusal(evidence, &process, Details::Sysctl(details))
        }
    }
}

fn exec(evidence: &mut Evidence, who: &ProcessStamp, parent: u32, path: &[u8]) -> Result<(), SinkError> {
    let path = Text::new(path);
    let comm = Text::from(who.comm.as_str());
    let of_run = evidence
        .processes
        .executed(who.pid, parent, who.uid, comm, path.clone());
    if !(of_run && evidence.artifact.record.exec) {
        return Ok(());
    }
    happening(
        evidence,
        who,
        Details::Exec(ExecDetails {
            path_hex: path.hex_if_lossy(),
            path,
        }),
    )
}

fn fork(evidence: &mut Evidence, who: &ProcessStamp, child: u32) -> Result<(), SinkError> {
    let at = evidence.clock.time(who.time_ns).0;
    evidence.processes.forked(who.pid, child, who.uid, at);
    if !evidence.artifact.record.exec {
        return Ok(());
    }
    happening(evidence, who, Details::Fork(ForkDetails { child }))
}

fn exit(evidence: &mut Evidence, who: &ProcessStamp, status: u32) -> Result<(), SinkError> {
    let signal = u8::try_from(status & 0x7f).ok().filter(|signal| *signal != 0);
    let code = u8::try_from(status >> 8 & 0xff).ok().filter(|_| signal.is_none());
    let result = if evidence.artifact.record.exec {
        happening(evidence, who, Details::Exit(ExitDetails { code, signal }))
    } else {
        Ok(())
    };
    let at = evidence.clock.time(who.time_ns).0;
    evidence.processes.exited(who.pid, at);
    result
}

fn network(evidence: &mut Evidence, who: &ProcessStamp, record: &NetworkRecord) -> Result<(), SinkError> {
    let record_options = evidence.artifact.record;
    let wanted = match record.hook {
        NetworkHook::Bind => record_options.bind,
        _ => record_options.connect,
    };
    if record.allowed && !wanted {
        return Ok(());
    }
    let rule = RuleId(record.rule);
    let (effect, rule) = if record.allowed {
        (Effect::Allow, rule)
    } else {
        evidence.rules.refusal(rule)
    };
    let decision = Decision {
        effect,
        rule: Some(rule),
        mechanism: Mechanism::CgroupBpf,
    };
    let (verb, hook) = match record.hook {
        NetworkHook::Connect => (NetworkVerb::Rule(Verb::Connect), "connect"),
        NetworkHook::Send => (NetworkVerb::Rule(Verb::Connect), "sendmsg"),
        NetworkHook::Bind => (NetworkVerb::Rule(Verb::Bind), "bind"),
        NetworkHook::Create => (NetworkVerb::Socket, "sock-create"),
        NetworkHook::Egress => (NetworkVerb::Rule(Verb::Connect), "egress"),
        NetworkHook::Ingress => (NetworkVerb::Rule(Verb::Bind), "ingress"),
    };
    let creates = record.hook == NetworkHook::Create;
    let protocol = match if creates {
        u16::from(record.protocol).max(record.socket_protocol)
    } else {
        record.protocol.into()
    } {
        6 => "tcp".into(),
        17 => "udp".into(),
        other => other.to_string().into(),
    };
    let family = match (creates, record.family) {
        (false, 4) | (true, 2) => "ipv4".into(),
        (false, 6) | (true, 10) => "ipv6".into(),
        (_, other) => other.to_string().into(),
    };
    let details = NetworkDetails {
        verb,
        protocol,
        family,
        address: record.address,
        port: (!creates).then_some(record.port),
        hook,
        socket_type: creates.then_some(record.socket_type),
    };
    draft(evidence, who, Some(decision), Details::Network(details))
}

/// A refusal that has no rule of its own: nothing in the language allows it.
fn refusal(evidence: &mut Evidence, who: &ProcessStamp, details: Details) -> Result<(), SinkError> {
    let decision = Decision {
        effect: Effect::Deny,
        rule: Some(RuleId::DEFAULT),
        mechanism: Mechanism::CgroupBpf,
    };
    draft(evidence, who, Some(decision), details)
}

fn happening(evidence: &mut Evidence, who: &ProcessStamp, details: Details) -> Result<(), SinkError> {
    draft(evidence, who, None, details)
}

fn draft(
    evidence: &mut Evidence,
    who: &ProcessStamp,
    decision: Option<Decision>,
    details: Details,
) -> Result<(), SinkError> {
    let time = evidence.clock.time(who.time_ns);
    // The kernel runs packet programs for a socket, not for a process.
    let process = (who.pid != 0).then(|| evidence.processes.of(who.pid, who.uid, Some(who.comm.as_bytes())));
    evidence.emit(Draft {
        time,
        decision,
        process,
        details,
    })
}
