use policy_lang::policy::FileAccess::{self, Execute, Read, Write};
use policy_lang::policy::{Protocol, Verb};

use super::*;

fn learner() -> Learner {
    Learner::new(Surroundings {
        home: "/home/dev".to_owned(),
        working_directory: "/home/dev/work/app".to_owned(),
    })
}

fn file(access: FileAccess, path: &str) -> Refusal {
    Refusal::File {
        access,
        path: path.to_owned(),
    }
}

fn proposed(learner: &Learner) -> Vec<String> {
    let (text, _) = statements(&learner.grants(), &|grant| learner.is_absent(grant));
    text.lines()
        .map(str::trim)
        .filter(|line| line.starts_with("allow") || line.starts_with("scratch"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_working_directory_is_granted_as_a_whole() {
    let mut learner = learner();
    assert!(learner.observe(file(Read, "/home/dev/work/app/src/main.c")));
    assert!(learner.observe(file(Write, "/home/dev/work/app/build")));
    assert_eq!(proposed(&learner), ["allow read, write \".\""]);
}

#[test]
fn package_caches_and_versions_are_granted_for_their_next_contents() {
    let mut learner = learner();
    learner.observe(file(Read, "/home/dev/.cargo/registry/cache/x/serde-1.0.crate"));
    learner.observe(file(Execute, "/opt/node-v20.1.0/bin/node"));
    learner.observe(file(Read, "/opt/node-v20.1.0/bin/node"));
    learner.observe(file(Read, "/usr/lib/python3.11/os.py"));
    assert_eq!(
        proposed(&learner),
        [
            "allow read \"~/.cargo/registry\"",
            "allow read, execute \"/opt/node-v*\"",
            "allow read \"/usr/lib/python*\"",
        ]
    );
}

#[test]
fn a_few_files_stay_files_and_many_become_their_directory() {
    let mut learner = learner();
    for name in ["a", "b", "c"] {
        learner.observe(file(Read, &format!("/srv/data/{name}")));
        learner.observe(file(Read, &format!("/etc/{name}")));
    }
    assert_eq!(proposed(&learner).len(), 6);
    learner.observe(file(Read, "/srv/data/d"));
    learner.observe(file(Read, "/etc/d"));
    let proposed = proposed(&learner);
    assert!(
        proposed.contains(&"allow read \"/srv/data\"".to_owned()),
        "{proposed:?}"
    );
    // Not everybody's configuration.
    assert!(
        proposed.contains(&"allow read \"/etc/d\"".to_owned()),
        "{proposed:?}"
    );
}

#[test]
fn temporary_files_become_a_scratch_directory() {
    let mut learner = learner();
    learner.observe(file(Write, "/tmp"));
    assert_eq!(proposed(&learner), ["scratch \"/tmp\" 256MiB"]);
}

#[test]
fn secrets_are_never_proposed() {
    let mut learner = learner();
    assert!(!learner.observe(file(Read, "/home/dev/.ssh/id_ed25519")));
    assert!(proposed(&learner).is_empty());
    assert_eq!(learner.left().len(), 1);
    // Not every time anew.
    learner.observe(file(Read, "/home/dev/.ssh/id_ed25519"));
    assert_eq!(learner.left().len(), 1);
}

#[test]
fn a_rejected_broad_grant_falls_back_to_what_it_stands_for_and_then_is_left() {
    let mut learner = learner();
    learner.observe(file(Read, "/home/dev/work/app/a"));
    learner.observe(file(Read, "/home/dev/work/app/b"));
    let broad = learner.grants();
    assert!(broad[0].broad);
    learner.reject(&broad[0], "the ceiling refuses it");
    assert_eq!(proposed(&learner), ["allow read \"./a\"", "allow read \"./b\""]);
    let exact = learner.grants();
    learner.reject(&exact[0], "the ceiling refuses it");
    assert_eq!(proposed(&learner), ["allow read \"./b\""]);
    assert_eq!(learner.left().len(), 1);
    assert!(
        !learner.observe(file(Read, "/home/dev/work/app/a")),
        "it was left"
    );
}

#[test]
fn what_a_grant_did_not_cure_is_no_news() {
    let mut learner = learner();
    let refusal = Refusal::Network {
        verb: Verb::Connect,
        protocol: Protocol::Tcp,
        address: "2001:db8::1".parse().unwrap(),
        port: 443,
    };
    assert!(learner.observe(refusal.clone()));
    assert!(!learner.observe(refusal));
    assert_eq!(proposed(&learner), ["allow connect tcp \"[2001:db8::1]:443\""]);
}

#[test]
fn names_are_quoted_and_wildcards_in_them_are_characters() {
    let mut learner = learner();
    learner.observe(file(Read, "/srv/a*\"\n"));
    assert_eq!(proposed(&learner), [r#"allow read "/srv/a\\*\"\n""#]);
}

#[test]
fn each_grant_knows_its_line() {
    let mut learner = learner();
    learner.observe(file(Read, "/srv/a"));
    learner.observe(Refusal::Syscall {
        name: "ptrace".to_owned(),
    });
    let grants = learner.grants();
    let (text, lines) = statements(&grants, &|_| false);
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| text.lines().nth(*line).unwrap().trim())
        .collect();
    assert_eq!(lines, ["allow read \"/srv/a\"", "allow syscall \"ptrace\""]);
}

#[test]
fn what_is_gone_again_is_granted_if_present() {
    let mut learner = learner();
    learner.observe(file(Read, "/srv/gone"));
    let grant = learner.grants().remove(0);
    assert!(learner.mark_absent(&grant));
    assert!(!learner.mark_absent(&grant));
    assert_eq!(proposed(&learner), ["allow read \"/srv/gone\" if present"]);
}

#[test]
fn a_library_is_read_to_be_executed() {
    let mut learner = learner();
    learner.observe(file(Read, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
    learner.observe(file(Read, "/usr/share/resources"));
    assert_eq!(
        proposed(&learner),
        [
            "allow read, execute \"/usr/lib/x86_64-linux-gnu/libc.so.6\"",
            "allow read \"/usr/share/resources\"",
        ]
    );
}
