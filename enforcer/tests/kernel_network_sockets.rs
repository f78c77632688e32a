//! Which sockets a run can make, bind and listen with, and what still stops packets behind that.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "support/network.rs"]
mod support;

use artifact::Effect;
use artifact::network::NetworkTables;
use artifact::network::Protocol::{Tcp, Udp};
use artifact::network::Verb::{Bind, Connect};
use ebpf::layout::NetworkHook;
use support::{RECORD_ALL, Rules, Scene};

fn everything() -> NetworkTables {
    let mut rules = Rules::new();
    for prefix in ["0.0.0.0/0", "::/0"] {
        for protocol in [Tcp, Udp] {
            for verb in [Connect, Bind] {
                rules = rules.allow(protocol, verb, prefix, 0, 65535, 2);
            }
        }
    }
    rules.build()
}

/// Even where every address and port is allowed: no other way to the network than TCP and UDP.
#[test]
fn only_tcp_and_udp_sockets_are_made() {
    let mut scene = Scene::new(&everything());
    for (name, family, kind, protocol) in [
        ("raw IPv4", libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        (
            "raw IPv4, own header",
            libc::AF_INET,
            libc::SOCK_RAW,
            libc::IPPROTO_RAW,
        ),
        ("raw TCP", libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_TCP),
        ("raw IPv6", libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6),
        ("MPTCP", libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP),
        ("UDP-Lite", libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE),
    ] {
        // The kernel has it, or the refusal would mean nothing.
        let ask = format!("socket {family} {kind} {protocol}");
        let outside = scene.world.ask(&ask);
        if outside == "ok" {
            scene.expect(&ask, "EPERM");
            let decisions = scene.decisions();
            assert_eq!(decisions.len(), 1, "{name}");
            assert_eq!(decisions[0].hook, NetworkHook::Create, "{name}");
            assert_eq!(i32::from(decisions[0].socket_type), kind, "{name}");
            assert_eq!(i32::from(decisions[0].family), family, "{name}");
            assert_eq!(i32::from(decisions[0].socket_protocol), protocol, "{name}");
        } else {
            assert_ne!(scene.ask(&ask), "ok", "{name}");
            println!("the kernel has no {name}: {outside}");
        }
    }
    for (family, kind) in [
        (libc::AF_INET, libc::SOCK_STREAM),
        (libc::AF_INET, libc::SOCK_DGRAM),
        (libc::AF_INET6, libc::SOCK_STREAM),
        (libc::AF_INET6, libc::SOCK_DGRAM),
    ] {
        scene.expect(&format!("socket {family} {kind} 0"), "ok");
    }
}

#[test]
fn ping_sctp_and_dccp_sockets_are_not_made() {
    let mut scene = Scene::new(&everything());
    let ping = format!(
        "socket {} {} {}",
        libc::AF_INET,
        libc::SOCK_DGRAM,
        libc::IPPROTO_ICMP
    );
    let range = "/proc/sys/net/ipv4/ping_group_range";
    assert_eq!(scene.world.ask(&format!("write {range} 0\t2147483647")), "ok");
    assert_eq!(scene.world.ask(&ping), "ok");
    scene.expect(&ping, "EPERM");
    // Where the kernel does not have them, that refuses them too.
    for (kind, protocol) in [
        (libc::SOCK_STREAM, libc::IPPROTO_SCTP),
        (libc::SOCK_SEQPACKET, libc::IPPROTO_SCTP),
        (libc::SOCK_STREAM, libc::IPPROTO_DCCP),
    ] {
        let answer = scene.ask(&format!("socket {} {kind} {protocol}", libc::AF_INET));
        assert_ne!(answer, "ok", "type {kind} protocol {protocol}");
    }
}

#[test]
fn binding_is_judged_by_address_port_and_protocol() {
    let rules = Rules::new()
        .allow(Tcp, Bind, "127.0.0.1/32", 3000, 3999, 2)
        .allow(Udp, Bind, "::1/128", 5353, 5353, 3)
        .allow(Tcp, Bind, "127.0.0.2/32", 0, 0, 4);
    let mut scene = Scene::new(&rules.build());
    for (bind, answer, rule) in [
        ("tcp 127.0.0.1:3000", "ok 3000", 2),
        ("tcp 127.0.0.1:3999", "ok 3999", 2),
        ("tcp [::ffff:127.0.0.1]:3001", "ok 3001", 2),
        ("tcp 127.0.0.1:2999", "EPERM", 0),
        ("tcp 127.0.0.1:4000", "EPERM", 0),
        ("tcp 127.0.0.1:0", "EPERM", 0),
        ("tcp 0.0.0.0:3000", "EPERM", 0),
        ("tcp [::]:3000", "EPERM", 0),
        ("tcp 127.0.0.2:3000", "EPERM", 0),
        ("udp 127.0.0.1:3000", "EPERM", 0),
        ("udp [::1]:5353", "ok 5353", 3),
        ("tcp [::1]:5353", "EPERM", 0),
    ] {
        scene.expect(&format!("bind {bind}"), answer);
        let decisions = scene.decisions();
        assert_eq!(decisions.len(), 1, "{bind}");
        assert_eq!(
            (decisions[0].hook, decisions[0].rule),
            (NetworkHook::Bind, rule),
            "{bind}"
        );
    }
    let chosen = scene.ask("bind tcp 127.0.0.2:0");
    assert!(chosen.starts_with("ok "), "{chosen}");
}

/// N9: the dev server inside, a client outside; and a test runner that does both.
#[test]
fn an_allowed_server_is_reached_from_outside_and_from_inside() {
    let binds = [(0, 0, Effect::Allow, 4), (3000, 3000, Effect::Allow, 2)];
    let rules = Rules::new().add(Tcp, Bind, "127.0.0.1/32", &binds).allow(
        Tcp,
        Connect,
        "127.0.0.1/32",
        3000,
        3000,
        3,
    );
    let mut scene = Scene::new(&rules.build());
    scene.expect("serve tcp 127.0.0.1:3000", "ok 3000");
    assert_eq!(scene.world.ask("connect tcp 127.0.0.1:3000"), "ok");
    scene.expect("connect tcp 127.0.0.1:3000", "ok");
    let answer = scene.ask("serve tcp 127.0.0.1:0");
    let port = answer.strip_prefix("ok ").unwrap();
    assert_eq!(scene.world.ask(&format!("connect tcp 127.0.0.1:{port}")), "ok");
}

#[test]
fn listening_without_a_bind_is_a_bind_to_port_zero_everywhere() {
    let rules = Rules::new().allow(Tcp, Bind, "127.0.0.1/32", 3000, 3000, 2);
    let mut scene = Scene::new(&rules.build());
    for family in ["v4", "v6"] {
        let answer = scene.ask(&format!("listen {family}"));
        let port = answer.strip_prefix("ok ").unwrap().to_owned();
        let to = if family == "v4" { "127.0.0.1" } else { "[::1]" };
        assert_eq!(scene.world.ask(&format!("connect tcp {to}:{port}")), "ETIMEDOUT");
        let decisions = scene.decisions();
        assert!(!decisions.is_empty());
        assert!(
            decisions
                .iter()
                .all(|decision| decision.hook == NetworkHook::Ingress && !decision.allowed)
        );
        assert_eq!(decisions[0].port.to_string(), port);
    }
    let rules = Rules::new().allow(Tcp, Bind, "0.0.0.0/32", 0, 0, 2);
    scene.run.replace(&rules.build(), RECORD_ALL).unwrap();
    let answer = scene.ask("listen v4");
    let port = answer.strip_prefix("ok ").unwrap();
    assert_eq!(scene.world.ask(&format!("connect tcp 127.0.0.1:{port}")), "ok");
}

/// bind(2) to an allowed address that is taken must not leave behind the right to listen elsewhere.
#[test]
fn an_allowed_bind_that_failed_allows_nothing() {
    let rules = Rules::new().allow(Tcp, Bind, "127.0.0.1/32", 3000, 3000, 2);
    let mut scene = Scene::new(&rules.build());
    assert_eq!(scene.world.ask("serve tcp 127.0.0.1:3000"), "ok 3000");
    let answer = scene.ask("bind-then-listen 127.0.0.1:3000 v4");
    let port = answer.strip_prefix("ok ").unwrap();
    assert_eq!(
        scene.world.ask(&format!("connect tcp 127.0.0.1:{port}")),
        "ETIMEDOUT"
    );
}

/// A policy that is replaced also closes what is listening.
#[test]
fn a_listener_is_judged_again_for_each_connection() {
    let rules = Rules::new().allow(Tcp, Bind, "127.0.0.1/32", 3000, 3000, 2);
    let mut scene = Scene::new(&rules.build());
    scene.expect("serve tcp 127.0.0.1:3000", "ok 3000");
    assert_eq!(scene.world.ask("connect tcp 127.0.0.1:3000"), "ok");
    scene.run.replace(&Rules::new().build(), RECORD_ALL).unwrap();
    assert_eq!(scene.world.ask("connect tcp 127.0.0.1:3000"), "ETIMEDOUT");
}

/// An IPv6 socket on `::` also takes IPv4 connections, which nothing allowed.
#[test]
fn a_listener_on_every_ipv6_address_does_not_serve_ipv4() {
    let rules = Rules::new().allow(Tcp, Bind, "::/128", 3000, 3000, 2);
    let mut scene = Scene::new(&rules.build());
    scene.expect("serve tcp [::]:3000", "ok 3000");
    assert_eq!(scene.world.ask("connect tcp [::1]:3000"), "ok");
    assert_eq!(scene.world.ask("connect tcp 127.0.0.1:3000"), "ETIMEDOUT");
}

/// The packets of a connected UDP socket are judged by the tables of now, not of when it connected.
#[test]
fn a_connected_socket_is_judged_again_with_each_datagram() {
    let allowed = Rules::new()
        .allow(Udp, Connect, "127.0.0.1/32", 7000, 7000, 2)
        .build();
    let mut scene = Scene::new(&allowed);
    scene.serve(&[7000]);
    scene.expect("hold 127.0.0.1:7000", "ok");
    scene.expect("send held", "ok");
    assert_eq!(scene.world.ask("received"), "ok 1");
    scene.records();
    scene.run.replace(&Rules::new().build(), RECORD_ALL).unwrap();
    scene.expect("send held", "EPERM");
    assert_eq!(scene.world.ask("received"), "ok 0");
    let decisions = scene.decisions();
    assert_eq!(decisions.len(), 1);
    assert_eq!(
        (decisions[0].hook, decisions[0].allowed),
        (NetworkHook::Egress, false)
    );
}

/// The address program sees the end of a route, and the packet goes to its first stop.
#[test]
fn a_packet_is_judged_by_where_it_goes_first() {
    let rules = Rules::new()
        .allow(Udp, Connect, "2001:db8::1/128", 7000, 7000, 2)
        .allow(Udp, Connect, "10.0.0.1/32", 7000, 7000, 2);
    let mut scene = Scene::new(&rules.build());
    scene.serve(&[7000]);
    for (direct, routed, stop) in [
        (
            "send to [2001:db8::1]:7000",
            "routed [2001:db8::1]:7000 [2001:db8::2]:7000",
            "2001:db8::2",
        ),
        (
            "send to 10.0.0.1:7000",
            "routed 10.0.0.1:7000 10.0.0.2:7000",
            "10.0.0.2",
        ),
    ] {
        scene.expect(direct, "ok");
        assert_eq!(scene.world.ask("received"), "ok 1");
        assert_eq!(scene.world.ask(routed), "ok", "the kernel can do that");
        scene.world.ask("received");
        scene.records();
        assert_ne!(scene.ask(routed), "ok", "{routed}");
        let egress: Vec<_> = scene
            .decisions()
            .into_iter()
            .filter(|decision| decision.hook == NetworkHook::Egress)
            .collect();
        assert_eq!(egress.len(), 1, "{routed}");
        assert!(!egress[0].allowed);
        assert_eq!(egress[0].address, Some(stop.parse().unwrap()));
        assert_eq!(scene.world.ask("received"), "ok 0");
    }
}
