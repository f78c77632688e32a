//! A policy while it is put together: statements by block, in the order they were found, each once.

use std::fmt::Write as _;

use policy_lang::pattern::host::HostPattern;
pub(crate) use policy_lang::resolve::quoted;

/// Statements by block.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) summary: String,
    files: Vec<FileRule>,
    scratches: Vec<String>,
    network: Vec<String>,
    passed: Vec<String>,
    set: Vec<(String, String)>,
    credentials: Vec<String>,
    process: Vec<String>,
    /// What was left out, as comments at the end of `network`: a reviewer sees what it would take.
    proposals: Vec<String>,
}

/// A rule on paths, in parts: paths that are treated alike stand in one.
#[derive(Debug)]
struct FileRule {
    head: String,
    paths: Vec<String>,
    tail: String,
}

/// Effects that are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Allow,
    Deny,
    Forbid,
}

impl Effect {
    const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Forbid => "forbid",
        }
    }
}

/// What may follow a rule.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Suffix<'a> {
    pub(crate) because: Option<&'a str>,
    pub(crate) if_present: bool,
    pub(crate) permit_degraded: bool,
}

impl<'a> Suffix<'a> {
    pub(crate) const NONE: Self = Self {
        because: None,
        if_present: false,
        permit_degraded: false,
    };

    /// A path that a host may lack.
    pub(crate) const PRESENT: Self = Self {
        if_present: true,
        ..Self::NONE
    };

    pub(crate) const fn because(reason: &'a str) -> Self {
        Self {
            because: Some(reason),
            ..Self::NONE
        }
    }
}

impl Draft {
    pub(crate) fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            ..Self::default()
        }
    }

    /// A rule on paths. `accesses` as the language lists them.
    pub(crate) fn file(&mut self, effect: Effect, accesses: &str, path: &str, suffix: Suffix<'_>) {
        let accesses = if accesses.is_empty() {
            String::new()
        } else {
            format!("{accesses} ")
        };
        let head = format!("{} {accesses}", effect.word());
        let tail = tail(suffix);
        let path = quoted(path);
        match self
            .files
            .iter_mut()
            .find(|rule| rule.head == head && rule.tail == tail)
        {
            Some(rule) => once(&mut rule.paths, path),
            None => self.files.push(FileRule {
                head,
                paths: vec![path],
                tail,
            }),
        }
    }

    pub(crate) fn scratch(&mut self, path: &str, size: &str) {
        once(&mut self.scratches, format!("scratch {} {size}", quoted(path)));
    }

    /// `what` is verbs and protocols, `target` has its port.
    pub(crate) fn network(&mut self, effect: Effect, what: &str, target: &str, suffix: Suffix<'_>) {
        let statement = format!("{} {what} {}{}", effect.word(), quoted(target), tail(suffix));
        once(&mut self.network, statement);
    }

    pub(crate) fn proposal(&mut self, comment: String) {
        // A line break would end the comment.
        let comment: String = comment
            .chars()
            .map(|next| if next.is_control() { ' ' } else { next })
            .collect();
        once(&mut self.proposals, format!("// {comment}"));
    }

    pub(crate) fn pass(&mut self, names: &[&str]) {
        for name in names {
            once(&mut self.passed, (*name).to_owned());
        }
    }

    pub(crate) fn forbid_pass(&mut self, name: &str) {
        once(&mut self.credentials, format!("forbid pass {}", quoted(name)));
    }

    /// The last value counts, and a variable that is set is not passed.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.set.retain(|(other, _)| other != name);
        self.set.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn credential(&mut self, statement: String) {
        once(&mut self.credentials, statement);
    }

    pub(crate) fn process(&mut self, statement: impl Into<String>) {
        once(&mut self.process, statement.into());
    }

    fn credentials(&self) -> Vec<String> {
        let is_set = |name: &String| self.set.iter().any(|(set, _)| set == name);
        let passed: Vec<String> = self
            .passed
            .iter()
            .filter(|name| !is_set(name))
            .map(|name| quoted(name))
            .collect();
        let pass = (!passed.is_empty()).then(|| format!("pass {}", passed.join(", ")));
        let set = self
            .set
            .iter()
            .map(|(name, value)| format!("set {} = {}", quoted(name), quoted(value)));
        let rest = self.credentials.iter().cloned();
        pass.into_iter().chain(set).chain(rest).collect()
    }

    /// The whole text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("policy {} {{\n", quoted(&self.name));
        let _ = writeln!(text, "    summary {}\n", quoted(&self.summary));
        let credentials = self.credentials();
        let rules = self
            .files
            .iter()
            .map(|rule| format!("{}{}{}", rule.head, rule.paths.join(", "), rule.tail));
        let files: Vec<String> = rules.chain(self.scratches.iter().cloned()).collect();
        let blocks = [
            ("filesystem", &files, None),
            ("network", &self.network, Some(&self.proposals)),
            ("credentials", &credentials, None),
            ("process", &self.process, None),
        ];
        for (name, statements, comments) in blocks {
            let comments = comments.map(Vec::as_slice).unwrap_or_default();
            if statements.is_empty() && comments.is_empty() {
                continue;
            }
            let _ = writeln!(text, "    {name} {{");
            for statement in statements.iter().chain(comments) {
                let _ = writeln!(text, "        {statement}");
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text
    }
}

fn once(statements: &mut Vec<String>, statement: String) {
    if !statements.contains(&statement) {
        statements.push(statement);
    }
}

fn tail(suffix: Suffix<'_>) -> String {
    let mut tail = String::new();
    if let Some(because) = suffix.because {
        let _ = write!(tail, " because {}", quoted(because));
    }
    if suffix.if_present {
        tail.push_str(" if present");
    }
    if suffix.permit_degraded {
        tail.push_str(" permit degraded");
    }
    tail
}

/// A host or an address as the first half of a target.
pub(crate) fn destination(host: &str) -> Result<String, String> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        return Ok(match address {
            std::net::IpAddr::V4(address) => address.to_string(),
            std::net::IpAddr::V6(address) => format!("[{address}]"),
        });
    }
    HostPattern::parse(host)
        .map(|pattern| pattern.to_string())
        .map_err(|error| format!("`{}` is no host name: {error}", host.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_end_early_or_interpolate() {
        assert_eq!(quoted("a\"b\\c${d}\n\u{202e}"), r#""a\"b\\c\${d}\n\u{202e}""#);
    }

    #[test]
    fn comments_cannot_become_statements() {
        let mut draft = Draft::new("x", "y");
        draft.proposal("a\n allow connect \"*:*\"".to_owned());
        let text = draft.text();
        let statements = text.lines().filter(|line| line.trim_start().starts_with("allow"));
        assert_eq!(statements.count(), 0, "{text}");
    }
}
