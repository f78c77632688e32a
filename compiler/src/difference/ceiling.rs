//! A policy beside a ceiling that it may or may not name.

use policy_lang::policy::Policy;

use super::{Difference, Topic, difference};

/// In what a policy goes beyond another one, as if that were its ceiling.
///
/// A policy that names the ceiling is judged with it, and can only be narrower; one that does not is judged as it stands.
/// Brokered credentials open no access, and a ceiling does not grant them.
#[must_use]
pub fn beyond(policy: &Policy, ceiling: &Policy) -> Difference {
    let mut found = difference(ceiling, policy);
    found.settings.retain(|setting| setting.topic != Topic::Broker);
    found
}
