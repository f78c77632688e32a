//! The policy block and its statements, but for the rules inside blocks.

use pest::iterators::Pair;

use super::super::expected::Context;
use super::super::grammar::Rule;
use super::leaves::{child, children, name, quantity};
use super::{Builder, span, spanned};
use crate::ast::{
    Item, KeepClause, Param, ParamType, PolicyBlock, RecordWord, Requirement, Spanned, Unlock,
    WorkspaceStatement,
};
use crate::policy::WorkspaceMode;

impl Builder<'_> {
    pub(super) fn policy(&mut self, pair: Pair<'_, Rule>) -> PolicyBlock {
        let at = span(&pair);
        let name = self.block_name(&pair, "policy");
        let mut items = Vec::new();
        self.block(pair, Context::Policy, |builder, statement| {
            builder.item(statement).map(|item| items.push(item))
        });
        PolicyBlock {
            span: at,
            name,
            items,
        }
    }

    /// A statement of a policy or a group.
    pub(super) fn item(&mut self, pair: Pair<'_, Rule>) -> Option<Item> {
        let at = span(&pair);
        match pair.as_rule() {
            Rule::summary => self.texts(&pair).pop().map(|text| Item::Summary(at, text)),
            Rule::within => self.texts(&pair).pop().map(|text| Item::Within(at, text)),
            Rule::use_groups => Some(Item::Use(
                at,
                children(&pair, Rule::group_path)
                    .map(|path| name(&path))
                    .collect(),
            )),
            Rule::param => self.param(&pair).map(Item::Param),
            Rule::require => Some(Item::Require(
                at,
                children(&pair, Rule::requirement)
                    .map(|item| requirement(&item))
                    .collect::<Option<_>>()?,
            )),
            Rule::unlock => Some(Item::Unlock(Unlock {
                span: at,
                names: children(&pair, Rule::unlocked).map(|word| name(&word)).collect(),
                because: self.inner_text(&child(&pair, Rule::because)?)?,
            })),
            Rule::filesystem => {
                let mut statements = Vec::new();
                self.block(pair, Context::Filesystem, |builder, statement| {
                    builder
                        .file_statement(&statement)
                        .map(|found| statements.push(found))
                });
                Some(Item::Filesystem(at, statements))
            }
            Rule::network => {
                let mut rules = Vec::new();
                self.block(pair, Context::Network, |builder, statement| {
                    builder.network_rule(&statement).map(|found| rules.push(found))
                });
                Some(Item::Network(at, rules))
            }
            Rule::credentials => {
                let mut statements = Vec::new();
                self.block(pair, Context::Credentials, |builder, statement| {
                    builder
                        .credential_statement(&statement)
                        .map(|found| statements.push(found))
                });
                Some(Item::Credentials(at, statements))
            }
            Rule::process => {
                let mut statements = Vec::new();
                self.block(pair, Context::Process, |builder, statement| {
                    builder
                        .process_statement(&statement)
                        .map(|found| statements.push(found))
                });
                Some(Item::Process(at, statements))
            }
            Rule::workspace => {
                let mut statements = Vec::new();
                self.block(pair, Context::Workspace, |builder, statement| {
                    builder.workspace(&statement).map(|found| statements.push(found))
                });
                Some(Item::Workspace(at, statements))
            }
            Rule::audit => {
                let mut words = Vec::new();
                self.block(pair, Context::Audit, |_, statement| {
                    let found = children(&statement, Rule::record_word).map(|word| record_word(&word));
                    found.collect::<Option<Vec<_>>>().map(|found| words.extend(found))
                });
                Some(Item::Audit(at, words))
            }
            _ => None,
        }
    }

    fn workspace(&mut self, pair: &Pair<'_, Rule>) -> Option<WorkspaceStatement> {
        let at = span(pair);
        match pair.as_rule() {
            Rule::workspace_from => self
                .texts(pair)
                .pop()
                .map(|text| WorkspaceStatement::From(at, text)),
            Rule::workspace_keep => {
                let clause = match child(pair, Rule::keep_word) {
                    None => KeepClause::Matching(self.texts(pair)),
                    Some(word) => match word.as_str() {
                        "none" => KeepClause::None,
                        "review" => KeepClause::Review,
                        "all" => KeepClause::All,
                        _ => return None,
                    },
                };
                Some(WorkspaceStatement::Keep(at, clause))
            }
            Rule::workspace_mode => {
                let mode = match child(pair, Rule::mode_word)?.as_str() {
                    "ephemeral" => WorkspaceMode::Ephemeral,
                    "in-place" => WorkspaceMode::InPlace,
                    _ => return None,
                };
                Some(WorkspaceStatement::Mode(at, mode))
            }
            _ => None,
        }
    }

    fn param(&mut self, pair: &Pair<'_, Rule>) -> Option<Param> {
        let kind = child(pair, Rule::param_type)?;
        let kind_value = match kind.as_str() {
            "path" => ParamType::Path,
            "host" => ParamType::Host,
            "cidr" => ParamType::Cidr,
            "port" => ParamType::Port,
            "duration" => ParamType::Duration,
            "size" => ParamType::Size,
            "string" => ParamType::String,
            _ => return None,
        };
        let mut members = Vec::new();
        let mut default = None;
        let mut after_equals = false;
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::equals => after_equals = true,
                Rule::string if !after_equals => members.push(self.text(&part)),
                Rule::string | Rule::quantity => default = self.value(&part),
                _ => {}
            }
        }
        Some(Param {
            span: span(pair),
            name: name(&child(pair, Rule::word)?),
            kind: spanned(kind_value, &kind),
            members,
            default,
        })
    }
}

fn requirement(pair: &Pair<'_, Rule>) -> Option<Requirement> {
    Some(Requirement {
        span: span(pair),
        feature: name(&child(pair, Rule::word)?),
        at_least: child(pair, Rule::quantity).map(|number| quantity(&number)),
    })
}

fn record_word(pair: &Pair<'_, Rule>) -> Option<Spanned<RecordWord>> {
    let word = match pair.as_str() {
        "denied" => RecordWord::Denied,
        "exec" => RecordWord::Exec,
        "connect" => RecordWord::Connect,
        "bind" => RecordWord::Bind,
        "read" => RecordWord::Read,
        "write" => RecordWord::Write,
        _ => return None,
    };
    Some(spanned(word, pair))
}
