//! The files domain on the real kernel, end to end: cases F1 to F9, F12, F14 and F15.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::os::unix::fs::symlink;

use enforcer::capabilities::Capability;
use host::{host, set_mode};

/// Prints, for each command, its name and whether it succeeded.
const TRY: &str = r#"try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name: done"; else echo "$name: refused"; fi; }"#;

#[test]
fn a_denied_directory_is_closed_by_every_route_and_says_so() {
    let Some(host) = host("f1", &[Capability::UserNamespace]) else {
        return;
    };
    let key = host.file(".ssh/id", "secret");
    symlink(".ssh/id", host.work().join("link")).expect("a link");
    let policy = host.policy(
        &format!(
            "deny read \"{}\" because \"keys stay home\"",
            host.work().join(".ssh").display()
        ),
        "",
    );
    let script = format!(
        "{TRY}
        try direct cat .ssh/id
        try link cat link
        try root cat /proc/self/root{key}
        try cwd cat /proc/self/cwd/.ssh/id
        try list ls .ssh
        try hardlink ln .ssh/id hard
        try move mv .ssh other
        try create touch .ssh/new
        try remove rm -rf .ssh
        try control touch free",
        key = key.display()
    );
    let outcome = host.sh(&policy, &script).expect_code(0);
    assert_eq!(
        outcome.stdout.matches(": refused").count(),
        9,
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("control: done"), "{}", outcome.stdout);
    host.assert_recorded(&key, "deny read");
    assert!(outcome.stderr.contains("keys stay home"), "{}", outcome.stderr);
    assert_eq!(fs::read_to_string(&key).expect("the key"), "secret");
}

#[test]
fn a_hard_link_that_was_there_before_is_found_and_named() {
    let Some(host) = host("f1-links", &[]) else { return };
    let key = host.file(".ssh/id", "secret");
    let link = host.work().join("hard");
    fs::hard_link(&key, &link).expect("a link");
    let deny = format!("deny read \"{}\"", host.work().join(".ssh").display());
    let refused = host.sh(&host.policy(&deny, ""), "cat hard").expect_code(125);
    assert!(refused.stderr.contains("hard link"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains(link.to_str().expect("UTF-8")),
        "{}",
        refused.stderr
    );
    assert!(!refused.stdout.contains("secret"));

    fs::remove_file(&link).expect("the link");
    host.sh(&host.policy(&deny, ""), "true").expect_code(0);
    assert!(host.leftovers().is_empty(), "{:?}", host.leftovers());
}

#[test]
fn links_among_refused_files_are_no_obstacle() {
    let Some(host) = host("f1-inner-links", &[]) else {
        return;
    };
    let key = host.file(".ssh/id", "secret");
    fs::hard_link(&key, host.work().join(".ssh/copy")).expect("a link");
    let deny = format!("deny read \"{}\"", host.work().join(".ssh").display());
    host.sh(&host.policy(&deny, ""), "true").expect_code(0);
}

#[test]
fn a_rule_below_a_file_is_reported_not_crashed_on() {
    let Some(host) = host("f2", &[]) else { return };
    host.file(".git", "gitdir: /elsewhere");
    let hooks = host.work().join(".git/hooks");
    let deny = format!("deny write \"{}\" if present", hooks.display());
    host.sh(&host.policy(&deny, ""), "cat .git").expect_code(0);
    let events = host.events();
    assert!(
        events.iter().any(|event| event["kind"] == "degraded"),
        "{events:?}"
    );
    let strict = host.policy(&format!("deny write \"{}\"", hooks.display()), "");
    let refused = host.sh(&strict, "true").expect_code(125);
    assert!(refused.stderr.contains("if present"), "{}", refused.stderr);
}

#[test]
fn a_protected_symbolic_link_starts_and_protects_its_target() {
    let Some(host) = host("f3", &[]) else { return };
    let target = host.file("store/bashrc", "x");
    symlink("store/bashrc", host.work().join("bashrc")).expect("a link");
    let deny = format!("deny write \"{}\"", host.work().join("bashrc").display());
    let outcome = host.sh(
        &host.policy(&deny, ""),
        &format!("{TRY}; try link cp /dev/null bashrc; try target cp /dev/null store/bashrc"),
    );
    let outcome = outcome.expect_code(0);
    assert_eq!(
        outcome.stdout.matches(": refused").count(),
        2,
        "{}",
        outcome.stdout
    );
    assert_eq!(fs::read_to_string(target).expect("the target"), "x");
}

#[test]
fn an_absent_path_leaves_no_stray_file_even_when_the_supervisor_is_killed() {
    let Some(host) = host("f4", &[]) else { return };
    let absent = host.work().join("absent");
    let policy = host.policy(&format!("deny write \"{}\" if present", absent.display()), "");
    let running = host.start(&policy, &["/bin/sh", "-c", "touch started; sleep 60"]);
    host::eventually("the run starts", || host.work().join("started").exists());
    running.signal(rustix::process::Signal::KILL);
    drop(running);
    host.recover();
    assert!(!absent.exists());
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn a_write_that_is_denied_leaves_no_lock_file() {
    let Some(host) = host("f5", &[]) else { return };
    let config = host.file(".git/config", "[core]\n\trepositoryformatversion = 0\n");
    host.file(".git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(host.work().join(".git/objects")).expect("a directory");
    fs::create_dir_all(host.work().join(".git/refs")).expect("a directory");
    let policy = host.policy(&format!("deny write \"{}\"", config.display()), "");
    let outcome = host.run(&policy, &["/usr/bin/git", "config", "user.name", "x"]);
    assert_ne!(outcome.code, Some(0), "{}", outcome.stdout);
    assert!(!host.work().join(".git/config.lock").exists());
    assert!(!fs::read_to_string(config).expect("the file").contains("name"));
}

#[test]
fn the_most_specific_rule_wins_three_levels_deep() {
    let Some(host) = host("f6", &[]) else { return };
    host.file("p/top", "top");
    host.file("p/w/note", "note");
    host.file("p/w/x/old", "old");
    let p = host.work().join("p");
    let rules = format!(
        "deny read, write \"{p}\"\nallow read \"{p}/w\"\nallow write \"{p}/w/x\"",
        p = p.display()
    );
    let script = format!(
        "{TRY}
        try top cat p/top
        try note cat p/w/note
        try create touch p/w/x/f
        try outside touch p/w/g
        try list ls p"
    );
    let outcome = host.sh(&host.policy(&rules, ""), &script).expect_code(0);
    assert_eq!(
        outcome.stdout,
        "top: refused\nnote: done\ncreate: done\noutside: refused\nlist: refused\n"
    );
    assert!(p.join("w/x/f").exists());
}

#[test]
fn a_denied_parent_of_the_working_directory_changes_nothing_inside() {
    let Some(host) = host("f7", &[]) else { return };
    let parent = host.work().parent().expect("a parent").to_owned();
    let rules = format!(
        "deny read \"{}\"\nallow read, write \"{}\"",
        parent.display(),
        host.work().display()
    );
    let outcome = host.run(
        &host.policy_of(&rules, ""),
        &["/bin/sh", "-c", "pwd && /bin/sh -c 'touch made && ls'"],
    );
    let outcome = outcome.expect_code(0);
    assert_eq!(outcome.stdout, format!("{}\nmade\n", host.work().display()));
}

#[test]
fn a_read_only_file_in_a_writable_directory_stays_as_it_is() {
    let Some(host) = host("f8", &[]) else { return };
    let file = host.file("fixed", "fixed");
    let policy = host.policy(&format!("deny write \"{}\"", file.display()), "");
    let script = format!(
        "{TRY}
        try write dd if=/dev/null of=fixed conv=notrunc oflag=append
        try truncate truncate -s 0 fixed
        echo new > other
        try rename mv -f other fixed
        try unlink rm -f fixed
        try chmod chmod 777 fixed
        try touch touch -d 2001-01-01 fixed
        cat fixed"
    );
    let outcome = host.sh(&policy, &script).expect_code(0);
    assert_eq!(
        outcome.stdout.matches(": refused").count(),
        6,
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.ends_with("fixed"), "{}", outcome.stdout);
    assert_eq!(fs::read_to_string(file).expect("the file"), "fixed");
}

#[test]
fn a_stricter_path_cannot_be_made_anew_by_renaming_its_parents() {
    let Some(host) = host("f8-parents", &[]) else {
        return;
    };
    host.file(".git/hooks/sample", "x");
    let policy = host.policy(
        &format!("forbid write \"{}\"", host.work().join(".git/hooks").display()),
        "",
    );
    let script = format!(
        "{TRY}
        try parent mv .git aside
        try self mv .git/hooks aside
        try hook touch .git/hooks/pre-commit
        try config touch .git/config"
    );
    let outcome = host.sh(&policy, &script).expect_code(0);
    assert_eq!(
        outcome.stdout,
        "parent: refused\nself: refused\nhook: refused\nconfig: done\n"
    );
}

#[test]
fn a_deny_below_a_grant_is_never_silently_nothing() {
    let Some(host) = host("f9", &[]) else { return };
    let ring = host.file(".local/share/keyrings/login", "secret");
    let outside = host.beside("home");
    fs::create_dir(&outside).expect("a directory");
    let policy = host.policy_of(
        &format!(
            "allow read \"{}\"\ndeny read \"{}\"",
            host.work().join(".local").display(),
            ring.parent().expect("a parent").display()
        ),
        "",
    );
    let outcome = host
        .sh(&policy, "cat .local/share/keyrings/login; ls .local/share")
        .expect_code(0);
    assert_eq!(outcome.stdout, "keyrings\n");
    host.assert_recorded(&ring, "deny read");
}

#[test]
fn swapping_a_component_for_a_symbolic_link_never_wins() {
    let Some(host) = host("f12", &[]) else { return };
    host.file("keys/secret", "secret");
    host.file("dir/secret", "harmless");
    let policy = host.policy(
        &format!("deny read \"{}\"", host.work().join("keys").display()),
        "",
    );
    let script = r#"
import os, threading, time
end = time.time() + 2
def swap():
    while time.time() < end:
        try:
            os.rename("dir", "real"); os.symlink("keys", "dir")
            os.unlink("dir"); os.rename("real", "dir")
        except OSError: pass
thread = threading.Thread(target=swap); thread.start()
seen = set(); tries = 0
while time.time() < end:
    tries += 1
    try:
        with open("dir/secret") as f: seen.add(f.read())
    except OSError as e: seen.add(e.errno)
thread.join()
assert tries > 100, tries
assert "harmless" in seen, seen
assert "secret" not in seen, seen
print("held")
"#;
    let outcome = host
        .run(&policy, &["/usr/bin/python3", "-c", script])
        .expect_code(0);
    assert_eq!(outcome.stdout, "held\n", "{}", outcome.stderr);
}

#[test]
fn other_processes_cannot_be_looked_at() {
    let Some(host) = host("f14", &[]) else { return };
    let script = "ls /proc | grep -c '^[0-9]'; cat /proc/1/environ; cat /proc/$OUTER/cmdline; tr '\\0' ' ' < /proc/1/cmdline";
    let script = script.replace("$OUTER", &std::process::id().to_string());
    let outcome = host.sh(&host.policy("", ""), &script);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let count: u32 = lines.first().and_then(|line| line.parse().ok()).expect("a count");
    assert!(count <= 6, "{}", outcome.stdout);
    assert!(
        lines.get(1).is_some_and(|line| line.starts_with("remit-launch")),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("/proc/1/environ: Permission denied"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn long_deep_and_odd_paths_are_exact() {
    let Some(host) = host("f15", &[]) else { return };
    let deep = (0..25)
        .map(|level| format!("d{level}"))
        .collect::<Vec<_>>()
        .join("/");
    let wide = format!("{}/f", "n".repeat(250));
    let long = vec!["x".repeat(200); 18].join("/");
    let odd = "a \\\"b\nc";
    for name in [&deep, &wide, &long] {
        host.file(&format!("{name}/open"), "open");
        host.file(&format!("{name}/shut"), "secret");
    }
    host.file("odd \"one\nmore\"/shut", "secret");
    let _ = odd;
    let mut rules = String::new();
    for name in [&deep, &wide, &long] {
        rules.push_str(&format!("deny read \"{}/{name}/shut\"\n", host.work().display()));
    }
    rules.push_str(&format!(
        "deny read \"{}/odd \\\"one\\nmore\\\"\"\n",
        host.work().display()
    ));
    let script = r#"
import os, sys
def read(parts):
    fd = os.open(".", os.O_PATH)
    for part in parts[:-1]: fd = os.open(part, os.O_PATH, dir_fd=fd)
    with os.fdopen(os.open(parts[-1], os.O_RDONLY, dir_fd=fd)) as f: return f.read()
for name in sys.argv[1:]:
    for last in ("open", "shut"):
        try: print(read(name.split("/") + [last]))
        except PermissionError: print("refused")
"#;
    let outcome = host.run(
        &host.policy(&rules, ""),
        &["/usr/bin/python3", "-c", script, &deep, &wide, &long],
    );
    let outcome = outcome.expect_code(0);
    assert_eq!(outcome.stdout, "open\nrefused\n".repeat(3), "{}", outcome.stderr);
    let outcome = host.run(&host.policy(&rules, ""), &["/bin/cat", "odd \"one\nmore\"/shut"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
}

#[test]
fn a_private_home_is_passed_through_without_being_shown() {
    let Some(host) = host("passage", &[Capability::UserNamespace]) else {
        return;
    };
    let home = host.beside("home");
    fs::create_dir_all(home.join("project")).expect("directories");
    fs::write(home.join("secret"), "secret").expect("a file");
    fs::write(home.join("project/open"), "open").expect("a file");
    set_mode(&home, 0o700);
    let policy = host.policy_of(
        &format!("allow read, write \"{}\"", home.join("project").display()),
        "",
    );
    let script = format!(
        "cat {h}/project/open && touch {h}/project/new; cat {h}/secret; ls {h}",
        h = home.display()
    );
    let mut command = host.remit_run(&policy, &["/bin/sh", "-c", &script]);
    let outcome = remit::output(command.current_dir("/"));
    assert_eq!(outcome.stdout, "open", "{}", outcome.stderr);
    assert!(home.join("project/new").exists());
}
