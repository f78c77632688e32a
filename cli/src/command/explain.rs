//! `remit explain`: what enforces each rule, and whether this host can.

mod report;
mod text;

use std::io::Write as _;
use std::process::ExitCode;

use crate::arguments::{ColorChoice, Explain, Format};
use crate::input::artifact;
use crate::render::{Surface, json};

use report::Report;

pub(super) fn run(arguments: &Explain, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let artifact = artifact(
        &arguments.policy,
        &arguments.bindings,
        None,
        Surface::stderr(color),
    )?;
    let capabilities = enforcer::capabilities::probe();
    let report = Report::new(&artifact, &capabilities, arguments.all);
    match arguments.format {
        Format::Text => {
            let text = text::draw(&report, Surface::stdout(color));
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Format::Json => json::print(&report)?,
    }
    Ok(ExitCode::SUCCESS)
}
