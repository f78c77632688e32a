//! Statements of the policy outside its blocks, and `audit` and `workspace`, which hold no rules.

use super::Resolver;
use super::quantity::integer;
use crate::ast::{Item, RecordWord, Requirement as Clause, Spanned, WorkspaceStatement};
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
        let mut header = Header::default();
        let mut summary: Option<Span> = None;
        for item in items {
            match item {
                Item::Summary(span, text) => {
                    if let Some(first) = summary {
                        self.repeated(*span, first, "a policy has one summary");
                        continue;
                    }
                    summary = Some(*span);
                    header.summary = self.fixed(text, "the summary");
                }
                Item::Within(span, _) => self.not_enforceable(
                    Code::WithinNotEnforceable,
                    *span,
                    "a ceiling (`within`)",
                    "remove it, and write the ceiling's `deny` and `forbid` rules into this policy",
                ),
                Item::Use(span, _) => self.not_enforceable(
                    Code::UseNotEnforceable,
                    *span,
                    "a group of rules (`use`)",
                    "remove it, and write the rules that are needed, as the policies under `examples/` do",
                ),
                Item::Unlock(span) => self.not_enforceable(
                    Code::UnlockNotEnforceable,
                    *span,
                    "opening the floor (`unlock`)",
                    "remove it; what the floor forbids stays forbidden",
                ),
                Item::Require(clauses) => {
                    let found: Vec<Requirement> = clauses
                        .iter()
                        .filter_map(|clause| self.requirement(clause))
                        .collect();
                    header.requirements.extend(found);
                }
                Item::Audit(words) => words
                    .iter()
                    .for_each(|word| self.record(*word, &mut header.record)),
                Item::Workspace(statements) => {
                    statements.iter().for_each(|statement| self.workspace(statement))
                }
                Item::Param(_)
                | Item::Filesystem(_)
                | Item::Network(_)
                | Item::Credentials(_)
                | Item::Process(_) => {}
            }
        }
        header
    }

    pub(super) fn not_enforceable(&mut self, code: Code, span: Span, what: &str, instead: &str) {
        self.report(
            Diagnostic::error(code, span, format!("{what} is not enforceable by this version"))
                .label("understood, and refused rather than ignored")
                .help(instead),
        );
    }

    pub(super) fn repeated(&mut self, span: Span, first: Span, message: impl Into<String>) {
        self.report(
            Diagnostic::error(Code::Repeated, span, message)
                .label("this is the second")
                .also(first, "the first")
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

    fn record(&mut self, word: Spanned<RecordWord>, record: &mut Record) {
        match word.value {
            // Refusals are recorded whatever the policy says.
            RecordWord::Denied => {}
            RecordWord::Exec => record.exec = true,
            RecordWord::Connect => record.connect = true,
            RecordWord::Bind => record.bind = true,
            RecordWord::Read | RecordWord::Write => self.not_enforceable(
                Code::RecordNotEnforceable,
                word.span,
                "recording allowed reads and writes of files",
                "remove it; refused ones are recorded in any case",
            ),
        }
    }

    fn workspace(&mut self, statement: &WorkspaceStatement) {
        let instead =
            "remove it, and grant the directory in `filesystem`; the run then works on the files themselves";
        match statement {
            WorkspaceStatement::ModeInPlace(_) => {}
            WorkspaceStatement::ModeEphemeral(span) => self.not_enforceable(
                Code::WorkspaceNotEnforceable,
                *span,
                "an ephemeral workspace",
                instead,
            ),
            WorkspaceStatement::From(span) => {
                self.not_enforceable(
                    Code::WorkspaceNotEnforceable,
                    *span,
                    "a workspace made from a directory",
                    instead,
                );
            }
            WorkspaceStatement::Keep(span) => self.not_enforceable(
                Code::WorkspaceNotEnforceable,
                *span,
                "keeping or dropping a workspace's changes",
                instead,
            ),
        }
    }
}
