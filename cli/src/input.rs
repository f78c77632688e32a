//! From a path on the command line to a policy or an artifact: every pure stage in a row, on this host.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use artifact::Artifact;
use compiler::LowerError;
use enforcer::Kept;
use policy_lang::diagnostic::Code;
use policy_lang::host::{HostPaths, Root};
use policy_lang::loader::Loader;
use policy_lang::policy::{Origin, Policy};
use policy_lang::source::FileId;
use policy_lang::{Diagnostic, FileKind, Inputs, PathResolver, Resolved, SourceFile, Span};

mod kept;

use crate::arguments::Bindings;
use crate::command::guard;
use crate::render::{Surface, diagnostic};

/// A policy file, and those it names, after the front end has seen them.
pub(crate) struct Front {
    /// The texts diagnostics point into; the policy's own is the first.
    pub(crate) files: Vec<SourceFile>,
    /// Everything that was found, in source order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Absent if a diagnostic is an error.
    pub(crate) policy: Option<Policy>,
    /// What `~` stands for.
    pub(crate) home: String,
}

impl Front {
    fn of(resolved: Resolved, home: String) -> Self {
        Self {
            files: resolved.files,
            diagnostics: resolved.diagnostics,
            policy: resolved.policy,
            home,
        }
    }

    /// The policy's own file.
    pub(crate) fn source(&self) -> &SourceFile {
        crate::render::source(&self.files, FileId::default())
    }

    /// What checking needs to know.
    pub(crate) fn options(&self) -> compiler::check::Options<'_> {
        compiler::check::Options {
            files: &self.files,
            home: &self.home,
            caller_is_root: caller_is_root(),
        }
    }

    /// Adds what was found later. With an error among it there is no policy any more.
    pub(crate) fn add(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(found);
        self.diagnostics
            .sort_by_key(|diagnostic| (diagnostic.file, diagnostic.span));
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            self.policy = None;
        }
    }
}

/// Reads and resolves a policy file.
///
/// # Errors
/// When the file cannot be read or the bindings make no sense. What is wrong *in* the file is a diagnostic.
pub(crate) fn front(path: &Path, bindings: &Bindings) -> anyhow::Result<Front> {
    resolved(load(path)?, bindings)
}

/// The same, with the `test` blocks of other files after those of the policy.
///
/// # Errors
/// As for [`front`], and when such a file cannot be read.
pub(crate) fn front_with_tests(path: &Path, tests: &[PathBuf], bindings: &Bindings) -> anyhow::Result<Front> {
    let source = load(path)?;
    let tests = tests
        .iter()
        .map(|path| load(path))
        .collect::<Result<Vec<_>, _>>()?;
    let root = root(Path::new(&source.name), bindings)?;
    let inputs = Given::by(bindings)?.inputs(&HostPaths, &root);
    let resolved = policy_lang::check_with_tests(&source, &tests, &inputs);
    Ok(Front::of(resolved, inputs.home))
}

/// Reads a policy file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn load(path: &Path) -> anyhow::Result<SourceFile> {
    let mut source =
        policy_lang::host::load(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    source.name = name(path);
    Ok(source)
}

/// Resolves a text in place of the file that its name says.
///
/// # Errors
/// When the bindings make no sense.
pub(crate) fn resolved(source: SourceFile, bindings: &Bindings) -> anyhow::Result<Front> {
    let root = root(Path::new(&source.name), bindings)?;
    Ok(resolved_with(&source, Given::by(bindings)?, &HostPaths, &root))
}

/// Looks at a file of groups or of tests. What tests say is judged with a policy.
///
/// # Errors
/// When the bindings make no sense.
pub(crate) fn without_policy(
    source: SourceFile,
    kind: FileKind,
    bindings: &Bindings,
) -> anyhow::Result<Front> {
    let root = root(Path::new(&source.name), bindings)?;
    let inputs = Given::by(bindings)?.inputs(&HostPaths, &root);
    let resolved = if kind == FileKind::Tests {
        Resolved {
            policy: None,
            diagnostics: policy_lang::parse_as(&source, kind).diagnostics,
            files: vec![source],
        }
    } else {
        policy_lang::check_groups(&source, &inputs)
    };
    Ok(Front::of(resolved, inputs.home))
}

/// What a policy is told by whoever calls.
struct Given {
    parameters: BTreeMap<String, String>,
    home: String,
    working_directory: String,
}

impl Given {
    fn by(bindings: &Bindings) -> anyhow::Result<Self> {
        Ok(Self {
            parameters: parameters(bindings)?,
            home: text(home(bindings)?, "the home directory")?,
            working_directory: text(directory(bindings)?, "the working directory")?,
        })
    }
}

impl Given {
    fn inputs<'a>(self, paths: &'a dyn PathResolver, files: &'a dyn Loader) -> Inputs<'a> {
        Inputs {
            parameters: self.parameters,
            home: self.home,
            working_directory: self.working_directory,
            paths,
            files,
        }
    }
}

/// The front end proper. *What it reads of the host, it reads through `paths` and `files`: see [`artifact_again`].*
fn resolved_with(source: &SourceFile, given: Given, paths: &dyn PathResolver, files: &dyn Loader) -> Front {
    let inputs = given.inputs(paths, files);
    Front::of(policy_lang::check(source, &inputs), inputs.home)
}

/// The directory that `include` and `within` read from.
fn root(policy: &Path, bindings: &Bindings) -> anyhow::Result<Root> {
    let directory = match &bindings.root {
        Some(root) => root.clone(),
        None => policy_lang::host::root_of(policy),
    };
    let absolute = std::fs::canonicalize(&directory).unwrap_or_else(|_| directory.clone());
    Root::open(&directory, Path::new(&name(&absolute)))
        .with_context(|| format!("cannot use `{}` as the policy root", directory.display()))
}

/// How rules and events name the file: `./x`, `$PWD/x` and `x` are one file and give one digest.
fn name(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&here).unwrap_or(path);
    let plain: PathBuf = relative
        .components()
        .filter(|part| *part != std::path::Component::CurDir)
        .collect();
    plain.display().to_string()
}

/// The artifact a path stands for: decoded when it is one, compiled when it is a policy.
///
/// # Errors
/// When it cannot be read, decoded or compiled. Diagnostics were then drawn on stderr.
pub(crate) fn artifact(
    path: &Path,
    bindings: &Bindings,
    guardrails: Option<&Path>,
    stderr: Surface,
) -> anyhow::Result<Artifact> {
    if path.extension().is_some_and(|extension| extension == "ron") {
        if guardrails.is_some() {
            bail!(
                "guardrails judge a policy, and `{}` is compiled already: judge it when it is compiled",
                path.display()
            );
        }
        return decoded(path, bindings);
    }
    let (front, artifact) = compiled(path, bindings, guardrails)?;
    drawn(path, &front, artifact, stderr)
}

/// The same, where what was compiled before may be kept.
///
/// Whatever a policy is made from has to be in the place's name or seen by the witness.
///
/// # Errors
/// As for [`artifact()`].
pub(crate) fn artifact_again(
    path: &Path,
    bindings: &Bindings,
    stderr: Surface,
    kept: &Kept,
) -> anyhow::Result<Artifact> {
    if path.extension().is_some_and(|extension| extension == "ron") {
        return decoded(path, bindings);
    }
    let source = load(path)?;
    let given = Given::by(bindings)?;
    let place = kept::Place::of(kept, &source, &given);
    let root = || root(Path::new(&source.name), bindings);
    // A root that is named has to be there. Another is looked for when a file is.
    if bindings.root.is_some() {
        root()?;
    }
    if let Some(artifact) = place.as_ref().and_then(|place| place.artifact(root)) {
        return Ok(artifact);
    }
    let root = root()?;
    let witness = kept::Witness::new(&root);
    let (front, artifact) = lowered(resolved_with(&source, given, &witness, &witness), None);
    // What is said of a policy is said each time.
    if let (Some(place), Some(artifact), []) = (place, &artifact, front.diagnostics.as_slice()) {
        place.keep(witness, artifact);
    }
    drawn(path, &front, artifact, stderr)
}

fn drawn(
    path: &Path,
    front: &Front,
    artifact: Option<Artifact>,
    stderr: Surface,
) -> anyhow::Result<Artifact> {
    let drawn = diagnostic::draw(&front.files, &front.diagnostics, stderr);
    std::io::stderr().lock().write_all(drawn.as_bytes())?;
    artifact.ok_or_else(|| anyhow!("`{}` has errors", path.display()))
}

/// A policy through every pure stage. What the compiler refuses becomes a diagnostic like those of the front end.
///
/// # Errors
/// As for [`front`].
pub(crate) fn compiled(
    path: &Path,
    bindings: &Bindings,
    guardrails: Option<&Path>,
) -> anyhow::Result<(Front, Option<Artifact>)> {
    Ok(lowered(front(path, bindings)?, guardrails))
}

/// The same for a text in place of the file that its name says.
pub(crate) fn compiled_text(
    source: SourceFile,
    bindings: &Bindings,
) -> anyhow::Result<(Front, Option<Artifact>)> {
    Ok(lowered(resolved(source, bindings)?, None))
}

fn lowered(mut front: Front, guardrails: Option<&Path>) -> (Front, Option<Artifact>) {
    if let Some(policy) = &front.policy {
        let refusals = compiler::check::refusals(policy, &front.options());
        front.add(refusals);
    }
    if let Some(folder) = guardrails {
        let found = guard::found(&front, folder);
        front.add(found);
    }
    let Some(policy) = &front.policy else {
        return (front, None);
    };
    match compiler::lower(policy) {
        Ok(plan) => {
            let artifact = compiler::emit(&plan);
            (front, Some(artifact))
        }
        Err(errors) => {
            let refused: Vec<Diagnostic> = errors.iter().map(|error| refused(error, &front.files)).collect();
            front.add(refused);
            (front, None)
        }
    }
}

pub(crate) fn decoded(path: &Path, bindings: &Bindings) -> anyhow::Result<Artifact> {
    if let Some(parameter) = bindings.parameters.first() {
        bail!(
            "`--param {}` is for a policy: the parameters of the artifact `{}` were bound when it was compiled",
            parameter.name,
            path.display()
        );
    }
    decode(path)
}

/// Decodes an artifact.
///
/// # Errors
/// When it cannot be read, or is none.
pub(crate) fn decode(path: &Path) -> anyhow::Result<Artifact> {
    let limit = u64::try_from(artifact::bounds::ENCODED_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    artifact::codec::decode(&bytes)
        .with_context(|| format!("`{}` is no artifact that can be used", path.display()))
}

fn refused(error: &LowerError, files: &[SourceFile]) -> Diagnostic {
    let (file, span) = place(&error.origin, files);
    Diagnostic::error(Code::NotLowered, span, error.reason.to_string()).in_file(file)
}

/// From where a rule begins to the end of that line, in its own file; a rule that is not written anywhere stands for the
/// whole policy.
pub(crate) fn place(origin: &Origin, files: &[SourceFile]) -> (FileId, Span) {
    let named = |file: &SourceFile| matches!(origin, Origin::Source { file: name, .. } if *name == file.name);
    let at = files.iter().position(named).unwrap_or_default();
    let span = files
        .get(at)
        .map_or(Span::new(0, 0), |source| rest_of_line(origin, source));
    (FileId(u16::try_from(at).unwrap_or_default()), span)
}

fn rest_of_line(origin: &Origin, source: &SourceFile) -> Span {
    let Origin::Source { line, column, .. } = origin else {
        return Span::new(0, source.text.find('\n').unwrap_or(source.text.len()));
    };
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let mut start = 0;
    for text in source.text.split_inclusive('\n').take(index(*line)) {
        start += text.len();
    }
    let text = source
        .text
        .get(start..)
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default();
    let before = text
        .char_indices()
        .nth(index(*column))
        .map_or(text.len(), |(offset, _)| offset);
    Span::new(start + before, start + text.trim_end().len().max(before))
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
pub(crate) fn home(bindings: &Bindings) -> anyhow::Result<PathBuf> {
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

/// Whether `identity user` is root here. Behind sudo it is the user who called sudo, as it is for `remit run`.
fn caller_is_root() -> bool {
    let caller = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok());
    rustix::process::getuid().is_root() && caller.is_none_or(|uid: u32| uid == 0)
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

pub(crate) fn directory(bindings: &Bindings) -> anyhow::Result<PathBuf> {
    match &bindings.directory {
        Some(directory) => std::fs::canonicalize(directory)
            .with_context(|| format!("cannot use `{}` as the working directory", directory.display())),
        None => std::env::current_dir().context("the current directory is gone"),
    }
}

pub(crate) fn text(path: PathBuf, what: &str) -> anyhow::Result<String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow::anyhow!("{what} is not UTF-8: {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(line: u32, column: u32) -> Origin {
        Origin::Source {
            file: "x".to_owned(),
            line,
            column,
        }
    }

    #[test]
    fn a_place_is_found_again_in_characters_not_bytes() {
        let source = SourceFile::new("x", "first\n  äö rule  \nlast");
        assert_eq!(source.slice(rest_of_line(&origin(2, 6), &source)), "rule");
        assert_eq!(source.slice(rest_of_line(&origin(3, 1), &source)), "last");
    }

    #[test]
    fn a_place_beyond_the_text_is_its_end() {
        let source = SourceFile::new("x", "one");
        assert_eq!(source.slice(rest_of_line(&origin(9, 9), &source)), "");
        assert_eq!(source.slice(rest_of_line(&Origin::BuiltIn, &source)), "one");
    }
}
