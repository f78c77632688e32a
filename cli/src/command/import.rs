//! `remit import`: what other tools call a policy, as one of Remit's.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use import::{Imported, LeftKind, Options, Relax};
use serde::Serialize;

use crate::arguments::{ColorChoice, Format, Import, ImportFormat, RelaxWhat};
use crate::command::compile::replace;
use crate::render::{Style, Surface, json};

/// The longest source that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn run(arguments: &Import, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let text = source(arguments)?;
    let imported = import::import(format(arguments.from), &text, &options(arguments))?;
    match (&arguments.output, arguments.format) {
        (Some(path), _) if path != Path::new("-") => {
            replace(path, imported.policy.as_bytes())
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            if arguments.format == Format::Json {
                json::print(&document(&imported))?;
            }
        }
        (_, Format::Json) => json::print(&document(&imported))?,
        (_, Format::Text) => std::io::stdout().lock().write_all(imported.policy.as_bytes())?,
    }
    if arguments.format == Format::Text {
        let drawn = left(&imported, Surface::stderr(color));
        std::io::stderr().lock().write_all(drawn.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn source(arguments: &Import) -> anyhow::Result<String> {
    if !arguments.line.is_empty() {
        if arguments.from != ImportFormat::Docker || arguments.source.is_some() {
            bail!("words after `--` are a `docker run` line: write `remit import docker -- docker run …`");
        }
        let words: Option<Vec<&str>> = arguments.line.iter().map(|word| word.to_str()).collect();
        let words = words.context("the line is not UTF-8")?;
        return shlex::try_join(words).context("the line has a NUL in it");
    }
    let Some(path) = &arguments.source else {
        bail!("name the file to import, or `-` for stdin");
    };
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read `{}`", path.display()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        bail!("`{}` has more than {MAX_BYTES} bytes", path.display());
    }
    String::from_utf8(bytes).with_context(|| format!("`{}` is not UTF-8 text", path.display()))
}

fn format(from: ImportFormat) -> import::Format {
    match from {
        ImportFormat::Srt => import::Format::Srt,
        ImportFormat::Codex => import::Format::Codex,
        ImportFormat::Nono => import::Format::Nono,
        ImportFormat::Openshell => import::Format::OpenShell,
        ImportFormat::Docker => import::Format::Docker,
        ImportFormat::Oci => import::Format::Oci,
    }
}

fn options(arguments: &Import) -> Options {
    let relaxes = |what| arguments.relax.contains(&what);
    Options {
        name: arguments.name.clone(),
        profile: arguments.profile.clone(),
        relax: Relax {
            binaries: relaxes(RelaxWhat::Binaries),
            requests: relaxes(RelaxWhat::Requests),
            unknown: relaxes(RelaxWhat::Unknown),
        },
    }
}

#[derive(Serialize)]
struct Document<'a> {
    policy: &'a str,
    left: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    place: &'a str,
    kind: &'static str,
    why: &'a str,
}

fn document(imported: &Imported) -> Document<'_> {
    let left = imported.left.iter().map(|left| Line {
        place: &left.place,
        kind: left.kind.word(),
        why: &left.why,
    });
    Document {
        policy: &imported.policy,
        left: left.collect(),
    }
}

/// What is not as it was, for a person.
fn left(imported: &Imported, surface: Surface) -> String {
    let mut drawn = String::new();
    for left in &imported.left {
        let style = match left.kind {
            LeftKind::Wider => Style::Bad,
            LeftKind::Narrower => Style::Doubtful,
            LeftKind::Note => Style::Faint,
        };
        let place = if left.place.is_empty() {
            "the whole"
        } else {
            &left.place
        };
        let kind = surface.paint(style, left.kind.word());
        let _ = writeln!(drawn, "{kind}: {}: {}", printable(place), printable(&left.why));
    }
    drawn
}

/// Text of a source on one line, without what would move the cursor.
fn printable(text: &str) -> String {
    text.chars()
        .map(|next| {
            if next.is_control() || policy_lang::source::misleads(next) {
                char::REPLACEMENT_CHARACTER
            } else {
                next
            }
        })
        .collect()
}
