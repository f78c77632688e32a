//! A program that does one network access for each line on its standard input, and answers with a line: `ok …` or
//! the name of the error. `network-probe world` makes a network namespace in which every address is this
//! machine's; `network-probe agent PID CGROUP` enters the namespace of a world and a cgroup; `network-probe
//! supervisor INSTANCE ID` is a supervisor to kill.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "part of the tests: a panic here is a failed test"
)]

mod access;
mod serve;
mod sys;

use std::io::{BufRead, Write};
use std::process::Command;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["world"] => world(),
        ["agent", pid, cgroup] => {
            sys::enter_network_of(pid.parse().unwrap()).expect("enter the network namespace");
            std::fs::write(format!("{cgroup}/cgroup.procs"), "0").expect("enter the cgroup");
        }
        ["supervisor", instance, cgroup] => return supervisor(instance, cgroup.parse().unwrap()),
        ["exit", code] => std::process::exit(code.parse().unwrap()),
        _ => panic!("network-probe world | agent PID CGROUP | supervisor INSTANCE ID | exit CODE"),
    }
    println!("ok ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match access::perform(&words) {
            Ok(answer) => format!("ok {answer}"),
            Err(error) => name(&error),
        };
        println!("{}", answer.trim_end());
        std::io::stdout().flush().unwrap();
    }
}

/// Installs a policy of one prefix for a cgroup and waits to be killed.
fn supervisor(instance: &str, cgroup: u64) {
    use artifact::network::{NetworkTables, PortInterval, PrefixEntry};
    let interval = PortInterval {
        first: 80,
        last: 80,
        effect: artifact::Effect::Allow,
        rule: artifact::RuleId(1),
    };
    let tables = NetworkTables {
        prefixes: vec![PrefixEntry {
            address: [127, 0, 0, 1].into(),
            prefix_len: 32,
            lists: [1, 0, 0, 0],
        }],
        port_lists: vec![Vec::new(), vec![interval]],
        ..NetworkTables::default()
    };
    let record = artifact::process::RecordOptions {
        exec: true,
        connect: true,
        bind: true,
        ..Default::default()
    };
    let instance = enforcer::Instance::new(instance).unwrap();
    let host = enforcer::bpf::Host::open(&instance).unwrap();
    let _run = host
        .install(enforcer::bpf::CgroupId(cgroup), &tables, record)
        .unwrap();
    println!("ok ready");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

fn world() {
    sys::enter_new_network().expect("make a network namespace");
    for arguments in [
        "link set lo up",
        "route add local 0.0.0.0/0 dev lo",
        "-6 route add local ::/0 dev lo",
    ] {
        let status = Command::new("ip")
            .args(arguments.split(' '))
            .status()
            .expect("ip is there (package iproute2)");
        assert!(status.success(), "ip {arguments}: {status}");
    }
}

fn name(error: &std::io::Error) -> String {
    let Some(number) = error.raw_os_error() else {
        return format!("error {error}");
    };
    let names = [
        (libc::EPERM, "EPERM"),
        (libc::EACCES, "EACCES"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::ETIMEDOUT, "ETIMEDOUT"),
        (libc::EADDRINUSE, "EADDRINUSE"),
        (libc::ENETUNREACH, "ENETUNREACH"),
        (libc::EINPROGRESS, "EINPROGRESS"),
        (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
        (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
        (libc::ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
        (libc::EINVAL, "EINVAL"),
    ];
    names
        .iter()
        .find(|(value, _)| *value == number)
        .map_or_else(|| format!("errno {number}"), |(_, name)| (*name).to_owned())
}
