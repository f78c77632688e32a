//! Environment: every kind of variable name that the patterns of a view tell apart.

use std::collections::{HashMap, HashSet};

use policy_lang::inclusion::Proof;
use policy_lang::pattern::{CharacterSet, Token, variable};
use policy_lang::policy::Subject;
use policy_lang::reference::Access;

use super::cells::Cells;
use super::classes::{Class, Classes};
use super::names::{Grammar, Names};
use super::view::{Items, Set, View};

/// A pattern of variable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Variables<'a>(&'a str);

impl Set for Variables<'_> {
    fn strictly_inside(&self, outer: &Self) -> Proof {
        (variable::includes(outer.0, self.0) && !variable::includes(self.0, outer.0)).into()
    }

    fn is_costly(&self, _: &Self) -> bool {
        false
    }
}

fn variables(subject: &Subject) -> Vec<Variables<'_>> {
    match subject {
        Subject::Pass { names } => names.iter().map(|name| Variables(name)).collect(),
        Subject::Set { name, .. } => vec![Variables(name)],
        _ => Vec::new(),
    }
}

pub(super) fn explore(view: &View<'_>, out: &mut dyn Classes) {
    let items = Items::collect(view, variables);
    let (wild, exact): (Vec<_>, Vec<_>) = items.numbered().partition(|(_, name)| name.0.contains('*'));
    let patterns: Vec<Vec<Token>> = wild.iter().map(|(_, pattern)| tokens(pattern.0)).collect();
    let patterns: Vec<&[Token]> = patterns.iter().map(Vec::as_slice).collect();
    let names = Names::new(Grammar::Variable, patterns.iter().copied());
    let mut tell = |name: &str, own: Option<u32>, matched: &[u32]| {
        let mut cells = Cells::default();
        let numbers = matched.iter().filter_map(|&position| wild.get(position as usize));
        for item in numbers.map(|&(item, _)| item).chain(own) {
            cells.add(item, &items);
        }
        let class = Class {
            cells: &cells,
            is_named: true,
        };
        out.class(&class, &|| Access::Environment {
            name: name.to_owned(),
        });
    };
    let mut taken: HashMap<Vec<u32>, HashSet<&str>> = HashMap::new();
    for &(item, name) in &exact {
        let matched = names.matched(name.0);
        tell(name.0, Some(item), &matched);
        taken.entry(matched).or_default().insert(name.0);
    }
    let (kinds, mut is_complete) = names.kinds();
    for kind in kinds {
        let name = match taken.get(&kind.matched) {
            Some(taken) if taken.contains(kind.name.as_str()) => {
                Names::other(Grammar::Variable, &patterns, &kind.matched, taken).unwrap_or_else(|()| {
                    is_complete = false;
                    None
                })
            }
            _ => Some(kind.name),
        };
        if let Some(name) = name {
            tell(&name, None, &kind.matched);
        }
    }
    if !is_complete {
        out.undecided("there are more kinds of variable names than can be looked at");
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    pattern
        .chars()
        .map(|next| match next {
            '*' => Token::Run,
            other => Token::One(CharacterSet::Just(other)),
        })
        .collect()
}
