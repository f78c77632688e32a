//! Matching of globs, for the side that has no policy language.
//!
//! A glob is an automaton over path components: state *i* has matched the first *i* components of the glob, and a
//! component `**` may stay or be skipped. A walk of a directory tree can carry the states down with it and stop
//! where none is left, so that it never visits a tree in which nothing can match.

mod index;

use super::path;

pub use index::GlobIndex;

/// More components than this are refused: the states are bits of one word.
pub const MAX_COMPONENTS: usize = 127;

/// A parsed glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    components: Vec<Component>,
}

/// How much of a glob has matched a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct States(u128);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Component {
    AnyDepth,
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Run,
    One,
    Exactly(char),
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// Why a glob is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It does not start with a slash, or has empty, `.` or `..` components.
    #[error("it is not an absolute, normalised path")]
    NotNormal,
    /// See [`MAX_COMPONENTS`].
    #[error("it has more than {MAX_COMPONENTS} components")]
    TooDeep,
    /// A `[` without its `]`, an empty class, or a range that runs backwards.
    #[error("a character class in it is malformed")]
    Class,
    /// A `\` with nothing behind it.
    #[error("it ends in a lone backslash")]
    Escape,
}

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    ///
    /// Whatever it cannot match exactly is refused, see [`GlobError`].
    pub fn parse(text: &str) -> Result<Self, GlobError> {
        if !path::is_normal(text) {
            return Err(GlobError::NotNormal);
        }
        let components = path::components(text)
            .map(|name| match name {
                "**" => Ok(Component::AnyDepth),
                _ => tokens(name).map(Component::Name),
            })
            .collect::<Result<Vec<_>, _>>()?;
        if components.len() > MAX_COMPONENTS {
            return Err(GlobError::TooDeep);
        }
        Ok(Self { components })
    }

    /// Whether `path` or a directory above it matches.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let mut states = self.start();
        for name in path::components(path) {
            if self.is_match(states) {
                return true;
            }
            states = self.step(states, name);
        }
        self.is_match(states)
    }

    /// States at `/`.
    #[must_use]
    pub fn start(&self) -> States {
        self.close(1)
    }

    /// States one component further down.
    #[must_use]
    pub fn step(&self, states: States, name: &str) -> States {
        let mut next = 0;
        for (at, component) in self.components.iter().enumerate() {
            if states.0 >> at & 1 == 0 {
                continue;
            }
            match component {
                Component::AnyDepth => next |= 1 << at,
                Component::Name(tokens) if name_matches(tokens, name) => next |= 1 << (at + 1),
                Component::Name(_) => {}
            }
        }
        self.close(next)
    }

    /// Whether the path with these states matches as a whole.
    #[must_use]
    pub fn is_match(&self, states: States) -> bool {
        states.0 >> self.components.len() & 1 == 1
    }

    /// The longest path above every match: the components before the first that is no fixed name.
    #[must_use]
    pub fn fixed_prefix(&self) -> String {
        let mut prefix = String::new();
        for component in &self.components {
            let Some(name) = component.fixed() else { break };
            prefix.push('/');
            prefix.push_str(&name);
        }
        if prefix.is_empty() {
            prefix.push('/');
        }
        prefix
    }

    /// Adds the states that skipping `**` leads to.
    fn close(&self, mut states: u128) -> States {
        for (at, component) in self.components.iter().enumerate() {
            if matches!(component, Component::AnyDepth) && states >> at & 1 == 1 {
                states |= 1 << (at + 1);
            }
        }
        States(states)
    }
}

impl States {
    /// Nothing beneath this directory can match.
    #[must_use]
    pub const fn is_dead(self) -> bool {
        self.0 == 0
    }
}

impl Component {
    fn fixed(&self) -> Option<String> {
        match self {
            Self::AnyDepth => None,
            Self::Name(tokens) => tokens
                .iter()
                .map(|token| match token {
                    Token::Exactly(character) => Some(*character),
                    Token::Run | Token::One | Token::Class { .. } => None,
                })
                .collect(),
        }
    }
}

fn tokens(name: &str) -> Result<Vec<Token>, GlobError> {
    let mut tokens = Vec::new();
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '*' => Token::Run,
            '?' => Token::One,
            '\\' => Token::Exactly(characters.next().ok_or(GlobError::Escape)?),
            '[' => class(&mut characters)?,
            other => Token::Exactly(other),
        });
    }
    Ok(tokens)
}

/// What follows `[`: an optional `!`, characters and ranges, then `]`. A `]` must be escaped to be a member.
fn class(characters: &mut std::str::Chars<'_>) -> Result<Token, GlobError> {
    let negated = characters.as_str().starts_with('!');
    if negated {
        characters.next();
    }
    let mut ranges = Vec::new();
    loop {
        let first = match characters.next().ok_or(GlobError::Class)? {
            ']' if ranges.is_empty() => return Err(GlobError::Class),
            ']' => return Ok(Token::Class { negated, ranges }),
            '\\' => characters.next().ok_or(GlobError::Class)?,
            other => other,
        };
        let rest = characters.as_str();
        let last = if rest.starts_with('-') && !rest.starts_with("-]") {
            characters.next();
            match characters.next().ok_or(GlobError::Class)? {
                '\\' => characters.next().ok_or(GlobError::Class)?,
                other => other,
            }
        } else {
            first
        };
        if last < first {
            return Err(GlobError::Class);
        }
        ranges.push((first, last));
    }
}

/// One component against its tokens: on a mismatch, go back to the last `*` and let it take one character more.
fn name_matches(tokens: &[Token], name: &str) -> bool {
    let (mut pattern, mut text) = (tokens.iter(), name.chars());
    let mut retry = None;
    loop {
        let text_here = text.clone();
        match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some(Token::Run), _) => {
                text = text_here;
                retry = Some((pattern.clone(), text.clone()));
            }
            (Some(token), Some(character)) if token.is(character) => {}
            _ => {
                let Some((after_run, mut from)) = retry else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                (pattern, text) = (after_run.clone(), from.clone());
                retry = Some((after_run, from));
            }
        }
    }
}

impl Token {
    fn is(&self, character: char) -> bool {
        match self {
            Self::Run | Self::One => true,
            Self::Exactly(wanted) => *wanted == character,
            Self::Class { negated, ranges } => {
                let inside = ranges
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&character));
                inside != *negated
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(glob: &str, path: &str) -> bool {
        Glob::parse(glob).unwrap().covers(path)
    }

    #[test]
    fn a_star_stays_in_its_component() {
        assert!(covers("/w/*.rs", "/w/a.rs"));
        assert!(covers("/w/*.rs", "/w/.rs"));
        assert!(!covers("/w/*.rs", "/w/a/b.rs"));
        assert!(covers("/w/*", "/w/a/b"));
        assert!(!covers("/w/*", "/w"));
    }

    #[test]
    fn two_stars_cross_any_number_of_components() {
        assert!(covers("/w/**/.env", "/w/.env"));
        assert!(covers("/w/**/.env", "/w/a/b/.env/c"));
        assert!(!covers("/w/**/.env", "/w/a/b.env"));
        assert!(covers("/w/**", "/w"));
        assert!(covers("/**/a/**/b", "/x/a/y/a/b"));
    }

    #[test]
    fn backtracking_finds_the_later_star_position() {
        assert!(covers("/*ab*c", "/xabyabc"));
        assert!(!covers("/*ab*c", "/xabyabd"));
        assert!(covers("/a?c", "/abc"));
        assert!(!covers("/a?c", "/ac"));
    }

    #[test]
    fn classes_and_escapes() {
        assert!(covers("/[a-cx]", "/b"));
        assert!(covers("/[a-cx]", "/x"));
        assert!(!covers("/[!a-cx]", "/b"));
        assert!(covers("/\\*[\\]]", "/*]"));
        assert!(!covers("/\\*", "/a"));
        for malformed in ["/[", "/[a", "/[]", "/[z-a]", "/a\\", "a/*", "/../*"] {
            assert!(Glob::parse(malformed).is_err(), "{malformed}");
        }
    }

    #[test]
    fn a_walk_stops_where_nothing_can_match() {
        let glob = Glob::parse("/w/*/x").unwrap();
        let states = glob.step(glob.start(), "v");
        assert!(states.is_dead());
        assert!(!glob.step(glob.start(), "w").is_dead());
        assert_eq!(glob.fixed_prefix(), "/w");
    }
}
