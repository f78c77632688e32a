//! `remit doctor`: what this kernel offers, what is missing, and what that costs.

use std::io::Write as _;
use std::process::ExitCode;

use enforcer::Capabilities;
use enforcer::capabilities::{Capability, probe};
use serde::Serialize;

use crate::arguments::{ColorChoice, Doctor, Format};
use crate::exit;
use crate::render::table::{Cell, Row, draw};
use crate::render::{Style, Surface, json};

pub(super) fn run(arguments: &Doctor, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let capabilities = probe();
    let report = Report::new(&capabilities);
    match arguments.format {
        Format::Text => {
            let text = text(&report, Surface::stdout(color));
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        Format::Json => json::print(&report)?,
    }
    Ok(if report.can_run {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    kernel: &'a str,
    landlock_abi: u32,
    can_run: bool,
    capabilities: Vec<Line<'a>>,
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    capability: Capability,
    name: &'static str,
    present: bool,
    evidence: &'a str,
    /// What its absence costs, only where it is absent.
    cost: Option<&'static str>,
}

impl<'a> Report<'a> {
    fn new(capabilities: &'a Capabilities) -> Self {
        let lines = Capability::ALL.into_iter().map(|capability| {
            let found = capabilities.found.get(&capability);
            let present = found.is_some_and(|found| found.present);
            Line {
                capability,
                name: capability.name(),
                present,
                evidence: found.map_or("not probed", |found| &found.evidence),
                cost: (!present).then(|| capability.cost_of_absence()),
            }
        });
        Self {
            kernel: &capabilities.kernel,
            landlock_abi: capabilities.landlock_abi,
            can_run: enforcer::admission::obstacles(capabilities).is_empty(),
            capabilities: lines.collect(),
        }
    }
}

fn text(report: &Report<'_>, surface: Surface) -> String {
    let rows: Vec<Row> = report.capabilities.iter().map(row).collect();
    let verdict = if report.can_run {
        surface.paint(Style::Good, "Policies can be enforced on this host.")
    } else {
        surface.paint(
            Style::Bad,
            "Nothing can run on this host until what is missing is there.",
        )
    };
    format!(
        "Linux {}, Landlock ABI {}\n\n{}\n{verdict}\n`remit explain POLICY` says what this means for each rule.\n",
        report.kernel,
        report.landlock_abi,
        draw(&rows, surface)
    )
}

fn row(line: &Line<'_>) -> Row {
    let mark = if line.present {
        Cell::styled(Style::Good, "yes")
    } else {
        Cell::styled(Style::Bad, "no")
    };
    Row {
        cells: vec![mark, Cell::plain(line.name)],
        text: match line.cost {
            None => line.evidence.to_owned(),
            Some(cost) => format!("{}\ncosts: {cost}", line.evidence),
        },
    }
}
