//! `remit verify`: a policy proved on this host, from inside a real run.

mod cases;
mod text;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use verify::report::Report;

use super::run::need_root;
use crate::arguments::{ColorChoice, TestFormat, Verify};
use crate::exit;
use crate::input;
use crate::render::{Surface, diagnostic, json, junit};

pub(super) fn run(arguments: &Verify, color: ColorChoice) -> anyhow::Result<ExitCode> {
    if !arguments.list {
        need_root("verify")?;
    }
    let (front, artifact) = input::compiled(&arguments.policy, &arguments.bindings, None)?;
    let drawn = diagnostic::draw(&front.files, &front.diagnostics, Surface::stderr(color));
    std::io::stderr().lock().write_all(drawn.as_bytes())?;
    let (Some(policy), Some(artifact)) = (&front.policy, &artifact) else {
        bail!(
            "`{}` has errors, so nothing was verified",
            arguments.policy.display()
        );
    };
    let capabilities = enforcer::capabilities::probe();
    if arguments.list {
        let mut plan = verify::list(policy, artifact, &capabilities);
        plan.only(&arguments.only);
        let names: String = plan
            .probes
            .iter()
            .map(|probe| format!("{}\n", probe.name))
            .collect();
        std::io::stdout().lock().write_all(names.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    // What admission says is better said before anything is put on the host.
    enforcer::admit(artifact.clone(), &capabilities)?;
    let report = verify::verify(verify::Request {
        policy,
        artifact,
        file: &front.source().name,
        working_directory: &input::directory(&arguments.bindings)?,
        capabilities: &capabilities,
        only: &arguments.only,
    })?;
    if report.body.probes.is_empty() {
        bail!("no probe has a name that begins so; `--list` prints them");
    }
    if let Some(file) = &arguments.report {
        write(&report, file).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    let document = match arguments.format {
        TestFormat::Text => text::draw(&report, Surface::stdout(color)),
        TestFormat::Junit => junit::draw(&[cases::suite(&report)]),
        TestFormat::Json => {
            json::print(&report)?;
            String::new()
        }
    };
    std::io::stdout().lock().write_all(document.as_bytes())?;
    let counts = report.body.counts;
    Ok(match (counts.failed, counts.not_proved) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(exit::NO_ANSWER),
        _ => ExitCode::from(exit::FAILED),
    })
}

/// A file that exists is replaced whole.
fn write(report: &Report, file: &std::path::Path) -> anyhow::Result<()> {
    let directory = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(std::path::Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer_pretty(&mut new, report)?;
    new.write_all(b"\n")?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}
