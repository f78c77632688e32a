//! `// remit: allow R0612 because "…"`: a finding that somebody looked at and accepted.
//!
//! It stands for the statement on its line, or on the next line that has one. It needs a reason, and one that silences
//! nothing is a finding itself, so that none outlives what it was written for. Errors, and what opens the floor, are
//! always said.

use policy_lang::diagnostic::{Code, Severity};
use policy_lang::source::{FileId, Span};
use policy_lang::{Diagnostic, SourceFile};

use super::Context;
use super::place::{Kind, all};

/// What no comment silences.
const ALWAYS_SAID: &[Code] = &[
    Code::Unlocked,
    Code::MetadataReachable,
    Code::UnusedSuppression,
    Code::BadSuppression,
];

/// One such comment.
struct Suppression {
    comment: Span,
    codes: Vec<Code>,
    /// What findings must begin in.
    covers: Span,
}

/// Removes what is accepted, and adds what is wrong with the comments themselves.
pub(super) fn apply(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let file = FileId::default();
    let Some(source) = context.places.file(file) else {
        return;
    };
    if !source.text.contains("remit:") {
        return;
    }
    let (suppressions, mut findings) = read(source);
    for suppression in &suppressions {
        for code in &suppression.codes {
            let before = found.len();
            found.retain(|finding| {
                let there = (suppression.covers.start..suppression.covers.end).contains(&finding.span.start);
                let silenced = finding.file == file && there && finding.code == *code;
                !(silenced && may_be_silenced(finding))
            });
            if found.len() == before {
                findings.push(unused(suppression, *code, source));
            }
        }
    }
    found.extend(findings.into_iter().map(|finding| finding.in_file(file)));
}

fn may_be_silenced(finding: &Diagnostic) -> bool {
    finding.severity < Severity::Error && !ALWAYS_SAID.contains(&finding.code)
}

fn unused(suppression: &Suppression, code: Code, source: &SourceFile) -> Diagnostic {
    let always = ALWAYS_SAID.contains(&code);
    let finding = Diagnostic::warning(
        Code::UnusedSuppression,
        suppression.comment,
        if always {
            format!("{code} is always said, whatever a comment accepts")
        } else {
            format!("{code} is accepted here, and not found here")
        },
    )
    .label("stands for nothing")
    .help("remove it, so that it does not hide a later finding");
    if suppression.codes.len() > 1 {
        return finding;
    }
    let before = source.text.get(..suppression.comment.start).unwrap_or_default();
    let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
    finding.fix(
        Span::new(suppression.comment.start - blank, suppression.comment.end),
        "",
    )
}

/// The comments of a file, and what is wrong with them.
fn read(source: &SourceFile) -> (Vec<Suppression>, Vec<Diagnostic>) {
    let (mut suppressions, mut wrong) = (Vec::new(), Vec::new());
    let mut last_end = 0;
    let tokens: Vec<_> = all(&source.text, 0).collect();
    for (index, token) in tokens.iter().enumerate() {
        let comment = token.text.strip_prefix("//").map(str::trim);
        let asked = comment
            .and_then(|comment| comment.strip_prefix("remit:"))
            .map(str::trim);
        let (Kind::Comment, Some(asked)) = (token.kind, asked) else {
            if token.kind != Kind::Comment {
                last_end = token.span.end;
            }
            continue;
        };
        let next = tokens
            .iter()
            .skip(index + 1)
            .find(|next| next.kind != Kind::Comment);
        let covers = covered(source, last_end, token.span, next.map(|next| next.span));
        match parse(asked) {
            Ok(codes) => suppressions.push(Suppression {
                comment: token.span,
                codes,
                covers,
            }),
            Err(label) => wrong.push(
                Diagnostic::warning(
                    Code::BadSuppression,
                    token.span,
                    "this comment accepts nothing: it cannot be understood",
                )
                .label(label)
                .help("write `// remit: allow R0612 because \"who looked, and why that is fine\"`"),
            ),
        }
    }
    (suppressions, wrong)
}

/// The comment's own line if a statement is on it, else the next one.
fn covered(source: &SourceFile, last_end: usize, comment: Span, next: Option<Span>) -> Span {
    let line_of = |at: usize| {
        let start = source
            .text
            .get(..at)
            .and_then(|text| text.rfind('\n'))
            .map_or(0, |end| end + 1);
        let rest = source.text.get(at..).unwrap_or_default();
        Span::new(start, rest.find('\n').map_or(source.text.len(), |end| at + end))
    };
    let own = line_of(comment.start);
    if last_end > own.start {
        return own;
    }
    next.map_or(own, |next| line_of(next.start))
}

/// `allow R0612, R0613 because "…"`
fn parse(asked: &str) -> Result<Vec<Code>, String> {
    let (head, reason) = asked.split_once("because").unwrap_or((asked, ""));
    let Some(codes) = head.trim().strip_prefix("allow ") else {
        return Err("`allow` and codes are expected after `remit:`".to_owned());
    };
    let reason = reason.trim();
    if reason.len() < 3 || !reason.starts_with('"') || !reason.ends_with('"') {
        return Err("`because \"…\"` is missing".to_owned());
    }
    codes
        .split(',')
        .map(|code| {
            Code::parse(code.trim()).ok_or_else(|| format!("no finding has the code `{}`", code.trim()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_and_known_codes_are_needed() {
        assert_eq!(
            parse("allow R0612, r0613 because \"x\""),
            Ok(vec![Code::RedundantRule, Code::UnusedParameter])
        );
        for wrong in [
            "allow R0612",
            "allow R9999 because \"x\"",
            "deny R0612 because \"x\"",
            "allow R0612 because \"\"",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
