//! Loading once, pinning, filling, replacing and removing: what an instance keeps in the kernel.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "support/network.rs"]
mod support;

use std::time::{Duration, Instant};

use artifact::Effect;
use artifact::network::Protocol::{Tcp, Udp};
use artifact::network::Verb::{Bind, Connect};
use artifact::network::{NetworkTables, PrefixEntry};
use enforcer::bpf::{self, BpfError, CgroupId, Host};
use support::{Place, RECORD_ALL, Rules, Scene};

/// So many prefixes like 10.0.0.0/24, with room between them.
fn many(prefixes: u32) -> NetworkTables {
    let mut tables = Rules::new()
        .allow(Tcp, Connect, "127.0.0.1/32", 80, 80, 1)
        .build();
    let mut add = |number: u32| PrefixEntry {
        address: std::net::Ipv4Addr::from(0x0a00_0000 + number * 512).into(),
        prefix_len: 24,
        lists: [1, 0, 0, 0],
    };
    let rest = tables.prefixes.split_off(0);
    tables.prefixes = (0..prefixes).map(&mut add).chain(rest).collect();
    tables
}

#[test]
fn a_cgroup_that_is_no_run_is_refused_everything() {
    let everything = Rules::new()
        .allow(Tcp, Connect, "0.0.0.0/0", 0, 65535, 1)
        .allow(Udp, Connect, "0.0.0.0/0", 0, 65535, 1)
        .allow(Tcp, Bind, "0.0.0.0/0", 0, 65535, 1);
    let mut scene = Scene::new(&everything.build());
    scene.serve(&[80]);
    let (stranger, _) = scene.place.cgroup("stranger");
    let mut stranger = support::enter(&scene.world, &stranger);
    let mut parent = support::enter(&scene.world, &scene.place.instance.cgroup());
    for line in [
        "connect tcp 127.0.0.1:80",
        "connect tcp [::1]:80",
        "send to 127.0.0.1:80",
        "bind tcp 127.0.0.1:3000",
        &format!("socket {} {} 0", libc::AF_INET, libc::SOCK_STREAM),
        "open /dev/null",
        "read /proc/sys/kernel/ostype",
    ] {
        assert_eq!(stranger.ask(line), "EPERM", "{line}");
        assert_eq!(parent.ask(line), "EPERM", "{line}");
    }
    scene.expect("connect tcp 127.0.0.1:80", "ok");
    scene.expect("open /dev/null", "ok");
    scene.expect("read /proc/sys/kernel/ostype", "ok Linux");
}

#[test]
fn a_cgroup_below_a_run_is_the_run() {
    let rules = Rules::new().allow(Tcp, Connect, "127.0.0.1/32", 80, 80, 1);
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[80]);
    let below = scene.cgroup.join("below");
    std::fs::create_dir(&below).unwrap();
    let mut inner = support::enter(&scene.world, &below);
    assert_eq!(inner.ask("connect tcp 127.0.0.1:80"), "ok");
    assert_eq!(inner.ask("connect tcp 127.0.0.1:81"), "EPERM");
}

#[test]
fn runs_do_not_see_each_others_tables() {
    let first = Rules::new()
        .allow(Tcp, Connect, "127.0.0.1/32", 80, 80, 1)
        .build();
    let second = Rules::new()
        .allow(Tcp, Connect, "127.0.0.1/32", 81, 81, 1)
        .build();
    let mut scene = Scene::new(&first);
    scene.serve(&[80, 81]);
    let (path, id) = scene.place.cgroup("other");
    let other_run = scene.host.install(id, &second, RECORD_ALL).unwrap();
    let mut other = support::enter(&scene.world, &path);
    scene.expect("connect tcp 127.0.0.1:80", "ok");
    scene.expect("connect tcp 127.0.0.1:81", "EPERM");
    assert_eq!(other.ask("connect tcp 127.0.0.1:80"), "EPERM");
    assert_eq!(other.ask("connect tcp 127.0.0.1:81"), "ok");
    drop(other_run);
    assert_eq!(other.ask("connect tcp 127.0.0.1:81"), "EPERM");
    scene.expect("connect tcp 127.0.0.1:80", "ok");
}

#[test]
fn the_second_time_only_pins_are_opened() {
    let place = Place::new();
    drop(Host::open_or_load(&place.instance).unwrap());
    let links = || {
        let text = std::fs::read_dir(place.instance.bpf_dir()).unwrap();
        let mut names: Vec<_> = text.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let stamp = place.instance.state_dir().join("bpf.stamp");
    let (names, written) = (links(), std::fs::metadata(&stamp).unwrap().modified().unwrap());
    let times: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            drop(Host::open_or_load(&place.instance).unwrap());
            start.elapsed()
        })
        .collect();
    let best = times.iter().min().unwrap();
    println!("opening the pins took {best:?} at best");
    assert!(*best < Duration::from_millis(2), "{times:?}");
    assert_eq!(names, links());
    assert_eq!(written, std::fs::metadata(&stamp).unwrap().modified().unwrap());
}

#[test]
fn a_half_made_or_detached_state_is_made_again() {
    let place = Place::new();
    let directory = place.instance.bpf_dir();
    let stamp = place.instance.state_dir().join("bpf.stamp");
    drop(Host::open_or_load(&place.instance).unwrap());

    std::fs::remove_file(&stamp).unwrap();
    assert!(matches!(Host::open(&place.instance), Err(BpfError::NotLoaded)));
    drop(Host::open_or_load(&place.instance).unwrap());

    std::fs::remove_file(directory.join("link-connect4")).unwrap();
    assert!(matches!(Host::open(&place.instance), Err(BpfError::NotLoaded)));
    drop(Host::open_or_load(&place.instance).unwrap());

    // The cgroup goes and comes back: the pins are all there, attached to nothing.
    std::fs::remove_dir(place.instance.cgroup()).unwrap();
    std::fs::create_dir(place.instance.cgroup()).unwrap();
    assert!(matches!(Host::open(&place.instance), Err(BpfError::NotLoaded)));
    drop(Host::open_or_load(&place.instance).unwrap());
    drop(Host::open(&place.instance).unwrap());

    std::fs::write(&stamp, "object of another build").unwrap();
    assert!(matches!(Host::open(&place.instance), Err(BpfError::NotLoaded)));
    drop(Host::open_or_load(&place.instance).unwrap());
}

#[test]
fn what_runs_depend_on_is_not_unloaded_under_them() {
    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    assert!(matches!(
        bpf::unload(&place.instance),
        Err(BpfError::InUse { .. })
    ));
    drop(Host::open(&place.instance).unwrap());
    drop(host);
    bpf::unload(&place.instance).unwrap();
}

#[test]
fn unloading_leaves_nothing() {
    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    let (path, id) = place.cgroup("run");
    let run = host.install(id, &many(100), RECORD_ALL).unwrap();
    let mut world = support::world();
    assert_eq!(world.ask("serve tcp [::]:81"), "ok 81");
    let mut agent = support::enter(&world, &path);
    let probes = [
        "connect tcp 127.0.0.1:81",
        "connect udp [::1]:81",
        "bind tcp 127.0.0.1:3000",
        "bind udp [::1]:3000",
        "open /dev/kmsg",
    ];
    for probe in probes {
        assert_eq!(agent.ask(probe), "EPERM", "{probe}");
    }
    run.remove().unwrap();
    drop(host);
    bpf::unload(&place.instance).unwrap();
    // The process is in the cgroup still, and nothing judges it any more.
    for probe in probes {
        assert!(agent.ask(probe).starts_with("ok"), "{probe}");
    }
    assert!(!place.instance.bpf_dir().exists());
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(place.instance.name()));
    let mut left: Vec<_> = std::fs::read_dir(place.instance.state_dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("bpf") || name.contains("ring"))
        .collect();
    left.sort();
    assert!(left.is_empty(), "{left:?}");
    bpf::unload(&place.instance).unwrap();
}

#[test]
fn removing_a_run_empties_the_tables() {
    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    let (_, one) = place.cgroup("one");
    let (_, two) = place.cgroup("two");
    let mut first = host.install(one, &many(10_000), RECORD_ALL).unwrap();
    let large = host.nodes().unwrap();
    assert!(large > 1, "{large}");
    let second = host.install(two, &many(10), RECORD_ALL).unwrap();
    assert_eq!(host.nodes().unwrap(), large + 1);
    assert!(matches!(
        host.install(one, &many(1), RECORD_ALL),
        Err(BpfError::Exists(_))
    ));
    assert_eq!(host.nodes().unwrap(), large + 1);
    first.replace(&many(5), RECORD_ALL).unwrap();
    assert_eq!(host.nodes().unwrap(), 2);
    assert_eq!(host.cgroups().unwrap(), [one.min(two), one.max(two)]);
    drop(first);
    assert_eq!(host.nodes().unwrap(), 1);
    second.remove().unwrap();
    assert_eq!(host.nodes().unwrap(), 0);
    assert!(host.cgroups().unwrap().is_empty());
}

#[test]
fn what_a_killed_supervisor_left_is_forgotten() {
    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    let (_, killed) = place.cgroup("killed");
    let (_, alive) = place.cgroup("alive");
    let _run = host.install(alive, &many(1), RECORD_ALL).unwrap();
    // Dropping it kills it.
    drop(support::supervisor(&place.instance, killed));
    assert_eq!(host.nodes().unwrap(), 2);
    assert_eq!(host.cgroups().unwrap().len(), 2);
    host.forget(killed).unwrap();
    host.forget(CgroupId(1)).unwrap();
    assert_eq!(host.nodes().unwrap(), 1);
    assert_eq!(host.cgroups().unwrap(), [alive]);
}

#[test]
fn ten_thousand_prefixes_are_filled_fast() {
    let place = Place::new();
    let host = Host::open_or_load(&place.instance).unwrap();
    let (_, id) = place.cgroup("run");
    let tables = many(10_000);
    let start = Instant::now();
    let run = host.install(id, &tables, RECORD_ALL).unwrap();
    let filled = start.elapsed();
    run.remove().unwrap();
    println!(
        "10,000 prefixes: filled in {filled:?}, removed in {:?}",
        start.elapsed() - filled
    );
    assert!(filled < Duration::from_millis(500), "{filled:?}");
}

/// While the tables change to and fro, a process sees one policy or the other, never both or neither.
#[test]
fn replacing_is_atomic_under_load() {
    let one = Rules::new()
        .allow(Udp, Connect, "127.0.0.1/32", 7001, 7001, 1)
        .add(Udp, Connect, "127.0.0.2/32", &[(0, 65535, Effect::Deny, 9)])
        .build();
    let other = Rules::new()
        .allow(Udp, Connect, "127.0.0.2/32", 7002, 7002, 2)
        .add(Udp, Connect, "127.0.0.1/32", &[(0, 65535, Effect::Deny, 9)])
        .build();
    let mut scene = Scene::new(&one);
    scene.agent.begin("alternate 1500 127.0.0.1:7001 127.0.0.2:7002");
    let end = Instant::now() + Duration::from_millis(1300);
    let mut replaced = 0;
    while Instant::now() < end {
        scene.run.replace(&other, support::RECORD_NONE).unwrap();
        scene.run.replace(&one, support::RECORD_NONE).unwrap();
        replaced += 2;
    }
    let answer = scene.agent.answer();
    let counts: Vec<u64> = answer
        .split(' ')
        .skip(1)
        .map(|word| word.parse().unwrap())
        .collect();
    println!("{replaced} replacements; {answer}");
    assert!(counts[0] > 0 && counts[1] > 0, "{answer}");
    assert_eq!(counts[2..], [0, 0], "neither, both: {answer}");
    assert!(replaced > 10);
    assert_eq!(scene.host.nodes().unwrap(), 1);
}

#[test]
fn each_run_has_a_ring_of_its_own_and_slots_are_used_again() {
    let place = Place::new();
    let host = Host::open_or_load_with(&place.instance, 1 << 16).unwrap();
    let rings = || {
        std::fs::read_dir(place.instance.bpf_dir())
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .starts_with("ring-")
            })
            .count()
    };
    let ids: Vec<CgroupId> = (0..3)
        .map(|number| place.cgroup(&format!("run-{number}")).1)
        .collect();
    let tables = Rules::new().build();
    let runs: Vec<_> = ids
        .iter()
        .map(|id| host.install(*id, &tables, RECORD_ALL).unwrap())
        .collect();
    assert_eq!(rings(), 3);
    drop(runs);
    let _again = host.install(ids[2], &tables, RECORD_ALL).unwrap();
    assert_eq!(rings(), 3);
}
