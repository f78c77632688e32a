//! A command line of `docker run`, taken apart.

use crate::ImportError;

/// Options that take no value.
const SWITCHES: &[&str] = &[
    "detach",
    "init",
    "interactive",
    "no-healthcheck",
    "oom-kill-disable",
    "privileged",
    "publish-all",
    "quiet",
    "read-only",
    "rm",
    "sig-proxy",
    "tty",
];
/// One letter for the common ones.
const SHORT: &[(char, &str)] = &[
    ('a', "attach"),
    ('c', "cpu-shares"),
    ('d', "detach"),
    ('e', "env"),
    ('h', "hostname"),
    ('i', "interactive"),
    ('l', "label"),
    ('m', "memory"),
    ('p', "publish"),
    ('P', "publish-all"),
    ('q', "quiet"),
    ('t', "tty"),
    ('u', "user"),
    ('v', "volume"),
    ('w', "workdir"),
];

/// What stands before the image, and the image.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) options: Vec<Option>,
    pub(super) image: String,
}

/// One option.
#[derive(Debug)]
pub(super) struct Option {
    /// Its long name.
    pub(super) name: String,
    /// Its value, if it takes one.
    pub(super) value: std::option::Option<String>,
}

impl Option {
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Some(value) => format!("--{} {value}", self.name),
            None => format!("--{}", self.name),
        }
    }
}

impl Line {
    /// The last value of an option.
    pub(super) fn value(&self, name: &str) -> std::option::Option<&str> {
        let mut found = self.options.iter().filter(|option| option.name == name);
        found.next_back()?.value.as_deref()
    }
}

fn malformed(why: impl Into<String>) -> ImportError {
    ImportError::Malformed {
        what: "`docker run` line",
        why: why.into(),
    }
}

pub(super) fn read(text: &str) -> Result<Line, ImportError> {
    let text = text
        .trim()
        .trim_start_matches("$ ")
        .replace("\\\r\n", " ")
        .replace("\\\n", " ");
    let words = shlex::split(&text).ok_or_else(|| malformed("a quote is not closed"))?;
    let mut words = words.into_iter().peekable();
    if words.peek().is_some_and(|word| word == "sudo") {
        words.next();
    }
    let program = words.next().unwrap_or_default();
    if !matches!(program.rsplit('/').next(), Some("docker" | "podman")) {
        return Err(malformed("it does not begin with `docker run`"));
    }
    if words.peek().is_some_and(|word| word == "container") {
        words.next();
    }
    if words.next().as_deref() != Some("run") {
        return Err(malformed("it does not begin with `docker run`"));
    }
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            if long.is_empty() {
                let image = words.next().unwrap_or_default();
                return finish(options, image);
            }
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
            let value = match value {
                Some(value) => Some(value),
                None if SWITCHES.contains(&name) => None,
                None => Some(
                    words
                        .next()
                        .ok_or_else(|| malformed(format!("`--{name}` has no value")))?,
                ),
            };
            // `--read-only=false` switches it off again.
            if !(SWITCHES.contains(&name) && value.as_deref() == Some("false")) {
                options.push(Option {
                    name: name.to_owned(),
                    value: value.filter(|_| !SWITCHES.contains(&name)),
                });
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            short(letters, &mut words, &mut options)?;
        } else {
            return finish(options, word);
        }
    }
    finish(options, String::new())
}

fn finish(options: Vec<Option>, image: String) -> Result<Line, ImportError> {
    if image.is_empty() {
        return Err(malformed("it names no image"));
    }
    Ok(Line { options, image })
}

/// `-it`, `-v/a:/b`, `-p 80:80`.
fn short(
    letters: &str,
    words: &mut impl Iterator<Item = String>,
    options: &mut Vec<Option>,
) -> Result<(), ImportError> {
    for (at, letter) in letters.char_indices() {
        let Some((_, name)) = SHORT.iter().find(|(short, _)| *short == letter) else {
            return Err(malformed(format!("`-{letter}` is not known")));
        };
        if SWITCHES.contains(name) {
            options.push(Option {
                name: (*name).to_owned(),
                value: None,
            });
            continue;
        }
        let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
        let value = match rest.strip_prefix('=').unwrap_or(rest) {
            "" => words
                .next()
                .ok_or_else(|| malformed(format!("`-{letter}` has no value")))?,
            rest => rest.to_owned(),
        };
        options.push(Option {
            name: (*name).to_owned(),
            value: Some(value),
        });
        return Ok(());
    }
    Ok(())
}
