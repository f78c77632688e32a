//! A run without a launcher: an instance of its own, tables in a cgroup, a network namespace in which every address
//! is the machine's own, and a probe in each. Nothing of it is left when the value is dropped.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{BufRead, BufReader, Write};
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use artifact::network::{NetworkTables, PortInterval, PrefixEntry, Protocol, Verb, network, order, slot};
use artifact::process::RecordOptions;
use artifact::{Effect, RuleId};
use enforcer::Instance;
use enforcer::bpf::{self, CgroupId, Host, NetworkRecord, Record, RunTables};

pub(crate) const RECORD_ALL: RecordOptions = RecordOptions {
    read: false,
    write: false,
    exec: true,
    connect: true,
    bind: true,
};
pub(crate) const RECORD_NONE: RecordOptions = RecordOptions {
    read: false,
    write: false,
    exec: false,
    connect: false,
    bind: false,
};

/// A probe process that answers one line with one line.
pub(crate) struct Probe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Probe {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_network-probe"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut probe = Self { child, input, output };
        assert_eq!(probe.answer(), "ok ready", "{arguments:?}");
        probe
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks without waiting for the answer.
    pub(crate) fn begin(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
        self.input.flush().unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.begin(line);
        self.answer()
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An instance that is taken off the host again.
pub(crate) struct Place {
    pub(crate) instance: Instance,
}

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let instance = Instance::new(&format!("t-net-{}-{number}", std::process::id())).unwrap();
        drop(instance.enter().unwrap());
        Self { instance }
    }

    pub(crate) fn cgroup(&self, name: &str) -> (PathBuf, CgroupId) {
        let path = self.instance.cgroup().join(name);
        std::fs::create_dir(&path).unwrap();
        let id = std::fs::metadata(&path).unwrap().ino();
        (path, CgroupId(id))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = bpf::unload(&self.instance) {
            eprintln!("unload: {error}");
        }
        remove_cgroups(&self.instance.cgroup());
        let _ = std::fs::remove_dir_all(self.instance.state_dir());
    }
}

fn remove_cgroups(path: &std::path::Path) {
    if let Ok(entries) = std::fs::read_dir(path) {
        for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
            remove_cgroups(&entry.path());
        }
    }
    // A process that was just killed may still be leaving.
    let end = Instant::now() + Duration::from_secs(2);
    while std::fs::remove_dir(path).is_err() && path.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A run and its world. Fields drop in order: processes, tables, then the instance.
pub(crate) struct Scene {
    pub(crate) agent: Probe,
    pub(crate) world: Probe,
    pub(crate) run: RunTables,
    pub(crate) host: Host,
    pub(crate) cgroup: PathBuf,
    pub(crate) place: Place,
}

impl Scene {
    pub(crate) fn new(tables: &NetworkTables) -> Self {
        Self::with(tables, RECORD_ALL, 1 << 20)
    }

    pub(crate) fn with(tables: &NetworkTables, record: RecordOptions, ring_bytes: u32) -> Self {
        let place = Place::new();
        let host =
            Host::open_or_load_with(&place.instance, ring_bytes).unwrap_or_else(|error| panic!("{error:#?}"));
        let (cgroup, id) = place.cgroup("run");
        let run = host.install(id, tables, record).unwrap();
        let world = world();
        let agent = enter(&world, &cgroup);
        Self {
            agent,
            world,
            run,
            host,
            cgroup,
            place,
        }
    }

    /// Listeners on each of the ports, TCP and UDP, on every address.
    pub(crate) fn serve(&mut self, ports: &[u16]) {
        for port in ports {
            for protocol in ["tcp", "udp"] {
                let answer = self.world.ask(&format!("serve {protocol} [::]:{port}"));
                assert_eq!(answer, format!("ok {port}"));
            }
        }
    }

    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.agent.ask(line)
    }

    #[track_caller]
    pub(crate) fn expect(&mut self, line: &str, answer: &str) {
        assert_eq!(self.agent.ask(line), answer, "{line}");
    }

    /// Everything recorded so far.
    pub(crate) fn records(&mut self) -> Vec<Record> {
        let mut records = Vec::new();
        while let Some(record) = self.run.ring().next() {
            records.push(record.unwrap());
        }
        records
    }

    pub(crate) fn decisions(&mut self) -> Vec<NetworkRecord> {
        self.records()
            .into_iter()
            .filter_map(|record| match record {
                Record::Network { decision, .. } => Some(decision),
                _ => None,
            })
            .collect()
    }
}

/// A network namespace in which every address is the machine's own.
pub(crate) fn world() -> Probe {
    Probe::start(&["world"])
}

/// A supervisor that has just installed one prefix and one port for a cgroup.
pub(crate) fn supervisor(instance: &Instance, cgroup: CgroupId) -> Probe {
    Probe::start(&["supervisor", instance.name(), &cgroup.0.to_string()])
}

/// A probe in the world's network and in a cgroup.
pub(crate) fn enter(world: &Probe, cgroup: &std::path::Path) -> Probe {
    Probe::start(&["agent", &world.id().to_string(), cgroup.to_str().unwrap()])
}

/// Tables written by hand: each prefix names the intervals of each slot.
#[derive(Default)]
pub(crate) struct Rules {
    tables: NetworkTables,
}

impl Rules {
    pub(crate) fn new() -> Self {
        let mut rules = Self::default();
        rules.tables.port_lists.push(Vec::new());
        rules
    }

    /// Adds what a prefix decides for one protocol and verb: ports, effect and rule.
    pub(crate) fn add(
        mut self,
        protocol: Protocol,
        verb: Verb,
        prefix: &str,
        intervals: &[(u16, u16, Effect, u32)],
    ) -> Self {
        let (address, prefix_len) = prefix.split_once('/').unwrap();
        let prefix_len = prefix_len.parse().unwrap();
        let address = network(address.parse::<IpAddr>().unwrap(), prefix_len);
        let list = intervals
            .iter()
            .map(|&(first, last, effect, rule)| PortInterval {
                first,
                last,
                effect,
                rule: RuleId(rule),
            })
            .collect();
        self.tables.port_lists.push(list);
        let number = u32::try_from(self.tables.port_lists.len() - 1).unwrap();
        let prefixes = &mut self.tables.prefixes;
        let at = prefixes.binary_search_by_key(&order(address, prefix_len), |entry| {
            order(entry.address, entry.prefix_len)
        });
        let at = at.unwrap_or_else(|at| {
            prefixes.insert(
                at,
                PrefixEntry {
                    address,
                    prefix_len,
                    lists: [0; 4],
                },
            );
            at
        });
        prefixes[at].lists[slot(protocol, verb)] = number;
        self
    }

    pub(crate) fn allow(
        self,
        protocol: Protocol,
        verb: Verb,
        prefix: &str,
        first: u16,
        last: u16,
        rule: u32,
    ) -> Self {
        self.add(protocol, verb, prefix, &[(first, last, Effect::Allow, rule)])
    }

    pub(crate) fn build(self) -> NetworkTables {
        self.tables
    }
}
