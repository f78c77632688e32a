//! Exceptions: a finding that somebody answers for, until a day.

use serde::{Deserialize, Serialize};

use super::finding::{Finding, Severity};
use super::rego::{Failure, said, shape};

/// `2026-11-30`. As text it sorts as it does as a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Date(String);

impl Date {
    /// Reads a date. Absent: the text is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<&str> = text.split('-').collect();
        let [year, month, day] = digits.as_slice() else {
            return None;
        };
        let number = |text: &str, len: usize| {
            let plain = text.len() == len && text.bytes().all(|digit| digit.is_ascii_digit());
            plain.then(|| text.parse::<u32>().ok()).flatten()
        };
        let (_, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| Self(text.to_owned()))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a finding is let pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The finding's.
    pub id: String,
    /// Only the finding about this rule of the policy.
    pub rule: Option<u32>,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// The last day it holds.
    pub expires: Date,
    /// Where it is written.
    pub file: String,
    /// The line of the rule.
    pub line: u32,
}

const EXPECTED: &str = "an exception is an object with the texts `id`, `reason`, `owner` and `expires` (\"2026-12-31\"), perhaps a `rule`";

impl Exception {
    pub(super) fn read(value: serde_json::Value, rule: &str, file: &str, line: u32) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            id: String,
            rule: Option<u32>,
            reason: String,
            owner: String,
            expires: String,
        }
        let wrong = shape(rule, &value, EXPECTED);
        let written: Written = serde_json::from_value(value).map_err(|_| wrong.clone())?;
        let expires = Date::parse(&written.expires).ok_or_else(|| wrong.clone())?;
        let texts = [&written.id, &written.reason, &written.owner];
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Err(wrong);
        }
        Ok(Self {
            id: said(&written.id),
            rule: written.rule,
            reason: said(&written.reason),
            owner: said(&written.owner),
            expires,
            file: file.to_owned(),
            line,
        })
    }

    fn speaks_of(&self, finding: &Finding) -> bool {
        finding.severity == Severity::Deny
            && self.id == finding.id
            && self.rule.is_none_or(|rule| finding.rule == Some(rule))
    }
}

/// Marks what is excepted, and warns of exceptions that have ended or are of no use.
pub(super) fn apply(findings: &mut Vec<Finding>, exceptions: &[Exception], today: &Date) {
    let mut more = Vec::new();
    for exception in exceptions {
        let ended = exception.expires < *today;
        let mut used = false;
        for finding in findings.iter_mut().filter(|finding| exception.speaks_of(finding)) {
            used = true;
            if !ended {
                finding.excepted = Some(exception.clone());
            }
        }
        let message = match (used, ended) {
            (true, false) => continue,
            (true, true) => format!(
                "the exception for `{}` ended on {}; ask {}",
                exception.id,
                exception.expires.as_str(),
                exception.owner
            ),
            (false, _) => format!(
                "the exception for `{}` is of no use: nothing of that id is denied",
                exception.id
            ),
        };
        more.push(Finding {
            severity: Severity::Warn,
            id: exception.id.clone(),
            message,
            rule: exception.rule,
            grant: None,
            file: exception.file.clone(),
            line: exception.line,
            excepted: None,
        });
    }
    findings.append(&mut more);
}
