//! Which of a network rule's strings became which of its targets.
//!
//! A resolved rule keeps addresses and names apart, and `*` is an address of each family. Its text has the strings in
//! the order they were written in, with parameters filled in.

use std::net::IpAddr;

use policy_lang::policy::Rule;

use super::place::{Kind, tokens};

/// For each target, its string.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// As [`Subject::Network`](policy_lang::policy::Subject::Network) has its `targets`.
    pub(super) endpoints: Vec<usize>,
    /// As it has its `hosts`.
    pub(super) hosts: Vec<usize>,
}

pub(super) fn of(rule: &Rule) -> Written {
    let mut written = Written::default();
    let strings = tokens(&rule.text, 0).filter(|token| token.kind == Kind::Text);
    for (index, string) in strings.enumerate() {
        let text = string.text.trim_matches('"');
        if text.starts_with("*:") {
            written.endpoints.extend([index, index]);
        } else if is_address(text) {
            written.endpoints.push(index);
        } else {
            written.hosts.push(index);
        }
    }
    written
}

fn is_address(target: &str) -> bool {
    let address = target.split([':', '/']).next().unwrap_or_default();
    target.starts_with('[') || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_lang::policy::Policy;

    #[test]
    fn names_addresses_and_stars_are_told_apart() {
        let mut rule = Policy::built_in("x").rules.swap_remove(0);
        rule.text =
            r#"allow connect "*:443", "example.com:1", "10.0.0.0/8:2", "*.a.b:3", "[::1]:4""#.to_owned();
        let expected = Written {
            endpoints: vec![0, 0, 2, 4],
            hosts: vec![1, 3],
        };
        assert_eq!(of(&rule), expected);
    }
}
