//! Many globs at once: which of them cover a path, without asking each.
//!
//! A glob that covers a path has its fixed part above it, and each of its names that come behind is one of the path's. So a
//! glob stands on the shelf of its fixed part, under the name that tells most: a whole one, the beginning of one, or
//! the end.

use std::collections::HashMap;

use super::{Component, Glob, Token};
use crate::filesystem::path;

/// Globs by number, in the order of insertion.
#[derive(Debug, Clone, Default)]
pub struct GlobIndex {
    globs: Vec<Glob>,
    /// By the longest path above every match.
    shelves: HashMap<String, Shelf>,
}

#[derive(Debug, Clone, Default)]
struct Shelf {
    names: HashMap<String, Vec<u32>>,
    heads: Affixes,
    tails: Affixes,
    /// Nothing is known of their names.
    rest: Vec<u32>,
}

/// Beginnings or ends of names.
#[derive(Debug, Clone, Default)]
struct Affixes {
    numbers: HashMap<String, Vec<u32>>,
    /// The lengths of the keys in bytes: few, so that few pieces of a name are looked up.
    lens: Vec<usize>,
}

/// What is known of a name.
enum Key {
    Whole(String),
    Head(String),
    Tail(String),
}

impl GlobIndex {
    /// Adds a glob; its number is how many there were before.
    pub fn insert(&mut self, glob: Glob) {
        let number = u32::try_from(self.globs.len()).unwrap_or(u32::MAX);
        let shelf = self.shelves.entry(glob.fixed_prefix()).or_default();
        match key(&glob) {
            Some(Key::Whole(name)) => shelf.names.entry(name).or_default().push(number),
            Some(Key::Head(head)) => shelf.heads.insert(head, number),
            Some(Key::Tail(tail)) => shelf.tails.insert(tail, number),
            None => shelf.rest.push(number),
        }
        self.globs.push(glob);
    }

    /// The glob with a number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&Glob> {
        usize::try_from(number).ok().and_then(|at| self.globs.get(at))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// The numbers of the globs that cover `path`, ascending.
    #[must_use]
    pub fn covering(&self, path: &str) -> Vec<u32> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        for above in path::ancestors(path) {
            if let Some(shelf) = self.shelves.get(above) {
                shelf.candidates(path.get(above.len()..).unwrap_or_default(), &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|number| self.get(*number).is_some_and(|glob| glob.covers(path)));
        found
    }
}

impl Shelf {
    /// Those that may cover what `rest` leads to from here, some of them several times.
    fn candidates(&self, rest: &str, found: &mut Vec<u32>) {
        found.extend(&self.rest);
        for name in path::components(rest) {
            found.extend(self.names.get(name).into_iter().flatten());
            for len in &self.heads.lens {
                found.extend(self.heads.at(name.get(..*len)));
            }
            for len in &self.tails.lens {
                let start = name.len().checked_sub(*len);
                found.extend(self.tails.at(start.and_then(|start| name.get(start..))));
            }
        }
    }
}

impl Affixes {
    fn insert(&mut self, affix: String, number: u32) {
        if let Err(at) = self.lens.binary_search(&affix.len()) {
            self.lens.insert(at, affix.len());
        }
        self.numbers.entry(affix).or_default().push(number);
    }

    fn at(&self, affix: Option<&str>) -> &[u32] {
        affix
            .and_then(|affix| self.numbers.get(affix))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

/// The name behind the fixed part that tells most.
fn key(glob: &Glob) -> Option<Key> {
    let behind = glob
        .components
        .iter()
        .skip_while(|component| component.fixed().is_some());
    let keys = behind.filter_map(|component| match component {
        Component::AnyDepth => None,
        Component::Name(tokens) => name_key(tokens),
    });
    keys.max_by_key(|key| match key {
        Key::Whole(name) => (true, name.len()),
        Key::Head(affix) | Key::Tail(affix) => (false, affix.len()),
    })
}

fn name_key(tokens: &[Token]) -> Option<Key> {
    let plain = |token: &Token| match token {
        Token::Exactly(character) => Some(*character),
        Token::Run | Token::One | Token::Class { .. } => None,
    };
    let head: String = tokens.iter().map_while(plain).collect();
    let mut tail: Vec<char> = tokens.iter().rev().map_while(plain).collect();
    if tail.len() == tokens.len() {
        return Some(Key::Whole(head));
    }
    tail.reverse();
    let tail: String = tail.into_iter().collect();
    match (head.is_empty(), tail.is_empty()) {
        (true, true) => None,
        _ if head.len() >= tail.len() => Some(Key::Head(head)),
        _ => Some(Key::Tail(tail)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOBS: [&str; 14] = [
        "/**",
        "/**/.env",
        "/**/.env*",
        "/w/*",
        "/w/**",
        "/w/*.rs",
        "/w/**/a/**/b*",
        "/w/a*b",
        "/w/?/x",
        "/w/[ab]/**/*é",
        "/*/a",
        "/w/**/node_modules/**",
        "/a/\\**",
        "/*",
    ];

    const PATHS: [&str; 20] = [
        "/",
        "/w",
        "/a",
        "/.env",
        "/w/.env",
        "/w/a/.env.local",
        "/w/a.rs",
        "/w/x/a.rs",
        "/w/a/b",
        "/w/q/a/r/bee/z",
        "/w/ab",
        "/w/acb/d",
        "/w/a/x",
        "/w/b/caf\u{e9}",
        "/w/c/caf\u{e9}",
        "/w/node_modules/z",
        "/w/x/node_modules",
        "/a/*",
        "/a/*q",
        "/a/a",
    ];

    #[test]
    fn it_finds_what_asking_each_finds() {
        let mut index = GlobIndex::default();
        let globs = GLOBS.map(|glob| Glob::parse(glob).unwrap());
        globs.iter().cloned().for_each(|glob| index.insert(glob));
        for path in PATHS {
            let each: Vec<u32> = (0..)
                .zip(&globs)
                .filter(|(_, glob)| glob.covers(path))
                .map(|(number, _)| number)
                .collect();
            assert_eq!(index.covering(path), each, "{path}");
        }
    }
}
