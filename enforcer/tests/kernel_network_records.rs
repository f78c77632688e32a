//! Records of a run: complete, its own, and counted when the ring is full.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "support/network.rs"]
mod support;

use std::os::unix::ffi::OsStrExt;

use ebpf::layout::EventKind;
use enforcer::bpf::Record;
use support::{RECORD_ALL, Rules, Scene};

const PROBE: &str = env!("CARGO_BIN_EXE_network-probe");

#[test]
fn a_record_names_its_process() {
    let mut scene = Scene::new(&Rules::new().build());
    let before = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let before = std::time::Duration::try_from(before).unwrap();
    scene.expect("connect udp 127.0.0.1:1", "EPERM");
    let records = scene.records();
    let [Record::Network { process, .. }] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!(
        (process.pid, process.tid, process.uid),
        (scene.agent.id(), scene.agent.id(), 0)
    );
    assert_eq!(process.comm, "network-probe");
    assert_eq!(process.cgroup, scene.run.cgroup());
    assert!(u128::from(process.time_ns) >= before.as_nanos());
}

#[test]
fn starts_forks_and_exits_are_recorded_in_order() {
    let mut scene = Scene::new(&Rules::new().build());
    scene.expect(&format!("run {PROBE} exit 7"), "ok 7");
    let agent = scene.agent.id();
    let records = scene.records();
    let [
        Record::Fork {
            process: parent,
            child,
        },
        Record::Exec {
            process: started,
            parent: of,
            path,
        },
        Record::Exit {
            process: ended,
            status,
        },
    ] = &records[..]
    else {
        panic!("{records:#?}");
    };
    assert_eq!((parent.pid, *of), (agent, agent));
    assert_eq!((started.pid, ended.pid), (*child, *child));
    assert_eq!(path, PROBE.as_bytes());
    assert_eq!(*status, 7 << 8);
    assert!(parent.time_ns <= started.time_ns && started.time_ns <= ended.time_ns);
}

#[test]
fn only_the_runs_own_processes_are_recorded() {
    let mut scene = Scene::new(&Rules::new().build());
    assert_eq!(scene.world.ask(&format!("run {PROBE} exit 3")), "ok 3");
    std::process::Command::new("true").status().unwrap();
    let (path, _) = scene.place.cgroup("stranger");
    let mut stranger = support::enter(&scene.world, &path);
    // It cannot open /dev/null for a child, so it asks for what needs none.
    stranger.ask("connect udp 127.0.0.1:1");
    drop(stranger);
    assert_eq!(scene.records(), []);
    assert_eq!(scene.run.counters().unwrap().seen, [0; 8]);
}

#[test]
fn a_path_of_any_length_and_bytes_is_whole() {
    let mut scene = Scene::new(&Rules::new().build());
    let root = tempfile::tempdir().unwrap();
    let mut directory = root.path().to_owned();
    // The kernel takes 4,095 bytes; components 255.
    while directory.as_os_str().len() < 3800 {
        directory.push("d".repeat(200));
    }
    let rest = 4095 - directory.as_os_str().len() - 1;
    let long = directory.join("x".repeat(rest.min(255)));
    // Too long to be made in one call.
    let mut at = rustix::fs::open(root.path(), rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
    for part in directory.strip_prefix(root.path()).unwrap() {
        rustix::fs::mkdirat(&at, part, 0o755.into()).unwrap();
        at = rustix::fs::openat(&at, part, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
    }
    std::os::unix::fs::symlink(PROBE, &long).unwrap();
    let odd = root.path().join("new\nline\"quote");
    std::os::unix::fs::symlink(PROBE, &odd).unwrap();

    scene.expect(&format!("run {} exit 0", long.display()), "ok 0");
    let encoded = odd.to_str().unwrap().replace('\n', "%0A");
    scene.expect(&format!("run {encoded} exit 0"), "ok 0");
    let records = scene.records();
    let paths = records.iter().filter_map(|record| match record {
        Record::Exec { path, .. } => Some(path),
        _ => None,
    });
    assert_eq!(
        paths.collect::<Vec<_>>(),
        [long.as_os_str().as_bytes(), odd.as_os_str().as_bytes()]
    );
}

#[test]
fn a_full_ring_loses_nothing_uncounted() {
    let mut scene = Scene::with(&Rules::new().build(), RECORD_ALL, 1 << 16);
    let asked = 5000;
    scene.expect(&format!("flood {asked} 127.0.0.1:9"), &format!("ok {asked}"));
    let delivered = u64::try_from(scene.decisions().len()).unwrap();
    let counters = scene.run.counters().unwrap();
    let kind = EventKind::Network as usize;
    assert_eq!(counters.seen[kind], asked);
    assert!(counters.lost[kind] > 0);
    assert_eq!(delivered + counters.lost[kind], asked);
    // Room again.
    scene.expect("connect udp 127.0.0.1:9", "EPERM");
    assert_eq!(scene.decisions().len(), 1);
    let counters = scene.run.counters().unwrap();
    assert_eq!(delivered + 1 + counters.lost[kind], counters.seen[kind]);
}

/// Edge-triggered, as an event loop waits: a wake-up that the kernel does not send is never made up for.
#[test]
fn a_reader_that_waits_is_woken() {
    use rustix::event::{Timespec, epoll};
    // Room for all of them, however slow the reader is.
    let mut scene = Scene::with(&Rules::new().build(), RECORD_ALL, 4 << 20);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
    epoll::add(&epoll, scene.run.ring(), epoll::EventData::new_u64(0), flags).unwrap();
    let patience = Timespec {
        tv_sec: 5,
        tv_nsec: 0,
    };
    scene.agent.begin("flood 20000 127.0.0.1:9");
    let (mut read, mut woken) = (0, 0);
    while read < 20_000 {
        let mut events = Vec::with_capacity(1);
        epoll::wait(
            &epoll,
            rustix::buffer::spare_capacity(&mut events),
            Some(&patience),
        )
        .unwrap();
        assert_eq!(events.len(), 1, "woken after {read} records");
        woken += 1;
        while let Some(record) = scene.run.ring().next() {
            record.unwrap();
            read += 1;
        }
        let lost = scene.run.counters().unwrap().lost[EventKind::Network as usize];
        assert_eq!(lost, 0);
    }
    println!("woken {woken} times for {read} records");
    assert_eq!(scene.agent.answer(), "ok 20000");
}

#[test]
fn only_ordinary_devices_are_opened_and_none_is_made() {
    let mut scene = Scene::new(&Rules::new().build());
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    for (name, major, minor, answer) in [
        ("null", 1, 3, "ok"),
        ("zero", 1, 5, "ok"),
        ("random", 1, 8, "ok"),
        ("urandom", 1, 9, "ok"),
        ("mem", 1, 1, "EPERM"),
        ("port", 1, 4, "EPERM"),
        ("kmsg", 1, 11, "EPERM"),
        ("fuse", 10, 229, "EPERM"),
        ("tun", 10, 200, "EPERM"),
        ("console", 5, 1, "EPERM"),
        ("tty0", 4, 0, "EPERM"),
    ] {
        let made = scene.world.ask(&format!("node {} {major} {minor}", path(name)));
        assert_eq!(made, "ok");
        scene.expect(&format!("open {}", path(name)), answer);
        let records = scene.records();
        match &records[..] {
            [] => assert_eq!(answer, "ok", "{name}"),
            [
                Record::Device {
                    block: false,
                    major: found,
                    access: 6,
                    ..
                },
            ] => {
                assert_eq!((answer, *found), ("EPERM", major), "{name}");
            }
            _ => panic!("{name}: {records:?}"),
        }
    }
    scene.expect(&format!("node {} 1 3", path("new")), "EPERM");
    assert!(matches!(
        scene.records()[..],
        [Record::Device {
            access: 1,
            major: 1,
            minor: 3,
            ..
        }]
    ));
}

#[test]
fn kernel_settings_are_read_but_not_written() {
    let mut scene = Scene::new(&Rules::new().build());
    scene.expect("read /proc/sys/kernel/ostype", "ok Linux");
    // The world's own network namespace: root may write it.
    let setting = "/proc/sys/net/ipv4/ip_default_ttl";
    assert_eq!(scene.world.ask(&format!("write {setting} 63")), "ok");
    scene.expect(&format!("write {setting} 62"), "EPERM");
    assert_eq!(scene.world.ask(&format!("read {setting}")), "ok 63");
    let records = scene.records();
    assert!(
        matches!(&records[..], [Record::Sysctl { name, .. }] if name == "net/ipv4/ip_default_ttl"),
        "{records:?}"
    );
}
