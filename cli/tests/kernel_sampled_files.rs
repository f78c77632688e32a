//! Model equals kernel, for files: random rules over random trees, and what a program in the run finds.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;
#[path = "common/sampled.rs"]
mod sampled;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use enforcer::capabilities::Capability;
use host::{Host, host, set_mode};
use policy_lang::pattern::PathPattern;
use policy_lang::policy::{FileAccess, Policy, Subject};
use policy_lang::reference::{Access, decide};
use sampled::{Disagreements, Random, allows, as_recorded, recorded};
use serde_json::{Value, json};

const NAMES: [&str; 4] = ["a", "b", "ab", ".e"];
const WILD: [&str; 7] = ["*", "**", "?", "[ab]", "[!a]*", "a*", "*b"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    File,
    Fifo,
}

/// What was made, by path.
type Tree = BTreeMap<PathBuf, Kind>;

fn grow(random: &mut Random, at: &Path, depth: usize, tree: &mut Tree) {
    for name in NAMES {
        if !random.chance(70 - 10 * depth) {
            continue;
        }
        let path = at.join(name);
        let kind = match random.below(10) {
            0 => Kind::Fifo,
            1..=5 if depth < 3 => Kind::Directory,
            _ => Kind::File,
        };
        // Open to all: modes refuse before Landlock does, and leave no record.
        match kind {
            Kind::Directory => {
                fs::create_dir(&path).expect("a directory");
                set_mode(&path, 0o777);
                grow(random, &path, depth + 1, tree);
            }
            Kind::File => {
                fs::write(&path, "data\n").expect("a file");
                set_mode(&path, 0o777);
            }
            Kind::Fifo => {
                rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o666.into()).expect("a FIFO");
                set_mode(&path, 0o666);
            }
        }
        tree.insert(path, kind);
    }
}

fn pattern(random: &mut Random, work: &Path, tree: &Tree, glob: bool) -> String {
    let paths: Vec<&PathBuf> = tree.keys().collect();
    let mut text = work.display().to_string();
    if glob {
        for _ in 0..=random.below(3) {
            let name = if random.chance(60) {
                *random.pick(&WILD)
            } else {
                *random.pick(&NAMES)
            };
            text = format!("{text}/{name}");
        }
        // Without a wildcard it would be a literal.
        return if random.chance(50) {
            format!("{text}/*")
        } else {
            format!("{text}/**/{}", random.pick(&NAMES))
        };
    }
    match random.below(12) {
        0 => text,
        1 => format!("{text}/absent/{}", random.pick(&NAMES)),
        _ => random.pick(&paths).display().to_string(),
    }
}

fn rules(random: &mut Random, work: &Path, tree: &Tree) -> String {
    let mut text = String::new();
    if random.chance(70) {
        text += &format!("allow read, write \"{}\"\n", work.display());
    }
    for index in 0..3 + random.below(8) {
        let effect = *random.pick(&["allow", "allow", "allow", "deny", "deny", "forbid"]);
        let accesses: Vec<&str> = random
            .some(&["read", "write", "execute"])
            .into_iter()
            .copied()
            .collect();
        let glob = random.chance(25);
        let patterns: Vec<String> = (0..=random.below(2))
            .map(|_| format!("\"{}\"", pattern(random, work, tree, glob)))
            .collect();
        let degraded = if effect == "allow" { "" } else { " permit degraded" };
        let present = if glob { "" } else { " if present" };
        text += &format!(
            "{effect} {} {} label \"r{index}\"{present}{degraded}\n",
            accesses.join(", "),
            patterns.join(", "),
        );
    }
    text
}

/// One access that the probe makes: of which kinds of access to which paths it consists.
struct Attempt {
    request: Value,
    needs: Vec<(FileAccess, String)>,
    verb: FileAccess,
}

fn attempts(random: &mut Random, work: &Path, tree: &Tree) -> Vec<Attempt> {
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let mut attempts = Vec::new();
    let mut add = |request: Value, needs: Vec<(FileAccess, String)>| {
        let verb = needs[needs.len() - 1].0;
        attempts.push(Attempt { request, needs, verb });
    };
    use FileAccess::{Execute, Read, Write};
    for (fresh, (path, kind)) in tree.iter().enumerate() {
        let at = text(path);
        add(json!(["read", at]), vec![(Read, at.clone())]);
        match kind {
            Kind::Directory => {
                let made = format!("{at}/z{fresh}");
                let call = if random.chance(50) { "create" } else { "mkdir" };
                add(json!([call, made]), vec![(Write, at), (Write, made.clone())]);
            }
            Kind::Fifo => add(json!(["write", at]), vec![(Write, at)]),
            Kind::File => {
                let call = if random.chance(50) { "write" } else { "truncate" };
                add(json!([call, at]), vec![(Write, at.clone())]);
                // The kernel reads what it starts.
                for call in ["start", "load"] {
                    add(json!([call, at]), vec![(Read, at.clone()), (Execute, at.clone())]);
                }
                let parent = text(path.parent().expect("a parent"));
                let to = format!("{parent}/y{fresh}");
                let names = vec![(Write, parent), (Write, to.clone()), (Write, at.clone())];
                add(json!(["rename", at, to]), names);
                let call = if random.chance(50) { "chmod" } else { "touch" };
                add(json!([call, at]), vec![(Write, at.clone())]);
            }
        }
    }
    links(random, work, tree, &mut add);
    lasting(random, tree, &mut add);
    attempts
}

/// Looks through symbolic links, which the kernel judges by what they lead to.
fn links(
    random: &mut Random,
    work: &Path,
    tree: &Tree,
    add: &mut dyn FnMut(Value, Vec<(FileAccess, String)>),
) {
    let paths: Vec<&PathBuf> = tree.keys().collect();
    for index in 0..3 {
        let target = *random.pick(&paths);
        let link = work.join(format!("link{index}"));
        std::os::unix::fs::symlink(target, &link).expect("a link");
        for (path, kind) in tree.iter().filter(|(path, _)| path.starts_with(target)) {
            let rest = path.strip_prefix(target).expect("below");
            let through = if rest.as_os_str().is_empty() {
                link.clone()
            } else {
                link.join(rest)
            };
            let at = path.to_str().expect("UTF-8").to_owned();
            add(json!(["read", through]), vec![(FileAccess::Read, at.clone())]);
            if *kind == Kind::File {
                add(json!(["write", through]), vec![(FileAccess::Write, at)]);
            }
        }
    }
}

/// Changes of the tree that stay, so they come last, and only one to each file.
fn lasting(random: &mut Random, tree: &Tree, add: &mut dyn FnMut(Value, Vec<(FileAccess, String)>)) {
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let directories: Vec<&PathBuf> = tree
        .iter()
        .filter(|(_, kind)| **kind == Kind::Directory)
        .map(|(path, _)| path)
        .collect();
    for (fresh, (path, _)) in tree.iter().filter(|(_, kind)| **kind == Kind::File).enumerate() {
        let (at, parent) = (text(path), text(path.parent().expect("a parent")));
        let own = [(FileAccess::Write, parent), (FileAccess::Write, at.clone())];
        if random.chance(40) {
            add(json!(["unlink", at]), own.to_vec());
            continue;
        }
        let directory = *random.pick(&directories);
        let to = text(&directory.join(format!("x{fresh}")));
        let call = if random.chance(50) { "move" } else { "link" };
        let mut needs = vec![
            (FileAccess::Write, text(directory)),
            (FileAccess::Write, to.clone()),
        ];
        needs.extend(own);
        add(json!([call, at, to]), needs);
    }
}

fn word(access: FileAccess) -> &'static str {
    match access {
        FileAccess::Read => "read",
        FileAccess::Write => "write",
        FileAccess::Execute => "execute",
    }
}

/// Whether the kernel refuses here although the rules allow: beneath a readable directory, what may not be read can
/// only be hidden, and what is hidden can be neither written nor started. So it is with a FIFO beneath a writable
/// directory, which a read-only mount would not close. `remit explain` notes it.
fn is_withheld(policy: &Policy, tree: &Tree, path: &str) -> bool {
    let taken_back = |access: FileAccess| {
        let allowed = |path: &Path| {
            let path = path.to_str().expect("UTF-8").to_owned();
            allows(policy, &Access::File { access, path })
        };
        !allowed(Path::new(path)) && Path::new(path).ancestors().skip(1).any(allowed)
    };
    let is_fifo = tree.get(Path::new(path)) == Some(&Kind::Fifo);
    taken_back(FileAccess::Read) || is_fifo && taken_back(FileAccess::Write)
}

/// Globs are matched when the run starts, so they say nothing of names that it makes.
fn is_matched_later(policy: &Policy, path: &str) -> bool {
    policy.rules.iter().any(|rule| match &rule.subject {
        Subject::File { targets, .. } => targets
            .iter()
            .any(|target| matches!(target, PathPattern::Glob(_)) && target.covers(path)),
        _ => false,
    })
}

struct Sample<'a> {
    policy: &'a Policy,
    tree: &'a Tree,
    file: &'a Path,
    /// Events about files of the tree that no access has claimed yet.
    events: Vec<Value>,
    wrong: Disagreements,
    allowed: usize,
    refused: usize,
    named: usize,
}

impl Sample<'_> {
    fn judge(&mut self, attempt: &Attempt, said: &str) {
        let refusing: Vec<&(FileAccess, String)> = attempt
            .needs
            .iter()
            .filter(|(access, path)| {
                !allows(
                    self.policy,
                    &Access::File {
                        access: *access,
                        path: path.clone(),
                    },
                )
            })
            .collect();
        let fresh = matches!(
            attempt.request[0].as_str(),
            Some("create" | "mkdir" | "rename" | "move" | "link")
        );
        if fresh
            && attempt
                .needs
                .iter()
                .any(|(_, path)| is_matched_later(self.policy, path))
        {
            return;
        }
        let succeeded = matches!(said, "done" | "ENOEXEC" | "ENOEXEC noexec" | "ENXIO");
        let withheld = attempt
            .needs
            .iter()
            .any(|(_, path)| is_withheld(self.policy, self.tree, path));
        let expected = refusing.is_empty() && !withheld;
        let call = attempt.request[0].as_str().expect("a call");
        if expected && !succeeded && self.has_to_stay(attempt, call, said) {
            return;
        }
        if succeeded && matches!(call, "move" | "link") && self.gains(attempt) {
            self.wrong
                .add(format!("{}: the file gained rights", attempt.request));
            return;
        }
        if succeeded != expected {
            self.wrong.add(format!(
                "{}: kernel {said}, model refuses {refusing:?}, withheld {withheld}",
                attempt.request
            ));
            return;
        }
        if succeeded {
            self.allowed += 1;
            return;
        }
        self.refused += 1;
        match said {
            "EACCES" => self.claim(attempt),
            "EACCES noexec" if attempt.verb == FileAccess::Execute => {}
            "EPERM" if attempt.request[0] == "load" => {}
            "EROFS" | "EBUSY" if attempt.verb == FileAccess::Write => {}
            "EPERM" if matches!(call, "chmod" | "touch") => {}
            "EXDEV" if matches!(call, "move" | "link") => {}
            other => self
                .wrong
                .add(format!("{}: refused with {other}", attempt.request)),
        }
    }

    /// Whether the language says why something that every rule allows is refused all the same: a file stays where it is
    /// that the rules treat differently from its directory, and one that would gain rights where it goes.
    fn has_to_stay(&mut self, attempt: &Attempt, call: &str, said: &str) -> bool {
        let path = attempt.request[1].as_str().expect("a path");
        let parent = Path::new(path).parent().and_then(Path::to_str).expect("a parent");
        match (call, said) {
            ("rename" | "unlink" | "move", "EBUSY") => self.rights(path) != self.rights(parent),
            // Between mounts, as between file systems anywhere.
            ("move" | "link", "EXDEV") => true,
            ("move" | "link", "EACCES") if self.gains(attempt) => {
                self.claim(attempt);
                true
            }
            _ => false,
        }
    }

    fn rights(&self, path: &str) -> [bool; 3] {
        [FileAccess::Read, FileAccess::Write, FileAccess::Execute].map(|access| {
            let path = path.to_owned();
            allows(self.policy, &Access::File { access, path })
        })
    }

    /// Whether more is allowed at the new name than at the old one.
    fn gains(&self, attempt: &Attempt) -> bool {
        let at = |index: usize| self.rights(attempt.request[index].as_str().expect("a path"));
        at(1).into_iter().zip(at(2)).any(|(old, new)| new && !old)
    }

    /// Finds the event of a refusal that has to have one.
    fn claim(&mut self, attempt: &Attempt) {
        let about = |event: &Value| {
            let path = event["details"]["path"].as_str().expect("a path");
            let exact = attempt.needs.iter().any(|(_, needed)| needed == path);
            let masked = event["mechanism"] == "mount-mask"
                && attempt
                    .needs
                    .iter()
                    .any(|(_, needed)| Path::new(needed).starts_with(path));
            // A masked directory is looked at before the kernel knows what for.
            let access = event["details"]["access"].as_array().expect("accesses");
            let meant = masked
                || access.iter().any(|access| *access == word(attempt.verb))
                || attempt.verb == FileAccess::Execute && access.iter().any(|access| *access == "read");
            (exact || masked) && meant
        };
        let meant = |event: &Value| about(event) && event["details"]["access"][0] == word(attempt.verb);
        let found = self.events.iter().position(meant);
        let Some(at) = found.or_else(|| self.events.iter().position(about)) else {
            self.wrong
                .add(format!("{}: EACCES without an event", attempt.request));
            return;
        };
        let event = self.events.remove(at);
        let path = event["details"]["path"].as_str().expect("a path");
        let accesses: Vec<FileAccess> = event["details"]["access"]
            .as_array()
            .expect("accesses")
            .iter()
            .map(|access| match access.as_str() {
                Some("read") => FileAccess::Read,
                Some("write") => FileAccess::Write,
                _ => FileAccess::Execute,
            })
            .collect();
        let right = accesses
            .iter()
            .map(|&access| {
                as_recorded(decide(
                    self.policy,
                    &Access::File {
                        access,
                        path: path.to_owned(),
                    },
                ))
            })
            .any(|decision| decision == recorded(&event));
        if right {
            self.named += usize::from(event["rule"]["id"] != 0);
        } else {
            self.wrong.add(format!(
                "{}: the event names another rule: {event}",
                attempt.request
            ));
        }
    }
}

/// Who the run is, and whether it is nobody's but its own.
fn identity(random: &mut Random, work: &Path, tree: &Tree) -> &'static str {
    const IDS: u32 = 4242;
    match random.below(4) {
        0 => "identity user",
        1 => {
            for path in tree.keys() {
                std::os::unix::fs::chown(path, Some(IDS), Some(IDS)).expect("an owner");
            }
            assert!(work.exists());
            "identity 4242:4242"
        }
        _ => "identity dynamic",
    }
}

fn sample(host: &Host, seed: u64) -> (usize, usize, usize) {
    let mut random = Random::new(seed);
    let work = host.work().join(format!("s{seed}"));
    fs::create_dir(&work).expect("a directory");
    set_mode(&work, 0o777);
    let mut tree = Tree::from([(work.clone(), Kind::Directory)]);
    grow(&mut random, &work, 0, &mut tree);
    let identity = identity(&mut random, &work, &tree);
    let process = format!("process {{ {identity} allow syscall @system-service }}");
    let file = host.policy_of(&rules(&mut random, &work, &tree), &process);
    let policy = sampled::resolved(host, &file);
    let attempts = attempts(&mut random, &work, &tree);
    let requests: Vec<Value> = attempts.iter().map(|attempt| attempt.request.clone()).collect();
    let said = sampled::probe(host, &file, &requests);
    let in_tree = |event: &Value| {
        event["details"]["path"]
            .as_str()
            .is_some_and(|path| Path::new(path).starts_with(&work))
    };
    let mut sample = Sample {
        policy: &policy,
        tree: &tree,
        file: &file,
        events: host
            .events()
            .into_iter()
            .filter(|event| event["kind"] == "file" && in_tree(event))
            .collect(),
        wrong: Disagreements::default(),
        allowed: 0,
        refused: 0,
        named: 0,
    };
    if std::env::var_os("REMIT_SAMPLE_TRACE").is_some() {
        for (attempt, said) in attempts.iter().zip(&said) {
            println!("{}: {said}", attempt.request);
        }
        for event in &sample.events {
            println!("{} {} {}", event["time"], event["details"], event["rule"]);
        }
    }
    for (attempt, said) in attempts.iter().zip(&said) {
        sample.judge(attempt, said);
    }
    sample.wrong.assert_none(sample.file);
    (sample.allowed, sample.refused, sample.named)
}

#[test]
fn the_kernel_decides_about_files_as_the_reference_does() {
    let Some(host) = host("sampled-files", &[Capability::UserNamespace]) else {
        return;
    };
    let mut total = (0, 0, 0);
    sampled::seeds(24, |seed| {
        let (allowed, refused, named) = sample(&host, seed);
        total = (total.0 + allowed, total.1 + refused, total.2 + named);
    });
    assert!(
        total.0 > 20 && total.2 > 20,
        "the samples mean something: {total:?}"
    );
    println!(
        "{} allowed, {} refused, {} of them recorded with a rule of the file",
        total.0, total.1, total.2
    );
}
