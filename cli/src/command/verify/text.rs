//! The result for a person: a table, what was added for the prober, and how it ended.

use verify::judge::Verdict;
use verify::report::{Entry, Report};

use crate::render::table::{self, Cell, Row};
use crate::render::{Style, Surface};

pub(super) fn draw(report: &Report, surface: Surface) -> String {
    let body = &report.body;
    let mut text = format!(
        "{} \"{}\"  {}\non {}, Linux {} {}, Landlock ABI {}\n\n",
        surface.paint(Style::Strong, "policy"),
        body.policy.name,
        body.policy.digest,
        body.host.name,
        body.host.kernel,
        body.host.architecture,
        body.host.landlock
    );
    let rows: Vec<Row> = body.probes.iter().map(row).collect();
    text.push_str(&table::draw(&rows, surface));
    text.push_str(&added(&body.policy.added, surface));
    text.push_str(&closing(report, surface));
    text
}

fn row(entry: &Entry) -> Row {
    let (style, word) = match entry.verdict {
        Verdict::Proved => (Style::Good, "proved"),
        Verdict::Granted => (Style::Doubtful, "granted"),
        Verdict::Failed => (Style::Bad, "FAILED"),
        Verdict::NotProved => (Style::Doubtful, "not proved"),
    };
    // The name of a test's line is long; where it stands is how a person finds it.
    let name = entry.place.as_ref().map_or(entry.name.as_str(), |place| {
        place.rsplit_once('/').map_or(place.as_str(), |(_, file)| file)
    });
    let text = if entry.place.is_some() || entry.verdict != Verdict::Proved {
        format!("{}: {}", entry.boundary, entry.why)
    } else {
        entry.why.clone()
    };
    Row {
        cells: vec![Cell::styled(style, word), Cell::plain(name)],
        text,
    }
}

fn added(added: &[String], surface: Surface) -> String {
    if added.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{}\n",
        surface.paint(
            Style::Strong,
            "Granted besides, so that the prober starts and answers"
        )
    );
    for one in added {
        text.push_str(&format!("  {one}\n"));
    }
    text
}

fn closing(report: &Report, surface: Surface) -> String {
    let counts = report.body.counts;
    let verdict = if report.body.ok {
        surface.paint(Style::Good, "verified")
    } else if counts.failed > 0 {
        surface.paint(Style::Bad, "not verified")
    } else {
        surface.paint(Style::Doubtful, "not all of it could be shown")
    };
    let seconds = report.body.milliseconds / 1000;
    let tenths = report.body.milliseconds % 1000 / 100;
    format!(
        "\n{verdict}: {} proved, {} granted by the policy, {} failed, {} not proved, in {seconds}.{tenths} s\n{}\n",
        counts.proved, counts.granted, counts.failed, counts.not_proved, report.digest
    )
}
