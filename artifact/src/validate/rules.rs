//! The rule list.

use super::{Check, Invalid, at_most, text};
use crate::bounds;
use crate::rule::{Effect, Origin, RuleId, RuleRecord};

pub(super) fn check(rules: &[RuleRecord], layers: usize) -> Check {
    at_most("rules", rules.len(), bounds::RULES)?;
    match rules.first() {
        Some(default) if default.effect == Effect::Deny && default.origin == Origin::BuiltIn => {}
        Some(_) => {
            return Err(Invalid::new(
                "rules[0]",
                "it is not the built-in default, which denies",
            ));
        }
        None => return Err(Invalid::new("rules", "there is no default rule")),
    }
    for (number, rule) in (0..).zip(rules) {
        check_rule(rule, number, layers)
            .map_err(|invalid| Invalid::new(format!("rules[{number}].{}", invalid.at), invalid.problem))?;
    }
    Ok(())
}

fn check_rule(rule: &RuleRecord, number: u32, layers: usize) -> Check {
    if rule.id != RuleId(number) {
        return Err(Invalid::new("id", format!("{} is not its position", rule.id.0)));
    }
    if rule.layer.is_some_and(|layer| usize::from(layer.0) >= layers) {
        return Err(Invalid::new("layer", "there is no such layer"));
    }
    text("text", &rule.text)?;
    for (at, optional) in [
        ("label", &rule.label),
        ("because", &rule.because),
        ("via", &rule.via),
    ] {
        if let Some(given) = optional {
            text(at, given)?;
        }
    }
    if let Origin::Policy { file, .. } = &rule.origin {
        text("origin", file)?;
    }
    if rule.lowering.is_empty() {
        return Err(Invalid::new("lowering", "the rule became nothing"));
    }
    at_most("lowering", rule.lowering.len(), bounds::LOWERINGS)?;
    for lowering in &rule.lowering {
        at_most("lowering.needs", lowering.needs.len(), bounds::LOWERINGS)?;
        for remark in [&lowering.gap, &lowering.note].into_iter().flatten() {
            text("lowering", remark)?;
        }
    }
    Ok(())
}
