//! Paths: from what was written to what the kernel sees.
//!
//! `~` and relative paths are made absolute, `.` and doubled slashes dropped, `..` refused, symbolic links followed
//! as far as the path has no wildcard. The kernel judges the file that a path leads to; so does a policy.

use super::glob::{self, Component};
use super::parameters::{Bound, Mistake};
use super::text::{Filled, quoted};
use super::{Resolution, Resolver};
use crate::ast::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::PathPattern;
use crate::source::Span;

/// The kernel takes no longer path, see `PATH_MAX`; one byte is the NUL at the end.
const MAX_PATH_BYTES: usize = 4095;

/// Trees that every run gets for itself, and that mean something else in each process.
const PRIVATE: &[&str] = &["/proc", "/dev"];

/// Trees that are private to a run unless a rule grants part of the host's.
const PRIVATE_UNLESS_GRANTED: &[&str] = &["/tmp", "/run"];

/// A path with what the file tree says about it.
pub(super) struct Found {
    /// The set of paths.
    pub(super) pattern: PathPattern,
    /// The absolute path that does not exist, if it should.
    pub(super) absent: Option<String>,
    /// Where the path leads, if its last component is a symbolic link.
    pub(super) link: Option<String>,
}

impl Resolver<'_> {
    /// The target of a rule.
    pub(super) fn path(&mut self, text: &Text) -> Option<Found> {
        let components = self.absolute(text)?;
        let split = components
            .iter()
            .position(|component| !matches!(component, Component::Name(_)))
            .unwrap_or(components.len());
        let (fixed, wild) = components.split_at(split);
        let asked = join(fixed.iter().map(|component| match component {
            Component::Name(name) | Component::Pattern(name) => name.as_str(),
            Component::Up => "..",
        }));
        let (fixed, absent, link) = self.look_up(&asked, text.span)?;
        let pattern = if wild.is_empty() {
            PathPattern::Literal(fixed)
        } else {
            let mut whole = if fixed == "/" {
                String::new()
            } else {
                glob::escaped(&fixed)
            };
            for component in wild {
                whole.push('/');
                match component {
                    Component::Name(name) => whole.push_str(&glob::escaped(name)),
                    Component::Pattern(pattern) => whole.push_str(pattern),
                    Component::Up => whole.push_str(".."),
                }
            }
            match PathPattern::parse(&whole) {
                // A set of one character is that character: the path is one path, and looked up like one.
                Ok(PathPattern::Literal(path)) => {
                    let (path, absent, link) = self.look_up(&path, text.span)?;
                    return Some(Found {
                        pattern: PathPattern::Literal(path),
                        absent,
                        link,
                    });
                }
                Ok(pattern @ PathPattern::Glob(_)) => pattern,
                Err(error) => {
                    self.report(
                        Diagnostic::error(Code::BadGlob, text.span, error.to_string())
                            .label("in this path")
                            .help("what cannot be matched exactly is refused; write a simpler pattern"),
                    );
                    return None;
                }
            }
        };
        let len = match &pattern {
            PathPattern::Literal(path) | PathPattern::Glob(path) => path.len(),
        };
        if len > MAX_PATH_BYTES {
            self.report(
                Diagnostic::error(
                    Code::BadPath,
                    text.span,
                    format!("this path has {len} bytes, and the kernel takes at most {MAX_PATH_BYTES}"),
                )
                .label("too long")
                .help("name a directory above it"),
            );
            return None;
        }
        Some(Found {
            pattern,
            absent,
            link: if wild.is_empty() { link } else { None },
        })
    }

    /// A single path, without wildcards.
    pub(super) fn literal_path(&mut self, text: &Text, what: &str) -> Option<String> {
        match self.path(text)?.pattern {
            PathPattern::Literal(path) => Some(path),
            PathPattern::Glob(_) => {
                self.report(
                    Diagnostic::error(Code::BadPath, text.span, format!("{what} is one path"))
                        .label("a wildcard cannot stand here")
                        .help("write the path out; a literal `*` is written `\\\\*`"),
                );
                None
            }
        }
    }

    /// Components from the root on, none of them `..`.
    fn absolute(&mut self, text: &Text) -> Option<Vec<Component>> {
        let pattern = self.path_text(text)?;
        let components = match glob::components(&pattern) {
            Ok(components) => components,
            Err(mistake) => {
                self.report(
                    Diagnostic::error(Code::BadGlob, text.span, mistake.message)
                        .label("in this path")
                        .help(mistake.help),
                );
                return None;
            }
        };
        if components.contains(&Component::Up) {
            self.up(text, &components);
            return None;
        }
        Some(components)
    }

    fn up(&mut self, text: &Text, components: &[Component]) {
        let mut kept: Vec<String> = Vec::new();
        let mut known = true;
        for component in components {
            match component {
                Component::Name(name) => kept.push(glob::escaped(name)),
                Component::Pattern(pattern) => kept.push(pattern.clone()),
                Component::Up => known &= kept.pop().is_some_and(|last| last != "**"),
            }
        }
        let mut found = Diagnostic::error(Code::BadPath, text.span, "a policy's paths cannot contain `..`")
            .label("`..` means another directory for every reader, and behind a symbolic link yet another");
        let from_parameter = text.literal().is_none();
        found = if known && !from_parameter {
            let meant = quoted(&join(kept.iter().map(String::as_str)));
            found
                .help(format!("name the directory itself: {meant}"))
                .suggest(text.span, meant)
        } else {
            found.help("name the directory itself, or make it a parameter")
        };
        self.report(found);
    }

    /// The whole pattern, parameters filled in and escaped, absolute.
    fn path_text(&mut self, text: &Text) -> Option<String> {
        let pieces = self.filled(text)?;
        let mut whole = String::new();
        let mut sound = true;
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Filled::Written(written) if index == 0 => {
                    whole.push_str(&self.rooted(written, text.span)?);
                }
                Filled::Written(written) => whole.push_str(written),
                Filled::Parameter(name, bound) => match bound {
                    Bound::Path(path) if index == 0 => {
                        whole.push_str(&glob::escaped(path));
                        if let Some(Filled::Written(next)) = pieces.get(1)
                            && !next.starts_with('/')
                        {
                            self.report(
                                Diagnostic::error(
                                    Code::ParameterPlace,
                                    name.span,
                                    format!("the path `{}` ends within a name", name.text),
                                )
                                .label("a `/` is missing after this")
                                .help("a path parameter stands for a whole path; go on with `/`")
                                .suggest(Span::new(name.span.end, name.span.end), "/"),
                            );
                            sound = false;
                        }
                    }
                    Bound::Member(member) => {
                        if index == 0 {
                            whole.push_str(&glob::escaped(&self.inputs.working_directory));
                            whole.push('/');
                        }
                        whole.push_str(&glob::escaped(member));
                    }
                    other => {
                        let message = if matches!(other, Bound::Path(_)) {
                            format!("the path `{}` stands in the middle of a path", name.text)
                        } else {
                            format!("`{}` is {}, which is no part of a path", name.text, other.kind())
                        };
                        self.report(
                            Diagnostic::error(Code::ParameterPlace, name.span, message)
                                .label("cannot stand here")
                                .help("a `path` parameter begins a path; a `string of …` parameter may be part of a name"),
                        );
                        sound = false;
                    }
                },
            }
        }
        if whole.is_empty() && sound {
            // Unless the string has a hole where an escape was refused.
            if !self.complete {
                return None;
            }
            self.report(
                Diagnostic::error(Code::BadPath, text.span, "a path cannot be empty")
                    .label("nothing here")
                    .help("write `\".\"` for the working directory, `\"/\"` for everything"),
            );
            return None;
        }
        sound.then_some(whole)
    }

    /// The written beginning of a path, from the root on.
    fn rooted(&mut self, written: &str, span: Span) -> Option<String> {
        if written.starts_with('/') {
            return Some(written.to_owned());
        }
        if let Some(rest) = written.strip_prefix('~') {
            if rest.is_empty() || rest.starts_with('/') {
                return Some(format!("{}{rest}", glob::escaped(&self.inputs.home)));
            }
            self.report(
                Diagnostic::error(Code::BadPath, span, "`~name` is not understood")
                    .label("only `~` and `~/…` are")
                    .help("write the home directory out; a file called `~name` is written `./~name`"),
            );
            return None;
        }
        if written.starts_with('!') {
            self.report(
                Diagnostic::error(Code::BadGlob, span, "`!` does not negate a path")
                    .label("in this path")
                    .help("write a rule with another effect; a file called `!name` is written `./!name`"),
            );
            return None;
        }
        Some(format!(
            "{}/{written}",
            glob::escaped(&self.inputs.working_directory)
        ))
    }

    /// Follows symbolic links.
    fn look_up(&mut self, asked: &str, span: Span) -> Option<(String, Option<String>, Option<String>)> {
        if PRIVATE.iter().any(|tree| within(asked, tree)) {
            return Some((asked.to_owned(), None, None));
        }
        let optional = PRIVATE_UNLESS_GRANTED.iter().any(|tree| within(asked, tree))
            || self.scratches.iter().any(|tree| within(asked, tree));
        match self.inputs.paths.resolve(asked) {
            Resolution::Present { path, link } => {
                let link = link.then(|| path.clone());
                Some((path, None, link))
            }
            Resolution::Absent { .. } if optional => Some((asked.to_owned(), None, None)),
            Resolution::Absent { path } => Some((path, Some(asked.to_owned()), None)),
            Resolution::Unknown { reason } => {
                self.report(
                    Diagnostic::error(
                        Code::UnreadablePath,
                        span,
                        format!("`{}` cannot be looked up: {reason}", asked.escape_debug()),
                    )
                    .label("this path")
                    .help("compile where the path can be read, or name what it leads to"),
                );
                None
            }
        }
    }
}

/// The value of a `path` parameter: absolute and normalised, every character meant literally.
pub(super) fn normalise_value(text: &str, home: &str, working_directory: &str) -> Result<String, Mistake> {
    let whole = match text.strip_prefix('~') {
        _ if text.is_empty() => {
            return Err(Mistake::new(
                "a path cannot be empty",
                "write `.` for the working directory",
            ));
        }
        _ if text.starts_with('/') => text.to_owned(),
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        Some(_) => {
            return Err(Mistake::new(
                format!("`{}`: only `~` and `~/…` are understood", text.escape_debug()),
                "write the home directory out",
            ));
        }
        None => format!("{working_directory}/{text}"),
    };
    let names: Vec<&str> = whole
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    if names.contains(&"..") {
        return Err(Mistake::new(
            format!("`{}` contains `..`", text.escape_debug()),
            "give the absolute path of the directory that is meant",
        ));
    }
    if whole.len() > MAX_PATH_BYTES || names.iter().any(|name| name.len() > 255) {
        return Err(Mistake::new(
            "the path is longer than the kernel takes",
            "no file can have it; shorten the path",
        ));
    }
    Ok(join(names.into_iter()))
}

fn join<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut path = String::new();
    for name in names {
        path.push('/');
        path.push_str(name);
    }
    if path.is_empty() {
        path.push('/');
    }
    path
}

/// Whether a path is a tree's root or beneath it.
pub(super) fn within(path: &str, tree: &str) -> bool {
    tree == "/"
        || path
            .strip_prefix(tree)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_absolute_and_normalised() {
        let value = |text: &str| normalise_value(text, "/home/u", "/w");
        assert_eq!(value(".").unwrap(), "/w");
        assert_eq!(value("a//b/").unwrap(), "/w/a/b");
        assert_eq!(value("~/x").unwrap(), "/home/u/x");
        assert_eq!(value("/").unwrap(), "/");
        assert_eq!(value("/a*[b").unwrap(), "/a*[b");
        for text in ["", "..", "/a/../b", "~root", "a/.."] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tree_holds_itself_and_what_is_beneath() {
        assert!(within("/tmp", "/tmp"));
        assert!(within("/tmp/a", "/tmp"));
        assert!(within("/a", "/"));
        assert!(!within("/tmpfile", "/tmp"));
    }
}
