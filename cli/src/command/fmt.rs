//! `remit fmt`: lays policy files out, in place.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use policy_lang::SourceFile;
use policy_lang::format::{FormatError, format};
use policy_lang::source::MAX_BYTES;
use serde::Serialize;
use similar::TextDiff;

use crate::arguments::{ColorChoice, Fmt, Format};
use crate::command::files;
use crate::exit;
use crate::render::json::Finding;
use crate::render::{Style, Surface, diagnostic, failure, json};

pub(super) fn run(arguments: &Fmt, color: ColorChoice) -> anyhow::Result<ExitCode> {
    if arguments.files.iter().any(|file| file.as_os_str() == "-") {
        return stdin(arguments, color);
    }
    let mut outcomes = Vec::new();
    for path in files::policies(&arguments.files, files::Links::Refused)? {
        outcomes.push(one(&path, arguments.check)?);
    }
    report(arguments, &outcomes, color)
}

/// A file, and what was or would be done with it.
struct Outcome {
    source: SourceFile,
    result: Result<String, FormatError>,
}

impl Outcome {
    /// The new text, if it is another.
    fn change(&self) -> Option<&str> {
        let text = self.result.as_deref().ok()?;
        (text != self.source.text).then_some(text)
    }
}

fn one(path: &Path, check: bool) -> anyhow::Result<Outcome> {
    let source =
        policy_lang::host::load(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let result = format(&source);
    let outcome = Outcome { source, result };
    if let Some(text) = outcome.change().filter(|_| !check) {
        files::replace(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(outcome)
}

fn stdin(arguments: &Fmt, color: ColorChoice) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        arguments.files.len() == 1,
        "`-` is standard input, and stands alone; name files in a call of their own"
    );
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES + 1).unwrap_or(u64::MAX);
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    let source = SourceFile::from_bytes("<stdin>", bytes);
    let result = format(&source);
    let outcome = Outcome { source, result };
    if !arguments.check
        && matches!(arguments.format, Format::Text)
        && let Ok(text) = &outcome.result
    {
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    report(arguments, &[outcome], color)
}

fn report(arguments: &Fmt, outcomes: &[Outcome], color: ColorChoice) -> anyhow::Result<ExitCode> {
    match arguments.format {
        Format::Text => print_text(arguments, outcomes, color)?,
        Format::Json => json::print(&document(arguments, outcomes))?,
    }
    let refused = outcomes.iter().any(|outcome| outcome.result.is_err());
    let unformatted = arguments.check && outcomes.iter().any(|outcome| outcome.change().is_some());
    Ok(if refused || unformatted {
        ExitCode::from(exit::FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn print_text(arguments: &Fmt, outcomes: &[Outcome], color: ColorChoice) -> anyhow::Result<()> {
    let surface = Surface::stdout(color);
    let mut text = String::new();
    for outcome in outcomes {
        let name = &outcome.source.name;
        match (&outcome.result, outcome.change()) {
            (Err(FormatError::Mistakes(found)), _) => {
                // Like those of `check`, but what was asked for is a file and not a finding.
                let surface = Surface::stderr(color);
                let drawn = diagnostic::draw(std::slice::from_ref(&outcome.source), found, surface);
                eprintln!("{drawn}{name}: {}", surface.paint(Style::Bad, "left as it is"));
            }
            (Err(fault), _) => failure::print(
                &anyhow::anyhow!("{fault}").context(format!("cannot format `{name}`")),
                Surface::stderr(color),
            ),
            (Ok(_), Some(change)) if arguments.check => {
                text.push_str(&difference(&outcome.source, change, surface));
                text.push_str(&format!(
                    "{name}: {}\n",
                    surface.paint(Style::Bad, "not formatted")
                ));
            }
            (Ok(_), Some(_)) => text.push_str(&format!("{name}: formatted\n")),
            (Ok(_), None) => {}
        }
    }
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// What would change, as a unified diff.
fn difference(source: &SourceFile, change: &str, surface: Surface) -> String {
    let difference = TextDiff::from_lines(source.text.as_str(), change);
    let unified = difference
        .unified_diff()
        .context_radius(1)
        .header(&source.name, &format!("{} (formatted)", source.name))
        .to_string();
    let mut text = String::new();
    for line in unified.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => Some(Style::Good),
            Some(b'-') => Some(Style::Bad),
            Some(b'@') => Some(Style::Faint),
            _ => None,
        };
        let line = line.trim_end_matches('\r');
        text.push_str(&style.map_or_else(|| line.to_owned(), |style| surface.paint(style, line)));
        text.push('\n');
    }
    text
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    ok: bool,
    files: Vec<File<'a>>,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    file: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    findings: Vec<Finding<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    Unchanged,
    Formatted,
    NotFormatted,
    Refused,
}

fn document<'a>(arguments: &Fmt, outcomes: &'a [Outcome]) -> Document<'a> {
    let files: Vec<File<'_>> = outcomes.iter().map(|outcome| file(arguments, outcome)).collect();
    Document {
        ok: files
            .iter()
            .all(|file| matches!(file.status, Status::Unchanged | Status::Formatted)),
        files,
    }
}

fn file<'a>(arguments: &Fmt, outcome: &'a Outcome) -> File<'a> {
    let from_stdin = arguments.files.iter().any(|file| file.as_os_str() == "-");
    let (findings, fault): (&[_], _) = match &outcome.result {
        Ok(_) => (&[], None),
        Err(FormatError::Mistakes(found)) => (found.as_slice(), None),
        Err(fault) => (&[], Some(fault.to_string())),
    };
    File {
        file: &outcome.source.name,
        status: match (&outcome.result, outcome.change()) {
            (Err(_), _) => Status::Refused,
            (Ok(_), None) => Status::Unchanged,
            (Ok(_), Some(_)) if arguments.check => Status::NotFormatted,
            (Ok(_), Some(_)) => Status::Formatted,
        },
        text: outcome
            .result
            .as_deref()
            .ok()
            .filter(|_| from_stdin && !arguments.check),
        fault,
        findings: findings
            .iter()
            .map(|found| Finding::new(std::slice::from_ref(&outcome.source), found))
            .collect(),
    }
}
