//! Model equals kernel, for addresses: random rules, and what a program in the run may connect to, bind and send to.
//!
//! No packet leaves the machine: TCP connects and datagrams go to loopback, and at other addresses UDP sockets are
//! connected, which sends nothing, or sockets are bound.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;
#[path = "common/sampled.rs"]
mod sampled;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use host::{Host, host};
use policy_lang::policy::{Effect, Policy, Protocol, Verb};
use policy_lang::reference::{Access, decide, judged_as};
use sampled::{Disagreements, Random, as_recorded, recorded};
use serde_json::{Value, json};

const PREFIXES: [&str; 15] = [
    "*",
    "0.0.0.0/0",
    "127.0.0.0/8",
    "127.1.0.0/16",
    "127.1.2.0/24",
    "127.1.2.3",
    "127.1.2.4/31",
    "127.0.0.1",
    "198.51.100.0/24",
    "198.51.100.7",
    "[::]/0",
    "[::1]",
    "[2001:db8::]/32",
    "[2001:db8:0:1::]/64",
    "[2001:db8::1]",
];

const LOOPBACK: [Ipv4Addr; 9] = [
    Ipv4Addr::new(127, 0, 0, 1),
    Ipv4Addr::new(127, 0, 255, 255),
    Ipv4Addr::new(127, 1, 0, 0),
    Ipv4Addr::new(127, 1, 2, 2),
    Ipv4Addr::new(127, 1, 2, 3),
    Ipv4Addr::new(127, 1, 2, 4),
    Ipv4Addr::new(127, 1, 2, 5),
    Ipv4Addr::new(127, 1, 2, 6),
    Ipv4Addr::new(127, 2, 0, 1),
];

const ELSEWHERE: [IpAddr; 9] = [
    IpAddr::V4(Ipv4Addr::new(198, 51, 99, 255)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 0)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 255)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 101, 0)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 9)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb9, 0, 0, 0, 0, 0, 1)),
];

/// Above those for which binding needs a privilege, which a run never has.
const PORTS: [u16; 9] = [1024, 2999, 3000, 3500, 3999, 4000, 8080, 65534, 65535];
const RANGES: [&str; 8] = [
    "*",
    "1024",
    "3000-3999",
    "3500",
    "3500-8080",
    "8080",
    "65535",
    "0-2999",
];

fn rules(random: &mut Random) -> String {
    let mut text = String::new();
    for index in 0..2 + random.below(8) {
        let effect = *random.pick(&["allow", "allow", "allow", "deny", "deny", "forbid"]);
        let mut words = Vec::new();
        if random.chance(80) {
            words.push(*random.pick(&["connect", "bind", "connect, bind"]));
        }
        if random.chance(70) {
            words.push(*random.pick(&["tcp", "udp", "tcp, udp"]));
        }
        let targets: Vec<String> = (0..=random.below(2))
            .map(|_| format!("\"{}:{}\"", random.pick(&PREFIXES), random.pick(&RANGES)))
            .collect();
        text += &format!(
            "{effect} {} {} label \"r{index}\"\n",
            words.join(" "),
            targets.join(", ")
        );
    }
    text
}

struct Attempt {
    request: Value,
    verb: Verb,
    protocol: Protocol,
    address: IpAddr,
    port: u16,
}

impl Attempt {
    fn access(&self, address: IpAddr) -> Access {
        Access::Network {
            verb: self.verb,
            protocol: self.protocol,
            address,
            port: self.port,
        }
    }
}

/// The ways to write an IPv4 address.
fn written(random: &mut Random, address: Ipv4Addr) -> IpAddr {
    let bits = u128::from(address.to_bits());
    match random.below(3) {
        0 => Ipv6Addr::from_bits(0xffff << 32 | bits).into(),
        _ => address.into(),
    }
}

fn attempt(random: &mut Random) -> Attempt {
    let verb = *random.pick(&[Verb::Connect, Verb::Connect, Verb::Bind]);
    let mut protocol = *random.pick(&[Protocol::Tcp, Protocol::Udp]);
    let mut port = *random.pick(&PORTS);
    let mut local = true;
    let address = match random.below(12) {
        0 => IpAddr::V6(Ipv6Addr::LOCALHOST),
        1 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        2 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        3 => {
            // Translators' forms of a loopback address: routed like any other, so nothing may be sent to them.
            local = false;
            let bits = u128::from(random.pick(&LOOPBACK).to_bits());
            let forms = [0x64_ff9b << 96 | bits, 0x2002 << 112 | bits << 80 | 1];
            IpAddr::V6(Ipv6Addr::from_bits(*random.pick(&forms)))
        }
        4 | 5 => {
            local = false;
            *random.pick(&ELSEWHERE)
        }
        _ => {
            let address = *random.pick(&LOOPBACK);
            written(random, address)
        }
    };
    if verb == Verb::Bind && random.chance(10) {
        port = 0;
    }
    if verb == Verb::Connect && !local {
        protocol = Protocol::Udp;
    }
    let name = if protocol == Protocol::Tcp { "tcp" } else { "udp" };
    let request = match verb {
        Verb::Bind => json!(["bind", name, address, port]),
        Verb::Connect if local && protocol == Protocol::Udp && random.chance(50) => {
            json!(["send", address, port])
        }
        Verb::Connect => json!(["connect", name, address, port]),
    };
    Attempt {
        request,
        verb,
        protocol,
        address,
        port,
    }
}

/// The event's view of a decision, or of what a socket address says.
fn is_about(attempt: &Attempt, event: &Value) -> bool {
    let details = &event["details"];
    let verb = if attempt.verb == Verb::Bind {
        "bind"
    } else {
        "connect"
    };
    let protocol = if attempt.protocol == Protocol::Tcp {
        "tcp"
    } else {
        "udp"
    };
    let judged = judged_as(attempt.verb, attempt.address);
    let address = details["address"]
        .as_str()
        .and_then(|text| text.parse::<IpAddr>().ok());
    details["verb"] == verb
        && details["protocol"] == protocol
        && details["port"] == attempt.port
        && match address {
            Some(address) => judged_as(attempt.verb, address) == judged,
            // Landlock's record of an unspecified address has none, and no family.
            None => event["mechanism"] == "landlock-net" && attempt.address.is_unspecified(),
        }
}

/// How refusals may be recorded: where the record has no family, the stricter one's.
fn refusals(policy: &Policy, attempt: &Attempt) -> Vec<(u64, &'static str)> {
    let decided = |address| as_recorded(decide(policy, &attempt.access(address)));
    if attempt.address.is_unspecified() && attempt.protocol == Protocol::Tcp {
        vec![
            decided(Ipv4Addr::UNSPECIFIED.into()),
            decided(Ipv6Addr::UNSPECIFIED.into()),
        ]
    } else {
        vec![decided(attempt.address)]
    }
}

fn judge(
    policy: &Policy,
    attempt: &Attempt,
    said: &str,
    events: &mut Vec<Value>,
    recorded_too: bool,
    wrong: &mut Disagreements,
) -> bool {
    let decision = decide(policy, &attempt.access(attempt.address));
    let allowed = decision.effect == Effect::Allow;
    let passed = matches!(
        said,
        "done"
            | "ECONNREFUSED"
            | "EADDRINUSE"
            | "EADDRNOTAVAIL"
            | "ENETUNREACH"
            | "EHOSTUNREACH"
            | "EAFNOSUPPORT"
    );
    if passed != allowed || !passed && !matches!(said, "EPERM" | "EACCES") {
        wrong.add(format!("{}: kernel {said}, model {decision:?}", attempt.request));
        return allowed;
    }
    if allowed && !recorded_too {
        return allowed;
    }
    let mechanism = if said == "EACCES" {
        "landlock-net"
    } else {
        "cgroup-bpf"
    };
    let expected = if allowed {
        vec![(u64::from(decision.rule.0), "allow")]
    } else {
        refusals(policy, attempt)
    };
    let found = events
        .iter()
        .position(|event| is_about(attempt, event) && expected.contains(&recorded(event)));
    match found {
        Some(at) => {
            let event = events.remove(at);
            if event["mechanism"] != mechanism {
                wrong.add(format!(
                    "{}: {said} by another mechanism: {event}",
                    attempt.request
                ));
            }
        }
        None => {
            let about: Vec<String> = events
                .iter()
                .filter(|event| is_about(attempt, event))
                .map(Value::to_string)
                .collect();
            wrong.add(format!(
                "{}: {said}, no event by {expected:?}; about it: {about:?}",
                attempt.request
            ));
        }
    }
    allowed
}

fn sample(host: &Host, seed: u64, beneath: &mut usize) -> (usize, usize) {
    let mut random = Random::new(seed);
    let recorded_too = random.chance(50);
    let record = if recorded_too {
        "audit { record denied, connect, bind }"
    } else {
        ""
    };
    let rest = format!("network {{\n{}}}\n{record}", rules(&mut random));
    let file = host.policy_of("", &rest);
    // Half of the policies have a ceiling, which takes away here and there.
    let layered = random.chance(50)
        && sampled::put_within(host, &file, || {
            let rules = sampled::relabelled(&rules(&mut random));
            format!(
                "filesystem {{ allow read, write, execute \"/\" }} network {{ allow \"*:*\"\n{rules} }}
                 credentials {{ pass \"*\" }} process {{ identity user allow syscall @system-service }}"
            )
        });
    *beneath += usize::from(layered);
    let policy = sampled::resolved(host, &file);
    let attempts: Vec<Attempt> = (0..150).map(|_| attempt(&mut random)).collect();
    let requests: Vec<Value> = attempts.iter().map(|attempt| attempt.request.clone()).collect();
    let said = sampled::probe(host, &file, &requests);
    let mut events: Vec<Value> = host
        .events()
        .into_iter()
        .filter(|event| event["kind"] == "network")
        .collect();
    let mut wrong = Disagreements::default();
    let mut counts = (0, 0);
    for (attempt, said) in attempts.iter().zip(&said) {
        let allowed = judge(&policy, attempt, said, &mut events, recorded_too, &mut wrong);
        counts.0 += usize::from(allowed);
        counts.1 += usize::from(!allowed);
    }
    for event in &events {
        wrong.add(format!("nobody did this: {event}"));
    }
    wrong.assert_none(Path::new(&file));
    counts
}

#[test]
fn the_kernel_decides_about_addresses_as_the_reference_does() {
    let Some(host) = host("sampled-network", &[]) else {
        return;
    };
    let mut total = (0, 0);
    let mut beneath = 0;
    sampled::seeds(24, |seed| {
        let (allowed, refused) = sample(&host, seed, &mut beneath);
        total = (total.0 + allowed, total.1 + refused);
    });
    println!(
        "{} allowed, {} refused; {beneath} policies beneath a ceiling",
        total.0, total.1
    );
    assert!(
        total.0 > 20 && total.1 > 20 && beneath > 4,
        "the samples mean something: {total:?}, {beneath} beneath a ceiling"
    );
}
