//! The syntax of patterns.

/// A glob with more components than this is refused, since the side that matches it keeps one bit for each.
pub const COMPONENTS_MAX: usize = 127;

/// Why a pattern is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{malformed}")]
pub struct PatternError {
    /// What is wrong.
    pub malformed: Malformed,
    /// Byte offset into the pattern's text.
    pub offset: usize,
}

/// What can be wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// No leading slash.
    #[error("a path pattern must be absolute")]
    Relative,
    /// `//` or a trailing slash.
    #[error("a path pattern must not have empty components")]
    EmptyComponent,
    /// `.` or `..`.
    #[error("a path pattern must not have `.` or `..` components")]
    DotComponent,
    /// More than [`COMPONENTS_MAX`].
    #[error("a path pattern with wildcards must not have more than {COMPONENTS_MAX} components")]
    TooDeep,
    /// A NUL, which no path has.
    #[error("a path cannot have a NUL character")]
    Nul,
    /// `**` beside other characters.
    #[error("`**` must be a whole component")]
    Depth,
    /// A `\` before a slash or at the end.
    #[error("`\\` has nothing to escape")]
    Escape,
    /// A `[` without a `]` in the same component.
    #[error("the character class is not closed")]
    OpenClass,
    /// `[]` or `[!]`.
    #[error("the character class is empty; write `\\]` for a `]` in it")]
    EmptyClass,
    /// `[z-a]`.
    #[error("the range runs backwards")]
    BackwardRange,
    /// `[^a]`.
    #[error("a class is negated with `!`; write `\\^` for a `^` at its start")]
    Caret,
}

/// One component of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Component {
    /// `**`
    AnyDepth,
    /// Anything else, one after the other.
    Name(Vec<Token>),
}

/// One piece of a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Token {
    /// `*`
    Run,
    /// One character.
    One(CharacterSet),
}

/// Characters of a name. Never has a slash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CharacterSet {
    /// One.
    Just(char),
    /// `?` is the class that excludes nothing.
    Class {
        /// Whether it is the characters outside the ranges.
        negated: bool,
        /// First and last of each.
        ranges: Vec<(char, char)>,
    },
}

impl CharacterSet {
    /// Whether a character is in it.
    #[must_use]
    pub fn contains(&self, character: char) -> bool {
        match self {
            Self::Just(own) => *own == character,
            Self::Class { negated, ranges } => {
                let listed = ranges
                    .iter()
                    .any(|&(first, last)| (first..=last).contains(&character));
                character != '/' && listed != *negated
            }
        }
    }

    fn single(&self) -> Option<char> {
        match self {
            Self::Just(own) => Some(*own),
            Self::Class {
                negated: false,
                ranges,
            } => match ranges.as_slice() {
                &[(first, last)] if first == last => Some(first),
                _ => None,
            },
            Self::Class { .. } => None,
        }
    }

    /// Some character that is in it.
    fn sample(&self) -> Option<char> {
        match self {
            Self::Just(own) => Some(*own),
            Self::Class { ranges, .. } => ranges
                .iter()
                .map(|&(first, _)| first)
                .chain('a'..='z')
                .find(|&character| self.contains(character)),
        }
    }
}

impl Component {
    /// The name, if it can be only one.
    #[must_use]
    pub fn fixed(&self) -> Option<String> {
        match self {
            Self::AnyDepth => None,
            Self::Name(tokens) => tokens
                .iter()
                .map(|token| match token {
                    Token::Run => None,
                    Token::One(set) => set.single(),
                })
                .collect(),
        }
    }
}

/// The path that components without wildcards make.
pub(super) fn path_of(components: &[Component]) -> String {
    if components.is_empty() {
        return "/".to_owned();
    }
    components
        .iter()
        .filter_map(Component::fixed)
        .fold(String::new(), |path, name| path + "/" + &name)
}

/// Some path that matches, if one is quickly found.
pub(super) fn sample(components: &[Component]) -> Option<String> {
    let mut path = String::new();
    for component in components {
        let Component::Name(tokens) = component else {
            continue;
        };
        path.push('/');
        let start = path.len();
        for token in tokens {
            if let Token::One(set) = token {
                path.push(set.sample()?);
            }
        }
        match path.get(start..) {
            Some("") => path.push('x'),
            Some("." | "..") => return None,
            _ => {}
        }
    }
    Some(if path.is_empty() { "/".to_owned() } else { path })
}

/// Splits a pattern. `/` has no components.
pub(super) fn components(text: &str) -> Result<Vec<Component>, PatternError> {
    let fail = |malformed, offset| Err(PatternError { malformed, offset });
    let Some(rest) = text.strip_prefix('/') else {
        return fail(Malformed::Relative, 0);
    };
    if let Some(offset) = text.find('\0') {
        return fail(Malformed::Nul, offset);
    }
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    let mut components = Vec::new();
    let mut offset = 1;
    for name in rest.split('/') {
        match name {
            "" => return fail(Malformed::EmptyComponent, offset),
            "." | ".." => return fail(Malformed::DotComponent, offset),
            "**" => components.push(Component::AnyDepth),
            _ => {
                let tokens = Reader { name, at: 0 }.tokens();
                let component = tokens.map(Component::Name).map_err(|error| PatternError {
                    offset: error.offset + offset,
                    ..error
                })?;
                if matches!(component.fixed().as_deref(), Some("." | "..")) {
                    return fail(Malformed::DotComponent, offset);
                }
                components.push(component);
            }
        }
        offset += name.len() + 1;
    }
    Ok(components)
}

/// Reads one name.
struct Reader<'a> {
    name: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.name.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn fail<T>(malformed: Malformed, offset: usize) -> Result<T, PatternError> {
        Err(PatternError { malformed, offset })
    }

    fn tokens(mut self) -> Result<Vec<Token>, PatternError> {
        let mut tokens = Vec::new();
        loop {
            let start = self.at;
            let Some(character) = self.next() else {
                return Ok(tokens);
            };
            tokens.push(match character {
                '*' if self.rest().starts_with('*') => return Self::fail(Malformed::Depth, start),
                '*' => Token::Run,
                '?' => Token::One(CharacterSet::Class {
                    negated: true,
                    ranges: Vec::new(),
                }),
                '[' => Token::One(self.class(start)?),
                '\\' => match self.next() {
                    Some(escaped) => Token::One(CharacterSet::Just(escaped)),
                    None => return Self::fail(Malformed::Escape, start),
                },
                other => Token::One(CharacterSet::Just(other)),
            });
        }
    }

    /// What follows `[`: an optional `!`, then characters and ranges, then `]`.
    fn class(&mut self, start: usize) -> Result<CharacterSet, PatternError> {
        let negated = self.rest().starts_with('!');
        if negated {
            self.next();
        } else if self.rest().starts_with('^') {
            return Self::fail(Malformed::Caret, self.at);
        }
        let mut ranges = Vec::new();
        loop {
            let member = self.at;
            let first = match self.member(start)? {
                (']', false) if ranges.is_empty() => return Self::fail(Malformed::EmptyClass, start),
                (']', false) => return Ok(CharacterSet::Class { negated, ranges }),
                (character, _) => character,
            };
            let rest = self.rest();
            let last = if rest.starts_with('-') && !rest.starts_with("-]") {
                self.next();
                self.member(start)?.0
            } else {
                first
            };
            if last < first {
                return Self::fail(Malformed::BackwardRange, member);
            }
            ranges.push((first, last));
        }
    }

    /// One character of a class, and whether it was escaped.
    fn member(&mut self, start: usize) -> Result<(char, bool), PatternError> {
        let open = || PatternError {
            malformed: Malformed::OpenClass,
            offset: start,
        };
        match self.next().ok_or_else(open)? {
            '\\' => Ok((self.next().ok_or_else(open)?, true)),
            other => Ok((other, false)),
        }
    }
}
