//! Codex: the nearest path of a profile decides, a denial before every grant.

use import::{Format, Options, import};
use policy_lang::policy::FileAccess;
use proptest::collection::btree_map;
use proptest::prelude::*;
use proptest::sample::select;

use super::{DOMAINS, HOSTS, absolute, allows_file, allows_host, covers, domain_covers, places};
use crate::support::resolved;

const PATHS: &[&str] = &[
    "/", "~", "~/.ssh", "~/.cache", "/tmp", "/opt", "/opt/a", "/opt/a/b",
];

/// The access of the longest literal that covers a place; a denial anywhere decides.
fn nearest<'a>(entries: &'a [(String, &'static str)], place: &str) -> Option<&'a str> {
    let covering = || entries.iter().filter(|(path, _)| covers(path, place));
    if covering().any(|(_, access)| *access == "deny") {
        return None;
    }
    covering()
        .max_by_key(|(path, access)| (absolute(path).len(), *access == "read"))
        .map(|(_, access)| *access)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn codex(
        entries in btree_map(select(PATHS), select(&["read", "write", "deny"][..]), 0..5),
        workspace in select(&["read", "write"][..]),
        below in btree_map(select(&["src", "build", "src/.env"][..]), select(&["read", "deny"][..]), 0..3),
        domains in btree_map(select(DOMAINS), select(&["allow", "deny"][..]), 0..4),
        enabled in any::<bool>(),
    ) {
        let mut text = "default_permissions = \"p\"\n[permissions.p.filesystem]\n".to_owned();
        let mut all: Vec<(String, &'static str)> = Vec::new();
        for (path, access) in &entries {
            text += &format!("{path:?} = {access:?}\n");
            all.push(((*path).to_owned(), access));
        }
        text += "[permissions.p.filesystem.\":workspace_roots\"]\n";
        text += &format!("\".\" = {workspace:?}\n");
        all.push((".".to_owned(), workspace));
        for (path, access) in &below {
            text += &format!("{path:?} = {access:?}\n");
            all.push(((*path).to_owned(), access));
        }
        text += &format!("[permissions.p.network]\nenabled = {enabled}\n[permissions.p.network.domains]\n");
        for (domain, access) in &domains {
            text += &format!("{domain:?} = {access:?}\n");
        }
        let policy = resolved(&import(Format::Codex, &text, &Options::default()).unwrap().policy);
        for place in places() {
            let access = nearest(&all, &place);
            prop_assert!(access.is_some() || !allows_file(&policy, FileAccess::Read, &place), "read {place}\n{text}");
            prop_assert!(access.is_some() || !allows_file(&policy, FileAccess::Execute, &place), "execute {place}");
            let writes = access == Some("write");
            prop_assert!(writes || !allows_file(&policy, FileAccess::Write, &place), "write {place}\n{text}");
            let protected = covers("./.git", &place) || covers("./.codex", &place);
            prop_assert!(!protected || !allows_file(&policy, FileAccess::Write, &place), "protected {place}");
        }
        for host in HOSTS {
            let any = |word: &str| domains.iter().any(|(domain, access)| *access == word && domain_covers(domain, host));
            let connects = enabled && any("allow") && !any("deny");
            prop_assert_eq!(connects, allows_host(&policy, host, 443), "connect {}\n{}", host, text);
        }
    }
}

#[test]
fn codex_profiles_grant_what_they_say() {
    let text = "default_permissions = \":workspace\"";
    let policy = resolved(&import(Format::Codex, text, &Options::default()).unwrap().policy);
    assert!(allows_file(
        &policy,
        FileAccess::Write,
        "/home/dev/work/src/main.rs"
    ));
    assert!(allows_file(&policy, FileAccess::Read, "/etc/hosts"));
    assert!(!allows_file(&policy, FileAccess::Write, "/etc/hosts"));
    assert!(!allows_host(&policy, "a.example", 443));
}
