//! `remit check`: everything that is wrong with each policy, what a reviewer should see, and whether its `test` blocks
//! hold.

mod expectations;
mod explain;
mod fix;
mod levels;
mod report;
mod target;
mod text;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use policy_lang::diagnostic::Severity;
use policy_lang::{Diagnostic, FileKind, SourceFile};

use crate::arguments::{Check, CheckFormat, ColorChoice};
use crate::command::files::{self, Links};
use crate::command::guard;
use crate::exit;
use crate::input::{self, Front};
use crate::render::{Surface, github, json, junit, sarif};
use levels::Levels;

pub(super) fn run(arguments: &Check, color: ColorChoice) -> anyhow::Result<ExitCode> {
    if let Some(code) = arguments.explain {
        return explain::run(code.0, arguments.format, color);
    }
    let levels = Levels::new(&arguments.allow, &arguments.deny)?;
    let mut checked = Vec::new();
    let links = if arguments.fix {
        Links::Refused
    } else {
        Links::Followed
    };
    for path in files::policies(&arguments.policies, links)? {
        let mut source = input::load(&path)?;
        let fixed = if arguments.fix {
            let fixed = fixed(&path, &source, arguments)?;
            source = SourceFile::new(source.name, fixed.text.clone());
            Some(fixed)
        } else {
            None
        };
        let mut one = judged(source, arguments, &levels)?;
        one.fixed = fixed.map(|fixed| (fixed.taken, fixed.refused));
        checked.push(one);
    }
    print(&checked, arguments.format, color)?;
    let sound = checked.iter().all(Checked::is_sound);
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

/// A policy and all that was found.
struct Checked {
    front: Front,
    /// Lines of `test` blocks.
    expectations: usize,
    /// What the file is for: groups and tests have no policy.
    kind: FileKind,
    /// How many proposals `--fix` took, and why it took no more.
    fixed: Option<(usize, Option<String>)>,
}

impl Checked {
    fn is_sound(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    fn count(&self, severity: Severity) -> usize {
        let of_it = |found: &&Diagnostic| found.severity == severity;
        self.front.diagnostics.iter().filter(of_it).count()
    }
}

/// Reads and checks a text of any kind.
fn judged(source: SourceFile, arguments: &Check, levels: &Levels<'_>) -> anyhow::Result<Checked> {
    let kind = policy_lang::kind_of(&source);
    let (front, artifact) = match kind {
        FileKind::Groups | FileKind::Tests => {
            (input::without_policy(source, kind, &arguments.bindings)?, None)
        }
        FileKind::Policy | FileKind::Any => input::compiled_text(source, &arguments.bindings)?,
    };
    let mut checked = Checked {
        front,
        expectations: 0,
        kind,
        fixed: None,
    };
    let front = &mut checked.front;
    if let Some(policy) = &front.policy {
        let options = front.options();
        let mut found = compiler::check::lints(policy, &options);
        let (expectations, failures) = expectations::judge(policy, &front.files);
        found.extend(failures);
        if let Some(artifact) = &artifact {
            for kernel in &arguments.target {
                found.extend(target::check(*kernel, artifact, policy, &options));
            }
        }
        if let Some(folder) = &arguments.guard.guardrails {
            found.extend(guard::found(front, folder));
        }
        checked.expectations = expectations;
        front.add(found);
    }
    levels.apply(&mut front.diagnostics);
    Ok(checked)
}

/// What `--fix` makes of a file. It is written if anything was taken.
fn fixed(path: &Path, source: &SourceFile, arguments: &Check) -> anyhow::Result<fix::Fixed> {
    let none = Levels::new(&[], &[])?;
    let fixed = fix::fix(source, |text| {
        let checked = judged(text.clone(), arguments, &none)?;
        Ok(fix::Reading {
            policy: checked.front.policy,
            found: checked.front.diagnostics,
        })
    })?;
    if fixed.taken > 0 {
        files::replace(path, &fixed.text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(fixed)
}

fn print(checked: &[Checked], format: CheckFormat, color: ColorChoice) -> anyhow::Result<()> {
    let text = match format {
        CheckFormat::Text => text::draw(checked, Surface::stdout(color)),
        CheckFormat::Json => return json::print(&report::document(checked)),
        CheckFormat::Sarif => return json::print(&sarif::document(&report::for_services(checked))),
        CheckFormat::Junit => junit::draw(&report::suites(checked)),
        CheckFormat::Github => checked
            .iter()
            .map(|checked| github::draw(&checked.front.files, &checked.front.diagnostics))
            .collect(),
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
