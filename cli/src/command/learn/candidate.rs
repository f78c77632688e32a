//! The policy of a round: a base, the grants that are proposed so far, and a ceiling above both.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use artifact::Artifact;
use compiler::learn::{Learner, statements};
use policy_lang::SourceFile;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Origin, Policy};

use super::ceiling;
use crate::arguments::{Bindings, Learn};
use crate::input;
use crate::render::{Surface, diagnostic};

/// What does not change from round to round.
pub(super) struct Base {
    /// The policy without what is learned.
    text: String,
    /// The `within` statement of the default ceiling, which the finished policy does not have.
    borrowed: Option<String>,
    bindings: Bindings,
    pub(super) home: String,
    pub(super) working_directory: String,
}

/// A policy that compiles.
pub(super) struct Candidate {
    pub(super) text: String,
    pub(super) policy: Policy,
    pub(super) artifact: Artifact,
}

impl Base {
    pub(super) fn new(arguments: &Learn, folder: &Path) -> anyhow::Result<Self> {
        let given = &arguments.bindings;
        let home = input::text(input::home(given)?, "the home directory")?;
        let working_directory = input::text(input::directory(given)?, "the working directory")?;
        let (text, root, borrowed) = match (&arguments.policy, &arguments.within) {
            (Some(_), Some(_)) => bail!("a policy has a ceiling of its own (`within`); leave `--within` out"),
            (Some(policy), None) => {
                let text = std::fs::read_to_string(policy)
                    .with_context(|| format!("cannot read `{}`", policy.display()))?;
                let root = given
                    .root
                    .clone()
                    .unwrap_or_else(|| policy_lang::host::root_of(policy));
                (text, root, None)
            }
            (None, Some(within)) => {
                let root = given
                    .root
                    .clone()
                    .unwrap_or_else(|| policy_lang::host::root_of(within));
                let name = beneath(within, &root)?;
                (fresh(arguments, &within_statement(&name), true), root, None)
            }
            (None, None) => {
                std::fs::write(
                    folder.join(ceiling::FILE),
                    ceiling::default(&home, &working_directory),
                )?;
                let statement = within_statement(ceiling::FILE);
                (
                    fresh(arguments, &statement, true),
                    folder.to_owned(),
                    Some(statement),
                )
            }
        };
        let mut base = Self {
            text,
            borrowed,
            bindings: Bindings {
                parameters: given.parameters.clone(),
                home: Some(PathBuf::from(&home)),
                directory: Some(PathBuf::from(&working_directory)),
                root: Some(root),
            },
            home,
            working_directory,
        };
        // A ceiling that does not grant all of the system's group leaves its parts to be learned one by one.
        if let Some(within) = &arguments.within
            && !base.compiles(folder)?
        {
            let root = base.bindings.root.clone().unwrap_or_default();
            base.text = fresh(arguments, &within_statement(&beneath(within, &root)?), false);
        }
        Ok(base)
    }

    fn compiles(&self, folder: &Path) -> anyhow::Result<bool> {
        let path = folder.join("candidate.remit");
        std::fs::write(&path, &self.text)?;
        Ok(input::compiled(&path, &self.bindings, None)?.1.is_some())
    }

    /// A policy with everything that was learned and that the compiler takes.
    pub(super) fn settle(
        &self,
        learner: &mut Learner,
        folder: &Path,
        stderr: Surface,
    ) -> anyhow::Result<Candidate> {
        let path = folder.join("candidate.remit");
        loop {
            let grants = learner.grants();
            let (block, lines) = statements(&grants, &|grant| learner.is_absent(grant));
            let (text, first) = self.with(&block)?;
            std::fs::write(&path, &text)?;
            let (front, artifact) = input::compiled(&path, &self.bindings, None)?;
            let mut changed = false;
            for found in &front.diagnostics {
                let line = front
                    .files
                    .first()
                    .filter(|_| found.file.0 == 0)
                    .map(|source| source.position(found.span.start).0);
                let at = line.and_then(|line| usize::try_from(line).ok()?.checked_sub(first + 1));
                let grant = at.and_then(|at| lines.iter().position(|line| *line == at));
                let Some(grant) = grant.and_then(|grant| grants.get(grant)) else {
                    continue;
                };
                if found.is_error() {
                    learner.reject(grant, &found.message);
                    changed = true;
                } else if found.code == Code::AbsentPath {
                    changed |= learner.mark_absent(grant);
                }
            }
            if changed {
                continue;
            }
            return match (front.policy, artifact) {
                (Some(policy), Some(artifact)) => Ok(Candidate {
                    text,
                    policy,
                    artifact,
                }),
                _ => {
                    let drawn = diagnostic::draw(&front.files, &front.diagnostics, stderr);
                    std::io::stderr().lock().write_all(drawn.as_bytes())?;
                    bail!("the policy to start from has errors")
                }
            };
        }
    }

    /// The base with a block before the brace that closes the policy, and the line that the block begins on, from 0.
    fn with(&self, block: &str) -> anyhow::Result<(String, usize)> {
        let parsed = policy_lang::parse(&SourceFile::new("base", self.text.clone()));
        // The brace that closes the policy; a file that cannot be read is reported with all it has.
        let end = parsed
            .ast
            .and_then(|ast| ast.policy?.span.end.checked_sub(1))
            .filter(|end| self.text.get(*end..).is_some_and(|rest| rest.starts_with('}')))
            .unwrap_or(self.text.len());
        let (before, after) = self.text.split_at(end);
        let before = if before.ends_with('\n') || block.is_empty() {
            before.to_owned()
        } else {
            format!("{before}\n")
        };
        let first = before.matches('\n').count();
        Ok((format!("{before}{block}{after}"), first))
    }

    /// The text to keep: without the default ceiling, formatted.
    pub(super) fn finished(&self, candidate: &Candidate) -> anyhow::Result<String> {
        let text = match &self.borrowed {
            Some(statement) => candidate.text.replacen(&format!("    {statement}\n"), "", 1),
            None => candidate.text.clone(),
        };
        policy_lang::format::format(&SourceFile::new("learned.remit", text))
            .context("the policy cannot be laid out")
    }
}

fn within_statement(name: &str) -> String {
    format!("within \"{name}\"")
}

fn fresh(arguments: &Learn, within: &str, system: bool) -> String {
    let system = if system { "\n    use std::linux" } else { "" };
    let program = arguments
        .command
        .first()
        .and_then(|program| Path::new(program).file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let plain: String = program
        .chars()
        .filter(|next| next.is_ascii_alphanumeric() || matches!(next, '-' | '_' | '.' | '+'))
        .collect();
    let name = arguments.policy_name.as_deref().unwrap_or(&plain);
    let name: String = name
        .chars()
        .filter(|next| !matches!(next, '"' | '\\' | '$' | '\n'))
        .collect();
    format!(
        "policy \"{name}\" {{\n    summary \"Learned from runs of {plain}.\"\n    {within}{system}\n\n    \
         credentials {{\n        pass \"PATH\", \"LANG\", \"TERM\", \"HOME\"\n    }}\n    \
         process {{\n        allow syscall @system-service\n    }}\n}}\n"
    )
}

/// The name of a file beneath a root.
fn beneath(file: &Path, root: &Path) -> anyhow::Result<String> {
    let absolute = |path: &Path| {
        std::fs::canonicalize(path).with_context(|| format!("cannot find `{}`", path.display()))
    };
    let (file, root) = (absolute(file)?, absolute(root)?);
    let name = file
        .strip_prefix(&root)
        .with_context(|| format!("`{}` is not beneath `{}`", file.display(), root.display()))?;
    let name = name
        .to_str()
        .filter(|name| !name.contains(['"', '\\', '$', '\n']));
    name.map(str::to_owned)
        .context("the ceiling's name has characters that a policy does not write")
}

pub(super) fn shown(origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => "built in".to_owned(),
        Origin::Source { file, line, .. } => format!("{file}:{line}"),
    }
}
