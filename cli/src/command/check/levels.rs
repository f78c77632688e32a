//! `--allow` and `--deny`: how bad a finding is here. What names a code goes before what names a group.

use anyhow::bail;
use policy_lang::Diagnostic;
use policy_lang::diagnostic::{Code, Severity};

use crate::arguments::Group;

/// What the caller says about findings.
pub(super) struct Levels<'a> {
    allow: &'a [Group],
    deny: &'a [Group],
}

impl<'a> Levels<'a> {
    /// # Errors
    /// When the two contradict each other.
    pub(super) fn new(allow: &'a [Group], deny: &'a [Group]) -> anyhow::Result<Self> {
        if let Some(group) = allow.iter().find(|group| deny.contains(group)) {
            bail!("{} is both allowed and denied", word(*group));
        }
        if allow.contains(&Group::Warnings) {
            bail!("`--allow warnings` would hide what nobody has looked at yet; allow codes one by one");
        }
        Ok(Self { allow, deny })
    }

    /// Drops what is allowed and raises what is denied. Errors stay.
    pub(super) fn apply(&self, found: &mut Vec<Diagnostic>) {
        found.retain(|finding| finding.is_error() || !self.allows(finding));
        for finding in found.iter_mut().filter(|finding| !finding.is_error()) {
            if self.denies(finding) {
                finding.severity = Severity::Error;
            }
        }
    }

    fn allows(&self, finding: &Diagnostic) -> bool {
        let notes = self.allow.contains(&Group::Notes) && finding.severity == Severity::Note;
        names(self.allow, finding.code) || (notes && !names(self.deny, finding.code))
    }

    fn denies(&self, finding: &Diagnostic) -> bool {
        names(self.deny, finding.code)
            || match finding.severity {
                Severity::Note => self.deny.contains(&Group::Notes),
                Severity::Warning | Severity::Error => {
                    self.deny.contains(&Group::Warnings) || self.deny.contains(&Group::Notes)
                }
            }
    }
}

fn names(groups: &[Group], code: Code) -> bool {
    groups.contains(&Group::Code(code))
}

fn word(group: Group) -> String {
    match group {
        Group::Code(code) => format!("`{code}`"),
        Group::Warnings => "`warnings`".to_owned(),
        Group::Notes => "`notes`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_lang::Span;

    fn applied(allow: &[Group], deny: &[Group]) -> Vec<(Code, Severity)> {
        let at = Span::new(0, 0);
        let mut found = vec![
            Diagnostic::error(Code::UnexpectedToken, at, "e"),
            Diagnostic::warning(Code::DeadRule, at, "w"),
            Diagnostic::remark(Code::RedundantRule, at, "n"),
        ];
        Levels::new(allow, deny).unwrap().apply(&mut found);
        found
            .iter()
            .map(|finding| (finding.code, finding.severity))
            .collect()
    }

    #[test]
    fn errors_are_never_allowed() {
        let all = [
            Group::Code(Code::UnexpectedToken),
            Group::Code(Code::DeadRule),
            Group::Code(Code::RedundantRule),
        ];
        assert_eq!(applied(&all, &[]), [(Code::UnexpectedToken, Severity::Error)]);
    }

    #[test]
    fn denied_groups_become_errors_and_a_named_code_goes_first() {
        let severities = |found: Vec<(Code, Severity)>| {
            found
                .into_iter()
                .map(|(_, severity)| severity)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            severities(applied(&[], &[Group::Warnings])),
            [Severity::Error, Severity::Error, Severity::Note]
        );
        assert_eq!(severities(applied(&[], &[Group::Notes])), [Severity::Error; 3]);
        assert_eq!(
            applied(&[Group::Notes], &[Group::Code(Code::RedundantRule)]).len(),
            3,
            "a denied note is not dropped with the others"
        );
        assert_eq!(
            applied(&[Group::Code(Code::DeadRule)], &[Group::Warnings]).len(),
            2
        );
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let dead = [Group::Code(Code::DeadRule)];
        assert!(Levels::new(&dead, &dead).is_err());
        assert!(Levels::new(&[Group::Warnings], &[]).is_err());
    }
}
