//! `remit why`: which rule decides an access, what enforces that here, and what rule would allow it.

mod answer;
mod enforcement;
mod proposal;
mod recorded;
mod report;
mod text;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::bail;
use compiler::why::query::{self, Surroundings};
use policy_lang::host::HostPaths;
use policy_lang::reference::Access;
use policy_lang::syscall::Architecture;

use crate::arguments::{ColorChoice, Format, Why};
use crate::exit;
use crate::input;
use crate::render::{Surface, diagnostic, json};

use report::Report;

pub(super) fn run(arguments: &Why, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let asked = asked(arguments)?;
    let is_artifact = arguments
        .policy
        .extension()
        .is_some_and(|extension| extension == "ron");
    let report = if is_artifact {
        of_artifact(arguments, asked)?
    } else {
        of_policy(arguments, asked, Surface::stderr(color))?
    };
    match arguments.format {
        Format::Text => {
            let text = text::draw(&report, Surface::stdout(color));
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Format::Json => json::print(&report)?,
    }
    Ok(if report.agree {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

/// What is asked about.
struct Asked {
    accesses: Vec<Access>,
    notes: Vec<String>,
    event: Option<compiler::why::event::Recorded>,
}

fn asked(arguments: &Why) -> anyhow::Result<Asked> {
    if let Some(position) = &arguments.event {
        return recorded::asked(position, arguments);
    }
    let home = input::text(input::home(&arguments.bindings)?, "the home directory")?;
    let directory = input::text(input::directory(&arguments.bindings)?, "the working directory")?;
    let query = query::parse(
        &arguments.access,
        &Surroundings {
            home: &home,
            working_directory: &directory,
            paths: &HostPaths,
            architecture: native(),
        },
    )?;
    Ok(Asked {
        accesses: vec![query.access],
        notes: query.notes,
        event: None,
    })
}

/// Whose system calls a question without more words means.
const fn native() -> Architecture {
    if cfg!(target_arch = "aarch64") {
        Architecture::Aarch64
    } else {
        Architecture::X86_64
    }
}

fn of_artifact(arguments: &Why, asked: Asked) -> anyhow::Result<Report> {
    if arguments.artifact.is_some() {
        bail!(
            "`--artifact` stands beside a policy; `{}` is an artifact itself",
            arguments.policy.display()
        );
    }
    if arguments.propose || arguments.generalise {
        bail!(
            "a rule is proposed for a policy's text, and `{}` is an artifact",
            arguments.policy.display()
        );
    }
    let artifact = input::decoded(&arguments.policy, &arguments.bindings)?;
    Ok(answer::of_artifact(&artifact, asked))
}

fn of_policy(arguments: &Why, asked: Asked, stderr: Surface) -> anyhow::Result<Report> {
    let front = input::front(&arguments.policy, &arguments.bindings)?;
    if front.policy.is_none() {
        let drawn = diagnostic::draw(&front.files, &front.diagnostics, stderr);
        std::io::stderr().lock().write_all(drawn.as_bytes())?;
    }
    let Some(policy) = &front.policy else {
        bail!(
            "`{}` has errors, so it decides nothing",
            arguments.policy.display()
        );
    };
    let reviewed = match &arguments.artifact {
        // Its parameters were bound when it was compiled; those given here are the policy's.
        Some(path) => Some(input::decode(path)?),
        None => None,
    };
    let mut report = answer::of_policy(policy, &front.source().name, reviewed.as_ref(), &asked);
    if arguments.propose || arguments.generalise || asked.event.is_some() {
        report.proposal = Some(proposal::look(policy, front.source(), &asked, arguments));
    }
    Ok(report)
}
