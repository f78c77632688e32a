//! The objects on this host that a policy speaks of: its literals, and what its globs match.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use artifact::Artifact;
use artifact::filesystem::glob::{Glob, States};
use artifact::filesystem::{FileAccess, Node, NodeKind, PRIVATE, PathPattern, PathRule, path};
use artifact::rule::{Effect, Origin, RuleId, RuleRecord};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags};

/// Directory entries that the globs of one policy may make a start look at.
const MAX_ENTRIES: u64 = 1_000_000;
/// Objects that the globs of one policy may match.
const MAX_MATCHES: usize = 20_000;

/// A path of the policy is not as the policy needs it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: `{text}`: {problem}")]
pub struct PathProblem {
    /// The rule.
    pub rule: RuleId,
    /// file:line, or "built-in".
    pub place: String,
    /// The rule's text.
    pub text: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl PathProblem {
    pub(super) fn new(artifact: &Artifact, rule: RuleId, problem: String) -> Self {
        let record = record(artifact, rule);
        let place = record.map_or_else(String::new, |record| match &record.origin {
            Origin::BuiltIn => "built-in".to_owned(),
            Origin::Policy { file, line, .. } => format!("{file}:{line}"),
        });
        Self {
            rule,
            place,
            text: record.map_or_else(String::new, |record| record.text.clone()),
            problem,
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) nodes: Vec<Node>,
    pub(super) degraded: Vec<(RuleId, String)>,
}

pub(super) fn record(artifact: &Artifact, rule: RuleId) -> Option<&RuleRecord> {
    artifact.rules.get(usize::try_from(rule.0).ok()?)
}

/// Looks at every literal, and walks for the globs.
pub(super) fn collect(artifact: &Artifact) -> Result<Found, PathProblem> {
    let mut nodes: BTreeMap<String, NodeKind> = BTreeMap::new();
    let mut degraded = Vec::new();
    let mut absent: BTreeSet<&str> = BTreeSet::new();
    let mut directories = Directories::default();
    for rule in &artifact.filesystem.rules {
        let PathPattern::Literal(literal) = &rule.pattern else {
            continue;
        };
        if nodes.contains_key(literal) {
            continue;
        }
        if !absent.contains(literal.as_str()) {
            match directories.kind_of(literal) {
                Ok(Some(kind)) => {
                    nodes.insert(literal.clone(), kind);
                    continue;
                }
                Ok(None) => {
                    absent.insert(literal);
                }
                Err(error) => return Err(PathProblem::new(artifact, rule.rule, unusable(literal, &error))),
            }
        }
        missing(artifact, rule, literal, &mut degraded)?;
    }
    let mut walk = Walk {
        entries: 0,
        nodes: &mut nodes,
        matches: 0,
    };
    let mut walked: BTreeSet<(&str, FileAccess, bool)> = BTreeSet::new();
    for rule in &artifact.filesystem.rules {
        let PathPattern::Glob(text) = &rule.pattern else {
            continue;
        };
        let refuses = rule.effect != Effect::Allow;
        if !walked.insert((text, rule.access, refuses)) {
            continue;
        }
        let glob =
            Glob::parse(text).map_err(|error| PathProblem::new(artifact, rule.rule, error.to_string()))?;
        for start in starts(artifact, &glob, rule) {
            walk.from(&glob, &start)
                .map_err(|problem| PathProblem::new(artifact, rule.rule, problem))?;
        }
    }
    let nodes = nodes
        .into_iter()
        .map(|(path, kind)| Node { path, kind })
        .collect();
    Ok(Found { nodes, degraded })
}

/// A literal that is not there. In a private mount that is as it should be; elsewhere the policy says whether it
/// matters. A rule that refuses may be undone by a path that appears later, which is said.
fn missing(
    artifact: &Artifact,
    rule: &PathRule,
    literal: &str,
    degraded: &mut Vec<(RuleId, String)>,
) -> Result<(), PathProblem> {
    let built_in = record(artifact, rule.rule).is_some_and(|record| record.origin == Origin::BuiltIn);
    if is_private(artifact, literal) || built_in {
        return Ok(());
    }
    if !rule.if_present {
        let problem = format!("{literal} does not exist; create it, or write `if present` on the rule");
        return Err(PathProblem::new(artifact, rule.rule, problem));
    }
    if rule.effect != Effect::Allow && super::grants(artifact, rule.access) {
        let reason = format!("{literal} does not exist; what the run creates there is not covered");
        if !degraded.contains(&(rule.rule, reason.clone())) {
            degraded.push((rule.rule, reason));
        }
    }
    Ok(())
}

fn is_private(artifact: &Artifact, literal: &str) -> bool {
    PRIVATE.iter().any(|(mount, _)| path::covers(mount, literal))
        || artifact
            .filesystem
            .scratch
            .iter()
            .any(|scratch| path::covers(&scratch.path, literal))
}

fn unusable(literal: &str, error: &io::Error) -> String {
    if error.raw_os_error() == Some(libc::ELOOP) {
        return format!("{literal} now leads through a symbolic link; compile the policy again");
    }
    format!("{literal} cannot be opened: {error}")
}

/// What a path is, when none of its components is a symbolic link.
fn kind_of(literal: &str) -> io::Result<Option<NodeKind>> {
    match open_exactly(literal, OFlags::PATH) {
        Ok(object) => Ok(Some(kind(FileType::from_raw_mode(
            rustix::fs::fstat(&object)?.st_mode,
        )))),
        Err(error) => unless_absent(error),
    }
}

/// Directories that literals have in common, opened once, none of whose components is a symbolic link.
#[derive(Default)]
struct Directories<'a>(BTreeMap<&'a str, OwnedFd>);

impl<'a> Directories<'a> {
    /// As many descriptors as are kept open.
    const MAX: usize = 64;

    /// The same as [`kind_of`].
    fn kind_of(&mut self, literal: &'a str) -> io::Result<Option<NodeKind>> {
        let Some((directory, name)) = literal.rsplit_once('/').filter(|(_, name)| !name.is_empty()) else {
            return kind_of(literal);
        };
        let directory = if directory.is_empty() { "/" } else { directory };
        if !self.0.contains_key(directory) {
            if self.0.len() >= Self::MAX {
                return kind_of(literal);
            }
            match open_exactly(directory, OFlags::PATH) {
                Ok(opened) => self.0.insert(directory, opened),
                Err(error) => return unless_absent(error),
            };
        }
        let Some(opened) = self.0.get(directory) else {
            return kind_of(literal);
        };
        match rustix::fs::statat(opened, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(kind(FileType::from_raw_mode(found.st_mode)))),
            Err(error) => unless_absent(error.into()),
        }
    }
}

fn unless_absent(error: io::Error) -> io::Result<Option<NodeKind>> {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) => Ok(None),
        _ => Err(error),
    }
}

pub(super) fn open_exactly(literal: &str, how: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat2(
        CWD,
        literal,
        how | OFlags::CLOEXEC | OFlags::NOFOLLOW,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )?)
}

const fn kind(kind: FileType) -> NodeKind {
    match kind {
        FileType::Directory => NodeKind::Directory,
        FileType::RegularFile => NodeKind::File,
        _ => NodeKind::Special,
    }
}

/// Where a walk has to begin: at the glob's fixed part; for a rule that refuses, only where something is granted
/// that it could take away.
fn starts(artifact: &Artifact, glob: &Glob, rule: &PathRule) -> BTreeSet<String> {
    let fixed = glob.fixed_prefix();
    if rule.effect == Effect::Allow {
        return BTreeSet::from([fixed]);
    }
    artifact
        .filesystem
        .rules
        .iter()
        .filter(|other| other.effect == Effect::Allow && other.access == rule.access)
        .filter_map(|other| match &other.pattern {
            PathPattern::Literal(literal) if path::covers(literal, &fixed) => Some(fixed.clone()),
            PathPattern::Literal(literal) if path::covers(&fixed, literal) => Some(literal.clone()),
            PathPattern::Literal(_) => None,
            PathPattern::Glob(_) => Some(fixed.clone()),
        })
        .collect()
}

struct Walk<'a> {
    entries: u64,
    matches: usize,
    nodes: &'a mut BTreeMap<String, NodeKind>,
}

impl Walk<'_> {
    fn from(&mut self, glob: &Glob, start: &str) -> Result<(), String> {
        let mut states = glob.start();
        for name in path::components(start) {
            if glob.is_match(states) {
                break;
            }
            states = glob.step(states, name);
        }
        if states.is_dead() || PRIVATE.iter().any(|(mount, _)| path::covers(mount, start)) {
            return Ok(());
        }
        if glob.is_match(states) {
            if let Ok(Some(kind)) = kind_of(start) {
                self.add(start.to_owned(), kind)?;
            }
            return Ok(());
        }
        let mut pending = vec![(start.to_owned(), states)];
        while let Some((directory, states)) = pending.pop() {
            self.list(glob, &directory, states, &mut pending)?;
        }
        Ok(())
    }

    /// Looks at one directory. What vanishes meanwhile is not there; symbolic links are not followed, since the
    /// kernel judges what they lead to.
    fn list(
        &mut self,
        glob: &Glob,
        directory: &str,
        states: States,
        pending: &mut Vec<(String, States)>,
    ) -> Result<(), String> {
        let opened = open_exactly(directory, OFlags::RDONLY | OFlags::DIRECTORY);
        let Ok(opened) = opened else { return Ok(()) };
        let Ok(listing) = Dir::new(opened) else {
            return Ok(());
        };
        for entry in listing {
            let entry = entry.map_err(|error| format!("{directory} cannot be listed: {error}"))?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(format!(
                    "its glob looks at more than {MAX_ENTRIES} directory entries; narrow it"
                ));
            }
            let lossy = OsStr::from_bytes(name).to_string_lossy();
            let next = glob.step(states, &lossy);
            let kind = match entry.file_type() {
                FileType::Symlink => continue,
                FileType::Unknown => FileType::RegularFile,
                known => known,
            };
            if next.is_dead() {
                continue;
            }
            let Ok(name) = std::str::from_utf8(name) else {
                // A path that a policy cannot write cannot be given a mount of its own either.
                if glob.is_match(next) {
                    return Err(format!(
                        "its glob matches {lossy:?} in {directory}, whose name is not UTF-8"
                    ));
                }
                continue;
            };
            let path = if directory == "/" {
                format!("/{name}")
            } else {
                format!("{directory}/{name}")
            };
            if glob.is_match(next) {
                let exact = kind_of(&path).ok().flatten().unwrap_or_else(|| self::kind(kind));
                self.add(path, exact)?;
            } else if kind == FileType::Directory && !PRIVATE.iter().any(|(mount, _)| *mount == path) {
                pending.push((path, next));
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, kind: NodeKind) -> Result<(), String> {
        self.matches += 1;
        if self.matches > MAX_MATCHES {
            return Err(format!(
                "its glob matches more than {MAX_MATCHES} objects; narrow it"
            ));
        }
        self.nodes.insert(path, kind);
        Ok(())
    }
}
