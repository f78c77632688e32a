//! `remit diff`: what a policy allows that another one does not, with an access that shows it.

mod markdown;
mod report;
mod text;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use compiler::difference::{beyond, difference};
use policy_lang::ast::Item;
use policy_lang::inclusion::Proof;

use crate::arguments::{Bindings, ColorChoice, Diff, DiffFormat};
use crate::command::guard;
use crate::exit;
use crate::input::{self, Front};
use crate::render::{Surface, diagnostic, json};

use report::Report;

pub(super) fn run(arguments: &Diff, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let (old, new) = match (&arguments.ceiling, &arguments.new) {
        (Some(ceiling), _) => (ceiling, &arguments.old),
        (None, Some(new)) => (&arguments.old, new),
        (None, None) => bail!("two policies are compared, and one was given"),
    };
    let bindings = bindings([old, new], &arguments.bindings)?;
    let [old_bindings, new_bindings] = &bindings;
    let stderr = Surface::stderr(color);
    let (old, new) = (read(old, old_bindings, stderr)?, read(new, new_bindings, stderr)?);
    let (Some(before), Some(after)) = (&old.policy, &new.policy) else {
        bail!("what has errors has no meaning that could be compared");
    };
    let found = match &arguments.ceiling {
        Some(_) => beyond(after, before),
        None => difference(before, after),
    };
    let mut report = Report::new(
        &found,
        [&old.source().name, &new.source().name],
        [before, after],
        arguments,
    );
    if let Some(folder) = &arguments.guard.guardrails {
        report.guardrails = guard::findings(after, Some((&found, before)), &new.home, folder)
            .with_context(|| format!("the guardrails in `{}` give no judgement", folder.display()))?;
        report.ok &= !report.is_refused();
    }
    match arguments.format {
        DiffFormat::Text => {
            let text = text::draw(&report, Surface::stdout(color));
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        DiffFormat::Markdown => {
            std::io::stdout()
                .lock()
                .write_all(markdown::draw(&report).as_bytes())?;
        }
        DiffFormat::Json => json::print(&report)?,
    }
    Ok(match found.at_least_as_strict() {
        _ if report.is_refused() => ExitCode::from(exit::FAILED),
        Proof::Holds => ExitCode::SUCCESS,
        Proof::Fails => ExitCode::from(exit::FAILED),
        Proof::Undecided => ExitCode::from(exit::NO_ANSWER),
    })
}

/// Reads a policy. What is wrong with it is drawn; warnings are `remit check`'s to give.
fn read(path: &Path, bindings: &Bindings, stderr: Surface) -> anyhow::Result<Front> {
    let front = input::front(path, bindings)?;
    if front.policy.is_none() {
        let drawn = diagnostic::draw(&front.files, &front.diagnostics, stderr);
        std::io::stderr().lock().write_all(drawn.as_bytes())?;
    }
    Ok(front)
}

/// Parameters bind where they are declared: one policy may have some that the other has not.
fn bindings(paths: [&Path; 2], given: &Bindings) -> anyhow::Result<[Bindings; 2]> {
    let [old, new] = paths;
    let declared = [declared(old)?, declared(new)?];
    for parameter in &given.parameters {
        if !declared.iter().any(|names| names.contains(&parameter.name)) {
            bail!(
                "`--param {}` is declared by neither `{}` nor `{}`",
                parameter.name,
                old.display(),
                new.display()
            );
        }
    }
    Ok(declared.map(|names| {
        let mut own = given.clone();
        own.parameters.retain(|parameter| names.contains(&parameter.name));
        own
    }))
}

fn declared(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    if path.extension().is_some_and(|extension| extension == "ron") {
        bail!(
            "`{}` is an artifact; policies are compared, since an artifact no longer says what a rule meant",
            path.display()
        );
    }
    let source =
        policy_lang::host::load(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let items = policy_lang::parse(&source)
        .ast
        .and_then(|ast| ast.policy)
        .map(|policy| policy.items);
    let names = items.into_iter().flatten().filter_map(|item| match item {
        Item::Param(param) => Some(param.name.text),
        _ => None,
    });
    Ok(names.collect())
}
