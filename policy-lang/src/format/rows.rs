//! What the parts of a statement are: which stand in columns, and where a line may end.

use pest::iterators::Pair;

use super::tree::{Element, Form, leaves};
use super::{INDENT, MAX_WIDTH};
use crate::parse::grammar::Rule;

/// The cell of `because`, `label` and their kin, after every other.
pub(super) const SUFFIX: usize = 9;

/// Statements of one kind stand in the same columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// effect, accesses, targets
    File,
    /// The same block, but a keyword instead of effect and accesses.
    FileKeyword,
    /// effect, verbs, protocols, targets
    Network,
    /// keyword, names, `= value`
    Credential,
    /// effect, `syscall`, targets
    Syscall,
    /// name, type, `= default`
    Param,
    /// access, protocol, object, `is …`
    Expectation,
    /// keyword, the rest
    Header,
    /// keyword, the rest; in no column
    Plain,
}

impl Kind {
    pub(super) fn of(rule: Rule) -> Self {
        match rule {
            Rule::file_rule => Self::File,
            Rule::scratch | Rule::hide => Self::FileKeyword,
            Rule::network_rule => Self::Network,
            Rule::pass | Rule::set | Rule::broker => Self::Credential,
            Rule::syscall_rule => Self::Syscall,
            Rule::param => Self::Param,
            Rule::expectation => Self::Expectation,
            Rule::identity | Rule::limit => Self::Plain,
            _ => Self::Header,
        }
    }

    /// Kinds that share columns.
    pub(super) const fn family(self) -> Self {
        match self {
            Self::FileKeyword => Self::File,
            other => other,
        }
    }

    /// The cell in which a long row is broken, under whose beginning it goes on.
    pub(super) const fn list(self) -> usize {
        match self {
            Self::File | Self::FileKeyword | Self::Syscall | Self::Expectation => 2,
            Self::Network => 3,
            Self::Credential | Self::Param | Self::Header | Self::Plain => 1,
        }
    }

    /// The cell of a token, given its rule and the cell of the token before.
    fn cell(self, rule: Rule, current: usize) -> usize {
        match (self, rule) {
            (Self::File, Rule::file_access)
            | (Self::Network, Rule::verb)
            | (Self::Param, Rule::param_type) => 1,
            (Self::File, Rule::string) | (Self::Network, Rule::protocol) => 2,
            (Self::Network, Rule::string) => 3,
            (Self::FileKeyword, Rule::kw_scratch | Rule::kw_hide) => 0,
            (Self::FileKeyword, _) => 2,
            (Self::Expectation, Rule::protocol) | (Self::Credential, Rule::string) => current.max(1),
            (Self::Expectation, Rule::string) => current.max(2),
            (Self::Credential | Self::Param, Rule::equals) => 2,
            (Self::Expectation, Rule::kw_is) => 3,
            (Self::Syscall, Rule::effect) => 0,
            (Self::Syscall, Rule::kw_syscall) => 1,
            (Self::Syscall, _) => 2,
            (Self::Header | Self::Plain, _) => 1,
            _ => current,
        }
    }
}

/// What is known of a token before comments are considered.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) start: usize,
    pub(super) cell: usize,
    pub(super) spaces: usize,
    pub(super) breakable: bool,
}

/// The tokens of a statement.
pub(super) fn cells(statement: &Pair<'_, Rule>) -> Vec<Slot> {
    let kind = Kind::of(statement.as_rule());
    let mut slots: Vec<Slot> = Vec::new();
    let (mut cell, mut after_comma) = (0, false);
    for child in statement.clone().into_inner() {
        let suffix = is_suffix(child.as_rule());
        for (index, token) in leaves(pest::iterators::Pairs::single(child))
            .into_iter()
            .enumerate()
        {
            let rule = token.as_rule();
            cell = match (suffix, slots.is_empty()) {
                (true, _) => SUFFIX,
                (false, true) => 0,
                (false, false) => kind.cell(rule, cell),
            };
            let breakable = match suffix {
                true => index == 0,
                false => cell >= kind.list() && (after_comma || begins_clause(kind, rule)),
            };
            slots.push(Slot {
                start: token.as_span().start(),
                cell,
                spaces: spaces_before(rule),
                breakable: breakable && !slots.is_empty(),
            });
            after_comma = rule == Rule::comma;
        }
    }
    slots
}

/// `policy "name" {`
pub(super) fn head(tokens: &[Pair<'_, Rule>]) -> Vec<Slot> {
    let slot = |(index, token): (usize, &Pair<'_, Rule>)| Slot {
        start: token.as_span().start(),
        cell: index.min(1),
        spaces: spaces_before(token.as_rule()),
        breakable: false,
    };
    tokens.iter().enumerate().map(slot).collect()
}

/// `audit { record denied }`
pub(super) fn one_line(tokens: &[Pair<'_, Rule>]) -> Vec<Slot> {
    let mut slots = head(tokens);
    let mut depth_begins = false;
    for (slot, token) in slots.iter_mut().zip(tokens) {
        // Statements of a workspace stand apart; the first follows the brace.
        if begins_workspace_statement(token.as_rule()) {
            slot.spaces = if depth_begins { 1 } else { 2 };
        }
        depth_begins = token.as_rule() == Rule::open;
    }
    slots
}

/// Whether a block stays on one line: it was written so, holds no comment, and says one thing.
pub(super) fn fits_one_line<'a: 'e, 'e>(
    block: &Pair<'_, Rule>,
    statements: &[Pair<'_, Rule>],
    inside: impl Iterator<Item = &'e Element<'a>>,
) -> bool {
    let rule = block.as_rule();
    let holds_blocks = statements.iter().any(|statement| {
        statement
            .clone()
            .into_inner()
            .any(|child| child.as_rule() == Rule::open)
    });
    let (mut width, mut written_so, mut opened) = (INDENT, true, false);
    for element in inside {
        if element.form != Form::Token {
            return false;
        }
        width += element.text.chars().count() + 1;
        written_so &= !opened || element.breaks == 0;
        opened |= element.text == "{";
    }
    match statements {
        [] => true,
        _ if holds_blocks || matches!(rule, Rule::policy) => false,
        [_] => written_so && width <= MAX_WIDTH,
        _ => written_so && width <= MAX_WIDTH && rule == Rule::workspace,
    }
}

fn is_suffix(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::because | Rule::label | Rule::if_present | Rule::permit_degraded
    )
}

/// Words before which a row that is too long may be broken.
fn begins_clause(kind: Kind, rule: Rule) -> bool {
    match rule {
        Rule::kw_and => true,
        Rule::kw_for | Rule::kw_as | Rule::kw_from | Rule::kw_ttl => kind == Kind::Credential,
        _ => false,
    }
}

fn begins_workspace_statement(rule: Rule) -> bool {
    matches!(rule, Rule::kw_from | Rule::kw_mode | Rule::kw_keep)
}

fn spaces_before(rule: Rule) -> usize {
    usize::from(!matches!(rule, Rule::comma | Rule::colon))
}
