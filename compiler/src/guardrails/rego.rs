//! The one place that speaks to the interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::RegoFile;
use super::exception::{self, Date, Exception};
use super::finding::{Finding, Severity};

/// Files of one set of guardrails.
pub const MAX_FILES: usize = 256;
/// Bytes of all of them together.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Findings of one judgement.
const MAX_FINDINGS: usize = 1_000;
/// Bytes of what Rego says about one finding.
const MAX_SAID_BYTES: usize = 1_024;
/// Steps between two looks at the clock.
const STEPS: NonZeroU32 = NonZeroU32::MIN.saturating_add(255);

/// Why there is no judgement. A refusal, whatever the guardrails would have said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum Failure {
    /// Nothing would be judged.
    #[error("there is no `deny` and no `warn` rule in them, so nothing would be judged")]
    Nothing,
    /// More than is read.
    #[error("they have more than {MAX_FILES} files or {MAX_TEXT_BYTES} bytes")]
    TooLarge,
    /// A file that is no Rego.
    #[error("`{file}` does not parse: {why}")]
    Parse {
        /// Which.
        file: String,
        /// As the interpreter says it.
        why: String,
    },
    /// A package whose name cannot be asked for.
    #[error("`{file}` has the package `{package}`; its parts have to be plain names")]
    Package {
        /// Which.
        file: String,
        /// As written.
        package: String,
    },
    /// A rule that failed, or did not end in time.
    #[error("`{rule}` fails: {why}")]
    Evaluation {
        /// `package.rule`.
        rule: String,
        /// As the interpreter says it.
        why: String,
    },
    /// A rule without a value.
    #[error("`{rule}` is undefined; a rule with `contains` is a set, perhaps an empty one")]
    Undefined {
        /// `package.rule`.
        rule: String,
    },
    /// A value that is no finding.
    #[error("`{rule}` gives {value}, and {expected}")]
    Shape {
        /// `package.rule`.
        rule: String,
        /// What it gave.
        value: String,
        /// What it should give.
        expected: String,
    },
    /// Too many findings to be of use.
    #[error("they have more than {MAX_FINDINGS} findings")]
    TooMany,
    /// A test without any.
    #[error("there is no rule whose name begins with `test_`")]
    NoTests,
}

/// What a package declares, and where first.
pub(super) type Declared = BTreeMap<(String, String), (String, u32)>;

/// An engine with the files in it.
pub(super) struct Loaded {
    pub(super) engine: Engine,
    /// By package and name.
    pub(super) declared: Declared,
}

/// Parses files.
pub(super) fn load<'f>(files: impl Iterator<Item = &'f RegoFile>) -> Result<Loaded, Failure> {
    let files: Vec<&RegoFile> = files.collect();
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if files.len() > MAX_FILES || bytes > MAX_TEXT_BYTES {
        return Err(Failure::TooLarge);
    }
    let mut engine = Engine::new();
    engine.set_strict_builtin_errors(true);
    let mut packages = BTreeMap::new();
    for file in files {
        let package = engine
            .add_policy(file.name.clone(), file.text.clone())
            .map_err(|error| Failure::Parse {
                file: file.name.clone(),
                why: said(&format!("{error:#}")),
            })?;
        if !is_plain(&package) {
            return Err(Failure::Package {
                file: file.name.clone(),
                package,
            });
        }
        packages.insert(file.name.clone(), package);
    }
    let declared = declared(&engine, &packages).map_err(|why| Failure::Evaluation {
        rule: "data".to_owned(),
        why,
    })?;
    Ok(Loaded { engine, declared })
}

/// Gives the rules from now on so long.
pub(super) fn start_clock(engine: &mut Engine, time: Duration) {
    engine.set_execution_timer_config(ExecutionTimerConfig {
        limit: time,
        check_interval: STEPS,
    });
}

/// The value of a rule as JSON; undefined is an error.
pub(super) fn evaluate(engine: &mut Engine, rule: &str) -> Result<serde_json::Value, Failure> {
    let failed = |why: String| Failure::Evaluation {
        rule: rule.to_owned(),
        why: said(&why),
    };
    let value = engine
        .eval_rule(rule.to_owned())
        .map_err(|error| failed(format!("{error:#}")))?;
    if value == Value::Undefined {
        return Err(Failure::Undefined {
            rule: rule.to_owned(),
        });
    }
    let text = value
        .to_json_str()
        .map_err(|error| failed(format!("{error:#}")))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

/// Judges an input by every `deny`, `warn` and `exception` rule.
pub(super) fn judge(
    files: &[RegoFile],
    input: &serde_json::Value,
    today: &Date,
    time: Duration,
) -> Result<Vec<Finding>, Failure> {
    let Loaded { mut engine, declared } = load(files.iter().filter(|file| !file.is_test()))?;
    let judges = |name: &str| name == "deny" || name == "warn";
    if !declared.keys().any(|(_, name)| judges(name)) {
        return Err(Failure::Nothing);
    }
    engine
        .set_input_json(&input.to_string())
        .map_err(|error| Failure::Evaluation {
            rule: "input".to_owned(),
            why: said(&format!("{error:#}")),
        })?;
    start_clock(&mut engine, time);
    let mut findings = Vec::new();
    let mut exceptions: Vec<Exception> = Vec::new();
    for ((package, name), (file, line)) in &declared {
        let rule = format!("{package}.{name}");
        let severity = match name.as_str() {
            "deny" => Severity::Deny,
            "warn" => Severity::Warn,
            "exception" => {
                for value in members(evaluate(&mut engine, &rule)?, &rule)? {
                    exceptions.push(Exception::read(value, &rule, file, *line)?);
                }
                continue;
            }
            _ => continue,
        };
        for value in members(evaluate(&mut engine, &rule)?, &rule)? {
            let mut finding = Finding::read(value, severity, &rule)?;
            (finding.file, finding.line) = written(files, &finding.id, file, *line);
            findings.push(finding);
        }
        if findings.len() > MAX_FINDINGS {
            return Err(Failure::TooMany);
        }
    }
    exception::apply(&mut findings, &exceptions, today);
    Ok(findings)
}

/// The members of a set.
fn members(value: serde_json::Value, rule: &str) -> Result<Vec<serde_json::Value>, Failure> {
    match value {
        serde_json::Value::Array(members) => Ok(members),
        other => Err(shape(rule, &other, "a set is expected: write `contains`")),
    }
}

pub(super) fn shape(rule: &str, value: &serde_json::Value, expected: &str) -> Failure {
    Failure::Shape {
        rule: rule.to_owned(),
        value: said(&value.to_string()),
        expected: expected.to_owned(),
    }
}

/// Where a finding was written: where its id stands between quotes, else where its rule begins.
fn written(files: &[RegoFile], id: &str, file: &str, line: u32) -> (String, u32) {
    let quoted = format!("\"{id}\"");
    let mut own = files.iter().filter(|other| !other.is_test());
    let found = own.find_map(|other| {
        let at = other.text.lines().position(|text| text.contains(&quoted))?;
        Some((other.name.clone(), u32::try_from(at + 1).ok()?))
    });
    found.unwrap_or_else(|| (file.to_owned(), line))
}

/// Text of Rego's for one line of a terminal or a record.
pub(super) fn said(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars() {
        if line.len() >= MAX_SAID_BYTES {
            line.push('…');
            break;
        }
        if character == '\n' {
            line.push(' ');
        } else if character.is_control() || policy_lang::source::misleads(character) {
            line.extend(character.escape_unicode());
        } else {
            line.push(character);
        }
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `data.a.b_c`: what can be asked for as it is written.
fn is_plain(package: &str) -> bool {
    package.split('.').all(|part| {
        let mut characters = part.chars();
        characters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && characters.all(|next| next.is_ascii_alphanumeric() || next == '_')
    })
}

/// Names of rules with their packages and first places, off the syntax trees.
fn declared(engine: &Engine, packages: &BTreeMap<String, String>) -> Result<Declared, String> {
    #[derive(Deserialize)]
    struct Module {
        source: Source,
        ast: Ast,
    }
    #[derive(Deserialize)]
    struct Source {
        file: String,
    }
    #[derive(Deserialize)]
    struct Ast {
        rules: Vec<serde_json::Value>,
    }
    let text = engine.get_ast_as_json().map_err(|error| format!("{error:#}"))?;
    let modules: Vec<Module> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut declared = Declared::new();
    let mut unread = BTreeSet::new();
    for module in modules {
        let Some(package) = packages.get(&module.source.file) else {
            unread.insert(module.source.file);
            continue;
        };
        for rule in &module.ast.rules {
            let Some((name, line)) = name_of(rule) else {
                continue;
            };
            declared
                .entry((package.clone(), name))
                .or_insert((module.source.file.clone(), line));
        }
    }
    match unread.first() {
        Some(file) => Err(format!("`{file}` was not read back")),
        None => Ok(declared),
    }
}

/// The name at the beginning of a rule's head, and its line.
fn name_of(rule: &serde_json::Value) -> Option<(String, u32)> {
    let rule = rule.as_object()?.values().next()?;
    let line = rule.get("span")?.get("line")?.as_u64()?;
    let head = match rule.get("head") {
        Some(head) => head.as_object()?.values().next()?,
        // A default.
        None => rule,
    };
    let mut reference = head.get("refr")?;
    loop {
        let (kind, inner) = reference.as_object()?.iter().next()?;
        if kind == "Var" {
            let name = inner.get("value")?.as_str()?.to_owned();
            return Some((name, u32::try_from(line).ok()?));
        }
        reference = inner.get("refr")?;
    }
}
