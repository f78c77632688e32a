//! What Rego found, and how that becomes a diagnostic of the policy.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Policy, RuleId};
use policy_lang::source::SourceFile;
use serde::{Deserialize, Serialize};

use super::exception::Exception;
use super::rego::{Failure, said, shape};
use crate::check::place::Places;

/// Which rule found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// `deny`: the policy is refused.
    Deny,
    /// `warn`
    Warn,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule found it.
    pub severity: Severity,
    /// What exceptions name it by; of a finding that is only a text, its package.
    pub id: String,
    /// A sentence.
    pub message: String,
    /// The policy's rule it is about.
    pub rule: Option<u32>,
    /// The grant of a difference it is about: an index into `added`.
    pub grant: Option<u32>,
    /// The file of Rego.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// Somebody answers for it.
    pub excepted: Option<Exception>,
}

const EXPECTED: &str =
    "a finding is a text, or an object with the texts `id` and `message`, perhaps a `rule` or a `grant`";

impl Finding {
    pub(super) fn read(value: serde_json::Value, severity: Severity, rule: &str) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            id: String,
            message: String,
            rule: Option<u32>,
            grant: Option<u32>,
        }
        let wrong = shape(rule, &value, EXPECTED);
        let written = match value {
            serde_json::Value::String(message) => {
                let package = rule.rsplit_once('.').map_or(rule, |(package, _)| package);
                Written {
                    id: package.strip_prefix("data.").unwrap_or(package).to_owned(),
                    message,
                    rule: None,
                    grant: None,
                }
            }
            other => serde_json::from_value(other).map_err(|_| wrong.clone())?,
        };
        if written.id.trim().is_empty() || written.message.trim().is_empty() {
            return Err(wrong);
        }
        Ok(Self {
            severity,
            id: said(&written.id),
            message: said(&written.message),
            rule: written.rule,
            grant: written.grant,
            file: String::new(),
            line: 0,
            excepted: None,
        })
    }

    /// Whether the policy is refused because of it.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.severity == Severity::Deny && self.excepted.is_none()
    }

    /// `file:line`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// Findings as diagnostics at the rules they are about.
#[must_use]
pub fn diagnostics(findings: &[Finding], policy: &Policy, files: &[SourceFile]) -> Vec<Diagnostic> {
    let places = Places::new(files);
    findings
        .iter()
        .map(|finding| {
            let rule = finding.rule.and_then(|rule| policy.rule(RuleId(rule)));
            let place = rule.map_or_else(|| places.policy(), |rule| places.rule(rule));
            let found = place.found(|span| match (finding.severity, &finding.excepted) {
                (Severity::Deny, None) => {
                    Diagnostic::error(Code::GuardrailDenies, span, finding.message.clone())
                }
                (Severity::Deny, Some(_)) => {
                    Diagnostic::warning(Code::GuardrailExcepted, span, finding.message.clone())
                }
                (Severity::Warn, _) => {
                    Diagnostic::warning(Code::GuardrailWarns, span, finding.message.clone())
                }
            });
            let found = found.label(finding.id.clone()).note(format!("guardrail at {}", finding.place()));
            match &finding.excepted {
                Some(exception) => found.note(format!(
                    "excepted until {} by {}: {}",
                    exception.expires.as_str(),
                    exception.owner,
                    exception.reason
                )),
                None if finding.refuses() => found.help(
                    "change the policy, or ask who owns the guardrails for an exception with a reason and a day",
                ),
                None => found,
            }
        })
        .collect()
}

/// That there is no judgement: a refusal like a `deny`.
#[must_use]
pub fn failed(why: &str, files: &[SourceFile]) -> Diagnostic {
    Places::new(files)
        .policy()
        .found(|span| Diagnostic::error(Code::GuardrailsFail, span, "the guardrails give no judgement"))
        .label("not judged, so refused")
        .help("repair the guardrails; what they do not judge does not pass")
        .note(said(why))
}
