//! Files that come to be while a run lasts: cases F10 (a glob and a file made later) and F11 (a file that is saved by
//! renaming another over it).
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;

use host::host;

#[test]
fn a_deny_glob_over_a_writable_tree_is_refused_until_its_gap_is_permitted() {
    let Some(host) = host("f10-strict", &[]) else {
        return;
    };
    host.file("a/.env", "secret");
    let deny = format!("deny read \"{}/**/.env\"", host.work().display());
    let refused = host.sh(&host.policy(&deny, ""), "touch ran").expect_code(125);
    assert!(refused.stderr.contains("permit degraded"), "{}", refused.stderr);
    assert!(!host.work().join("ran").exists());
}

#[test]
fn a_glob_covers_what_is_there_at_the_start_and_says_what_it_does_not() {
    let Some(host) = host("f10", &[]) else { return };
    let env = host.file("a/.env", "secret");
    host.file("b/note", "note");
    let deny = format!("deny read \"{}/**/.env\" permit degraded", host.work().display());
    let policy = host.policy(&deny, "");
    let explained = remit::output(remit::remit().arg("explain").arg(&policy));
    assert!(
        explained.stdout.contains("creates or renames later"),
        "{}",
        explained.stdout
    );
    let script = "cat a/.env; mv a/.env a/x; mv a c; cat c/.env a/x;
        echo later > b/.env; cat b/.env; mv b/.env b/x; cat b/x";
    let outcome = host.sh(&policy, script);
    assert_eq!(outcome.stdout, "later\nlater\n", "{}", outcome.stderr);
    assert_eq!(fs::read_to_string(&env).expect("still there"), "secret");
    host.assert_recorded(&env, "deny read");
    let events = host.events();
    let gap = |event: &&serde_json::Value| {
        event["kind"] == "degraded"
            && event["details"]["gap"]
                .as_str()
                .is_some_and(|gap| gap.contains("not covered"))
    };
    assert_eq!(events.iter().filter(gap).count(), 1, "{events:?}");
}

/// Saves as editors and package managers do, then in place, and prints what happened.
const SAVE: &str = r#"
import errno, os
def attempt(name, call):
    try: call(); print(name, "done")
    except OSError as e: print(name, errno.errorcode[e.errno])
def by_renaming():
    with open("etc/config.new", "w") as f: f.write("renamed")
    os.rename("etc/config.new", "etc/config")
def in_place():
    with open("etc/config", "w") as f: f.write("in place")
attempt("rename", by_renaming)
attempt("place", in_place)
print(open("etc/config").read())
"#;

#[test]
fn a_grant_on_a_file_alone_lets_it_be_saved_in_place_and_not_replaced() {
    let Some(host) = host("f11-file", &[]) else { return };
    let config = host.file("etc/config", "old");
    let rules = format!(
        "allow read \"{}\"\nallow write \"{}\"",
        host.work().display(),
        config.display()
    );
    let policy = host.policy_of(&rules, "");
    let outcome = host
        .run(&policy, &["/usr/bin/python3", "-c", SAVE])
        .expect_code(0);
    assert_eq!(outcome.stdout, "rename EACCES\nplace done\nin place\n");
    assert!(!host.work().join("etc/config.new").exists());
    // What was refused is the directory, and the record says so.
    host.assert_recorded(config.parent().expect("a directory"), "deny everything");
}

#[test]
fn a_grant_on_the_directory_lets_it_be_replaced() {
    let Some(host) = host("f11-directory", &[]) else {
        return;
    };
    let config = host.file("etc/config", "old");
    let rules = format!(
        "allow read, write \"{}\"",
        config.parent().expect("a directory").display()
    );
    let outcome = host
        .run(&host.policy_of(&rules, ""), &["/usr/bin/python3", "-c", SAVE])
        .expect_code(0);
    assert_eq!(outcome.stdout, "rename done\nplace done\nin place\n");
}

#[test]
fn what_is_granted_more_than_its_directory_stays_where_it_is() {
    let Some(host) = host("f11-pinned", &[]) else {
        return;
    };
    let tool = host.file("etc/config", "old");
    let policy = host.policy(&format!("allow read, execute \"{}\"", tool.display()), "");
    let outcome = host
        .run(&policy, &["/usr/bin/python3", "-c", SAVE])
        .expect_code(0);
    assert_eq!(outcome.stdout, "rename EBUSY\nplace done\nin place\n");
}
