//! `--fix`: takes the proposals that are safe, and makes sure that they were.
//!
//! A text with proposals taken is read and checked like any other. It is written only if it has a meaning, as before,
//! and if that meaning is shown to allow no more.

use policy_lang::diagnostic::{Applicability, Suggestion};
use policy_lang::inclusion::Proof;
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, SourceFile};

/// Taking a proposal can make room for the next. Not for ever.
const PASSES_MAX: usize = 8;

/// What became of a text.
pub(super) struct Fixed {
    pub(super) text: String,
    /// How many proposals were taken.
    pub(super) taken: usize,
    /// Why the next ones were not, if that is worth knowing.
    pub(super) refused: Option<String>,
}

/// What a text means, and what is found in it.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) policy: Option<policy_lang::policy::Policy>,
    pub(super) found: Vec<Diagnostic>,
}

/// Takes what is safe, pass after pass. `read` reads and checks a text.
pub(super) fn fix(
    source: &SourceFile,
    read: impl Fn(&SourceFile) -> anyhow::Result<Reading>,
) -> anyhow::Result<Fixed> {
    let mut fixed = Fixed {
        text: source.text.clone(),
        taken: 0,
        refused: None,
    };
    let mut before = read(source)?;
    for _ in 0..PASSES_MAX {
        let proposals = safe(&before.found);
        if proposals.is_empty() {
            break;
        }
        let text = applied(&fixed.text, &proposals);
        let after = read(&SourceFile::new(source.name.clone(), text.clone()))?;
        if let Err(why) = no_wider(&before, &after) {
            fixed.refused = Some(why);
            break;
        }
        fixed.text = text;
        fixed.taken += proposals.len();
        before = after;
    }
    Ok(fixed)
}

/// Safe proposals for the file itself, from its end to its beginning. Of two that overlap the later one waits for the
/// next pass.
fn safe(found: &[Diagnostic]) -> Vec<&Suggestion> {
    let mut proposals: Vec<&Suggestion> = found
        .iter()
        .filter(|finding| finding.file == FileId::default())
        .filter_map(|finding| finding.suggestion.as_ref())
        .filter(|suggestion| suggestion.applicability == Applicability::Safe)
        .collect();
    proposals.sort_by_key(|suggestion| (suggestion.span, &suggestion.replacement));
    proposals.dedup();
    let mut end = None;
    proposals.retain(|suggestion| {
        let free = end.is_none_or(|end| suggestion.span.start >= end);
        if free {
            end = Some(suggestion.span.end.max(suggestion.span.start + 1));
        }
        free
    });
    proposals.reverse();
    proposals
}

fn applied(text: &str, proposals: &[&Suggestion]) -> String {
    let mut text = text.to_owned();
    for proposal in proposals {
        let span = proposal.span.start..proposal.span.end;
        if text.get(span.clone()).is_some() {
            text.replace_range(span, &proposal.replacement);
        }
    }
    text
}

fn no_wider(before: &Reading, after: &Reading) -> Result<(), String> {
    let errors = |reading: &Reading| reading.found.iter().filter(|finding| finding.is_error()).count();
    match (&before.policy, &after.policy) {
        (Some(old), Some(new)) => match compiler::difference::at_least_as_strict(new, old).0 {
            Proof::Holds => Ok(()),
            Proof::Fails => Err("the policy would allow more than before".to_owned()),
            Proof::Undecided => {
                Err("it cannot be shown that the policy would allow no more than before".to_owned())
            }
        },
        (Some(_), None) => Err("the policy would have errors".to_owned()),
        (None, _) if errors(after) >= errors(before) && errors(before) > 0 => {
            Err("errors would stay or be replaced by others".to_owned())
        }
        (None, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_lang::Span;
    use policy_lang::diagnostic::Code;

    fn proposal(start: usize, end: usize, text: &str) -> Diagnostic {
        Diagnostic::warning(Code::DeadRule, Span::new(start, end), "x").fix(Span::new(start, end), text)
    }

    #[test]
    fn overlapping_proposals_wait_and_the_rest_is_taken_from_the_end() {
        let found = [
            proposal(0, 2, "A"),
            proposal(1, 3, "B"),
            proposal(4, 4, "C"),
            proposal(4, 4, "D"),
            proposal(0, 2, "A"),
        ];
        let taken = safe(&found);
        assert_eq!(taken.len(), 2);
        assert_eq!(applied("abcdef", &taken), "AcdCef");
    }

    #[test]
    fn what_a_person_must_look_at_is_left() {
        let review = Diagnostic::warning(Code::DeadRule, Span::new(0, 1), "x").suggest(Span::new(0, 1), "");
        assert!(safe(&[review]).is_empty());
        let elsewhere = proposal(0, 1, "").in_file(FileId(1));
        assert!(safe(&[elsewhere]).is_empty());
    }

    /// The rules of a text as they would be read, with a proposal to add a line.
    fn reading(source: &SourceFile) -> Reading {
        let text = format!("policy \"p\" {{ filesystem {{ {} }} }}", source.text);
        let inputs = policy_lang::Inputs {
            parameters: std::collections::BTreeMap::new(),
            home: "/home/x".to_owned(),
            working_directory: "/".to_owned(),
            paths: &policy_lang::resolve::AsWritten,
            files: &policy_lang::loader::NoFiles,
        };
        let resolved = policy_lang::check(&SourceFile::new("p", text), &inputs);
        Reading {
            policy: resolved.policy,
            found: Vec::new(),
        }
    }

    fn fixed(text: &str, by: &str) -> Fixed {
        let source = SourceFile::new("p", text);
        let proposed = |source: &SourceFile| {
            let mut reading = reading(source);
            if source.text == text {
                reading.found.push(proposal(0, text.len(), by));
            }
            Ok(reading)
        };
        fix(&source, proposed).unwrap()
    }

    #[test]
    fn what_would_allow_more_is_not_written() {
        let wider = fixed("allow read \"/a/b\"", "allow read \"/a\"");
        assert_eq!((wider.text.as_str(), wider.taken), ("allow read \"/a/b\"", 0));
        assert!(wider.refused.unwrap().contains("allow more"));
        let broken = fixed("allow read \"/a\"", "alow");
        assert_eq!((broken.taken, broken.refused.is_some()), (0, true));
        let narrower = fixed("allow read \"/a\"", "allow read \"/a/b\"");
        assert_eq!(
            (narrower.text.as_str(), narrower.taken),
            ("allow read \"/a/b\"", 1)
        );
        assert!(narrower.refused.is_none());
    }
}
