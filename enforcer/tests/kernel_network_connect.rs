//! Connecting and sending, in the kernel: each way to name a destination, and each way to reach one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "support/network.rs"]
mod support;

use artifact::Effect;
use artifact::network::Protocol::{Tcp, Udp};
use artifact::network::Verb::Connect;
use ebpf::layout::NetworkHook;
use support::{Rules, Scene};

const UDP_WAYS: [&str; 5] = ["to", "message", "messages", "connected", "unspecified-family"];

#[test]
fn an_empty_policy_lets_nothing_out() {
    let mut scene = Scene::new(&Rules::new().build());
    scene.serve(&[80]);
    for to in ["127.0.0.1:80", "[::1]:80", "10.0.0.1:80", "[2001:db8::1]:80"] {
        scene.expect(&format!("connect tcp {to}"), "EPERM");
        scene.expect(&format!("connect udp {to}"), "EPERM");
        for way in ["to", "message", "messages"] {
            scene.expect(&format!("send {way} {to}"), "EPERM");
        }
    }
    assert_eq!(scene.world.ask("received"), "ok 0");
    let decisions = scene.decisions();
    assert_eq!(decisions.len(), 4 * 5);
    assert!(
        decisions
            .iter()
            .all(|decision| !decision.allowed && decision.rule == 0)
    );
}

#[test]
fn every_way_to_write_an_ipv4_address_is_judged_as_that_address() {
    let rules = Rules::new().allow(Tcp, Connect, "10.1.2.3/32", 80, 80, 5).allow(
        Udp,
        Connect,
        "10.1.2.3/32",
        80,
        80,
        6,
    );
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[80]);
    let forms = [
        "10.1.2.3:80",
        "[::ffff:10.1.2.3]:80",
        "[64:ff9b::10.1.2.3]:80",
        "[2002:a01:203::1]:80",
        "[2002:a01:203:ffff:1:2:3:4]:80",
    ];
    for form in forms {
        scene.expect(&format!("connect tcp {form}"), "ok");
        scene.expect(&format!("connect udp {form}"), "ok");
    }
    for decision in scene.decisions() {
        assert!(decision.allowed);
        assert_eq!(decision.rule, if decision.protocol == 6 { 5 } else { 6 });
        assert_eq!(decision.address, Some("10.1.2.3".parse().unwrap()));
        assert_eq!((decision.family, decision.port), (4, 80));
    }
    for form in [
        "10.1.2.4:80",
        "[::ffff:10.1.2.4]:80",
        "[64:ff9b::10.1.2.4]:80",
        "[2002:a01:204::1]:80",
        // Neither is a form of it.
        "[::10.1.2.3]:80",
        "[64:ff9b:1::10.1.2.3]:80",
        "[2003:a01:203::1]:80",
    ] {
        scene.expect(&format!("connect tcp {form}"), "EPERM");
        scene.expect(&format!("send to {form}"), "EPERM");
    }
}

#[test]
fn metadata_addresses_are_refused_in_all_their_forms() {
    let floor = |rules: Rules, prefix| {
        let all = [(0, 65535, Effect::Forbid, 1)];
        rules
            .add(Tcp, Connect, prefix, &all)
            .add(Udp, Connect, prefix, &all)
    };
    let mut rules = Rules::new();
    for prefix in ["0.0.0.0/0", "::/0"] {
        rules = rules
            .allow(Tcp, Connect, prefix, 0, 65535, 2)
            .allow(Udp, Connect, prefix, 0, 65535, 2);
    }
    for prefix in [
        "169.254.169.254/32",
        "168.63.129.16/32",
        "100.100.100.200/32",
        "fd00:ec2::254/128",
    ] {
        rules = floor(rules, prefix);
    }
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[80]);
    // The fake is there: the world reaches it.
    assert_eq!(scene.world.ask("connect tcp 169.254.169.254:80"), "ok");
    assert_eq!(scene.world.ask("connect tcp [fd00:ec2::254]:80"), "ok");
    for address in [
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[2002:a9fe:a9fe::1]",
        "[::ffff:168.63.129.16]",
        "[64:ff9b::100.100.100.200]",
    ] {
        scene.expect(&format!("connect tcp {address}:80"), "EPERM");
        for way in UDP_WAYS.into_iter().filter(|way| *way != "unspecified-family") {
            scene.expect(&format!("send {way} {address}:80"), "EPERM");
        }
    }
    assert_eq!(scene.world.ask("received"), "ok 0");
    let decisions = scene.decisions();
    assert!(
        decisions
            .iter()
            .all(|decision| decision.rule == 1 && !decision.allowed)
    );
    // One address further is not the floor's.
    for address in ["169.254.169.253", "[fd00:ec2::255]", "[::ffff:169.254.169.253]"] {
        scene.expect(&format!("connect tcp {address}:80"), "ok");
    }
}

#[test]
fn udp_is_refused_each_way_where_only_tcp_is_allowed() {
    let rules = Rules::new()
        .allow(Tcp, Connect, "127.0.0.0/8", 7000, 7000, 3)
        .allow(Tcp, Connect, "::1/128", 7000, 7000, 3);
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[7000]);
    for to in ["127.0.0.1:7000", "[::1]:7000", "[::ffff:127.0.0.1]:7000"] {
        scene.expect(&format!("connect tcp {to}"), "ok");
        for way in ["to", "message", "messages", "connected"] {
            scene.expect(&format!("send {way} {to}"), "EPERM");
        }
    }
    scene.expect("send unspecified-family 127.0.0.1:7000", "EPERM");
    scene.expect("send v4-on-v6 127.0.0.1:7000", "EPERM");
    assert_eq!(scene.world.ask("received"), "ok 0");
}

#[test]
fn udp_goes_out_each_way_where_it_is_allowed() {
    let rules = Rules::new()
        .allow(Udp, Connect, "127.0.0.0/8", 7000, 7000, 3)
        .allow(Udp, Connect, "::1/128", 7000, 7000, 3);
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[7000]);
    for (way, datagrams) in [
        ("to", 1),
        ("message", 1),
        ("messages", 2),
        ("connected", 1),
        ("unspecified-family", 1),
        ("v4-on-v6", 1),
    ] {
        scene.expect(&format!("send {way} 127.0.0.1:7000"), "ok");
        assert_eq!(scene.world.ask("received"), format!("ok {datagrams}"), "{way}");
    }
    for (way, datagrams) in [("to", 1), ("messages", 2), ("connected", 1)] {
        scene.expect(&format!("send {way} [::1]:7000"), "ok");
        assert_eq!(scene.world.ask("received"), format!("ok {datagrams}"), "{way}");
    }
    scene.expect("connect tcp 127.0.0.1:7000", "EPERM");
    scene.expect("undo 127.0.0.1:7000", "ok");
    scene.expect("resend 127.0.0.1:7000 127.0.0.1:7001", "EPERM");
    scene.expect("send large 127.0.0.1:7000", "ok");
    assert_eq!(scene.world.ask("received"), "ok 1");
}

#[test]
fn the_unspecified_address_reaches_loopback_and_is_judged_as_it() {
    let everywhere_but_loopback = Rules::new()
        .allow(Tcp, Connect, "0.0.0.0/0", 80, 80, 2)
        .allow(Tcp, Connect, "::/0", 80, 80, 2)
        .add(Tcp, Connect, "127.0.0.0/8", &[(0, 65535, Effect::Deny, 4)])
        .add(Tcp, Connect, "::1/128", &[(0, 65535, Effect::Deny, 4)]);
    let mut scene = Scene::new(&everywhere_but_loopback.build());
    scene.serve(&[80]);
    for to in [
        "0.0.0.0:80",
        "[::]:80",
        "[::ffff:0.0.0.0]:80",
        "127.0.0.1:80",
        "[::1]:80",
    ] {
        scene.expect(&format!("connect tcp {to}"), "EPERM");
    }
    assert!(scene.decisions().iter().all(|decision| decision.rule == 4));
    scene.expect("connect tcp 10.0.0.1:80", "ok");
    let loopback = Rules::new()
        .allow(Tcp, Connect, "127.0.0.1/32", 80, 80, 3)
        .build();
    scene.run.replace(&loopback, support::RECORD_ALL).unwrap();
    scene.expect("connect tcp 0.0.0.0:80", "ok");
}

#[test]
fn the_longest_prefix_decides_and_then_the_port() {
    let rules = Rules::new()
        .add(
            Tcp,
            Connect,
            "10.0.0.0/8",
            &[(443, 443, Effect::Allow, 2), (8000, 8099, Effect::Allow, 3)],
        )
        .add(Tcp, Connect, "10.1.0.0/16", &[(0, 65535, Effect::Deny, 4)])
        .add(
            Tcp,
            Connect,
            "10.1.2.3/32",
            &[(443, 443, Effect::Allow, 5), (444, 65535, Effect::Deny, 4)],
        )
        .add(Tcp, Connect, "2001:db8::/32", &[(1, 65534, Effect::Allow, 6)])
        .add(Tcp, Connect, "2001:db8::5/128", &[]);
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[1, 443, 8000, 8050, 8099, 8100, 7999, 444, 65534, 65535]);
    for (to, answer, rule) in [
        ("10.9.9.9:443", "ok", 2),
        ("10.9.9.9:444", "EPERM", 0),
        ("10.9.9.9:7999", "EPERM", 0),
        ("10.9.9.9:8000", "ok", 3),
        ("10.9.9.9:8050", "ok", 3),
        ("10.9.9.9:8099", "ok", 3),
        ("10.9.9.9:8100", "EPERM", 0),
        ("10.1.2.4:443", "EPERM", 4),
        ("10.1.2.3:443", "ok", 5),
        ("10.1.2.3:444", "EPERM", 4),
        ("10.1.2.3:8000", "EPERM", 4),
        ("10.1.2.3:1", "EPERM", 0),
        ("11.0.0.0:443", "EPERM", 0),
        ("[2001:db8::4]:1", "ok", 6),
        ("[2001:db8::4]:65534", "ok", 6),
        ("[2001:db8::4]:65535", "EPERM", 0),
        ("[2001:db8::5]:443", "EPERM", 0),
        ("[2001:db9::]:443", "EPERM", 0),
    ] {
        scene.expect(&format!("connect tcp {to}"), answer);
        let decisions = scene.decisions();
        assert_eq!(decisions.len(), 1, "{to}");
        assert_eq!(
            (decisions[0].rule, decisions[0].allowed),
            (rule, answer == "ok"),
            "{to}"
        );
        assert_eq!(decisions[0].hook, NetworkHook::Connect);
    }
}

#[test]
fn fast_open_is_judged_like_a_connect() {
    let rules = Rules::new().allow(Tcp, Connect, "127.0.0.1/32", 80, 80, 2);
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[80, 81]);
    scene.expect("fastopen 127.0.0.1:80", "ok");
    scene.expect("fastopen 127.0.0.1:81", "EPERM");
    scene.expect("fastopen [::1]:80", "EPERM");
}

#[test]
fn an_allowed_access_is_recorded_only_where_the_policy_asks() {
    let tables = Rules::new()
        .allow(Tcp, Connect, "127.0.0.1/32", 80, 80, 2)
        .allow(Udp, Connect, "127.0.0.1/32", 80, 80, 2)
        .build();
    let mut scene = Scene::with(&tables, support::RECORD_NONE, 1 << 16);
    scene.serve(&[80]);
    scene.expect("connect tcp 127.0.0.1:80", "ok");
    scene.expect("send to 127.0.0.1:80", "ok");
    assert!(scene.decisions().is_empty());
    scene.expect("connect tcp 127.0.0.1:81", "EPERM");
    let refused = scene.decisions();
    assert_eq!(refused.len(), 1);
    assert_eq!((refused[0].port, refused[0].allowed), (81, false));
}
