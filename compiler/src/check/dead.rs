//! Rules that never decide, that say what another one says, or without which nothing would change.
//!
//! A rule is looked at in its elementary parts, as the precedence of the language does. Exact where one rule is enough
//! to show it: a part that only several rules together make dead is not found. Each part is compared with what
//! lies above it (directories, prefixes, the domains of a name), never with every other rule.

use std::collections::BTreeMap;

use policy_lang::diagnostic::{Applicability, Code};
use policy_lang::policy::{Effect, Origin, Policy, Rule, RuleId, Subject};
use policy_lang::{Diagnostic, Span};

use super::Context;
use super::place::Place;

mod calls;
mod cover;
mod files;
mod names;
mod network;

/// What became of an elementary part of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// It decides something, and that matters.
    Alive,
    /// Without it, this rule decides the same.
    Redundant(RuleId),
    /// An earlier rule has the same set and effect.
    Repeats(RuleId),
    /// Whatever it matches, this rule decides.
    Dead(RuleId),
}

impl Standing {
    const fn by(self) -> Option<RuleId> {
        match self {
            Self::Alive => None,
            Self::Redundant(rule) | Self::Repeats(rule) | Self::Dead(rule) => Some(rule),
        }
    }

    const fn code(self) -> Option<Code> {
        match self {
            Self::Alive => None,
            Self::Redundant(_) => Some(Code::RedundantRule),
            Self::Repeats(_) => Some(Code::RepeatedRule),
            Self::Dead(_) => Some(Code::DeadRule),
        }
    }
}

/// How a rule stands among others with the same set: the strictest decides, and of several such the first. None: the
/// others say nothing about it.
///
/// A rule of a group goes before those of the policy: who writes the policy can change only these.
fn among_twins(
    policy: &Policy,
    rule: &Rule,
    twins: impl Iterator<Item = (Effect, RuleId)> + Clone,
) -> Option<Standing> {
    let order = |id: RuleId| (policy.rule(id).is_none_or(|rule| rule.via.is_none()), id);
    let (effect, id) = twins
        .clone()
        .max_by_key(|(effect, id)| (*effect, std::cmp::Reverse(order(*id))))?;
    if effect > rule.effect {
        Some(Standing::Dead(id))
    } else if effect == rule.effect && order(id) < order(rule.id) {
        Some(Standing::Repeats(id))
    } else {
        // Without it, a laxer one would decide.
        let kept_down = twins.into_iter().any(|(effect, _)| effect < rule.effect);
        kept_down.then_some(Standing::Alive)
    }
}

/// One combination of verb, protocol and target.
struct Part {
    rule: RuleId,
    /// Which string of the rule.
    string: usize,
    standing: Standing,
}

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let mut parts = files::judge(context);
    parts.extend(network::judge(context));
    parts.extend(names::judge(context));
    parts.extend(calls::judge(context));
    let mut by_rule: BTreeMap<RuleId, Vec<Part>> = BTreeMap::new();
    for part in parts {
        by_rule.entry(part.rule).or_default().push(part);
    }
    for (id, parts) in &by_rule {
        let Some(rule) = context.policy.rule(*id) else {
            continue;
        };
        if rule.via.is_none() {
            found.extend(of_rule(context, rule, parts));
        }
    }
    groups(context, &by_rule, found);
}

/// What holds for the rule as a whole, or else for some of its targets.
fn of_rule(context: &Context<'_>, rule: &Rule, parts: &[Part]) -> Vec<Diagnostic> {
    // Who gave a rule a reason or a name wants it, whether or not another one would do.
    let wanted = rule.because.is_some() || rule.label.is_some();
    let worth_saying = |standing: Standing| {
        standing
            .code()
            .is_some_and(|code| !(wanted && code == Code::RedundantRule))
    };
    let statement = context.places.statement(&rule.origin);
    if let Some(standing) = common(parts) {
        if !worth_saying(standing) {
            return Vec::new();
        }
        let removal = statement
            .as_ref()
            .and_then(|statement| Some(statement.removal(context.places.file(statement.file)?)));
        return vec![say(
            context,
            rule,
            standing,
            context.places.rule(rule),
            removal,
            true,
        )];
    }
    let mut strings: BTreeMap<usize, Vec<Standing>> = BTreeMap::new();
    for part in parts {
        strings.entry(part.string).or_default().push(part.standing);
    }
    let mut found = Vec::new();
    for (string, standings) in strings {
        let Some(standing) = weakest(standings.iter().copied()).filter(|standing| worth_saying(*standing))
        else {
            continue;
        };
        let removal = statement
            .as_ref()
            .and_then(|statement| statement.removal_of(string));
        let place = context.places.target(rule, string);
        found.push(say(context, rule, standing, place, removal, false));
    }
    found
}

/// What holds for all parts: dead if all are dead, redundant if some are.
fn common(parts: &[Part]) -> Option<Standing> {
    weakest(parts.iter().map(|part| part.standing))
}

fn weakest(standings: impl Iterator<Item = Standing>) -> Option<Standing> {
    standings.min().filter(|standing| *standing != Standing::Alive)
}

fn say(
    context: &Context<'_>,
    rule: &Rule,
    standing: Standing,
    place: Place,
    removal: Option<Span>,
    whole: bool,
) -> Diagnostic {
    let what = if whole { "rule" } else { "target" };
    let other = standing.by().and_then(|id| context.policy.rule(id));
    let name = other.map_or_else(String::new, in_words);
    let mut finding = place.found(|span| match standing {
        Standing::Dead(_) => Diagnostic::warning(
            Code::DeadRule,
            span,
            format!("this {what} never decides anything: {name} refuses all of it"),
        )
        .label("has no effect")
        .help(if other.is_some_and(|other| other.origin == Origin::BuiltIn) {
            "remove it; what the floor forbids can only be opened by `unlock … because \"…\"`"
        } else {
            "remove it, or make the stricter rule more specific"
        }),
        Standing::Repeats(_) => Diagnostic::warning(
            Code::RepeatedRule,
            span,
            format!("this {what} says what {name} says already"),
        )
        .label("says nothing new")
        .help("remove one of them"),
        Standing::Redundant(_) | Standing::Alive => Diagnostic::remark(
            Code::RedundantRule,
            span,
            format!("without this {what} every decision stays the same: {name} covers it"),
        )
        .label("changes nothing")
        .help("remove it; give it a `because` or a `label` if it is there for a reason"),
    });
    if let Some(other) = other
        && other.origin != Origin::BuiltIn
    {
        let there = context.place(other);
        finding = finding.also_in(there.file, there.span, "this one decides");
    }
    if let Some(removal) = removal {
        // A test or a query may ask for a label, and a dead rule may be a mistake in another one.
        finding = finding.suggest(removal, "");
        let safe = rule.label.is_none() && !matches!(standing, Standing::Dead(_));
        if let (true, Some(suggestion)) = (safe, &mut finding.suggestion) {
            suggestion.applicability = Applicability::Safe;
        }
    }
    finding
}

fn in_words(rule: &Rule) -> String {
    let label = rule.label.as_deref();
    match (&rule.origin, &rule.via, label) {
        (Origin::BuiltIn, _, Some(label)) => {
            format!("the built-in rule `{}`", label.trim_start_matches("built-in:"))
        }
        (Origin::Source { line, .. }, None, _) => format!("the rule in line {line}"),
        (_, Some(group), _) => format!("a rule of `{group}`"),
        _ => "another rule".to_owned(),
    }
}

/// A group of which every rule could go.
fn groups(context: &Context<'_>, by_rule: &BTreeMap<RuleId, Vec<Part>>, found: &mut Vec<Diagnostic>) {
    let mut groups: BTreeMap<&str, bool> = BTreeMap::new();
    for rule in context.own() {
        let Some(group) = &rule.via else { continue };
        let idle = by_rule.get(&rule.id).and_then(|parts| common(parts)).is_some();
        let speaks_of_accesses = !matches!(rule.subject, Subject::Limit { .. } | Subject::Identity(_));
        *groups.entry(group).or_insert(true) &= idle && speaks_of_accesses;
    }
    for (group, _) in groups.into_iter().filter(|(_, idle)| *idle) {
        let Some(place) = context.places.import(group) else {
            continue;
        };
        found.push(place.found(|span| {
            Diagnostic::warning(
                Code::UnusedGroup,
                span,
                format!("without `{group}` every decision stays the same"),
            )
            .label("other rules say all of it, or refuse all of it")
            .help("remove it, or the rules that repeat it")
        }));
    }
}
