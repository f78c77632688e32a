//! `remit run`: one command within one policy.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use enforcer::sink::{JsonLines, Person, PersonStyle, SinkError, Sinks};
use enforcer::{Caller, HeadStart, Instance, Kept, RunOptions};

use crate::arguments::{ColorChoice, Run};
use crate::input::{artifact, artifact_again};
use crate::render::{Surface, failure};

pub(super) fn run(arguments: Run, color: ColorChoice) -> anyhow::Result<ExitCode> {
    need_root("run")?;
    log_if_asked();
    let instance = Instance::new(&arguments.instance.name)?;
    // Reading a policy and starting a program take about as long. What goes wrong here goes wrong again in the run,
    // and is told then.
    let (head_start, compiled) = HeadStart::take_while(&instance, Path::new(RunOptions::LAUNCHER), || {
        let stderr = Surface::stderr(color);
        match arguments.guard.guardrails.as_deref() {
            // What was judged before may be judged otherwise today.
            Some(folder) => artifact(&arguments.policy, &arguments.bindings, Some(folder), stderr),
            None => artifact_again(
                &arguments.policy,
                &arguments.bindings,
                stderr,
                &Kept::of(&instance),
            ),
        }
    });
    let (head_start, compiled) = (head_start.ok(), compiled?);
    let sinks = || -> Result<Sinks, SinkError> {
        Ok(Sinks {
            lines: arguments.events.as_deref().map(JsonLines::open).transpose()?,
            person: (!arguments.quiet).then(|| Person::new(person_style(color))),
        })
    };
    let capabilities = head_start
        .as_ref()
        .map_or_else(enforcer::capabilities::probe, HeadStart::probe);
    let admitted = match enforcer::admit(compiled, &capabilities) {
        Ok(admitted) => admitted,
        Err(refusal) => {
            // Read again only here, so that a run that is admitted does not pay for a copy.
            let artifact = artifact(
                &arguments.policy,
                &arguments.bindings,
                arguments.guard.guardrails.as_deref(),
                Surface::stderr(color),
            )?;
            enforcer::record_refusal(artifact, &refusal, sinks()?)?;
            return Err(refusal.into());
        }
    };
    let mut caller = Caller::current()?;
    if let Some(directory) = &arguments.bindings.directory {
        caller.working_directory = std::fs::canonicalize(directory)?;
    }
    let sinks = sinks()?;
    let mut options = RunOptions::new(instance, arguments.command, caller);
    options.sinks = sinks;
    options.network = arguments.network_namespace;
    options.head_start = head_start;
    options.last = true;
    let outcome = enforcer::run(admitted, options)?;
    if let Some(failure) = outcome.not_started {
        failure::print(&anyhow::Error::new(failure), Surface::stderr(color));
    }
    Ok(ExitCode::from(outcome.exit_code))
}

fn person_style(color: ColorChoice) -> PersonStyle {
    let surface = Surface::stderr(color);
    PersonStyle {
        colour: surface.colour,
        // Into a file or a pipe a refusal stays one line.
        width: std::io::stderr().is_terminal().then_some(surface.width),
    }
}

/// # Errors
/// For everybody but root, with what is needed and why.
pub(super) fn need_root(command: &str) -> anyhow::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    bail!(
        "`remit {command}` needs root: it creates namespaces, attaches programs to a cgroup and reads the audit stream. \
         Call it with sudo; the command itself runs under the identity its policy names. \
         `remit check`, `compile` and `explain` need no privilege"
    )
}

/// Diagnostics of Remit itself, where `REMIT_LOG` says which. Nothing is set up otherwise: every start would pay for it.
fn log_if_asked() {
    let Ok(filter) = std::env::var("REMIT_LOG") else {
        return;
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .init();
}
