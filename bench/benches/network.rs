//! What the network programs cost a loopback TCP connection, and how fast records leave a run's ring.
//!
//! Needs root. Everything alternates within one run, client after client in short batches, and medians of batches
//! are compared: two figures from two runs of a busy machine say nothing about each other.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark: what fails here is to be seen"
)]

#[path = "network/client.rs"]
mod client;
#[path = "network/place.rs"]
mod place;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use artifact::network::{NetworkTables, PortInterval, PrefixEntry, network, order};
use artifact::process::RecordOptions;
use artifact::{Effect, RuleId};
use ebpf::layout::EventKind;
use enforcer::bpf::Host;

use client::Client;
use place::Place;

const PREFIXES: u32 = 10_000;
/// As many rules as there are lengths of prefixes, so that no prefix decides like one that it is inside of.
const RULES: u32 = 17;
const ROUNDS: usize = 300;
const BATCH: u32 = 100;

const QUIET: RecordOptions = RecordOptions {
    exec: false,
    connect: false,
    bind: false,
    read: false,
    write: false,
};
const RECORDED: RecordOptions = RecordOptions {
    exec: false,
    connect: true,
    bind: false,
    read: false,
    write: false,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "client") {
        return client::main(&arguments[2]);
    }
    if !rustix::process::getuid().is_root() {
        println!("skipped: the network benchmarks need root");
        return;
    }
    let wanted = |what: &str| {
        let named = |word: &String| word == "connections" || word == "records";
        arguments.iter().any(|word| word == what) || !arguments.iter().any(named)
    };
    if wanted("connections") {
        for rules in [RULES, PREFIXES] {
            for destinations in [1, 100, PREFIXES] {
                connections(rules, destinations);
            }
        }
    }
    if wanted("records") {
        records();
    }
}

/// Prefixes of 16 to 32 bits in 127.0.0.0/8, many inside each other, each in one of so many rules for one port.
fn tables(port: u16, rules: u32) -> NetworkTables {
    // Each of the addresses is in one; as many are added as fall together.
    let mut prefixes = BTreeMap::new();
    let wanted = usize::try_from(PREFIXES).unwrap();
    for number in 0..PREFIXES {
        add(&mut prefixes, number);
    }
    for number in PREFIXES.. {
        if prefixes.len() == wanted {
            break;
        }
        add(&mut prefixes, number);
    }
    let list = |rule| PortInterval {
        first: port,
        last: port,
        effect: Effect::Allow,
        rule: RuleId(rule),
    };
    let mut tables = NetworkTables {
        port_lists: vec![Vec::new()],
        ..NetworkTables::default()
    };
    tables.port_lists.extend((1..=rules).map(|rule| vec![list(rule)]));
    for (number, (address, prefix_len)) in (0..).zip(prefixes.into_values()) {
        let rule = if rules == RULES {
            u32::from(prefix_len) - 15
        } else {
            number % rules + 1
        };
        tables.prefixes.push(PrefixEntry {
            address,
            prefix_len,
            lists: [rule, 0, 0, 0],
        });
    }
    tables
}

fn add(prefixes: &mut BTreeMap<(bool, u8, IpAddr), (IpAddr, u8)>, number: u32) {
    let prefix_len = 16 + u8::try_from(number % 17).unwrap();
    let address = network(client::address(number).into(), prefix_len);
    prefixes.insert(order(address, prefix_len), (address, prefix_len));
}

/// To so many different addresses in turn: with few of them what decides is in the processor's cache, as it is for
/// a program that talks to a few hosts; with all of them every look-up goes to memory.
fn connections(rules: u32, destinations: u32) {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    // A longer queue: a connection that finds it full tries again a second later.
    rustix::net::listen(&listener, 4096).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        client::pin(0);
        for _ in listener.incoming() {}
    });
    let tables = tables(port, rules);
    println!(
        "TCP connections over loopback to {destinations} addresses, {} prefixes in {rules} rules, {ROUNDS} rounds of {BATCH}",
        tables.prefixes.len()
    );

    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    let (quiet, quiet_id) = place.cgroup("quiet");
    let (recorded, recorded_id) = place.cgroup("recorded");
    let _quiet = host.install(quiet_id, &tables, QUIET).unwrap();
    let mut ring = host.install(recorded_id, &tables, RECORDED).unwrap();
    let mut clients = [
        Client::start(&place.outside()),
        Client::start(&quiet),
        Client::start(&recorded),
    ];
    let mut times: [Vec<(u64, u64)>; 3] = Default::default();
    let mut read = 0_u64;
    for round in 0..ROUNDS {
        // The order changes, so that none always follows the same one.
        for turn in 0..clients.len() {
            let which = (turn + round) % clients.len();
            times[which].push(clients[which].connect(port, BATCH, destinations));
            while let Some(record) = ring.ring().next() {
                record.unwrap();
                read += 1;
            }
        }
    }
    let counters = ring.counters().unwrap();
    let kind = EventKind::Network as usize;
    assert_eq!((counters.seen[kind], counters.lost[kind]), (read, 0));
    assert_eq!(read, u64::try_from(ROUNDS).unwrap() * u64::from(BATCH));
    type Part = fn(&(u64, u64)) -> u64;
    let parts: [(&str, Part); 2] = [
        ("connect(2)", |time| time.0),
        ("socket, connect, close", |time| time.1),
    ];
    for (name, part) in parts {
        println!(
            "  {name}: {} ns without a policy",
            median(times[0].iter().map(part))
        );
        for (which, what, most) in [(1, "unrecorded", 5.0), (2, "recorded", 10.0)] {
            let with = median(times[which].iter().map(part));
            // Each batch is compared with the bare one of its own round.
            let permille = times[0]
                .iter()
                .zip(&times[which])
                .map(|(bare, with)| part(with) * 100_000 / part(bare));
            let percent = median(permille) as f64 / 1000.0 - 100.0;
            println!("    {what}: {with} ns, {percent:+.1}% (aim: at most {most}%)");
        }
    }
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values[values.len() / 2]
}

/// Two processes are refused as fast as they can ask, while one thread reads.
fn records() {
    use rustix::event::{PollFd, PollFlags, poll};
    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    let (cgroup, id) = place.cgroup("run");
    let mut run = host.install(id, &NetworkTables::default(), RECORDED).unwrap();
    let mut clients = [Client::start(&cgroup), Client::start(&cgroup)];
    for (what, rate) in [
        ("250,000 asked for a second", 125_000_u32),
        ("as many as two processes can make", u32::MAX),
    ] {
        let each = 600_000;
        let before = run.counters().unwrap();
        for client in &mut clients {
            client.begin_flood(each, rate);
        }
        let start = Instant::now();
        let (mut read, mut idle) = (0_u64, 0);
        let patience = rustix::time::Timespec {
            tv_sec: 0,
            tv_nsec: 200_000_000,
        };
        let mut last = start;
        while idle < 2 {
            while let Some(record) = run.ring().next() {
                record.unwrap();
                read += 1;
                last = Instant::now();
            }
            let ready = poll(&mut [PollFd::new(run.ring(), PollFlags::IN)], Some(&patience)).unwrap();
            idle = if ready == 0 { idle + 1 } else { 0 };
        }
        let took = last.duration_since(start).max(Duration::from_nanos(1));
        for client in &mut clients {
            client.end_flood();
        }
        let after = run.counters().unwrap();
        let kind = EventKind::Network as usize;
        let lost = after.lost[kind] - before.lost[kind];
        assert_eq!(read + lost, after.seen[kind] - before.seen[kind]);
        println!(
            "records, {what}: {read} read and {lost} lost in {took:.2?}, {:.0} read for each second (aim: 200000, none lost)",
            read as f64 / took.as_secs_f64()
        );
    }
}
