//! What the run learns from its caller's environment, and what the policy itself tells it.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::policy::{Effect, Rule, Subject};
use policy_lang::reference::Access;

use super::Context;
use super::context::some_of;

mod names;

use names::{LOADERS, SECRETS, is_secret, looks_like_a_token};

/// A credential that lives longer than a day is as good as one that never ends.
const TTL_MAX_SECONDS: u64 = 24 * 60 * 60;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for rule in context.own() {
        match &rule.subject {
            Subject::Pass { names } if rule.effect <= Effect::Ask => {
                for (index, name) in names.iter().enumerate() {
                    found.extend(passed(context, rule, name, index));
                }
            }
            Subject::Set { name, value } => found.extend(set(context, rule, name, value)),
            Subject::Broker(broker) if broker.ttl_seconds.is_none_or(|ttl| ttl > TTL_MAX_SECONDS) => {
                found.push(without_end(context, rule));
            }
            _ => {}
        }
    }
}

fn passed(context: &Context<'_>, rule: &Rule, name: &str, index: usize) -> Option<Diagnostic> {
    if !name.is_empty() && name.bytes().all(|byte| byte == b'*') {
        let secrets = caught(context, rule, name);
        let mut finding = context.target(rule, index).found(|span| {
            Diagnostic::warning(
                Code::EnvironmentWholesale,
                span,
                "the caller's whole environment is passed",
            )
            .label("whatever anybody exports, also tomorrow")
            .help("name what programs need: `pass \"PATH\", \"LANG\", \"LC_*\", \"TERM\"`")
        });
        if !secrets.is_empty() {
            finding = finding.note(format!("among them, where they are set: {}", some_of(&secrets)));
        }
        return Some(finding);
    }
    if name.contains('*') {
        let secrets = caught(context, rule, name);
        return (!secrets.is_empty()).then(|| {
            context.target(rule, index).found(|span| {
                Diagnostic::warning(
                    Code::SecretPassed,
                    span,
                    format!("this pattern passes secrets: {}", some_of(&secrets)),
                )
                .label("what the run is given it can read, keep and send elsewhere")
                .help("name the variables that are needed, or add `deny pass \"…\" because \"…\"`")
            })
        });
    }
    if is_secret(name) && is_passed(context, rule, name) {
        return Some(secret(context, rule, name, index));
    }
    LOADERS.contains(&name).then(|| {
        context.target(rule, index).found(|span| {
            Diagnostic::remark(
                Code::LoaderVariable,
                span,
                format!("`{name}` makes programs of the run load or run what the caller names"),
            )
            .label("the caller's value decides what runs")
            .help(format!(
                "give it a value that was reviewed: `set \"{name}\" = \"…\"`"
            ))
        })
    })
}

fn secret(context: &Context<'_>, rule: &Rule, name: &str, index: usize) -> Diagnostic {
    let agent = name == "SSH_AUTH_SOCK";
    let message = if agent {
        "the run may use the caller's SSH agent".to_owned()
    } else {
        format!("`{name}` is passed: the run holds the secret itself")
    };
    let help = if agent {
        "give the run a key of its own for the one repository it needs".to_owned()
    } else {
        format!(
            "broker it, so that the run uses it and never holds it: `broker \"{name}\" for \"HOST:443\" as bearer from env \"{name}\" ttl 15m`; or pass a token that ends with the run"
        )
    };
    context.target(rule, index).found(|span| {
        Diagnostic::warning(Code::SecretPassed, span, message)
            .label(if agent {
                "it signs for whoever asks"
            } else {
                "it can be kept, and sent wherever the run may connect"
            })
            .help(help)
    })
}

/// Well-known secrets that a pattern of this rule passes.
fn caught(context: &Context<'_>, rule: &Rule, pattern: &str) -> Vec<&'static str> {
    SECRETS
        .iter()
        .copied()
        .filter(|name| policy_lang::pattern::variable::covers(pattern, name))
        .filter(|name| is_passed(context, rule, name))
        .collect()
}

fn is_passed(context: &Context<'_>, rule: &Rule, name: &str) -> bool {
    let access = Access::Environment {
        name: name.to_owned(),
    };
    context.granted(&access).is_some_and(|by| by.id == rule.id)
}

fn set(context: &Context<'_>, rule: &Rule, name: &str, value: &str) -> Option<Diagnostic> {
    let written = looks_like_a_token(value) || (is_secret(name) && names::could_be_one(value));
    written.then(|| {
        // The value is the second string of the statement.
        context.target(rule, 1).found(|span| {
            Diagnostic::warning(
                Code::SecretInPolicy,
                span,
                format!("the value of `{name}` looks like a secret"),
            )
            .label("policies are read, copied and kept in version control")
            .help("take it out and replace it where it was issued; `broker` and `pass` take credentials from outside the policy")
        })
    })
}

fn without_end(context: &Context<'_>, rule: &Rule) -> Diagnostic {
    context.place(rule).found(|span| {
        Diagnostic::warning(
            Code::BrokerWithoutEnd,
            span,
            "the run may use this credential for as long as it lives",
        )
        .label("no `ttl`, or one of more than a day")
        .help("add how long the task takes, as in `ttl 15m`")
    })
}
