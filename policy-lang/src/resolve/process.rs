//! Statements of `process`.

use super::Resolver;
use super::quantity::{Measure, integer};
use super::rules::Said;
use super::text::quoted;
use crate::ast::{
    IdentityWord, Limit, Operand, OperandTerm, Operator, ProcessStatement, Quantity, Suffix, SyscallRule,
    SyscallTarget, SyscallTargetName,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Effect, Identity, Resource, RuleId, Subject};
use crate::source::Span;

/// The identity, and the rule that says so.
pub(super) type Identified = (Identity, RuleId);

impl Resolver<'_> {
    pub(super) fn process(&mut self, statement: &ProcessStatement, said: &mut Said) {
        match statement {
            ProcessStatement::Identity {
                span,
                identity,
                suffix,
            } => self.identity(*span, identity, suffix, said),
            ProcessStatement::Syscall(rule) => self.syscall_rule(rule),
            ProcessStatement::Limit { span, items, suffix } => {
                for item in items {
                    // One statement of several limits is several rules: each has its own mechanism.
                    let at = if items.len() == 1 { *span } else { item.span };
                    self.limit(at, item, suffix, said);
                }
            }
        }
    }

    fn identity(&mut self, span: Span, word: &IdentityWord, suffix: &Suffix, said: &mut Said) {
        if let Some(group) = &self.via {
            let message = format!("the group `{group}` cannot say who a run is");
            self.report(
                Diagnostic::error(Code::GroupContent, span, message)
                    .label("not in a group")
                    .help("write `identity` in the policy that uses the group"),
            );
            return;
        }
        if let Some((first, _)) = said.identity {
            self.repeated(span, first, "a policy has one identity");
            return;
        }
        let identity = match word {
            IdentityWord::Dynamic => Identity::Dynamic,
            IdentityWord::User => Identity::User,
            IdentityWord::Ids { uid, gid } => {
                let (Some(uid), Some(gid)) = (self.id(uid), self.id(gid)) else {
                    return;
                };
                Identity::Ids { uid, gid }
            }
        };
        let text = match identity {
            Identity::Dynamic => "identity dynamic".to_owned(),
            Identity::User => "identity user".to_owned(),
            Identity::Ids { uid, gid } => format!("identity {uid}:{gid}"),
        };
        let id = self.add(span, Effect::Allow, Subject::Identity(identity), text, suffix);
        said.identity = Some((self.here(span), (identity, id)));
    }

    fn id(&mut self, quantity: &Quantity) -> Option<u32> {
        let number = integer(quantity).and_then(|number| u32::try_from(number).ok());
        match number {
            // -1 means "leave unchanged" to setresuid(2); 65534 is the overflow id, whose files are everybody's.
            Some(id) if !matches!(id, 0 | 65534 | 65535 | u32::MAX) => Some(id),
            Some(0) => {
                self.report(
                    Diagnostic::error(Code::BadIdentity, quantity.span, "a run is never root")
                        .label("0 is root")
                        .help("write another id, `dynamic` for one of its own, or `user` for the caller's"),
                );
                None
            }
            _ => {
                self.report(
                    Diagnostic::error(Code::BadIdentity, quantity.span, "this is no id a run can have")
                        .label("here")
                        .help("write a number below 4294967295 that is not 65534 or 65535"),
                );
                None
            }
        }
    }

    fn limit(&mut self, span: Span, item: &Limit, suffix: &Suffix, said: &mut Said) {
        let resource = item.resource.value;
        if let Some((first, _)) = said.limits.get(&resource).copied() {
            self.repeated(
                item.span,
                first,
                format!("`{}` is limited already", resource.word()),
            );
            return;
        }
        let measure = match resource {
            Resource::Memory => Measure::Size,
            Resource::Processes | Resource::OpenFiles => Measure::Count,
            Resource::Cpu => Measure::Percent,
            Resource::Wall => Measure::Duration,
        };
        let Some(value) = self.amount(&item.value, measure) else {
            return;
        };
        said.limits.insert(resource, (self.here(item.span), value));
        let text = format!("limit {} {}", resource.word(), self.shown_value(&item.value));
        self.add(
            span,
            Effect::Allow,
            Subject::Limit { resource, value },
            text,
            suffix,
        );
    }

    fn syscall_rule(&mut self, rule: &SyscallRule) {
        let targets = rule
            .targets
            .iter()
            .filter_map(|target| self.syscalls(target))
            .collect();
        let shown: Vec<String> = rule.targets.iter().map(shown_target).collect();
        let text = format!("{} syscall {}", rule.effect.value.word(), shown.join(", "));
        self.add(
            rule.span,
            rule.effect.value,
            Subject::Syscall { targets },
            text,
            &rule.suffix,
        );
    }
}

/// A target as the formatter would write it.
fn shown_target(target: &SyscallTarget) -> String {
    let mut text = match &target.name {
        SyscallTargetName::Group(group) => group.text.clone(),
        SyscallTargetName::Call(call) => quoted(call.literal().unwrap_or_default()),
    };
    for (index, condition) in target.conditions.iter().enumerate() {
        text.push_str(if index == 0 { " where " } else { " and " });
        text.push_str(&condition.argument.text);
        if let Some(mask) = &condition.mask {
            text.push_str(&format!(" & {}", shown_operand(mask)));
        }
        let operator = match condition.operator.value {
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        };
        text.push_str(&format!(" {operator} {}", shown_operand(&condition.value)));
    }
    text
}

fn shown_operand(operand: &Operand) -> String {
    let terms: Vec<&str> = operand
        .terms
        .iter()
        .map(|term| match term {
            OperandTerm::Number(quantity) => quantity.number.as_str(),
            OperandTerm::Constant(name) => name.text.as_str(),
        })
        .collect();
    terms.join(" | ")
}
