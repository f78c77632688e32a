//! An event of a recording as a question.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use anyhow::{Context as _, anyhow, bail};
use compiler::why::event;
use compiler::why::query;
use policy_lang::host::HostPaths;
use policy_lang::reference::Access;
use policy_lang::syscall::table;

use super::Asked;
use crate::arguments::{EventPosition, Why};

/// No event is longer; a line that is would only fill memory.
const MAX_LINE_BYTES: u64 = 1024 * 1024;

pub(super) fn asked(position: &EventPosition, arguments: &Why) -> anyhow::Result<Asked> {
    let line = find(position, arguments.run.as_deref())?;
    let mut recorded = event::read(&line)
        .with_context(|| format!("cannot answer for {}:{}", position.file.display(), position.seq))?;
    if !arguments.arguments.is_empty() {
        recorded.accesses = recorded
            .accesses
            .iter()
            .map(|access| with_arguments(access, &arguments.arguments))
            .collect::<anyhow::Result<_>>()?;
    }
    let mut notes = Vec::new();
    if recorded.arguments_matter && arguments.arguments.is_empty() {
        notes.push(
            "several rules speak of this call's arguments, and the kernel does not record those: this is the answer \
             for zeros. Give them with `--argument name=value`"
                .to_owned(),
        );
    }
    Ok(Asked {
        accesses: recorded.accesses.clone(),
        notes,
        event: Some(recorded),
    })
}

/// The call with arguments in place of zeros.
fn with_arguments(access: &Access, arguments: &[String]) -> anyhow::Result<Access> {
    let Access::Syscall {
        architecture, number, ..
    } = access
    else {
        bail!("`--argument` is for a recorded system call, and this is `{access}`");
    };
    let name = table::name(*number, *architecture).ok_or_else(|| anyhow!("the call has no name"))?;
    let mut words = vec!["syscall".to_owned(), name.to_owned()];
    words.extend(arguments.iter().cloned());
    let query = query::parse(
        &words,
        &query::Surroundings {
            home: "/",
            working_directory: "/",
            paths: &HostPaths,
            architecture: *architecture,
        },
    )?;
    Ok(query.access)
}

/// The line of an event. Where several runs have one of that number, the run has to be said.
fn find(position: &EventPosition, run: Option<&str>) -> anyhow::Result<String> {
    let EventPosition { file, seq } = position;
    let opened = File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut reader = BufReader::new(opened);
    let mut found: Option<(String, String)> = None;
    for number in 1_u64.. {
        let mut line = String::new();
        let read = reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line);
        let at = || format!("line {number} of `{}`", file.display());
        if read.with_context(at)? == 0 {
            break;
        }
        let (of_run, number) = event::position(&line).with_context(at)?;
        if number != *seq || run.is_some_and(|run| run != of_run) {
            continue;
        }
        if let Some((other, _)) = &found {
            bail!(
                "`{}` has an event {seq} of several runs; say which with `--run {other}` or `--run {of_run}`",
                file.display()
            );
        }
        found = Some((of_run, line));
    }
    match (found, run) {
        (Some((_, line)), _) => Ok(line),
        (None, Some(run)) => bail!("`{}` has no event {seq} of the run {run}", file.display()),
        (None, None) => bail!("`{}` has no event {seq}", file.display()),
    }
}
