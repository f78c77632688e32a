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
            FileStatement::Hide {
                span,
                targets,
                suffix,
            } => self.hide(*span, targets, suffix),
            FileStatement::Scratch {
                span,
                path,
                size,
                suffix,
            } => self.scratch(*span, path, size, suffix, said),
        }
    }

    fn file_rule(&mut self, rule: &FileRule) {
        let accesses = if rule.accesses.is_empty() {
            vec![FileAccess::Read, FileAccess::Write, FileAccess::Execute]
        } else {
            self.each_once(&rule.accesses, FileAccess::word)
        };
        let mut targets = Vec::new();
        for text in &rule.targets {
            let Some(found) = self.path(text) else { continue };
            self.remark(rule.span, rule.effect.value, &rule.suffix, text, &found);
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

    fn hide(&mut self, span: Span, texts: &[Text], suffix: &Suffix) {
        let mut targets = Vec::new();
        for text in texts {
            let Some(found) = self.path(text) else { continue };
            self.remark(span, Effect::Deny, suffix, text, &found);
            targets.push(found.pattern);
        }
        let text = format!("hide {}", self.shown_list(texts));
        self.add(span, Effect::Deny, Subject::Hide { targets }, text, suffix);
    }

    /// Warnings about a path that is not there, or not where it seems.
    fn remark(&mut self, rule: Span, effect: Effect, suffix: &Suffix, text: &Text, found: &Found) {
        if let (Some(absent), None) = (&found.absent, suffix.if_present) {
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
                .suggest(Span::new(rule.end, rule.end), " if present"),
            );
        }
        if let Some(target) = &found.link
            && effect > Effect::Ask
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
        if let Some(first) = said.scratches.get(&place).copied() {
            self.repeated(
                path.span,
                first,
                format!("`{}` is a scratch directory already", place.escape_debug()),
            );
            return;
        }
        said.scratches.insert(place.clone(), self.here(path.span));
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
