//! What the model says of an attempt, and which refusals have to be on record.

use std::path::Path;

use policy_lang::pattern::PathPattern;
use policy_lang::policy::{FileAccess, Policy, Subject};
use policy_lang::reference::Access;

use crate::attempts::Attempt;
use crate::sampled::{Disagreements, allows};
use crate::tree::{Kind, Tree};

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

/// What the model says of what the kernel said.
pub(crate) struct Judge<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) tree: &'a Tree,
    pub(crate) wrong: Disagreements,
    pub(crate) allowed: usize,
    /// Refusals, some of which have to be recorded.
    pub(crate) refused: usize,
    pub(crate) recorded: Vec<&'a Attempt>,
}

impl<'a> Judge<'a> {
    pub(crate) fn judge(&mut self, attempt: &'a Attempt, said: &str) {
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
        // Globs say nothing of names that the run makes, which may change what anything there is allowed.
        let later = |(_, path): &(FileAccess, String)| is_matched_later(self.policy, path);
        if attempt.is_of_names() && attempt.call() != "unlink" && attempt.needs.iter().any(later) {
            return;
        }
        let succeeded = matches!(said, "done" | "ENOEXEC" | "ENOEXEC noexec" | "ENXIO");
        let withheld = attempt
            .needs
            .iter()
            .any(|(_, path)| is_withheld(self.policy, self.tree, path));
        let expected = refusing.is_empty() && !withheld;
        let call = attempt.call();
        if expected && !succeeded && self.has_to_stay(attempt, said) {
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
            "EACCES" => self.recorded.push(attempt),
            "EACCES noexec" if attempt.verb == FileAccess::Execute => {}
            "EPERM" if call == "load" => {}
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
    fn has_to_stay(&mut self, attempt: &'a Attempt, said: &str) -> bool {
        let path = attempt.path(1);
        let parent = Path::new(path).parent().and_then(Path::to_str).expect("a parent");
        match (attempt.call(), said) {
            ("rename" | "unlink" | "move", "EBUSY") => self.rights(path) != self.rights(parent),
            // Between mounts, as between file systems anywhere.
            ("move" | "link", "EXDEV") => true,
            ("move" | "link", "EACCES") if self.gains(attempt) => {
                self.recorded.push(attempt);
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
        self.rights(attempt.path(1))
            .into_iter()
            .zip(self.rights(attempt.path(2)))
            .any(|(old, new)| new && !old)
    }
}
