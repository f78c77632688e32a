//! Paths of other tools as paths of the language.

use policy_lang::pattern::PathPattern;
use policy_lang::resolve::escaped;

/// How the source reads its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Every character stands for itself.
    Literal,
    /// `*`, `?`, `[…]` and `**` are wildcards.
    Glob,
}

/// A path as it stands in a policy, before quoting: absolute, relative to the working directory, or from `~`.
pub(crate) fn read(text: &str, syntax: Syntax) -> Result<String, String> {
    let text = text
        .strip_suffix("/**")
        .filter(|_| syntax == Syntax::Glob)
        .unwrap_or(text);
    let (root, rest) = root(text)?;
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            // What a `..` leads to depends on links, but for one that only takes back what was just written.
            ".." => return Err("a policy names no `..`".to_owned()),
            part => parts.push(part),
        }
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|part| match syntax {
            Syntax::Literal => escaped(part),
            Syntax::Glob => part.to_owned(),
        })
        .collect();
    let path = format!("/{}", parts.join("/"));
    PathPattern::parse(&path).map_err(|error| format!("the language has no such pattern: {error}"))?;
    Ok(match root {
        Root::Absolute => path,
        Root::Home if parts.is_empty() => "~".to_owned(),
        Root::Home => format!("~{path}"),
        Root::Here if parts.is_empty() => ".".to_owned(),
        // A first component `~` would be the home directory.
        Root::Here => format!("./{}", parts.join("/")),
    })
}

/// The deepest directory that everything a glob matches lies beneath: where a refusal cannot be said, refusing all of
/// it is stricter.
pub(crate) fn above(text: &str) -> Result<String, String> {
    let fixed: Vec<&str> = text
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[', ']', '{', '}']))
        .collect();
    let joined = fixed.join("/");
    let joined = match (joined.is_empty(), text.starts_with('/')) {
        (true, true) => "/",
        (true, false) => ".",
        (false, _) => &joined,
    };
    read(joined, Syntax::Literal)
}

enum Root {
    Absolute,
    Home,
    Here,
}

fn root(text: &str) -> Result<(Root, &str), String> {
    if text.is_empty() {
        return Err("the path is empty".to_owned());
    }
    if text.contains('\0') {
        return Err("a path has no NUL".to_owned());
    }
    for home in ["~", "$HOME", "${HOME}"] {
        if let Some(rest) = text.strip_prefix(home) {
            if rest.is_empty() || rest.starts_with('/') {
                return Ok((Root::Home, rest));
            }
            if home == "~" {
                return Err("the home directory of another user is not known here".to_owned());
            }
        }
    }
    for here in ["$WORKDIR", "${WORKDIR}", "$PWD", "${PWD}"] {
        if let Some(rest) = text.strip_prefix(here)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return Ok((Root::Here, rest));
        }
    }
    if text.starts_with('$') {
        return Err("the variable is not known here".to_owned());
    }
    if text.starts_with('/') {
        Ok((Root::Absolute, text))
    } else {
        Ok((Root::Here, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_and_wildcards_are_kept_apart() {
        assert_eq!(read("~/.ssh/", Syntax::Glob).unwrap(), "~/.ssh");
        assert_eq!(read("$HOME", Syntax::Literal).unwrap(), "~");
        assert_eq!(read("src//a/./b", Syntax::Literal).unwrap(), "./src/a/b");
        assert_eq!(read(".", Syntax::Literal).unwrap(), ".");
        assert_eq!(read("/a*", Syntax::Literal).unwrap(), "/a\\*");
        assert_eq!(read("src/**", Syntax::Glob).unwrap(), "./src");
        assert_eq!(read("**/.env", Syntax::Glob).unwrap(), "./**/.env");
    }

    #[test]
    fn what_cannot_be_said_is_refused() {
        for bad in ["", "../x", "a/../b", "~root/x", "$UNKNOWN/x", "a\0"] {
            assert!(read(bad, Syntax::Literal).is_err(), "{bad}");
        }
        assert!(read("/a**b", Syntax::Glob).is_err());
    }

    #[test]
    fn what_lies_above_a_glob_covers_it() {
        assert_eq!(above("/a/b/**c").unwrap(), "/a/b");
        assert_eq!(above("**c").unwrap(), ".");
        assert_eq!(above("/{a,b}").unwrap(), "/");
    }
}
