//! Guardrails: `remit guard`, and what `--guardrails` does wherever a policy is read.

mod bounded;
mod folder;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use compiler::difference::Difference;
use compiler::guardrails::{self, Answer, Date, Finding, Job, Outcome, Task};
use policy_lang::Diagnostic;
use policy_lang::policy::Policy;
use serde::Serialize;

use crate::arguments::{ColorChoice, Format, Guard, GuardInput, GuardTest};
use crate::exit;
use crate::input::{self, Front};
use crate::render::{Style, Surface, diagnostic, json};

pub(super) fn run(arguments: &Guard, color: ColorChoice) -> anyhow::Result<ExitCode> {
    match arguments {
        Guard::Test(arguments) => test(arguments, color),
        Guard::Input(arguments) => print_input(arguments, color),
        Guard::Worker => bounded::worker(),
    }
}

/// What the guardrails of a folder have against a policy. Without a judgement it is refused.
pub(crate) fn found(front: &Front, folder: &Path) -> Vec<Diagnostic> {
    let Some(policy) = &front.policy else {
        return Vec::new();
    };
    match findings(policy, None, &front.home, folder) {
        Ok(findings) => guardrails::diagnostics(&findings, policy, &front.files),
        Err(error) => vec![guardrails::failed(&format!("{error:#}"), &front.files)],
    }
}

/// What guardrails find in a policy, or in what it changes of an older one.
///
/// # Errors
/// When there is no judgement. Whoever asks has to refuse.
pub(crate) fn findings(
    policy: &Policy,
    since: Option<(&Difference, &Policy)>,
    home: &str,
    folder: &Path,
) -> anyhow::Result<Vec<Finding>> {
    let today = today()?;
    let mut input = guardrails::input(policy, home, &today);
    if let Some((difference, old)) = since {
        input = input.with_difference(difference, old, policy);
    }
    let job = Job {
        files: folder::read(folder)?,
        task: Task::Judge {
            input: input.to_json().context("the policy cannot be laid out")?,
            today,
        },
    };
    match bounded::ask(&job)? {
        Answer::Judged(findings) => Ok(findings),
        Answer::Failed(failure) => Err(failure.into()),
        Answer::Tested(_) => Err(anyhow!("the evaluation answered something else")),
    }
}

/// The day, in UTC.
fn today() -> anyhow::Result<Date> {
    let now = enforcer::event::Time::now().text();
    let day = now.get(..10).unwrap_or_default();
    std::str::from_utf8(day)
        .ok()
        .and_then(Date::parse)
        .ok_or_else(|| anyhow!("this machine's clock has no date"))
}

#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    tests: Vec<TestReport>,
}

#[derive(Debug, Serialize)]
struct TestReport {
    name: String,
    ok: bool,
    file: String,
    line: u32,
    failure: Option<String>,
}

fn test(arguments: &GuardTest, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let job = Job {
        files: folder::read(&arguments.folder)?,
        task: Task::Test,
    };
    let outcomes = match bounded::ask(&job)? {
        Answer::Tested(outcomes) => outcomes,
        Answer::Failed(failure) => {
            return Err(anyhow::Error::from(failure)
                .context(format!("`{}` cannot be tested", arguments.folder.display())));
        }
        Answer::Judged(_) => bail!("the evaluation answered something else"),
    };
    let report = Report {
        ok: outcomes.iter().all(|outcome| outcome.failure.is_none()),
        tests: outcomes.into_iter().map(test_report).collect(),
    };
    match arguments.format {
        Format::Text => {
            let text = draw(&report, Surface::stdout(color));
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Format::Json => json::print(&report)?,
    }
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

fn test_report(outcome: Outcome) -> TestReport {
    TestReport {
        name: outcome.name,
        ok: outcome.failure.is_none(),
        file: outcome.file,
        line: outcome.line,
        failure: outcome.failure,
    }
}

fn draw(report: &Report, surface: Surface) -> String {
    let mut text = String::new();
    for test in report.tests.iter().filter(|test| !test.ok) {
        let word = surface.paint(Style::Bad, "failed");
        let why = test.failure.as_deref().unwrap_or_default();
        text.push_str(&format!(
            "{word} {}:{} {}: {why}\n",
            test.file, test.line, test.name
        ));
    }
    let held = report.tests.iter().filter(|test| test.ok).count();
    let (style, word) = if report.ok {
        (Style::Good, "holds")
    } else {
        (Style::Bad, "failed")
    };
    text.push_str(&format!(
        "{}: {held} of {} tests hold\n",
        surface.paint(style, word),
        report.tests.len()
    ));
    text
}

fn print_input(arguments: &GuardInput, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let front = input::front(&arguments.policy, &arguments.bindings)?;
    let Some(policy) = &front.policy else {
        let drawn = diagnostic::draw(&front.files, &front.diagnostics, Surface::stderr(color));
        std::io::stderr().lock().write_all(drawn.as_bytes())?;
        bail!("`{}` has errors", arguments.policy.display());
    };
    json::print(&guardrails::input(policy, &front.home, &today()?))?;
    Ok(ExitCode::SUCCESS)
}
