//! The rules inside blocks.

use pest::iterators::Pair;

use super::super::grammar::Rule;
use super::leaves::{child, children, effect, name, quantity};
use super::{Builder, span, spanned};
use crate::ast::{
    Broker, BrokerScheme, BrokerSource, Condition, CredentialStatement, FileRule, FileStatement,
    IdentityWord, Limit, NetworkRule, Operand, OperandTerm, Operator, ProcessStatement, Spanned, SyscallRule,
    SyscallTarget, SyscallTargetName,
};
use crate::policy::{FileAccess, Protocol, Resource, Verb};

impl Builder<'_> {
    pub(super) fn file_statement(&mut self, pair: &Pair<'_, Rule>) -> Option<FileStatement> {
        match pair.as_rule() {
            Rule::file_rule => Some(FileStatement::Rule(FileRule {
                span: span(pair),
                effect: effect(pair)?,
                accesses: children(pair, Rule::file_access)
                    .map(|word| file_access(&word))
                    .collect::<Option<_>>()?,
                targets: self.texts(pair),
                suffix: self.suffix(pair),
            })),
            Rule::scratch => Some(FileStatement::Scratch {
                span: span(pair),
                path: self.text(&child(pair, Rule::string)?),
                size: self.value_in(pair)?,
                suffix: self.suffix(pair),
            }),
            Rule::hide => Some(FileStatement::Hide {
                span: span(pair),
                targets: self.texts(pair),
                suffix: self.suffix(pair),
            }),
            _ => None,
        }
    }

    pub(super) fn network_rule(&mut self, pair: &Pair<'_, Rule>) -> Option<NetworkRule> {
        Some(NetworkRule {
            span: span(pair),
            effect: effect(pair)?,
            verbs: children(pair, Rule::verb)
                .map(|word| verb(&word))
                .collect::<Option<_>>()?,
            protocols: children(pair, Rule::protocol)
                .map(|word| protocol(&word))
                .collect::<Option<_>>()?,
            targets: self.texts(pair),
            suffix: self.suffix(pair),
        })
    }

    pub(super) fn credential_statement(&mut self, pair: &Pair<'_, Rule>) -> Option<CredentialStatement> {
        match pair.as_rule() {
            Rule::pass => Some(CredentialStatement::Pass {
                span: span(pair),
                effect: effect(pair),
                names: self.texts(pair),
                suffix: self.suffix(pair),
            }),
            Rule::set => {
                let mut texts = self.texts(pair).into_iter();
                Some(CredentialStatement::Set {
                    span: span(pair),
                    name: texts.next()?,
                    value: texts.next()?,
                    suffix: self.suffix(pair),
                })
            }
            Rule::broker => self
                .broker(pair)
                .map(|broker| CredentialStatement::Broker(Box::new(broker))),
            _ => None,
        }
    }

    fn broker(&mut self, pair: &Pair<'_, Rule>) -> Option<Broker> {
        let mut texts = self.texts(pair).into_iter();
        let (name, destination, source) = (texts.next()?, texts.next()?, texts.next()?);
        let scheme = match child(pair, Rule::broker_header) {
            Some(header) => BrokerScheme::Header(self.texts(&header).pop()?),
            None => match child(pair, Rule::broker_scheme)?.as_str() {
                "bearer" => BrokerScheme::Bearer,
                "basic" => BrokerScheme::Basic,
                _ => return None,
            },
        };
        let source = match child(pair, Rule::broker_source)?.as_str() {
            "env" => BrokerSource::Env(source),
            "file" => BrokerSource::File(source),
            _ => return None,
        };
        Some(Broker {
            span: span(pair),
            name,
            destination,
            scheme,
            source,
            ttl: self.value_in(pair),
            suffix: self.suffix(pair),
        })
    }

    pub(super) fn process_statement(&mut self, pair: &Pair<'_, Rule>) -> Option<ProcessStatement> {
        match pair.as_rule() {
            Rule::identity => Some(ProcessStatement::Identity {
                span: span(pair),
                identity: identity(pair)?,
                suffix: self.suffix(pair),
            }),
            Rule::syscall_rule => Some(ProcessStatement::Syscall(SyscallRule {
                span: span(pair),
                effect: effect(pair)?,
                targets: children(pair, Rule::syscall_target)
                    .map(|target| self.syscall_target(&target))
                    .collect::<Option<_>>()?,
                suffix: self.suffix(pair),
            })),
            Rule::limit => Some(ProcessStatement::Limit {
                span: span(pair),
                items: children(pair, Rule::limit_item)
                    .map(|item| self.limit(&item))
                    .collect::<Option<_>>()?,
                suffix: self.suffix(pair),
            }),
            _ => None,
        }
    }

    fn limit(&mut self, pair: &Pair<'_, Rule>) -> Option<Limit> {
        let word = child(pair, Rule::resource)?;
        let resource = match word.as_str() {
            "memory" => Resource::Memory,
            "processes" => Resource::Processes,
            "cpu" => Resource::Cpu,
            "open-files" => Resource::OpenFiles,
            "wall" => Resource::Wall,
            _ => return None,
        };
        Some(Limit {
            span: span(pair),
            resource: spanned(resource, &word),
            value: self.value_in(pair)?,
        })
    }

    fn value_in(&mut self, pair: &Pair<'_, Rule>) -> Option<crate::ast::Value> {
        let value = child(pair, Rule::quantity).or_else(|| child(pair, Rule::interpolation))?;
        self.value(&value)
    }

    fn syscall_target(&mut self, pair: &Pair<'_, Rule>) -> Option<SyscallTarget> {
        let called = match child(pair, Rule::group) {
            Some(group) => SyscallTargetName::Group(name(&group)),
            None => SyscallTargetName::Call(self.text(&child(pair, Rule::string)?)),
        };
        Some(SyscallTarget {
            span: span(pair),
            name: called,
            conditions: conditions(pair)?,
        })
    }
}

pub(super) fn conditions(pair: &Pair<'_, Rule>) -> Option<Vec<Condition>> {
    children(pair, Rule::condition)
        .map(|part| condition(&part))
        .collect()
}

fn condition(pair: &Pair<'_, Rule>) -> Option<Condition> {
    let comparison = child(pair, Rule::comparison)?;
    let operator = match comparison.as_str() {
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => return None,
    };
    let mut operands = children(pair, Rule::operand).map(|part| operand(&part));
    let first = operands.next()??;
    let (mask, value) = match operands.next() {
        Some(value) => (Some(first), value?),
        None => (None, first),
    };
    Some(Condition {
        span: span(pair),
        argument: name(&child(pair, Rule::argument)?),
        mask,
        operator: spanned(operator, &comparison),
        value,
    })
}

fn operand(pair: &Pair<'_, Rule>) -> Option<Operand> {
    Some(Operand {
        span: span(pair),
        terms: pair
            .clone()
            .into_inner()
            .filter(|term| term.as_rule() != Rule::pipe)
            .map(|term| match term.as_rule() {
                Rule::quantity => Some(OperandTerm::Number(quantity(&term))),
                Rule::constant => Some(OperandTerm::Constant(name(&term))),
                _ => None,
            })
            .collect::<Option<_>>()?,
    })
}

fn identity(pair: &Pair<'_, Rule>) -> Option<IdentityWord> {
    if let Some(ids) = child(pair, Rule::ids) {
        let mut numbers = children(&ids, Rule::quantity).map(|number| quantity(&number));
        return Some(IdentityWord::Ids {
            uid: numbers.next()?,
            gid: numbers.next()?,
        });
    }
    match child(pair, Rule::identity_word)?.as_str() {
        "dynamic" => Some(IdentityWord::Dynamic),
        "user" => Some(IdentityWord::User),
        _ => None,
    }
}

pub(super) fn file_access(pair: &Pair<'_, Rule>) -> Option<Spanned<FileAccess>> {
    let access = match pair.as_str() {
        "read" => FileAccess::Read,
        "write" => FileAccess::Write,
        "execute" => FileAccess::Execute,
        _ => return None,
    };
    Some(spanned(access, pair))
}

pub(super) fn verb(pair: &Pair<'_, Rule>) -> Option<Spanned<Verb>> {
    let verb = match pair.as_str() {
        "connect" => Verb::Connect,
        "bind" => Verb::Bind,
        _ => return None,
    };
    Some(spanned(verb, pair))
}

pub(super) fn protocol(pair: &Pair<'_, Rule>) -> Option<Spanned<Protocol>> {
    let protocol = match pair.as_str() {
        "tcp" => Protocol::Tcp,
        "udp" => Protocol::Udp,
        _ => return None,
    };
    Some(spanned(protocol, pair))
}
