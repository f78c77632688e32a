//! A comparison as it is reported: prose for people and documents for programs come from the same value.

use compiler::difference::{Change, Difference, Domain, Judged, Outcome, Setting, Topic};
use compiler::guardrails::Finding;
use policy_lang::inclusion::Proof;
use policy_lang::policy::{Policy, RuleId};
use policy_lang::reference::Access;
use serde::Serialize;

use crate::arguments::Diff;
use crate::render::rule::RuleReference;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The newer policy is at least as strict, and that is certain.
    pub(super) ok: bool,
    pub(super) verdict: Verdict,
    /// The older policy is a ceiling.
    pub(super) ceiling: bool,
    pub(super) old: PolicyReport,
    pub(super) new: PolicyReport,
    pub(super) wider: Entries,
    pub(super) narrower: Entries,
    pub(super) undecided: Vec<UndecidedReport>,
    /// What guardrails say about the newer policy and what it changes.
    pub(super) guardrails: Vec<Finding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// Both mean the same.
    Same,
    AtLeastAsStrict,
    Wider,
    Undecided,
}

#[derive(Debug, Serialize)]
pub(super) struct PolicyReport {
    pub(super) file: String,
    pub(super) policy: String,
}

/// What went one way.
#[derive(Debug, Serialize)]
pub(super) struct Entries {
    pub(super) settings: Vec<SettingReport>,
    pub(super) accesses: Vec<ChangeReport>,
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.settings.len() + self.accesses.len()
    }

    /// Parts of the floor that are opened, which nobody should overlook.
    pub(super) fn unlocks(&self) -> impl Iterator<Item = &SettingReport> {
        self.settings
            .iter()
            .filter(|setting| setting.topic == Topic::Unlock)
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SettingReport {
    pub(super) topic: Topic,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// Neither is stricter than the other.
    pub(super) incomparable: bool,
    pub(super) because: Option<String>,
    pub(super) before_rule: Option<RuleReference>,
    pub(super) after_rule: Option<RuleReference>,
}

#[derive(Debug, Serialize)]
pub(super) struct ChangeReport {
    pub(super) domain: Domain,
    pub(super) verbs: Vec<String>,
    /// As a line of a `test` block would say it.
    pub(super) witness: String,
    pub(super) access: Access,
    pub(super) examples: Vec<String>,
    /// Classes of accesses that some rule tells apart, the witness's among them.
    pub(super) places: usize,
    pub(super) before: JudgedReport,
    pub(super) after: JudgedReport,
}

#[derive(Debug, Serialize)]
pub(super) struct JudgedReport {
    pub(super) outcome: Outcome,
    pub(super) decided_by: Option<RuleReference>,
}

#[derive(Debug, Serialize)]
pub(super) struct UndecidedReport {
    pub(super) domain: Domain,
    pub(super) reason: String,
}

impl Report {
    pub(super) fn new(
        found: &Difference,
        [old_file, new_file]: [&str; 2],
        [old, new]: [&Policy; 2],
        arguments: &Diff,
    ) -> Self {
        let entries = |wider: bool| Entries {
            settings: found
                .settings
                .iter()
                .filter(|setting| setting.is_wider() == wider)
                .map(|setting| SettingReport::new(setting, old, new))
                .collect(),
            accesses: found
                .changes
                .iter()
                .filter(|change| change.is_wider() == wider)
                .map(|change| ChangeReport::new(change, old, new))
                .collect(),
        };
        let proof = found.at_least_as_strict();
        let undecided = found.undecided.iter().map(|undecided| UndecidedReport {
            domain: undecided.domain,
            reason: undecided.reason.clone(),
        });
        Self {
            ok: proof.holds(),
            verdict: match proof {
                Proof::Holds if found.is_empty() => Verdict::Same,
                Proof::Holds => Verdict::AtLeastAsStrict,
                Proof::Fails => Verdict::Wider,
                Proof::Undecided => Verdict::Undecided,
            },
            ceiling: arguments.ceiling.is_some(),
            old: PolicyReport::new(old_file, old),
            new: PolicyReport::new(new_file, new),
            wider: entries(true),
            narrower: entries(false),
            undecided: undecided.collect(),
            guardrails: Vec::new(),
        }
    }

    /// Whether a guardrail refuses the newer policy.
    pub(super) fn is_refused(&self) -> bool {
        self.guardrails.iter().any(Finding::refuses)
    }

    /// The verdict as a sentence.
    pub(super) fn sentence(&self) -> String {
        let (old, new) = (&self.old.file, &self.new.file);
        match (self.verdict, self.ceiling) {
            (Verdict::Same, _) => format!("{new} means the same as {old}"),
            (Verdict::AtLeastAsStrict, false) => format!("{new} is at least as strict as {old}"),
            (Verdict::AtLeastAsStrict, true) => format!("{new} stays beneath the ceiling {old}"),
            (Verdict::Wider, false) => format!("{new} is wider than {old}"),
            (Verdict::Wider, true) => format!("{new} goes beyond the ceiling {old}"),
            (Verdict::Undecided, _) => {
                format!("whether {new} is at least as strict as {old} could not be decided, and counts as no")
            }
        }
    }
}

impl PolicyReport {
    fn new(file: &str, policy: &Policy) -> Self {
        Self {
            file: file.to_owned(),
            policy: policy.name.clone(),
        }
    }
}

impl SettingReport {
    fn new(setting: &Setting, old: &Policy, new: &Policy) -> Self {
        let rule = |policy, rule: Option<RuleId>| rule.and_then(|rule| RuleReference::of(policy, rule));
        Self {
            topic: setting.topic,
            before: setting.before.clone(),
            after: setting.after.clone(),
            incomparable: setting.direction == compiler::difference::Direction::Other,
            because: setting.because.clone(),
            before_rule: rule(old, setting.before_rule),
            after_rule: rule(new, setting.after_rule),
        }
    }
}

impl ChangeReport {
    fn new(change: &Change, old: &Policy, new: &Policy) -> Self {
        let judged = |policy, judged: Judged| JudgedReport {
            outcome: judged.outcome,
            decided_by: RuleReference::of(policy, judged.rule),
        };
        Self {
            domain: change.domain,
            verbs: change.verbs.iter().cloned().collect(),
            witness: change.witness.to_string(),
            access: change.witness.clone(),
            examples: change.examples.iter().map(Access::to_string).collect(),
            places: change.places,
            before: judged(old, change.before),
            after: judged(new, change.after),
        }
    }
}

/// What becomes of an access, as the end of a sentence.
pub(super) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allowed => "allowed",
        Outcome::Private => "allowed in private memory",
        Outcome::Asked => "asked",
        Outcome::RefusedIfPossible => "refused where the host can",
        Outcome::Refused => "refused",
    }
}

/// The heading of a domain: the block of the language.
pub(super) const fn heading(domain: Domain) -> &'static str {
    match domain {
        Domain::Files => "filesystem",
        Domain::Network => "network",
        Domain::Environment => "credentials",
        Domain::Syscalls => "process",
    }
}

/// The word of the language that a setting belongs to.
pub(super) const fn topic(topic: Topic) -> &'static str {
    match topic {
        Topic::Unlock => "unlock",
        Topic::Identity => "identity",
        Topic::Limit => "limit",
        Topic::Scratch => "scratch",
        Topic::Value => "set",
        Topic::Broker => "broker",
        Topic::Hide => "hide",
        Topic::Workspace => "workspace",
        Topic::Requirement => "require",
        Topic::Record => "record",
    }
}
