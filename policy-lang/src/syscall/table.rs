//! Look-ups in the generated tables, so that nobody else depends on their shape.

use std::collections::BTreeSet;

use super::arguments::{ARGUMENTS, Named};
use super::constants::CONSTANTS;
use super::groups::GROUPS;
use super::numbers::NUMBERS;
use super::{Architecture, Width};

/// The group of every call that has a number on some architecture.
const KNOWN: &str = "@known";

/// A named argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Register, 0 to 5.
    pub index: u8,
    /// What the kernel looks at.
    pub width: Width,
}

/// The call's number, if the architecture has that call.
#[must_use]
pub fn number(name: &str, architecture: Architecture) -> Option<u32> {
    let row = NUMBERS.binary_search_by(|row| row.0.cmp(name)).ok()?;
    number_of(NUMBERS.get(row)?, architecture)
}

/// The name of a number. `None` for numbers the table does not know, with the x32 bit for instance.
#[must_use]
pub fn name(number: u32, architecture: Architecture) -> Option<&'static str> {
    NUMBERS
        .iter()
        .find(|row| number_of(row, architecture) == Some(number))
        .map(|row| row.0)
}

/// Whether some architecture has a call of that name.
#[must_use]
pub fn is_known(name: &str) -> bool {
    NUMBERS.binary_search_by(|row| row.0.cmp(name)).is_ok()
}

/// The names of all calls, sorted. Candidates for "did you mean".
pub fn names() -> impl Iterator<Item = &'static str> {
    NUMBERS.iter().map(|row| row.0)
}

/// Every call of the architecture with its number, sorted by name.
pub fn calls(architecture: Architecture) -> impl Iterator<Item = (&'static str, u32)> {
    NUMBERS
        .iter()
        .filter_map(move |row| Some((row.0, number_of(row, architecture)?)))
}

/// The highest number the table knows: a call above it is newer than the table.
#[must_use]
pub fn highest_number(architecture: Architecture) -> u32 {
    calls(architecture).map(|(_, number)| number).max().unwrap_or(0)
}

/// The members of a group, by its name with the `@`.
#[must_use]
pub fn group(name: &str) -> Option<BTreeSet<String>> {
    if name == KNOWN {
        return Some(names().map(str::to_owned).collect());
    }
    let row = GROUPS.binary_search_by(|row| row.0.cmp(name)).ok()?;
    Some(
        GROUPS
            .get(row)?
            .1
            .iter()
            .map(|&member| member.to_owned())
            .collect(),
    )
}

/// The names of all groups with their `@`. Candidates for "did you mean".
pub fn group_names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|row| row.0).chain([KNOWN])
}

/// A named argument of a call. `arg0` to `arg5` name the registers of any call, in full width.
#[must_use]
pub fn argument(call: &str, name: &str) -> Option<Argument> {
    if let Some(&(_, index, bits)) = arguments_of(call).iter().find(|argument| argument.0 == name) {
        let width = if bits == 32 { Width::Bits32 } else { Width::Bits64 };
        return Some(Argument { index, width });
    }
    let index = REGISTERS.iter().position(|&register| register == name)?;
    Some(Argument {
        index: u8::try_from(index).ok()?,
        width: Width::Bits64,
    })
}

/// The argument names a predicate on the call may use. Candidates for "did you mean".
pub fn argument_names(call: &str) -> impl Iterator<Item = &'static str> {
    arguments_of(call)
        .iter()
        .map(|argument| argument.0)
        .chain(REGISTERS)
}

/// The value of a constant. Negative ones are sign-extended: cut them to the width of the argument.
#[must_use]
pub fn constant(name: &str) -> Option<u64> {
    let row = CONSTANTS.binary_search_by(|row| row.0.cmp(name)).ok()?;
    CONSTANTS.get(row).map(|row| row.1)
}

/// The names of all constants. Candidates for "did you mean".
pub fn constant_names() -> impl Iterator<Item = &'static str> {
    CONSTANTS.iter().map(|row| row.0)
}

const REGISTERS: [&str; 6] = ["arg0", "arg1", "arg2", "arg3", "arg4", "arg5"];

fn number_of(row: &(&str, Option<u32>, Option<u32>), architecture: Architecture) -> Option<u32> {
    match architecture {
        Architecture::X86_64 => row.1,
        Architecture::Aarch64 => row.2,
    }
}

fn arguments_of(call: &str) -> &'static [Named] {
    ARGUMENTS
        .binary_search_by(|row| row.0.cmp(call))
        .ok()
        .and_then(|row| ARGUMENTS.get(row))
        .map_or(&[], |row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_by_architecture_and_are_found_both_ways() {
        assert_eq!(number("ioctl", Architecture::X86_64), Some(16));
        assert_eq!(number("ioctl", Architecture::Aarch64), Some(29));
        assert_eq!(name(29, Architecture::Aarch64), Some("ioctl"));
        assert_eq!(number("open", Architecture::Aarch64), None);
        for architecture in Architecture::ALL {
            for (call, nr) in calls(architecture) {
                assert_eq!(name(nr, architecture), Some(call));
                assert!(is_known(call));
            }
        }
    }

    #[test]
    fn numbers_outside_the_table_have_no_name() {
        assert_eq!(name(0x4000_0000, Architecture::X86_64), None);
        assert_eq!(
            name(highest_number(Architecture::X86_64) + 1, Architecture::X86_64),
            None
        );
        assert_eq!(number("opne", Architecture::X86_64), None);
    }

    #[test]
    fn calls_of_recent_kernels_are_known() {
        for call in [
            "cachestat",
            "fchmodat2",
            "map_shadow_stack",
            "futex_wake",
            "futex_wait",
            "futex_requeue",
            "statmount",
            "listmount",
            "lsm_get_self_attr",
            "mseal",
            "setxattrat",
            "removexattrat",
            "open_tree_attr",
            "file_getattr",
            "file_setattr",
            "listns",
        ] {
            assert!(
                number(call, Architecture::X86_64).is_some_and(|n| n >= 451),
                "{call}"
            );
            assert_eq!(
                number(call, Architecture::X86_64),
                number(call, Architecture::Aarch64),
                "{call}"
            );
        }
    }

    #[test]
    fn system_service_is_what_operators_expect() {
        let service = group("@system-service").unwrap();
        for member in [
            "read",
            "openat",
            "execve",
            "clone",
            "socketpair",
            "ioctl",
            "futex",
            "setxattrat",
        ] {
            assert!(service.contains(member), "{member}");
        }
        for stranger in [
            "ptrace",
            "mount",
            "bpf",
            "init_module",
            "reboot",
            "swapon",
            "seccomp",
            "perf_event_open",
        ] {
            assert!(!service.contains(stranger), "{stranger}");
        }
        assert_eq!(group("@system-services"), None);
        assert!(group("@known").unwrap().contains("ptrace"));
    }

    #[test]
    fn every_group_names_known_calls_and_none_is_empty() {
        for name in group_names() {
            let members = group(name).unwrap();
            assert!(!members.is_empty(), "{name}");
            assert!(members.iter().all(|member| is_known(member)), "{name}");
        }
    }

    #[test]
    fn arguments_have_the_register_and_the_width_the_kernel_uses() {
        let argument_of = |call, name| argument(call, name).map(|a| (a.index, a.width));
        assert_eq!(argument_of("ioctl", "request"), Some((1, Width::Bits32)));
        assert_eq!(argument_of("ioctl", "cmd"), Some((1, Width::Bits32)));
        assert_eq!(argument_of("clone", "flags"), Some((0, Width::Bits32)));
        assert_eq!(argument_of("unshare", "flags"), Some((0, Width::Bits64)));
        assert_eq!(argument_of("mprotect", "prot"), Some((2, Width::Bits64)));
        assert_eq!(argument_of("socket", "protocol"), Some((2, Width::Bits32)));
        assert_eq!(argument_of("prctl", "arg2"), Some((2, Width::Bits64)));
        assert_eq!(argument_of("ioctl", "arg1"), Some((1, Width::Bits64)));
        assert_eq!(argument_of("ioctl", "arg6"), None);
        assert_eq!(argument_of("openat", "mode"), None);
    }

    #[test]
    fn constants_have_the_values_of_the_kernel_headers() {
        assert_eq!(constant("TIOCSTI"), Some(0x5412));
        assert_eq!(constant("TIOCLINUX"), Some(0x541c));
        assert_eq!(constant("CLONE_NEWUSER"), Some(0x1000_0000));
        assert_eq!(constant("AF_UNIX"), Some(1));
        assert_eq!(constant("NETLINK_ROUTE"), Some(0));
        assert_eq!(constant("O_DIRECTORY"), None);
    }
}
