//! The result for continuous integration: a case for each probe.

use verify::judge::Verdict;
use verify::report::{Entry, Report};

use crate::render::junit::{Case, Suite};

pub(super) fn suite(report: &Report) -> Suite {
    Suite {
        name: format!("verify {}", report.body.policy.name),
        cases: report.body.probes.iter().map(case).collect(),
    }
}

fn case(entry: &Entry) -> Case {
    let (class, name) = entry.name.split_once(':').unwrap_or(("boundary", &entry.name));
    let place = entry.place.as_ref().and_then(|place| place.rsplit_once(':'));
    Case {
        class: class.to_owned(),
        name: name.to_owned(),
        file: place.map(|(file, _)| file.to_owned()),
        line: place.and_then(|(_, line)| line.parse().ok()),
        failure: match entry.verdict {
            Verdict::Proved | Verdict::Granted => None,
            Verdict::Failed | Verdict::NotProved => Some((entry.boundary.clone(), entry.why.clone())),
        },
        output: None,
    }
}
