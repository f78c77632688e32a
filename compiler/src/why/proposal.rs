//! The narrowest rule that would allow what was refused, and only where somebody may write it.
//!
//! A proposal is proved before it is shown. It is put into the text, the text is resolved again, and the result must be
//! the old policy and one rule more, whose set is the one intended: a rule changes the decision of no access outside its
//! set. Then the accesses are decided again, by every layer. What a ceiling, a `forbid` or the floor refuses gets no
//! proposal but the name of who refuses it, and what to ask for.

use policy_lang::policy::{Effect, LayerId, Origin, Policy, Rule, RuleId, Subject};
use policy_lang::reference::{Access, decide};

use super::placement;
use super::wish::{Wish, wishes};
use super::{place, reasons};

/// What is asked for.
pub struct Request<'a> {
    /// The text of the policy's own file.
    pub text: &'a str,
    /// What it means.
    pub policy: &'a Policy,
    /// What should be allowed, all about the same object.
    pub accesses: &'a [Access],
    /// Allow its neighbours too: the directory, the network, the call with any arguments.
    pub generalise: bool,
    /// What a changed text means; a sentence when it means nothing.
    pub resolve: &'a dyn Fn(&str) -> Result<Policy, String>,
}

/// What can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: it is allowed.
    Allowed,
    /// A rule.
    Rule(Box<Proposal>),
    /// Not by a rule of this policy alone.
    Refused(Vec<Obstacle>),
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The rule as the language writes it.
    pub rule: String,
    /// The policy's own file with the rule in it.
    pub text: String,
    /// The line the rule is on, from 1.
    pub line: usize,
    /// What it allows besides what was asked for, in words.
    pub covers: Option<String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// What stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Of which access.
    pub access: Access,
    /// The rule that refuses.
    pub rule: RuleId,
    /// The layer it refuses in; none for what every layer has.
    pub layer: Option<LayerId>,
    /// What to ask for, and of whom.
    pub ask: String,
}

/// Looks for a rule.
#[must_use]
pub fn propose(request: &Request<'_>) -> Answer {
    let Request { policy, accesses, .. } = request;
    let refused = |access: &&Access| decide(policy, access).effect != Effect::Allow;
    let wanted: Vec<Access> = accesses.iter().filter(refused).cloned().collect();
    let Some(first) = wanted.first() else {
        return Answer::Allowed;
    };
    let obstacles: Vec<Obstacle> = wanted
        .iter()
        .flat_map(|access| obstacles(policy, access))
        .collect();
    if !obstacles.is_empty() {
        return Answer::Refused(obstacles);
    }
    let mut failed = None;
    for wish in wishes(&wanted, policy, request.generalise) {
        match tried(request, &wanted, &wish) {
            Ok(proposal) => return Answer::Rule(Box::new(proposal)),
            Err(obstacle) => failed = failed.or(obstacle),
        }
    }
    Answer::Refused(vec![failed.unwrap_or_else(|| Obstacle {
        access: first.clone(),
        rule: decide(policy, first).rule,
        layer: Some(LayerId::INNERMOST),
        ask: "no rule of the language names exactly this".to_owned(),
    })])
}

/// What no rule of the policy itself can overcome.
fn obstacles(policy: &Policy, access: &Access) -> Vec<Obstacle> {
    let mut found = Vec::new();
    for layer in reasons(policy, access).layers {
        let Some(rule) = policy.rule(layer.decision.rule) else {
            continue;
        };
        let above = layer.layer != LayerId::INNERMOST;
        let absolute = layer.decision.effect == Effect::Forbid;
        if layer.decision.effect == Effect::Allow || !(above || absolute) {
            continue;
        }
        let floor = rule.layer.is_none() && absolute;
        // The floor is the same in every layer; it is named once.
        if floor && above {
            continue;
        }
        found.push(Obstacle {
            access: access.clone(),
            rule: rule.id,
            layer: rule.layer,
            ask: if floor {
                of_the_floor(policy, rule)
            } else if above {
                of_a_ceiling(policy, layer.layer, rule, access)
            } else {
                format!(
                    "{} forbids it, and nothing opens a forbid: whoever owns that rule has to narrow it or take it away",
                    place(rule)
                )
            },
        });
    }
    found
}

fn of_the_floor(policy: &Policy, rule: &Rule) -> String {
    let name = rule
        .label
        .as_deref()
        .and_then(|label| label.strip_prefix("built-in:"))
        .unwrap_or_default();
    let chain = if policy.layers.len() > 1 {
        ", here and in every ceiling,"
    } else {
        ""
    };
    format!(
        "it is part of the floor that every policy stands on. If the run must have it, `unlock {name} because \"…\"`\
         {chain} and a rule that allows it: ask for a review of that"
    )
}

fn of_a_ceiling(policy: &Policy, layer: LayerId, rule: &Rule, access: &Access) -> String {
    let ceiling = policy.layers.get(usize::from(layer.0));
    let named = ceiling.map_or_else(
        || "a ceiling".to_owned(),
        |ceiling| format!("the ceiling \"{}\" ({})", ceiling.name, ceiling.file),
    );
    match rule.effect {
        _ if rule.id == RuleId::DEFAULT => {
            format!("{named} does not grant it: ask its owner for a rule there that allows `{access}`")
        }
        Effect::Forbid => {
            format!(
                "{named} forbids it at {}: only its owner can narrow that",
                place(rule)
            )
        }
        Effect::Ask => {
            format!(
                "{named} asks for an approval at {}: a policy beneath it cannot do without",
                place(rule)
            )
        }
        _ => format!(
            "{named} denies it at {}: ask its owner for an exception there that allows `{access}`",
            place(rule)
        ),
    }
}

/// Puts the rule into the text and looks at what that means.
fn tried(request: &Request<'_>, wanted: &[Access], wish: &Wish) -> Result<Proposal, Option<Obstacle>> {
    let placed = placement::place(request.text, wish.block, &wish.rule).ok_or(None)?;
    let changed = (request.resolve)(&placed.text).map_err(|_| None)?;
    if !is_one_rule_more(request.policy, &changed, &wish.subject) {
        return Err(None);
    }
    for access in wanted {
        let decision = decide(&changed, access);
        if decision.effect != Effect::Allow {
            return Err(still_refused(&changed, access, decision.rule, request.policy));
        }
    }
    Ok(Proposal {
        rule: wish.rule.clone(),
        text: placed.text,
        line: placed.line,
        covers: wish.covers.clone(),
        notes: notes(&changed, wanted),
    })
}

/// A rule of the policy itself that the new one does not overcome: it names exactly the same, or less.
fn still_refused(changed: &Policy, access: &Access, rule: RuleId, before: &Policy) -> Option<Obstacle> {
    let rule = changed.rule(rule)?;
    let same = before.rules.iter().find(|other| {
        other.subject == rule.subject && other.effect == rule.effect && other.layer == rule.layer
    })?;
    Some(Obstacle {
        access: access.clone(),
        rule: same.id,
        layer: same.layer,
        ask: format!(
            "{} {} exactly this, so no narrower rule is an exception to it: change or remove that rule",
            place(same),
            if same.effect == Effect::Ask {
                "asks for an approval of"
            } else {
                "refuses"
            }
        ),
    })
}

/// Whether the one is the other with one allowing rule more in the policy itself, and nothing else is different.
fn is_one_rule_more(before: &Policy, after: &Policy, subject: &Subject) -> bool {
    let same = |old: &Rule, new: &Rule| {
        // Lines below the new rule move.
        let file = |rule: &Rule| match &rule.origin {
            Origin::BuiltIn => None,
            Origin::Source { file, .. } => Some(file.clone()),
        };
        (old.effect, &old.subject, &old.layer, &old.via, &old.label)
            == (new.effect, &new.subject, &new.layer, &new.via, &new.label)
            && (&old.because, old.if_present, old.permit_degraded)
                == (&new.because, new.if_present, new.permit_degraded)
            && file(old) == file(new)
    };
    let at = before
        .rules
        .iter()
        .zip(&after.rules)
        .position(|(old, new)| !same(old, new))
        .unwrap_or(before.rules.len());
    let added = after.rules.get(at).is_some_and(|rule| {
        rule.effect == Effect::Allow
            && rule.layer == Some(LayerId::INNERMOST)
            && rule.via.is_none()
            && rule.subject == *subject
            && !rule.permit_degraded
    });
    let rest = after.rules.get(at + 1..).unwrap_or_default();
    let old_rest = before.rules.get(at..).unwrap_or_default();
    added
        && old_rest.len() == rest.len()
        && old_rest.iter().zip(rest).all(|(old, new)| same(old, new))
        && before.layers == after.layers
        && before.identity.0 == after.identity.0
        && before.requirements == after.requirements
        && before.record == after.record
        && before.unlocks.len() == after.unlocks.len()
        && before.parameters == after.parameters
}

fn notes(changed: &Policy, wanted: &[Access]) -> Vec<String> {
    use policy_lang::policy::FileAccess::{Execute, Read};
    let mut notes = Vec::new();
    for access in wanted {
        if let Access::File {
            access: Execute,
            path,
        } = access
        {
            let read = Access::File {
                access: Read,
                path: path.clone(),
            };
            if decide(changed, &read).effect != Effect::Allow {
                notes.push("the kernel reads what it starts, and `read` is not allowed there".to_owned());
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests;
