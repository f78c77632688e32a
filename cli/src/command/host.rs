//! `remit recover` and `remit unload`: what is left on a host, and taking it off.

use std::io::Write as _;
use std::process::ExitCode;

use enforcer::Instance;
use serde::Serialize;

use super::run::need_root;
use crate::arguments::{Format, InstanceOnly};
use crate::render::json;

pub(super) fn recover(arguments: &InstanceOnly) -> anyhow::Result<ExitCode> {
    need_root("recover")?;
    let instance = Instance::new(&arguments.instance.name)?;
    let finished = match enforcer::recover(&instance)? {
        0 => "there was no dead run".to_owned(),
        1 => "one dead run was finished".to_owned(),
        more => format!("{more} dead runs were finished"),
    };
    report(arguments, "recovered", &finished)
}

pub(super) fn unload(arguments: &InstanceOnly) -> anyhow::Result<ExitCode> {
    need_root("unload")?;
    let instance = Instance::new(&arguments.instance.name)?;
    enforcer::unload(&instance)?;
    report(arguments, "unloaded", "nothing of it is left on this host")
}

#[derive(Debug, Serialize)]
struct Done<'a> {
    instance: &'a str,
    done: &'static str,
}

fn report(arguments: &InstanceOnly, done: &'static str, sentence: &str) -> anyhow::Result<ExitCode> {
    let instance = &arguments.instance.name;
    match arguments.format {
        Format::Json => json::print(&Done { instance, done })?,
        Format::Text => writeln!(std::io::stdout().lock(), "instance {instance}: {sentence}")?,
    }
    Ok(ExitCode::SUCCESS)
}
