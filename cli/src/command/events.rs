//! `remit events verify`: whether a recording has a gap or an edit.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use enforcer::event::{ChainError, RunChain, Verified, verify_chain};
use serde::Serialize;

use crate::arguments::{ColorChoice, EventsVerify, Format};
use crate::exit;
use crate::render::{Style, Surface, json};

pub(super) fn verify(arguments: &EventsVerify, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let verified = match verify_chain(open(&arguments.file)?) {
        Ok(verified) => Ok(verified),
        Err(ChainError::Read(error)) => {
            return Err(error).with_context(|| format!("cannot read `{}`", arguments.file.display()));
        }
        Err(broken) => Err(broken),
    };
    let report = Report::new(&verified, arguments.unfinished);
    match arguments.format {
        Format::Text => {
            let text = text(&report, &arguments.file, Surface::stdout(color));
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

fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    ok: bool,
    /// Where and how the recording is not what was written.
    broken: Option<String>,
    runs: Vec<Run<'a>>,
}

#[derive(Debug, Serialize)]
struct Run<'a> {
    run: &'a str,
    events: u64,
    lost: u64,
    ended: bool,
    chain: &'a str,
}

impl<'a> Report<'a> {
    fn new(verified: &'a Result<Verified, ChainError>, unfinished: bool) -> Self {
        match verified {
            Err(broken) => Self {
                ok: false,
                broken: Some(broken.to_string()),
                runs: Vec::new(),
            },
            Ok(verified) => {
                let runs: Vec<Run<'a>> = verified.runs.iter().map(run).collect();
                Self {
                    ok: !runs.is_empty() && (unfinished || runs.iter().all(|run| run.ended)),
                    broken: None,
                    runs,
                }
            }
        }
    }
}

fn run<'a>((name, chain): (&'a String, &'a RunChain)) -> Run<'a> {
    Run {
        run: name,
        events: chain.events,
        lost: chain.lost,
        ended: chain.ended,
        chain: &chain.head,
    }
}

fn text(report: &Report<'_>, file: &Path, surface: Surface) -> String {
    let file = file.display();
    if let Some(broken) = &report.broken {
        return format!("{file}: {}\n", surface.paint(Style::Bad, broken));
    }
    if report.runs.is_empty() {
        return format!(
            "{file}: {}\n",
            surface.paint(Style::Bad, "there is no event in it")
        );
    }
    let mut text = String::new();
    for run in &report.runs {
        let (style, verdict) = if run.ended {
            (Style::Good, "whole")
        } else {
            (
                Style::Doubtful,
                "whole so far, but its end is not here: the run is alive, or lines are missing",
            )
        };
        let lost = if run.lost > 0 {
            format!(", {} more were lost and are accounted for", run.lost)
        } else {
            String::new()
        };
        let verdict = surface.paint(style, verdict);
        text.push_str(&format!(
            "{file}: run {}: {} events{lost}: {verdict}\n",
            run.run, run.events
        ));
    }
    text
}
