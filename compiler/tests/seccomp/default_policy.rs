//! The filter most runs get: the floor, `@system-service`, and no `@debug`.

use compiler::seccomp::constant_allow::is_constant_allow;
use compiler::seccomp::{Verdict, bpf, language_architecture};
use policy_lang::policy::{Effect, Policy, RuleId, Subject};
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::table;

use crate::policies::{ARCHITECTURES, answer, filter, group, rule};

pub(crate) fn default_policy() -> Policy {
    let mut policy = crate::policies::policy(Vec::new());
    policy.rules = policy_lang::floor::rules();
    for (effect, name) in [(Effect::Allow, "@system-service"), (Effect::Deny, "@debug")] {
        let id = RuleId(u32::try_from(policy.rules.len()).unwrap());
        policy.rules.push(rule(
            id,
            effect,
            Subject::Syscall {
                targets: vec![group(name)],
            },
        ));
    }
    policy
}

/// The rules refuse these whatever else a policy says; the issue asks for one test each.
#[test]
fn the_attack_surface_is_refused() {
    let filter = filter(&default_policy(), ARCHITECTURES[0]);
    let refused = [
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "unshare",
        "setns",
        "bpf",
        "userfaultfd",
        "keyctl",
        "add_key",
        "request_key",
        "perf_event_open",
        "mount",
        "umount2",
        "move_mount",
        "open_tree",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "mount_setattr",
        "pivot_root",
        "kexec_load",
        "kexec_file_load",
        "init_module",
        "finit_module",
        "delete_module",
        "open_by_handle_at",
        "swapon",
        "swapoff",
        "reboot",
        "ptrace",
    ];
    for name in refused {
        let number = table::number(name, policy_lang::syscall::Architecture::X86_64).unwrap();
        assert_eq!(
            answer(&filter, number, [0; 6]),
            Verdict::Refuse.action(),
            "{name}"
        );
        assert!(!is_constant_allow(
            &filter.program,
            bpf::audit_arch(filter.architecture),
            number
        ));
    }
    let call = |name: &str, arguments| {
        answer(
            &filter,
            table::number(name, policy_lang::syscall::Architecture::X86_64).unwrap(),
            arguments,
        )
    };
    assert_eq!(call("clone3", [0; 6]), Verdict::Unknown.action());
    // CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
    for bit in [17, 25, 26, 27, 28, 29, 30] {
        for flags in [1 << bit, 0x11 | 1 << bit, 0xff | 1 << bit | 1 << 40, u64::MAX] {
            assert_eq!(
                call("clone", [flags, 0, 0, 0, 0, 0]),
                Verdict::Refuse.action(),
                "{flags:#x}"
            );
        }
    }
    // What fork(3), vfork(3) and pthread_create(3) ask for.
    for flags in [0x0120_0011, 0x4111, 0x003d_0f00] {
        assert_eq!(
            call("clone", [flags, 0, 0, 0, 0, 0]),
            Verdict::Allow.action(),
            "{flags:#x}"
        );
    }
    for mode in [0o4755, 0o2755, 0o6000, 0o4755 | 1 << 40] {
        for (name, arguments) in [
            ("chmod", [0, mode, 0, 0, 0, 0]),
            ("fchmodat", [0, 0, mode, 0, 0, 0]),
            ("openat", [0, 0, 0o101, mode, 0, 0]),
            ("openat", [0, 0, 0o20_200_002, mode, 0, 0]),
            ("mknodat", [0, 0, mode, 0, 0, 0]),
        ] {
            assert_eq!(call(name, arguments), Verdict::Refuse.action(), "{name} {mode:o}");
        }
        assert_eq!(call("openat2", [0, 0, 0, mode, 0, 0]), Verdict::Unknown.action());
        // Without O_CREAT the kernel does not look at the mode.
        assert_eq!(
            call("openat", [0, 0, 0o2, mode, 0, 0]),
            Verdict::Allow.action(),
            "{mode:o}"
        );
    }
    for mode in [0o755, 0o1777, 0o100_644] {
        assert_eq!(
            call("chmod", [0, mode, 0, 0, 0, 0]),
            Verdict::Allow.action(),
            "{mode:o}"
        );
        assert_eq!(
            call("openat", [0, 0, 0o101, mode, 0, 0]),
            Verdict::Allow.action(),
            "{mode:o}"
        );
    }
    for request in [0x5412, 0x541c, 0x5423] {
        for high in [0, 1 << 32, 0xffff_ffff << 32] {
            assert_eq!(
                call("ioctl", [0, request | high, 0, 0, 0, 0]),
                Verdict::Refuse.action(),
                "{request:#x}"
            );
        }
    }
    assert_eq!(call("ioctl", [0, 0x5401, 0, 0, 0, 0]), Verdict::Allow.action());
    for family in 0..64 {
        let wanted = if [2, 10].contains(&family) {
            Verdict::Allow
        } else {
            Verdict::Refuse
        };
        for high in [0, 1 << 32] {
            // No netlink protocol but ROUTE, which is 0: 6 is XFRM; for the internet families it is TCP.
            assert_eq!(
                call("socket", [family | high, 1, 6, 0, 0, 0]),
                wanted.action(),
                "family {family}"
            );
        }
        let pair = if family == 1 {
            Verdict::Allow
        } else {
            Verdict::Refuse
        };
        assert_eq!(
            call("socketpair", [family, 1, 0, 0, 0, 0]),
            pair.action(),
            "pair of {family}"
        );
    }
    assert_eq!(call("socket", [16, 3, 0, 0, 0, 0]), Verdict::Allow.action());
    // Raw, ping, SCTP, MPTCP.
    for (kind, protocol) in [(3, 255), (2, 1), (5, 132), (1, 132), (1, 262)] {
        for family in [2, 10] {
            let arguments = [family, kind | 0o2_000_000, protocol, 0, 0, 0];
            assert_eq!(
                call("socket", arguments),
                Verdict::Refuse.action(),
                "{arguments:?}"
            );
        }
    }
}

#[test]
fn it_decides_as_the_language_does_and_keeps_to_the_cache() {
    let policy = default_policy();
    let mut conditional = std::collections::BTreeSet::new();
    let looked_at: std::collections::BTreeSet<&str> = policy
        .rules
        .iter()
        .filter_map(|rule| match &rule.subject {
            Subject::Syscall { targets } => Some(targets),
            _ => None,
        })
        .flatten()
        .filter(|set| !set.conditions.is_empty())
        .flat_map(|set| set.names.iter().map(String::as_str))
        .collect();
    for architecture in ARCHITECTURES {
        let filter = filter(&policy, architecture);
        let language = language_architecture(architecture);
        for (name, number) in table::calls(language) {
            let values = [
                0,
                1,
                2,
                3,
                4,
                9,
                10,
                16,
                17,
                0x11,
                0o4100,
                41,
                57,
                1 << 17,
                1 << 32,
                0x5412,
                1 << 32 | 0x5412,
                u64::MAX,
            ];
            // No rule looks at the arguments of the other calls.
            let values = if looked_at.contains(name) {
                &values[..]
            } else {
                &values[values.len() - 2..]
            };
            let mut effects = std::collections::BTreeSet::new();
            for &first in values {
                for &second in values {
                    let third = if name == "socket" { 0 } else { first };
                    let arguments = [first, second, third, second, 0, 0];
                    let decision = decide(
                        &policy,
                        &Access::Syscall {
                            architecture: language,
                            number,
                            arguments,
                        },
                    );
                    effects.insert(decision.effect == Effect::Allow);
                    let wanted = match decision.effect {
                        Effect::Allow => Verdict::Allow,
                        _ if ["clone3", "openat2"].contains(&name) => Verdict::Unknown,
                        _ => Verdict::Refuse,
                    };
                    assert_eq!(
                        answer(&filter, number, arguments),
                        wanted.action(),
                        "{name} {arguments:x?}"
                    );
                }
            }
            let cached = is_constant_allow(&filter.program, bpf::audit_arch(architecture), number);
            assert_eq!(cached, effects == [true].into(), "{name}");
            if effects.len() == 2 {
                conditional.insert(name);
            }
        }
    }
    assert_eq!(
        conditional.into_iter().collect::<Vec<_>>(),
        [
            "chmod",
            "clone",
            "creat",
            "fchmod",
            "fchmodat",
            "fchmodat2",
            "ioctl",
            "mknod",
            "mknodat",
            "open",
            "openat",
            "setsockopt",
            "socket",
            "socketpair"
        ]
    );
}

#[test]
fn it_stays_small() {
    let lengths = ARCHITECTURES.map(|architecture| filter(&default_policy(), architecture).program.len());
    // A change of the tables or of the floor may move these; a jump means that sharing or merging broke.
    assert!(lengths[0] <= 130 && lengths[1] <= 130, "{lengths:?}");
}
