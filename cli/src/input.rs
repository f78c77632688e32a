//! From a path on the command line to a policy: reading, parsing, resolving, on this host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use policy_lang::host::HostPaths;
use policy_lang::policy::Policy;
use policy_lang::{Diagnostic, Inputs, SourceFile};

use crate::arguments::Bindings;

/// A policy file after the front end has seen it.
pub(crate) struct Front {
    /// The text diagnostics point into.
    pub(crate) source: SourceFile,
    /// Everything that was found, in source order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Absent if a diagnostic is an error.
    pub(crate) policy: Option<Policy>,
}

/// Reads and resolves a policy file.
///
/// # Errors
/// When the file cannot be read or the bindings make no sense. What is wrong *in* the file is a diagnostic.
pub(crate) fn front(path: &Path, bindings: &Bindings) -> anyhow::Result<Front> {
    let source =
        policy_lang::host::load(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let inputs = Inputs {
        parameters: parameters(bindings)?,
        home: text(home(bindings)?, "the home directory")?,
        working_directory: text(directory(bindings)?, "the working directory")?,
        paths: &HostPaths,
    };
    let parsed = policy_lang::parse(&source);
    let mut diagnostics = parsed.diagnostics;
    let resolved = parsed.ast.map(|ast| policy_lang::resolve(&ast, &source, &inputs));
    let mut policy = None;
    if let Some(resolved) = resolved {
        diagnostics.extend(resolved.diagnostics);
        policy = resolved.policy;
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    if diagnostics.iter().any(Diagnostic::is_error) {
        policy = None;
    }
    Ok(Front {
        source,
        diagnostics,
        policy,
    })
}

fn parameters(bindings: &Bindings) -> anyhow::Result<BTreeMap<String, String>> {
    let mut parameters = BTreeMap::new();
    for parameter in &bindings.parameters {
        let previous = parameters.insert(parameter.name.clone(), parameter.value.clone());
        if let Some(previous) = previous {
            bail!(
                "`--param {}` is given twice, as `{previous}` and as `{}`",
                parameter.name,
                parameter.value
            );
        }
    }
    Ok(parameters)
}

/// What `~` means. Under sudo it is the home of who called sudo: root's own is not what the policy's author meant.
fn home(bindings: &Bindings) -> anyhow::Result<PathBuf> {
    if let Some(home) = &bindings.home {
        return std::path::absolute(home).context("cannot make `--home` absolute");
    }
    if let Some(home) = home_of_sudo_caller() {
        return Ok(home);
    }
    match std::env::var_os("HOME") {
        Some(home) if Path::new(&home).is_absolute() => Ok(PathBuf::from(home)),
        // A policy that says `~` gets a path that exists nowhere and a warning; one that doesn't is unaffected.
        _ => Ok(PathBuf::from("/nonexistent")),
    }
}

fn home_of_sudo_caller() -> Option<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let caller = std::env::var("SUDO_UID").ok()?;
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let account = accounts
        .lines()
        .find(|line| line.split(':').nth(2) == Some(caller.as_str()))?;
    account
        .split(':')
        .nth(5)
        .filter(|home| home.starts_with('/'))
        .map(PathBuf::from)
}

fn directory(bindings: &Bindings) -> anyhow::Result<PathBuf> {
    match &bindings.directory {
        Some(directory) => std::fs::canonicalize(directory)
            .with_context(|| format!("cannot use `{}` as the working directory", directory.display())),
        None => std::env::current_dir().context("the current directory is gone"),
    }
}

fn text(path: PathBuf, what: &str) -> anyhow::Result<String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow::anyhow!("{what} is not UTF-8: {}", path.display()))
}
