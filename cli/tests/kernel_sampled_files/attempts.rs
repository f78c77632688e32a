//! What the probe tries in a tree, and what each attempt consists of.

use std::path::{Path, PathBuf};

use policy_lang::policy::FileAccess;
use serde_json::{Value, json};

use crate::sampled::Random;
use crate::tree::{Kind, Tree};

/// One access that the probe makes: of which kinds of access to which paths it consists.
pub(crate) struct Attempt {
    pub(crate) request: Value,
    pub(crate) needs: Vec<(FileAccess, String)>,
    pub(crate) verb: FileAccess,
}

pub(crate) fn attempts(random: &mut Random, work: &Path, tree: &Tree) -> Vec<Attempt> {
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

impl Attempt {
    pub(crate) fn call(&self) -> &str {
        self.request[0].as_str().expect("a call")
    }

    pub(crate) fn path(&self, index: usize) -> &str {
        self.request[index].as_str().expect("a path")
    }

    /// Whether it changes what directories hold.
    pub(crate) fn is_of_names(&self) -> bool {
        matches!(
            self.call(),
            "create" | "mkdir" | "rename" | "unlink" | "move" | "link"
        )
    }
}
