//! The text of a path pattern, component by component.
//!
//! `*` any characters of one component, `?` one of them, `[a-z]` and `[!a-z]` one of a set, `**` any components,
//! `\` takes the next character as it is.

use super::parameters::Mistake;

/// No Linux file system has longer names, see `NAME_MAX`.
const MAX_NAME_BYTES: usize = 255;

/// One component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Component {
    /// A name, as it is.
    Name(String),
    /// A pattern, as written.
    Pattern(String),
    /// `..`
    Up,
}

/// A name or a path, with whatever a pattern would read in it taken literally.
pub fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Splits a pattern at its slashes. Empty components and `.` are dropped.
pub(super) fn components(pattern: &str) -> Result<Vec<Component>, Mistake> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut escape = false;
    for (index, character) in pattern.char_indices().chain([(pattern.len(), '/')]) {
        if escape && index < pattern.len() {
            escape = false;
        } else if character == '\\' {
            escape = true;
        } else if character == '/' {
            let text = pattern.get(start..index).unwrap_or_default();
            found.extend(component(text)?);
            start = index + 1;
        }
    }
    if escape {
        return Err(Mistake::new(
            "the path ends in a backslash that escapes nothing",
            "write `\\\\\\\\` in the string for one backslash in the name",
        ));
    }
    Ok(found)
}

fn component(text: &str) -> Result<Option<Component>, Mistake> {
    match text {
        "" | "." => return Ok(None),
        ".." => return Ok(Some(Component::Up)),
        "**" => return Ok(Some(Component::Pattern(text.to_owned()))),
        _ => {}
    }
    if text.contains('/') {
        return Err(Mistake::new(
            format!("in `{}`, a slash is escaped", text.escape_debug()),
            "no name contains a slash; remove the backslash",
        ));
    }
    let mut name = String::new();
    let mut active = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => name.extend(characters.next()),
            '*' if characters.peek() == Some(&'*') => {
                return Err(Mistake::new(
                    format!("in `{}`, `**` is not a component of its own", text.escape_debug()),
                    "write `**` between slashes for any number of directories, `*` within a name",
                ));
            }
            '*' | '?' => active = true,
            '[' => {
                class(&mut characters, text)?;
                active = true;
            }
            '{' | '}' => {
                return Err(Mistake::new(
                    format!(
                        "`{}` has braces, which are not alternatives here",
                        text.escape_debug()
                    ),
                    "write one path for each alternative, separated by commas; a brace in a name is written `\\\\{`",
                ));
            }
            other => name.push(other),
        }
    }
    if active {
        return Ok(Some(Component::Pattern(text.to_owned())));
    }
    if name.len() > MAX_NAME_BYTES {
        let shown: String = name.chars().take(24).collect();
        return Err(Mistake::new(
            format!(
                "the name `{}…` is longer than {MAX_NAME_BYTES} bytes",
                shown.escape_debug()
            ),
            "no file can have it; shorten the path",
        ));
    }
    // An escaped dot is a dot to the kernel.
    Ok(match name.as_str() {
        "." => None,
        ".." => Some(Component::Up),
        _ => Some(Component::Name(name)),
    })
}

/// The rest of `[…]`.
fn class(characters: &mut impl Iterator<Item = char>, text: &str) -> Result<(), Mistake> {
    let shown = text.escape_debug();
    let mut members: Vec<char> = Vec::new();
    let mut first = true;
    let mut range = false;
    loop {
        let Some(mut next) = characters.next() else {
            return Err(Mistake::new(
                format!("in `{shown}`, `[` is not closed"),
                "write `[abc]` or `[a-z]`; a bracket in a name is written `\\\\[`",
            ));
        };
        if first && next == '^' {
            return Err(Mistake::new(
                format!("in `{shown}`, `^` does not negate"),
                "write `[!abc]` for any other character, `\\\\^` for a `^` at the start of a class",
            ));
        }
        if first && next == '!' {
            first = false;
            continue;
        }
        first = false;
        match next {
            ']' if !members.is_empty() => return Ok(()),
            ']' => {
                return Err(Mistake::new(
                    format!("in `{shown}`, `[]` matches nothing"),
                    "write the characters it should match; a bracket in a name is written `\\\\[`",
                ));
            }
            '-' if !members.is_empty() && !range => {
                range = true;
                continue;
            }
            '\\' => next = characters.next().unwrap_or('\\'),
            _ => {}
        }
        if range && members.last().is_some_and(|from| *from > next) {
            return Err(Mistake::new(
                format!("in `{shown}`, a range runs backwards"),
                "write the smaller character first",
            ));
        }
        range = false;
        members.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Component {
        Component::Name(text.to_owned())
    }

    fn pattern(text: &str) -> Component {
        Component::Pattern(text.to_owned())
    }

    #[test]
    fn a_pattern_is_split_at_slashes_and_its_names_are_unescaped() {
        assert_eq!(
            components("/a//b/./c/").unwrap(),
            [name("a"), name("b"), name("c")]
        );
        assert_eq!(
            components("/a/**/.env").unwrap(),
            [name("a"), pattern("**"), name(".env")]
        );
        assert_eq!(
            components(r"/a\*b/[!x-z]\?").unwrap(),
            [name("a*b"), pattern(r"[!x-z]\?")]
        );
        assert_eq!(
            components(r"/a/\.\./b").unwrap(),
            [name("a"), Component::Up, name("b")]
        );
    }

    #[test]
    fn what_an_escape_makes_of_a_name_is_that_name() {
        for text in [
            "plain",
            "a*b",
            "[x]",
            r"back\slash",
            "{a,b}",
            "q?",
            "new\nline",
            "\"quote",
        ] {
            assert_eq!(components(&escaped(text)).unwrap(), [name(text)]);
        }
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for text in [
            "/a**",
            "/[",
            "/[]",
            "/[z-a]",
            "/[^a]",
            "/[a/b]",
            "/{a,b}",
            r"/a\",
            r"/a/..\/b",
            r"/a/[b\/c]*",
            &"x".repeat(256),
        ] {
            assert!(components(text).is_err(), "{text}");
        }
    }
}
