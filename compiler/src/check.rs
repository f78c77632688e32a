//! What is legal and still worth a second look, and what a ceiling refuses.
//!
//! The resolver says whether a policy has a meaning; this says whether it is one that a security team would sign. Each
//! family of findings is a module with one function from `Context` to diagnostics. All of it is pure. A finding is
//! shown by a witness wherever there is one: an access that [`decide`](policy_lang::reference::decide) allows.
//!
//! No family compares every rule with every other: they walk the directories above a path, the prefixes above an
//! address, or look a name up.

use policy_lang::Diagnostic;
use policy_lang::SourceFile;
use policy_lang::policy::{Policy, RuleId};
use policy_lang::source::{FileId, Span};

pub mod ceiling;
mod context;
mod dead;
mod egress;
mod environment;
mod execute;
mod later;
pub(crate) mod place;
mod process;
mod reasons;
mod secrets;
mod sockets;
mod suppress;
mod trees;
mod trusted;
mod unused;
mod workspace;
mod written;

use context::Context;

/// What checking needs besides the policy.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The files the policy was read from, as [`FileId`] counts them. Findings point into them.
    pub files: &'a [SourceFile],
    /// What `~` stands for.
    pub home: &'a str,
    /// The run is started by root, so that `identity user` is root.
    pub caller_is_root: bool,
}

/// One family of findings.
type Family = fn(&Context<'_>, &mut Vec<Diagnostic>);

/// What refuses a policy. `remit run` and `remit compile` ask for no more than this.
const REFUSALS: &[Family] = &[ceiling::check];

/// What a reviewer should see.
const LINTS: &[Family] = &[
    dead::check,
    trees::check,
    execute::check,
    secrets::check,
    trusted::check,
    sockets::check,
    later::check,
    egress::check,
    environment::check,
    process::check,
    unused::check,
    reasons::check,
];

/// Everything that is worth saying about a policy, in the order of its text.
#[must_use]
pub fn check(policy: &Policy, options: &Options<'_>) -> Vec<Diagnostic> {
    let context = Context::new(policy, options);
    let mut found = gather(REFUSALS, &context);
    found.extend(reviewed(&context));
    in_order(found)
}

/// What [`check`] says beyond [`refusals`].
#[must_use]
pub fn lints(policy: &Policy, options: &Options<'_>) -> Vec<Diagnostic> {
    in_order(reviewed(&Context::new(policy, options)))
}

/// Only what makes the policy unfit to run: all of these are errors.
#[must_use]
pub fn refusals(policy: &Policy, options: &Options<'_>) -> Vec<Diagnostic> {
    in_order(gather(REFUSALS, &Context::new(policy, options)))
}

/// Where a rule stands in the text, without its suffixes; the head of the policy where it stands nowhere.
#[must_use]
pub fn place_of(policy: &Policy, rule: RuleId, options: &Options<'_>) -> (FileId, Span) {
    let context = Context::new(policy, options);
    let place = match policy.rule(rule) {
        Some(rule) => context.place(rule),
        None => context.places.policy(),
    };
    (place.file, place.span)
}

/// Where `require` is written in the policy's own file, else its head.
#[must_use]
pub fn place_of_requirements(policy: &Policy, options: &Options<'_>) -> (FileId, Span) {
    let places = Context::new(policy, options).places;
    let place = places.word("require").unwrap_or_else(|| places.policy());
    (place.file, place.span)
}

/// Lints without what the file accepts.
fn reviewed(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = gather(LINTS, context);
    suppress::apply(context, &mut found);
    found
}

fn gather(families: &[Family], context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for family in families {
        family(context, &mut found);
    }
    found
}

fn in_order(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by_key(|finding| (finding.file, finding.span, finding.code));
    found
}
