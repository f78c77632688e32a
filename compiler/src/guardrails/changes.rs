//! What a new policy changes, as guardrails read it.

use policy_lang::policy::{Origin, Policy, RuleId};
use serde::Serialize;

use crate::difference::{Change, Difference, Direction, Domain, Judged, Outcome, Setting, Topic};

/// The field `difference` of the input.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Changes {
    /// The old policy.
    old: Old,
    /// What the new policy allows and the old one does not, or less strictly.
    added: Vec<Grant>,
    /// The other way round.
    removed: Vec<Grant>,
    settings: Vec<SettingInput>,
    /// What could not be compared, in words. Not empty: perhaps more was added.
    undecided: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Old {
    name: String,
    file: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Grant {
    domain: &'static str,
    verbs: Vec<String>,
    /// One access, as a `test` block writes it.
    witness: String,
    examples: Vec<String>,
    places: usize,
    before: Side,
    after: Side,
}

#[derive(Debug, Clone, Serialize)]
struct Side {
    outcome: &'static str,
    /// Of the new policy an index into `rules`, of the old one its own.
    rule: u32,
    text: Option<String>,
    place: String,
    label: Option<String>,
    because: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct SettingInput {
    topic: &'static str,
    before: Option<String>,
    after: Option<String>,
    direction: &'static str,
    rule: Option<u32>,
    because: Option<String>,
}

pub(super) fn changes(difference: &Difference, old: &Policy, new: &Policy) -> Changes {
    let (added, removed): (Vec<&Change>, Vec<&Change>) =
        difference.changes.iter().partition(|change| change.is_wider());
    let grants = |changes: Vec<&Change>| {
        changes
            .into_iter()
            .map(|change| grant(change, old, new))
            .collect()
    };
    Changes {
        old: Old {
            name: old.name.clone(),
            file: old.layers.first().map(|layer| layer.file.clone()),
        },
        added: grants(added),
        removed: grants(removed),
        settings: difference.settings.iter().map(setting).collect(),
        undecided: difference
            .undecided
            .iter()
            .map(|undecided| format!("{}: {}", domain(undecided.domain), undecided.reason))
            .collect(),
    }
}

fn grant(change: &Change, old: &Policy, new: &Policy) -> Grant {
    Grant {
        domain: domain(change.domain),
        verbs: change.verbs.iter().cloned().collect(),
        witness: change.witness.to_string(),
        examples: change.examples.iter().map(ToString::to_string).collect(),
        places: change.places,
        before: side(change.before, old),
        after: side(change.after, new),
    }
}

fn side(judged: Judged, policy: &Policy) -> Side {
    let rule = policy.rule(judged.rule);
    Side {
        outcome: outcome(judged.outcome),
        rule: judged.rule.0,
        text: rule.map(|rule| rule.text.clone()),
        place: match rule.map(|rule| &rule.origin) {
            Some(Origin::Source { file, line, .. }) => format!("{file}:{line}"),
            _ => "built-in".to_owned(),
        },
        label: rule.and_then(|rule| rule.label.clone()),
        because: rule.and_then(|rule| rule.because.clone()),
    }
}

fn setting(setting: &Setting) -> SettingInput {
    SettingInput {
        topic: topic(setting.topic),
        before: setting.before.clone(),
        after: setting.after.clone(),
        direction: match setting.direction {
            Direction::Wider => "wider",
            Direction::Other => "other",
            Direction::Narrower => "narrower",
        },
        rule: setting.after_rule.map(|RuleId(rule)| rule),
        because: setting.because.clone(),
    }
}

const fn domain(domain: Domain) -> &'static str {
    match domain {
        Domain::Files => "filesystem",
        Domain::Network => "network",
        Domain::Environment => "credentials",
        Domain::Syscalls => "process",
    }
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allowed => "allowed",
        Outcome::Private => "private",
        Outcome::Asked => "asked",
        Outcome::RefusedIfPossible => "refused-if-possible",
        Outcome::Refused => "refused",
    }
}

const fn topic(topic: Topic) -> &'static str {
    match topic {
        Topic::Unlock => "unlock",
        Topic::Identity => "identity",
        Topic::Limit => "limit",
        Topic::Scratch => "scratch",
        Topic::Value => "value",
        Topic::Broker => "broker",
        Topic::Hide => "hide",
        Topic::Workspace => "workspace",
        Topic::Requirement => "requirement",
        Topic::Record => "record",
    }
}
