//! Which neighbours of a path the next run will need too.

use std::collections::{BTreeMap, BTreeSet};

use policy_lang::policy::FileAccess;
use policy_lang::resolve::escaped;

use super::{Grant, Refusal, Subject, Surroundings};

/// Trees below the home directory that package managers and tool chains fill and read as they like.
const CACHES: &[&str] = &[
    ".cache/ccache",
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/git",
    ".cargo/registry",
    ".deno",
    ".gradle/caches",
    ".gradle/wrapper",
    ".ivy2",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".node-gyp",
    ".npm",
    ".nvm/versions",
    ".pyenv/versions",
    ".rustup/toolchains",
    ".sdkman/candidates",
    ".yarn/berry",
    "go/pkg/mod",
];

/// Where people and programs keep what nobody else is to read.
const SECRETS: &[&str] = &[
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".docker/config.json",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".vault-token",
];

/// Directories whose other members are nobody's business: no grant on all of them because of a few.
const CROWDED: &[&str] = &[
    "/", "/dev", "/etc", "/home", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/usr", "/var",
    "/var/lib",
];

/// From so many files with the same accesses on, a directory is granted as a whole.
const SIBLINGS: usize = 4;

/// The tree of secrets that a path lies in.
pub(super) fn secret(path: &str, home: &str) -> Option<String> {
    SECRETS
        .iter()
        .map(|tree| format!("{home}/{tree}"))
        .find(|tree| is_beneath(path, tree))
}

/// Grants for all that was seen.
pub(super) fn files(
    seen: &BTreeMap<String, BTreeSet<FileAccess>>,
    surroundings: &Surroundings,
    too_broad: &BTreeSet<Subject>,
) -> Vec<Grant> {
    // What each path would be granted as, then those paths together that would be granted as one.
    let mut together: BTreeMap<Target, Gathered<'_>> = BTreeMap::new();
    for (path, accesses) in seen {
        let accesses = &mapped(path, accesses);
        let mut candidates = candidates(path, accesses, seen, surroundings);
        candidates.push(Target::Tree(path.clone()));
        let chosen = candidates.into_iter().find(|target| {
            *target == Target::Tree(path.clone())
                || !too_broad.contains(&target.subject(accesses, surroundings))
        });
        let Some(target) = chosen else { continue };
        let gathered = together.entry(target).or_default();
        gathered.accesses.extend(accesses);
        gathered.paths.push(path);
    }
    together
        .into_iter()
        .map(|(target, gathered)| {
            let broad = gathered.paths.as_slice() != [target.path()];
            let answers = gathered.paths.iter().flat_map(|path| {
                let accesses = seen.get(*path).into_iter().flatten();
                accesses.map(|access| Refusal::File {
                    access: *access,
                    path: (*path).clone(),
                })
            });
            Grant {
                answers: answers.collect(),
                broad,
                subject: target.subject(&gathered.accesses, surroundings),
            }
        })
        .collect()
}

/// Who reads a shared library maps it as code. A mount refuses that, and leaves no record to learn from.
fn mapped(path: &str, accesses: &BTreeSet<FileAccess>) -> BTreeSet<FileAccess> {
    let mut accesses = accesses.clone();
    let name = path.rsplit('/').next().unwrap_or_default();
    if accesses.contains(&FileAccess::Read) && (name.ends_with(".so") || name.contains(".so.")) {
        accesses.insert(FileAccess::Execute);
    }
    accesses
}

#[derive(Default)]
struct Gathered<'a> {
    accesses: BTreeSet<FileAccess>,
    paths: Vec<&'a String>,
}

/// A set of paths, before it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// A path and what lies beneath it.
    Tree(String),
    /// The same with a wildcard for a version.
    Versions(String),
    /// Private memory in place of a directory.
    Scratch(String),
}

impl Target {
    fn path(&self) -> &String {
        match self {
            Self::Tree(path) | Self::Versions(path) | Self::Scratch(path) => path,
        }
    }

    fn subject(&self, accesses: &BTreeSet<FileAccess>, surroundings: &Surroundings) -> Subject {
        match self {
            Self::Scratch(path) => Subject::Scratch { path: path.clone() },
            Self::Tree(path) => Subject::File {
                accesses: accesses.iter().copied().collect(),
                target: written(&escaped(path), surroundings),
            },
            Self::Versions(glob) => Subject::File {
                accesses: accesses.iter().copied().collect(),
                target: written(glob, surroundings),
            },
        }
    }
}

/// Broader targets for a path, the broadest first.
fn candidates(
    path: &str,
    accesses: &BTreeSet<FileAccess>,
    seen: &BTreeMap<String, BTreeSet<FileAccess>>,
    surroundings: &Surroundings,
) -> Vec<Target> {
    let mut candidates = Vec::new();
    let here = &surroundings.working_directory;
    if here != "/" && here != &surroundings.home && is_beneath(path, here) {
        candidates.push(Target::Tree(here.clone()));
    }
    let work_is_there = is_beneath(here, "/tmp") || is_beneath(&surroundings.home, "/tmp");
    if is_beneath(path, "/tmp") && !work_is_there && accesses.contains(&FileAccess::Write) {
        candidates.push(Target::Scratch("/tmp".to_owned()));
    }
    let caches = CACHES
        .iter()
        .map(|cache| format!("{}/{cache}", surroundings.home));
    candidates.extend(caches.filter(|cache| is_beneath(path, cache)).map(Target::Tree));
    if !accesses.contains(&FileAccess::Write) {
        candidates.extend(versions(path).map(Target::Versions));
    }
    candidates.extend(siblings(path, accesses, seen, surroundings).map(Target::Tree));
    candidates
}

/// `/opt/node-v20.1.0/lib/x` is `/opt/node-v*` next month.
fn versions(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.iter().position(|part| has_version(part))?;
    let part = parts.get(at)?;
    let digits = part.find(|next: char| next.is_ascii_digit())?;
    let above = parts.get(..at)?.join("/");
    // What stands before the number names the tool; without it the wildcard is the whole name.
    let name = escaped(part.get(..digits)?);
    // A wildcard directly below `/` or a directory of many tools says too little.
    let depth = above.split('/').filter(|part| !part.is_empty()).count();
    (depth >= 2 || !name.is_empty()).then(|| format!("{}/{name}*", escaped(&above)))
}

/// Two numbers with a dot between them, and nothing but such numbers and dashes, letters before them aside.
fn has_version(part: &str) -> bool {
    let Some(digits) = part.find(|next: char| next.is_ascii_digit()) else {
        return false;
    };
    let (name, version) = part.split_at(digits);
    let numbers: Vec<&str> = version.split('.').collect();
    numbers.len() >= 2
        && numbers.iter().take(2).all(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        })
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'+'))
}

/// The directory of a path of which several members were refused alike.
fn siblings(
    path: &str,
    accesses: &BTreeSet<FileAccess>,
    seen: &BTreeMap<String, BTreeSet<FileAccess>>,
    surroundings: &Surroundings,
) -> Option<String> {
    let directory = parent(path)?;
    let crowded = CROWDED.contains(&directory)
        || directory == surroundings.home
        || parent(directory) == Some("/home")
        || is_beneath(&surroundings.working_directory, directory)
        || is_beneath(&surroundings.home, directory);
    if crowded {
        return None;
    }
    let alike = seen
        .range(format!("{directory}/")..)
        .take_while(|(other, _)| other.starts_with(&format!("{directory}/")))
        .filter(|(other, others)| parent(other) == Some(directory) && *others == accesses)
        .count();
    (alike >= SIBLINGS).then(|| directory.to_owned())
}

fn parent(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/')?;
    (!name.is_empty()).then_some(if directory.is_empty() { "/" } else { directory })
}

fn is_beneath(path: &str, tree: &str) -> bool {
    path.strip_prefix(tree)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || tree == "/")
}

/// As a person would write it: from here, from home, or from the root.
fn written(pattern: &str, surroundings: &Surroundings) -> String {
    let here = escaped(&surroundings.working_directory);
    let home = escaped(&surroundings.home);
    match (
        pattern.strip_prefix(here.as_str()),
        pattern.strip_prefix(home.as_str()),
    ) {
        (Some(""), _) if here != "/" => ".".to_owned(),
        (Some(rest), _) if rest.starts_with('/') && here != "/" => format!(".{rest}"),
        (_, Some("")) => "~".to_owned(),
        (_, Some(rest)) if rest.starts_with('/') => format!("~{rest}"),
        _ => pattern.to_owned(),
    }
}
