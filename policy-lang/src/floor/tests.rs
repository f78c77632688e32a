use super::*;
use crate::syscall::table;

mod meaning;

#[test]
fn the_floor_names_calls_as_the_tables_do() {
    // Kept although no table of 64-bit calls has them: a kernel that does would be covered.
    let not_in_64_bit = ["stime", "umount", "create_module"];
    for (_, calls, _) in CALLS {
        for call in *calls {
            assert!(table::is_known(call) || not_in_64_bit.contains(call), "{call}");
        }
    }
}

#[test]
fn every_built_in_rule_has_its_index_a_reason_and_a_target() {
    for (index, rule) in rules().iter().enumerate() {
        assert_eq!(rule.id, RuleId(u32::try_from(index).unwrap()));
        assert_eq!(rule.origin, Origin::BuiltIn);
        assert!(rule.because.is_some());
        match &rule.subject {
            Subject::Everything => assert_eq!(index, 0),
            Subject::Network { targets, .. } => {
                assert!(targets.len() > METADATA.len())
            }
            Subject::File { targets, .. } => assert!(!targets.is_empty()),
            Subject::Syscall { targets } => assert!(targets.iter().all(|set| !set.names.is_empty())),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_floor_leaves_the_ordinary_groups_alone() {
    let service = table::group("@system-service").unwrap();
    for (label, calls, _) in CALLS {
        for call in *calls {
            // systemd counts reading the clock's state, and asking for a file's handle, as ordinary.
            let expected = matches!(
                *call,
                "clone3"
                    | "openat2"
                    | "io_uring_enter"
                    | "io_uring_register"
                    | "io_uring_setup"
                    | "unshare"
                    | "setns"
                    | "add_key"
                    | "keyctl"
                    | "request_key"
                    | "open_by_handle_at"
                    | "userfaultfd"
                    | "adjtimex"
                    | "clock_adjtime"
            );
            assert!(!service.contains(*call) || expected, "{label}: {call}");
        }
    }
}
