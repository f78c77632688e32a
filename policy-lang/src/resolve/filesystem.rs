//! Rules of `filesystem`.

use super::Resolver;
use super::path::Found;
use super::quantity::Measure;
use super::rules::Said;
use crate::ast::{FileRule, FileStatement, Suffix, Text, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Effect, FileAccess, Subject};
use crate::source::Span;

impl Resolver<'_> {
    pub(super) fn file(&mut self, statement: &FileStatement, said: &mut Said) {
        match statement {
            FileStatement::Rule(rule) => self.file_rule(rule),
            FileStatement::Hide(span) => self.not_enforceable(
                Code::HideNotEnforceable,
                *span,
                "`hide`",
                "write `deny read, write, execute`: what is denied can be named, and cannot be opened or listed",
            ),
            FileStatement::Scratch {
                span,
                path,
                size,
                suffix,
            } => self.scratch(*span, path, size, suffix, said),
        }
    }

    fn file_rule(&mut self, rule: &FileRule) {
        self.effect(rule.effect);
        let accesses = if rule.accesses.is_empty() {
            vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute]
        } else {
            self.each_once(&rule.accesses, FileAccess::word)
        };
        let mut targets = Vec::new();
        for text in &rule.targets {
            let Some(found) = self.path(text) else { continue };
            self.remark(rule, text, &found);
            targets.push(found.pattern);
        }
        let words: Vec<&str> = rule.accesses.iter().map(|access| access.value.word()).collect();
        let head = [rule.effect.value.word(), &words.join(", ")].join(" ");
        let text = format!("{} {}", head.trim_end(), self.shown_list(&rule.targets));
        self.add(
            rule.span,
            rule.effect.value,
            Subject::File { accesses, targets },
            text,
            &rule.suffix,
        );
    }

    /// Warnings about a path that is not there, or not where it seems.
    fn remark(&mut self, rule: &FileRule, text: &Text, found: &Found) {
        if let (Some(absent), None) = (&found.absent, rule.suffix.if_present) {
            self.report(
                Diagnostic::warning(
                    Code::AbsentPath,
                    text.span,
                    format!("`{}` does not exist on this host", absent.escape_debug()),
                )
                .label("a run is refused while it is absent")
                .help(
                    "create it, correct the path, or write `if present` to skip the rule where it is absent",
                )
                .suggest(Span::new(rule.span.end, rule.span.end), " if present"),
            );
        }
        if let Some(target) = &found.link
            && rule.effect.value > Effect::Ask
        {
            self.report(
                Diagnostic::warning(Code::LinkedPath, text.span, "this path is a symbolic link")
                    .label(format!("leads to `{}`", target.escape_debug()))
                    .help("the rule holds for what it leads to; to keep the link itself from being replaced, deny writing its directory"),
            );
        }
    }

    fn scratch(&mut self, span: Span, path: &Text, size: &Value, suffix: &Suffix, said: &mut Said) {
        let place = self.literal_path(path, "a scratch directory");
        let size_bytes = self.amount(size, Measure::Size);
        let (Some(place), Some(size_bytes)) = (place, size_bytes) else {
            return;
        };
        if place == "/" {
            self.report(
                Diagnostic::error(Code::BadPath, path.span, "the root cannot be a scratch directory")
                    .label("everything would be hidden beneath it")
                    .help("name a directory, as in `scratch \"/tmp\" 512MiB`"),
            );
            return;
        }
        if let Some(first) = said.scratches.get(&place) {
            self.repeated(
                path.span,
                *first,
                format!("`{}` is a scratch directory already", place.escape_debug()),
            );
            return;
        }
        said.scratches.insert(place.clone(), path.span);
        let text = format!("scratch {} {}", self.shown(path), self.shown_value(size));
        self.add(
            span,
            Effect::Allow,
            Subject::Scratch {
                path: place,
                size_bytes,
            },
            text,
            suffix,
        );
    }
}
