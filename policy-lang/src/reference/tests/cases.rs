use super::*;

#[test]
fn an_empty_policy_allows_nothing() {
    let empty = policy([]);
    let accesses = [
        file(Read, "/"),
        connect("127.0.0.1", 80),
        Access::Environment { name: "PATH".into() },
        call("read", [0; 6]),
    ];
    for access in accesses {
        assert_eq!(
            decide(&empty, &access),
            Decision {
                effect: Deny,
                rule: RuleId::DEFAULT
            }
        );
    }
}

#[test]
fn a_policy_without_its_default_rule_still_denies() {
    let nothing = Policy {
        rules: Vec::new(),
        ..policy([])
    };
    assert_eq!(effect(&nothing, &file(Read, "/")), Deny);
}

#[test]
fn the_most_specific_path_wins() {
    let design = policy([
        files(Allow, &ALL, "/w"),
        files(Deny, &ALL, "/w/.env"),
        files(Allow, &ALL, "/w/.env/public"),
    ]);
    assert_eq!(
        decide(&design, &file(Read, "/w/a")),
        Decision {
            effect: Allow,
            rule: RuleId(1)
        }
    );
    assert_eq!(
        decide(&design, &file(Read, "/w/.env")),
        Decision {
            effect: Deny,
            rule: RuleId(2)
        }
    );
    assert_eq!(
        decide(&design, &file(Read, "/w/.env/x")),
        Decision {
            effect: Deny,
            rule: RuleId(2)
        }
    );
    assert_eq!(
        decide(&design, &file(Read, "/w/.env/public/x")),
        Decision {
            effect: Allow,
            rule: RuleId(3)
        }
    );
    assert_eq!(
        decide(&design, &file(Read, "/v")),
        Decision {
            effect: Deny,
            rule: RuleId::DEFAULT
        }
    );
}

#[test]
fn overlapping_boxes_resolve_to_the_stricter_and_a_smaller_one_opens_again() {
    let mut rules = vec![
        connect_tcp(Deny, "10.1.0.0/16:*"),
        connect_tcp(Allow, "10.0.0.0/8:443"),
    ];
    assert_eq!(effect(&policy(rules.clone()), &connect("10.1.2.3", 443)), Deny);
    assert_eq!(effect(&policy(rules.clone()), &connect("10.2.2.3", 443)), Allow);
    rules.push(connect_tcp(Allow, "10.1.2.3:443"));
    assert_eq!(effect(&policy(rules.clone()), &connect("10.1.2.3", 443)), Allow);
    assert_eq!(effect(&policy(rules), &connect("10.1.2.4", 443)), Deny);
}

#[test]
fn forbid_yields_to_nothing() {
    let forbidden = policy([
        files(Allow, &ALL, "/w"),
        files(Forbid, &[Write], "/w/.git/hooks"),
        files(Allow, &ALL, "/w/.git/hooks/mine"),
    ]);
    assert_eq!(effect(&forbidden, &file(Write, "/w/.git/hooks/mine")), Forbid);
    assert_eq!(effect(&forbidden, &file(Read, "/w/.git/hooks/mine")), Allow);
}

#[test]
fn f6_a_grant_inside_a_grant_inside_a_denial_works() {
    let f6 = policy([
        files(Deny, &ALL, "/p"),
        files(Allow, &[Read], "/p/w"),
        files(Allow, &[Write], "/p/w/x"),
    ]);
    assert_eq!(effect(&f6, &file(Write, "/p/w/x/f")), Allow);
    assert_eq!(effect(&f6, &file(Read, "/p/w/x/f")), Allow);
    assert_eq!(effect(&f6, &file(Write, "/p/w/f")), Deny);
    assert_eq!(effect(&f6, &file(Read, "/p/f")), Deny);
}

#[test]
fn f8_a_read_only_file_inside_a_writable_directory_is_not_written() {
    let f8 = policy([
        files(Allow, &[Read, Write], "/w"),
        files(Deny, &[Write], "/w/lock"),
    ]);
    assert_eq!(effect(&f8, &file(Write, "/w/lock")), Deny);
    assert_eq!(effect(&f8, &file(Read, "/w/lock")), Allow);
    assert_eq!(effect(&f8, &file(Write, "/w/lock2")), Allow);
    assert_eq!(effect(&f8, &file(Execute, "/w/lock")), Deny);
}

#[test]
fn f9_a_denied_tree_inside_a_granted_one_is_closed_all_the_way_down() {
    let f9 = policy([
        files(Allow, &ALL, "/h/.local"),
        files(Deny, &ALL, "/h/.local/share/keyrings"),
    ]);
    assert_eq!(effect(&f9, &file(Read, "/h/.local/share/keyrings/a/b")), Deny);
    assert_eq!(effect(&f9, &file(Read, "/h/.local/share/x")), Allow);
}

#[test]
fn globs_take_part_in_precedence() {
    let env = policy([
        files(Allow, &ALL, "/w"),
        files(Deny, &[Read], "/w/**/.env"),
        files(Allow, &[Read], "/w/test/**/.env"),
        files(Deny, &[Read], "/w/test/*/.env"),
        files(Allow, &[Read], "/w/a*"),
    ]);
    assert_eq!(effect(&env, &file(Read, "/w/x/.env")), Deny);
    assert_eq!(effect(&env, &file(Read, "/w/test/.env")), Allow);
    assert_eq!(effect(&env, &file(Read, "/w/test/x/.env")), Deny);
    // `/w/a*` and `/w/**/.env` overlap and neither contains the other.
    assert_eq!(effect(&env, &file(Read, "/w/ab/.env")), Deny);
    assert_eq!(effect(&env, &file(Read, "/w/ab/c")), Allow);
}

#[test]
fn two_spellings_of_one_set_yield_to_neither() {
    let spellings = policy([files(Allow, &ALL, "/w/**/*"), files(Deny, &ALL, "/w/*/**")]);
    assert_eq!(effect(&spellings, &file(Read, "/w/a/b")), Deny);
}

#[test]
fn n1_other_spellings_of_an_ipv4_address_are_that_address() {
    let n1 = policy([connect_tcp(Allow, "192.0.2.7:443"), connect_tcp(Deny, "[::]/0:*")]);
    for same in [
        "192.0.2.7",
        "::ffff:192.0.2.7",
        "64:ff9b::192.0.2.7",
        "2002:c000:0207::1",
        "2002:c000:207:9::",
    ] {
        assert_eq!(effect(&n1, &connect(same, 443)), Allow, "{same}");
        assert_eq!(effect(&n1, &connect(same, 80)), Deny, "{same}");
    }
    for other in [
        "192.0.2.8",
        "::ffff:192.0.2.8",
        "::192.0.2.7",
        "64:ff9b:1::192.0.2.7",
        "2002:c000:208::1",
    ] {
        assert_eq!(effect(&n1, &connect(other, 443)), Deny, "{other}");
    }
    // A rule for all of IPv6 says nothing of IPv4 in IPv6's clothes.
    let v6 = policy([connect_tcp(Allow, "[::]/0:*")]);
    assert_eq!(effect(&v6, &connect("2001:db8::1", 443)), Allow);
    assert_eq!(effect(&v6, &connect("::ffff:192.0.2.7", 443)), Deny);
}

#[test]
fn n3_no_network_rules_allow_no_address() {
    let n3 = policy([files(Allow, &ALL, "/")]);
    for address in ["127.0.0.1", "::1", "192.0.2.7", "0.0.0.0", "::"] {
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            for verb in [Verb::Connect, Verb::Bind] {
                let access = Access::Network {
                    verb,
                    protocol,
                    address: address.parse().unwrap(),
                    port: 443,
                };
                assert_eq!(effect(&n3, &access), Deny);
            }
        }
    }
}

#[test]
fn verbs_protocols_and_ports_are_kept_apart() {
    let tcp = policy([connect_tcp(Allow, "127.0.0.1/8:3000-3999")]);
    assert_eq!(effect(&tcp, &connect("127.9.9.9", 3000)), Allow);
    assert_eq!(effect(&tcp, &connect("127.9.9.9", 3999)), Allow);
    assert_eq!(effect(&tcp, &connect("127.9.9.9", 2999)), Deny);
    assert_eq!(effect(&tcp, &connect("127.9.9.9", 4000)), Deny);
    let address = "127.0.0.1".parse().unwrap();
    let udp = Access::Network {
        verb: Verb::Connect,
        protocol: Protocol::Udp,
        address,
        port: 3000,
    };
    let bind = Access::Network {
        verb: Verb::Bind,
        protocol: Protocol::Tcp,
        address,
        port: 3000,
    };
    assert_eq!((effect(&tcp, &udp), effect(&tcp, &bind)), (Deny, Deny));
}

#[test]
fn only_passed_and_set_variables_are_visible() {
    let names = vec!["PATH".to_owned(), "TERM".to_owned()];
    let set = Subject::Set {
        name: "CI".into(),
        value: "true".into(),
    };
    let env = policy([(Allow, Subject::Pass { names }), (Allow, set)]);
    let visible = |name: &str| effect(&env, &Access::Environment { name: name.into() });
    assert_eq!(
        (visible("PATH"), visible("TERM"), visible("CI")),
        (Allow, Allow, Allow)
    );
    assert_eq!(
        (
            visible("AWS_SECRET_ACCESS_KEY"),
            visible("path"),
            visible("PATHX")
        ),
        (Deny, Deny, Deny)
    );
}

#[test]
fn scratch_grants_reading_and_writing_beneath_and_no_starting() {
    let scratch = policy([(
        Allow,
        Subject::Scratch {
            path: "/tmp".into(),
            size_bytes: 1,
        },
    )]);
    assert_eq!(effect(&scratch, &file(Read, "/tmp/a")), Allow);
    assert_eq!(effect(&scratch, &file(Write, "/tmp")), Allow);
    assert_eq!(effect(&scratch, &file(Execute, "/tmp/a")), Deny);
    assert_eq!(effect(&scratch, &file(Read, "/tmpx")), Deny);
}

fn tiocsti() -> SyscallSet {
    let condition = Condition {
        argument: 1,
        width: Width::Bits32,
        comparison: Comparison::Equal(0x5412),
    };
    SyscallSet::call("ioctl").unwrap().with(condition)
}

#[test]
fn predicates_beat_calls_and_calls_beat_groups() {
    let calls = policy([
        syscall(Allow, SyscallSet::group("@system-service").unwrap()),
        syscall(Deny, SyscallSet::call("ptrace").unwrap()),
        syscall(Deny, tiocsti()),
        syscall(Deny, SyscallSet::call("kill").unwrap()),
        syscall(Allow, SyscallSet::call("mount").unwrap()),
    ]);
    assert_eq!(effect(&calls, &call("read", [0; 6])), Allow);
    assert_eq!(effect(&calls, &call("ioctl", [0, 0x5413, 0, 0, 0, 0])), Allow);
    assert_eq!(
        effect(&calls, &call("ioctl", [0, 0xffff_ffff_0000_5412, 0, 0, 0, 0])),
        Deny
    );
    assert_eq!(effect(&calls, &call("kill", [0; 6])), Deny);
    assert_eq!(effect(&calls, &call("mount", [0; 6])), Allow);
    assert_eq!(effect(&calls, &call("ptrace", [0; 6])), Deny);
}

#[test]
fn overlapping_groups_resolve_to_the_stricter() {
    let overlap = policy([
        syscall(Allow, SyscallSet::group("@system-service").unwrap()),
        syscall(Deny, SyscallSet::group("@debug").unwrap()),
        syscall(Allow, SyscallSet::group("@privileged").unwrap()),
        syscall(Deny, SyscallSet::group("@chown").unwrap()),
    ]);
    assert_eq!(effect(&overlap, &call("chown", [0; 6])), Deny);
    assert_eq!(effect(&overlap, &call("setuid", [0; 6])), Allow);
    assert_eq!(effect(&overlap, &call("ptrace", [0; 6])), Deny);
}

#[test]
fn numbers_the_table_does_not_know_fall_to_the_default() {
    let all = policy([syscall(Allow, SyscallSet::group("@known").unwrap())]);
    let default = Decision {
        effect: Deny,
        rule: RuleId::DEFAULT,
    };
    for (architecture, number) in [
        (Architecture::X86_64, 0x4000_0000),
        (Architecture::X86_64, 0x4000_0000 + 512),
        (
            Architecture::X86_64,
            table::highest_number(Architecture::X86_64) + 1,
        ),
        (Architecture::X86_64, u32::MAX),
        (Architecture::Aarch64, 500),
    ] {
        assert_eq!(
            decide(
                &all,
                &Access::Syscall {
                    architecture,
                    number,
                    arguments: [0; 6]
                }
            ),
            default
        );
    }
    let number = 29;
    let on = |architecture| {
        effect(
            &all,
            &Access::Syscall {
                architecture,
                number,
                arguments: [0; 6],
            },
        )
    };
    assert_eq!(
        (on(Architecture::X86_64), on(Architecture::Aarch64)),
        (Allow, Allow)
    );
}

#[test]
fn standings_say_why_each_matching_rule_did_not_decide() {
    let rules = policy([
        files(Allow, &ALL, "/w"),
        files(Deny, &ALL, "/w/*/x"),
        files(Allow, &ALL, "/w/a*"),
        files(Deny, &ALL, "/w/*/x"),
        files(Allow, &ALL, "/v"),
    ]);
    assert_eq!(
        standings(&rules, &file(Read, "/w/a/x")),
        [
            (RuleId(0), Standing::YieldsTo(RuleId(1))),
            (RuleId(1), Standing::YieldsTo(RuleId(2))),
            (RuleId(2), Standing::Decides),
            (RuleId(3), Standing::Outranked),
            (RuleId(4), Standing::Outranked),
        ]
    );
}

#[test]
fn a_thousand_rules_are_decided_quickly() {
    let rules = (0..1_000).map(|n| match n % 4 {
        0 => files(Allow, &ALL, &format!("/srv/project-{n}/src")),
        1 => files(Deny, &[Read], &format!("/srv/**/secret-{n}/*.key")),
        2 => connect_tcp(Allow, &format!("10.{}.{}.0/24:443", n % 7, n % 251)),
        _ => syscall(
            Deny,
            SyscallSet::call("ioctl").unwrap().with(Condition {
                argument: 1,
                width: Width::Bits32,
                comparison: Comparison::Equal(n),
            }),
        ),
    });
    let large = policy(rules);
    let accesses = [
        file(Read, "/srv/project-400/src/lib/very/deep/in/the/tree/main.rs"),
        connect("10.3.4.5", 443),
        call("ioctl", [0, 3, 0, 0, 0, 0]),
    ];
    let started = std::time::Instant::now();
    for access in &accesses {
        assert_ne!(effect(&large, access), Forbid);
    }
    // Unoptimised and shared with other tests; optimised it takes less than a millisecond each.
    assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
}
