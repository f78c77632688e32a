//! Statements of the policy outside its blocks, and `audit`, which holds no rules.

use super::quantity::integer;
use super::{Place, Resolver};
use crate::ast::{Item, RecordWord, Requirement as Clause};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Feature, Record, Requirement};
use crate::source::Span;
use crate::suggest::nearest;

/// Words of `require`.
const FEATURES: &[(&str, Feature)] = &[
    ("seccomp", Feature::Seccomp),
    ("cgroup-bpf", Feature::CgroupBpf),
    ("memory-controller", Feature::MemoryController),
    ("pids-controller", Feature::PidsController),
    ("cpu-controller", Feature::CpuController),
    ("audit", Feature::Audit),
];

/// What the header says.
#[derive(Default)]
pub(super) struct Header {
    pub(super) summary: Option<String>,
    pub(super) requirements: Vec<Requirement>,
    pub(super) record: Record,
}

impl Resolver<'_> {
    pub(super) fn header(&mut self, items: &[Item]) -> Header {
        let mut header = Header {
            summary: self.summary_of(items),
            ..Header::default()
        };
        for item in items {
            match item {
                Item::Require(_, clauses) => {
                    let found: Vec<Requirement> = clauses
                        .iter()
                        .filter_map(|clause| self.requirement(clause))
                        .collect();
                    header.requirements.extend(found);
                }
                Item::Audit(_, words) => words
                    .iter()
                    .for_each(|word| record(word.value, &mut header.record)),
                Item::Summary(..)
                | Item::Within(..)
                | Item::Use(..)
                | Item::Unlock(_)
                | Item::Workspace(..)
                | Item::Param(_)
                | Item::Filesystem(..)
                | Item::Network(..)
                | Item::Credentials(..)
                | Item::Process(..) => {}
            }
        }
        header
    }

    pub(super) fn summary_of(&mut self, items: &[Item]) -> Option<String> {
        let mut found: Option<(Place, Option<String>)> = None;
        for item in items {
            let Item::Summary(span, text) = item else { continue };
            if let Some((first, _)) = found {
                self.repeated(*span, first, "one summary is enough");
                continue;
            }
            found = Some((self.here(*span), self.fixed(text, "the summary")));
        }
        found.and_then(|(_, text)| text)
    }

    pub(super) fn repeated(&mut self, span: Span, first: Place, message: impl Into<String>) {
        self.report(
            Diagnostic::error(Code::Repeated, span, message)
                .label("this is the second")
                .also_in(first.file, first.span, "the first")
                .help("keep the one that is meant"),
        );
    }

    fn requirement(&mut self, clause: &Clause) -> Option<Requirement> {
        let word = clause.feature.text.as_str();
        let text = match &clause.at_least {
            Some(quantity) => format!("{word} >= {}{}", quantity.number, quantity.unit),
            None => word.to_owned(),
        };
        if word == "landlock" {
            let version = match &clause.at_least {
                None => Some(1),
                Some(quantity) => integer(quantity)
                    .and_then(|number| u32::try_from(number).ok())
                    .filter(|abi| *abi > 0),
            };
            let Some(version) = version else {
                let span = clause
                    .at_least
                    .as_ref()
                    .map_or(clause.span, |quantity| quantity.span);
                self.report(
                    Diagnostic::error(Code::BadQuantity, span, "this is not a Landlock ABI")
                        .label("here")
                        .help("write a whole number from 1, as in `landlock >= 3`; `remit doctor` shows this kernel's"),
                );
                return None;
            };
            return Some(Requirement {
                feature: Feature::Landlock(version),
                text,
            });
        }
        let Some((_, feature)) = FEATURES.iter().find(|(name, _)| *name == word) else {
            let names = FEATURES.iter().map(|(name, _)| *name).chain(["landlock"]);
            let mut found = Diagnostic::error(
                Code::UnknownRequirement,
                clause.feature.span,
                format!("`{word}` is nothing that can be required"),
            )
            .help(format!(
                "what can be required: `landlock >= N`, {}",
                FEATURES
                    .iter()
                    .map(|(name, _)| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
            found = match nearest(word, names) {
                Some(near) => found
                    .label(format!("did you mean `{near}`?"))
                    .suggest(clause.feature.span, near),
                None => found.label("not known"),
            };
            self.report(found);
            return None;
        };
        if let Some(quantity) = &clause.at_least {
            self.report(
                Diagnostic::error(
                    Code::BadQuantity,
                    quantity.span,
                    format!("`{word}` has no versions"),
                )
                .label("remove this")
                .help(format!("write `require {word}`"))
                .suggest(clause.span, word),
            );
            return None;
        }
        Some(Requirement {
            feature: *feature,
            text,
        })
    }
}

fn record(word: RecordWord, record: &mut Record) {
    match word {
        // Refusals are recorded whatever the policy says.
        RecordWord::Denied => {}
        RecordWord::Exec => record.exec = true,
        RecordWord::Connect => record.connect = true,
        RecordWord::Bind => record.bind = true,
        RecordWord::Read => record.read = true,
        RecordWord::Write => record.write = true,
    }
}
