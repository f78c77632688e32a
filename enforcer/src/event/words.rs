//! The words events use for effects, mechanisms and accesses, the same everywhere they are shown.

use artifact::filesystem::FileAccess;
use artifact::rule::{Effect, Mechanism};
use serde::Serializer;

/// The word of the language for an effect.
#[must_use]
pub const fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Ask => "ask",
        Effect::Deny => "deny",
        Effect::Forbid => "forbid",
    }
}

/// The word of events and of `explain` for a mechanism.
#[must_use]
pub const fn mechanism_word(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::LandlockFs => "landlock-fs",
        Mechanism::LandlockNet => "landlock-net",
        Mechanism::LandlockScope => "landlock-scope",
        Mechanism::MountAttributes => "mount-attributes",
        Mechanism::MountMask => "mount-mask",
        Mechanism::PrivateMount => "private-mount",
        Mechanism::Seccomp => "seccomp",
        Mechanism::CgroupBpf => "cgroup-bpf",
        Mechanism::Environment => "environment",
        Mechanism::CgroupController => "cgroup-controller",
        Mechanism::Rlimit => "rlimit",
        Mechanism::Credentials => "credentials",
        Mechanism::Supervisor => "supervisor",
        Mechanism::Broker => "broker",
    }
}

/// The verb of the language for an access to a file.
#[must_use]
pub const fn access_word(access: FileAccess) -> &'static str {
    match access {
        FileAccess::Read => "read",
        FileAccess::Write => "write",
        FileAccess::Execute => "execute",
    }
}

#[allow(clippy::ref_option, reason = "serde calls this with a reference to the field")]
pub(super) fn effect<S: Serializer>(value: &Option<Effect>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(effect) => serializer.serialize_str(effect_word(*effect)),
        None => serializer.serialize_none(),
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls this with a reference to the field"
)]
pub(super) fn plain_effect<S: Serializer>(value: &Effect, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(effect_word(*value))
}

#[allow(clippy::ref_option, reason = "serde calls this with a reference to the field")]
pub(super) fn mechanism<S: Serializer>(value: &Option<Mechanism>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(mechanism) => serializer.serialize_str(mechanism_word(*mechanism)),
        None => serializer.serialize_none(),
    }
}

pub(super) fn mechanisms<S: Serializer>(value: &[Mechanism], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(value.iter().map(|mechanism| mechanism_word(*mechanism)))
}

pub(super) fn accesses<S: Serializer>(value: &[FileAccess], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(value.iter().map(|access| access_word(*access)))
}
