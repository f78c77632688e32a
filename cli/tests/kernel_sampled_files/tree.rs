//! Random trees, and random rules about them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::host::set_mode;
use crate::sampled::Random;

const NAMES: [&str; 4] = ["a", "b", "ab", ".e"];
const WILD: [&str; 7] = ["*", "**", "?", "[ab]", "[!a]*", "a*", "*b"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
    Fifo,
}

/// What was made, by path.
pub(crate) type Tree = BTreeMap<PathBuf, Kind>;

pub(crate) fn grow(random: &mut Random, at: &Path, depth: usize, tree: &mut Tree) {
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

pub(crate) fn rules(random: &mut Random, work: &Path, tree: &Tree) -> String {
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

/// Who the run is, and whether it is nobody's but its own.
pub(crate) fn identity(random: &mut Random, tree: &Tree) -> &'static str {
    const IDS: u32 = 4242;
    match random.below(4) {
        0 => "identity user",
        1 => {
            for path in tree.keys() {
                std::os::unix::fs::chown(path, Some(IDS), Some(IDS)).expect("an owner");
            }
            "identity 4242:4242"
        }
        _ => "identity dynamic",
    }
}
