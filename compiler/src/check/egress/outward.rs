//! Grants to connect to more than a service.

use std::net::IpAddr;

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Endpoint, Protocol, Verb};
use policy_lang::reference::Access;
use policy_lang::source::Span;

use super::Flow;
use super::ranges::{LOOPBACK, PRIVATE, Range};
use crate::check::Context;
use crate::check::context::some_of;

/// A prefix shorter than this names no organisation's servers any more.
const BROAD_V4: u8 = 16;
const BROAD_V6: u8 = 32;
/// A range of more ports than one service has.
const MANY_PORTS: u16 = 1000;
/// DNS, and DNS over TLS.
const RESOLVERS: [u16; 2] = [53, 853];

/// Whether anything may be said of a target: quick, and never wrongly no.
pub(super) fn is_worth_a_look(target: &Endpoint) -> bool {
    is_broad(target)
        || target.address.is_unspecified()
        || LOOPBACK.iter().any(|range| range.holds(target))
        || PRIVATE
            .iter()
            .any(|range| range.holds(target) && target.prefix_len <= range.len.max(BROAD_V4))
}

pub(super) fn check(context: &Context<'_>, flow: &Flow<'_>, found: &mut Vec<Diagnostic>) {
    let [first, ..] = flow.targets else { return };
    if LOOPBACK.iter().any(|range| range.holds(first)) {
        found.extend(loopback(context, flow, first));
        return;
    }
    if let Some(range) = PRIVATE.iter().find(|range| range.holds(first)) {
        let whole = first.prefix_len <= range.len.max(BROAD_V4);
        if whole && is_granted(context, flow, range.witness_for(first)) {
            found.push(private(context, flow, &[range.name], true));
        }
        return;
    }
    if !flow.targets.iter().any(is_broad) {
        return;
    }
    found.push(broad(context, flow, first));
    let reached: Vec<&str> = PRIVATE
        .iter()
        .chain(LOOPBACK)
        .filter(|range| flow.targets.iter().any(|target| range.lies_in(target)))
        .filter(|range| is_granted(context, flow, range.witness))
        .map(|range| range.name)
        .collect();
    if !reached.is_empty() {
        found.push(private(context, flow, &reached, false));
    }
    let ports = first.first_port..=first.last_port;
    if flow.protocols.contains(&Protocol::Udp) && RESOLVERS.iter().any(|port| ports.contains(port)) {
        found.push(any_resolver(context, flow));
    }
}

impl Range {
    /// An address that lies in the range and in the target.
    fn witness_for(&self, target: &Endpoint) -> IpAddr {
        if self.lies_in(target) {
            self.witness
        } else {
            target.address
        }
    }
}

fn is_broad(target: &Endpoint) -> bool {
    let broad = if target.address.is_ipv4() {
        BROAD_V4
    } else {
        BROAD_V6
    };
    target.prefix_len < broad
}

fn is_granted(context: &Context<'_>, flow: &Flow<'_>, address: IpAddr) -> bool {
    flow.protocols.iter().any(|protocol| {
        let access = Access::Network {
            verb: Verb::Connect,
            protocol: *protocol,
            address,
            port: flow.targets.first().map_or(1, |target| target.first_port.max(1)),
        };
        context.granted(&access).is_some()
    })
}

fn broad(context: &Context<'_>, flow: &Flow<'_>, target: &Endpoint) -> Diagnostic {
    let message = if target.prefix_len == 0 {
        "the run may connect to any address".to_owned()
    } else {
        let bits = if target.address.is_ipv4() { 32 } else { 128 };
        format!(
            "the run may connect to any of 2^{} addresses",
            bits - u32::from(target.prefix_len)
        )
    };
    context.target(flow.rule, flow.index).found(|span| {
        Diagnostic::warning(Code::BroadEgress, span, message)
            .label("what the run reads can be sent to whoever has one of them")
            .help("name the hosts that the task needs, as in `\"registry.npmjs.org:443\"`, or the prefix of a service")
    })
}

fn private(context: &Context<'_>, flow: &Flow<'_>, ranges: &[&str], explicit: bool) -> Diagnostic {
    let place = context.target(flow.rule, flow.index);
    let finding = place.found(|span| {
        Diagnostic::warning(
            Code::PrivateReachable,
            span,
            format!("private networks are within reach: {}", some_of(ranges)),
        )
        .label("internal services trust who can reach them")
    });
    let refused: Vec<String> = ranges.iter().map(|range| format!("\"{range}:*\"")).collect();
    let rule = format!(
        "deny connect {} because \"internal networks are out of the remit\"",
        refused.join(", ")
    );
    if explicit {
        return finding.help("name the hosts that the task needs");
    }
    let finding = finding.help("deny them; what the task needs of them can be allowed by address");
    match context.places.statement(&flow.rule.origin) {
        Some(statement) if flow.rule.via.is_none() => {
            let end = statement.span.end;
            finding.suggest(Span::new(end, end), format!("\n        {rule}"))
        }
        _ => finding,
    }
}

fn loopback(context: &Context<'_>, flow: &Flow<'_>, target: &Endpoint) -> Option<Diagnostic> {
    let many = target.last_port.saturating_sub(target.first_port) >= MANY_PORTS;
    let reached = many && is_granted(context, flow, target.address);
    reached.then(|| {
        context.target(flow.rule, flow.index).found(|span| {
            Diagnostic::warning(
                Code::LoopbackBroad,
                span,
                "the run may connect to whatever listens on this machine",
            )
            .label("databases, debuggers and admin pages on loopback often ask for no password")
            .help("name the ports that the task uses, as in `\"127.0.0.1:3000-3999\"`")
        })
    })
}

fn any_resolver(context: &Context<'_>, flow: &Flow<'_>) -> Diagnostic {
    context.target(flow.rule, flow.index).found(|span| {
        Diagnostic::warning(
            Code::AnyResolver,
            span,
            "the run may ask any resolver for any name",
        )
        .label("a name that is asked for carries data to whoever answers")
        .help("grant port 53 of the resolver that this machine uses, and no other")
    })
}
