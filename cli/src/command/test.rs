//! `remit test`: the policy's tests against the reference semantics, and which rules they leave untried.

mod report;
mod text;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::bail;
use compiler::testing::judge;

use crate::arguments::{ColorChoice, Test, TestFormat};
use crate::exit;
use crate::input::front_with_tests;
use crate::render::{Surface, diagnostic, json, junit};

use report::Report;

pub(super) fn run(arguments: &Test, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let front = front_with_tests(&arguments.policy, &arguments.tests, &arguments.bindings)?;
    let drawn = diagnostic::draw(&front.files, &front.diagnostics, Surface::stderr(color));
    std::io::stderr().lock().write_all(drawn.as_bytes())?;
    let Some(policy) = &front.policy else {
        bail!(
            "`{}` has errors, so nothing was tested",
            arguments.policy.display()
        );
    };
    let wanted = |name: &str| arguments.filter.as_ref().is_none_or(|part| name.contains(part));
    let judged = judge(policy, &policy.tests, wanted);
    if judged.lines() == 0 {
        // Nothing tested is not everything tested.
        match &arguments.filter {
            Some(part) => bail!(
                "no test has `{part}` in its name; {} tests were left out",
                judged.left_out
            ),
            None => bail!("`{}` has no test", front.source().name),
        }
    }
    let report = Report::new(policy, &front.source().name, &judged, arguments);
    let document = match arguments.format {
        TestFormat::Text => text::draw(&report, Surface::stdout(color)),
        TestFormat::Junit => junit::draw(&[report.suite()]),
        TestFormat::Json => {
            json::print(&report)?;
            String::new()
        }
    };
    std::io::stdout().lock().write_all(document.as_bytes())?;
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}
