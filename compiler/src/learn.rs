//! From what a run was refused to the rules it lacks.
//!
//! A [`Learner`] takes refusals, one after the other, and proposes grants: exact ones, or broader ones where experience
//! says that the next run will need the neighbours too (a package cache, a version in a path, many files of one
//! directory). Whoever compiles the proposal may reject a grant: a broad one falls back to the exact ones it stands for,
//! an exact one is left out and listed. So what a ceiling refuses is never proposed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use policy_lang::policy::{FileAccess, Protocol, Verb};

mod generalise;
mod words;

pub use words::statements;

/// Something that was refused and that a rule could allow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// An access to a file, by its absolute path.
    File {
        /// What was tried.
        access: FileAccess,
        /// Where.
        path: String,
    },
    /// A connection, a datagram or a bind.
    Network {
        /// What was tried.
        verb: Verb,
        /// With which protocol.
        protocol: Protocol,
        /// Which address.
        address: IpAddr,
        /// Which port.
        port: u16,
    },
    /// A system call.
    Syscall {
        /// Its name.
        name: String,
    },
}

/// Where the run lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The home directory: absolute.
    pub home: String,
    /// The directory the command starts in: absolute.
    pub working_directory: String,
}

/// One proposed grant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    /// What it grants.
    pub subject: Subject,
    /// The refusals it answers.
    pub answers: Vec<Refusal>,
    /// Whether it grants more than it answers.
    pub broad: bool,
}

/// What a grant grants.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// `allow read, write "…"`; the target is a pattern of the language, before quoting.
    File {
        /// At least one, in the order of the language.
        accesses: Vec<FileAccess>,
        /// Absolute, or from `~` or `.`.
        target: String,
    },
    /// `scratch "…" 256MiB`
    Scratch {
        /// Absolute.
        path: String,
    },
    /// `allow connect tcp "…"`
    Network {
        /// What.
        verb: Verb,
        /// With which protocol.
        protocol: Protocol,
        /// Which address.
        address: IpAddr,
        /// Which port.
        port: u16,
    },
    /// `allow syscall "…"`
    Syscall {
        /// Its name.
        name: String,
    },
}

/// A refusal that stays one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// What was refused.
    pub refusal: Refusal,
    /// Why no rule is proposed.
    pub why: String,
}

/// What was refused so far, and what is to be proposed.
#[derive(Debug, Clone)]
pub struct Learner {
    surroundings: Surroundings,
    files: BTreeMap<String, BTreeSet<FileAccess>>,
    network: BTreeSet<(Verb, Protocol, IpAddr, u16)>,
    syscalls: BTreeSet<String>,
    /// Broad grants that were rejected.
    too_broad: BTreeSet<Subject>,
    /// Grants of what was there during a run and is gone.
    absent: BTreeSet<Subject>,
    left: Vec<Left>,
}

impl Learner {
    /// Knows nothing yet.
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            files: BTreeMap::new(),
            network: BTreeSet::new(),
            syscalls: BTreeSet::new(),
            too_broad: BTreeSet::new(),
            absent: BTreeSet::new(),
            left: Vec::new(),
        }
    }

    /// Takes a refusal. Says whether it is news: one that was seen before was not cured by its grant.
    pub fn observe(&mut self, refusal: Refusal) -> bool {
        if self.left.iter().any(|left| left.refusal == refusal) {
            return false;
        }
        if let Some(why) = self.never(&refusal) {
            self.left.push(Left { refusal, why });
            return false;
        }
        match refusal {
            Refusal::File { access, path } => self.files.entry(path).or_default().insert(access),
            Refusal::Network {
                verb,
                protocol,
                address,
                port,
            } => self.network.insert((verb, protocol, address, port)),
            Refusal::Syscall { name } => self.syscalls.insert(name),
        }
    }

    /// Takes a refusal that stays one.
    pub fn leave(&mut self, refusal: Refusal, why: String) {
        if !self.left.iter().any(|left| left.refusal == refusal) {
            self.left.push(Left { refusal, why });
        }
    }

    /// What a grant speaks of is not there any more. Says whether that is news.
    pub fn mark_absent(&mut self, grant: &Grant) -> bool {
        self.absent.insert(grant.subject.clone())
    }

    /// Whether what a grant speaks of is gone.
    #[must_use]
    pub fn is_absent(&self, grant: &Grant) -> bool {
        self.absent.contains(&grant.subject)
    }

    /// What no proposal grants, whatever the ceiling says.
    fn never(&self, refusal: &Refusal) -> Option<String> {
        let Refusal::File { path, .. } = refusal else {
            return None;
        };
        generalise::secret(path, &self.surroundings.home)
            .map(|tree| format!("`{tree}` holds secrets; grant it by hand if the task must read it"))
    }

    /// The grants that answer everything seen, in the order of the language's blocks.
    #[must_use]
    pub fn grants(&self) -> Vec<Grant> {
        let mut grants = generalise::files(&self.files, &self.surroundings, &self.too_broad);
        for (verb, protocol, address, port) in &self.network {
            let (verb, protocol, address, port) = (*verb, *protocol, *address, *port);
            grants.push(Grant {
                subject: Subject::Network {
                    verb,
                    protocol,
                    address,
                    port,
                },
                answers: vec![Refusal::Network {
                    verb,
                    protocol,
                    address,
                    port,
                }],
                broad: false,
            });
        }
        for name in &self.syscalls {
            grants.push(Grant {
                subject: Subject::Syscall { name: name.clone() },
                answers: vec![Refusal::Syscall { name: name.clone() }],
                broad: false,
            });
        }
        grants
    }

    /// Takes back a grant that the compiler refused. A broad one makes room for what it stands for.
    pub fn reject(&mut self, grant: &Grant, why: &str) {
        if grant.broad && self.too_broad.insert(grant.subject.clone()) {
            return;
        }
        for refusal in &grant.answers {
            match refusal {
                Refusal::File { access, path } => {
                    if let Some(accesses) = self.files.get_mut(path) {
                        accesses.remove(access);
                    }
                }
                Refusal::Network {
                    verb,
                    protocol,
                    address,
                    port,
                } => {
                    self.network.remove(&(*verb, *protocol, *address, *port));
                }
                Refusal::Syscall { name } => {
                    self.syscalls.remove(name);
                }
            }
            self.left.push(Left {
                refusal: refusal.clone(),
                why: why.to_owned(),
            });
        }
        self.files.retain(|_, accesses| !accesses.is_empty());
    }

    /// What stays refused, in the order it was seen.
    #[must_use]
    pub fn left(&self) -> &[Left] {
        &self.left
    }
}

#[cfg(test)]
mod tests;
