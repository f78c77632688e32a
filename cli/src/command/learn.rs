//! `remit learn`: run a command within what is known to be needed, learn from what it is refused, and try again.
//!
//! Every round is an ordinary run of an ordinary policy beneath a ceiling; nothing is ever observed by letting it happen.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};
use compiler::learn::{Learner, Left, Refusal, Surroundings};
use policy_lang::policy::{Effect, LayerId, Policy};
use policy_lang::reference::decide_in;

use crate::arguments::{ColorChoice, Learn};
use crate::exit;
use crate::input;
use crate::render::{Style, Surface};

mod candidate;
mod ceiling;
mod refusals;

use candidate::{Base, Candidate};

pub(super) fn run(arguments: &Learn, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let stderr = Surface::stderr(color);
    if arguments.show_ceiling {
        let given = &arguments.bindings;
        let home = input::text(input::home(given)?, "the home directory")?;
        let here = input::text(input::directory(given)?, "the working directory")?;
        let text = ceiling::default(&home, &here);
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.command.is_empty() {
        bail!("name the command after `--`: `remit learn -- make`");
    }
    let folder = tempfile::tempdir().context("cannot make a folder for the rounds")?;
    let base = Base::new(arguments, folder.path())?;
    let mut learner = Learner::new(Surroundings {
        home: base.home.clone(),
        working_directory: base.working_directory.clone(),
    });
    let mut last = None;
    for round in 1..=arguments.rounds {
        let candidate = base.settle(&mut learner, folder.path(), stderr)?;
        let events = folder.path().join(format!("{round}.jsonl"));
        let code = attempt(arguments, &candidate, &events, folder.path())?;
        let seen = refusals::read(&events)?;
        let mut news = 0_usize;
        let count = seen.learnable.len() + seen.other.len();
        for refusal in seen.learnable {
            match refused_for_good(&candidate.policy, &refusal, seen.forbidden.contains(&refusal)) {
                Some(why) => learner.leave(refusal, why),
                None => news += usize::from(learner.observe(refusal)),
            }
        }
        eprintln!("round {round}: exit code {code}, {count} refusals, {news} of them new and answered");
        last = Some((code, seen.other));
        if news == 0 {
            break;
        }
    }
    let candidate = base.settle(&mut learner, folder.path(), stderr)?;
    let policy = base.finished(&candidate)?;
    match &arguments.output {
        Some(path) if path != Path::new("-") => super::compile::replace(path, policy.as_bytes())
            .with_context(|| format!("cannot write `{}`", path.display()))?,
        _ => std::io::stdout().lock().write_all(policy.as_bytes())?,
    }
    let (code, other) = last.unwrap_or_default();
    report(learner.left(), &other, stderr)?;
    if code != 0 {
        eprintln!(
            "the command still ends with exit code {code}; the policy allows what it asked for and may be allowed"
        );
    }
    Ok(if code == 0 {
        ExitCode::SUCCESS
    } else {
        exit::FAILED.into()
    })
}

/// One run, as anybody would start it. Its events are all that is looked at.
fn attempt(arguments: &Learn, candidate: &Candidate, events: &Path, folder: &Path) -> anyhow::Result<i32> {
    let artifact = folder.join("candidate.ron");
    let text =
        artifact::codec::encode(&candidate.artifact).context("the policy is too large to be an artifact")?;
    std::fs::write(&artifact, text)?;
    let mut run = Command::new(std::env::current_exe().context("cannot find this program")?);
    run.arg("run")
        .arg(&artifact)
        .arg("--quiet")
        .arg("--events")
        .arg(events);
    run.args(["--instance", &arguments.instance.name])
        .arg("--")
        .args(&arguments.command);
    let status = run.status().context("cannot start a run")?;
    let code = status.code().unwrap_or(i32::from(exit::RUN_FAILED));
    if code == i32::from(exit::RUN_FAILED) && refusals::never_started(events)? {
        bail!("the run was not started; what Remit said above says why");
    }
    Ok(code)
}

/// What no rule of the policy can allow: a ceiling refuses it, or something is forbidden.
fn refused_for_good(policy: &Policy, refusal: &Refusal, forbidden: bool) -> Option<String> {
    let said = |layer: LayerId| {
        let decision = decide_in(layer, policy, &refusals::access(refusal)?);
        let rule = policy.rule(decision.rule)?;
        Some((decision.effect, rule.text.clone(), rule.origin.clone()))
    };
    for layer in (0..).map(LayerId).take(policy.layers.len()) {
        let Some((effect, text, origin)) = said(layer) else {
            continue;
        };
        let ceiling = layer != LayerId::INNERMOST;
        if effect == Effect::Forbid || (ceiling && effect != Effect::Allow) {
            let name = policy
                .layers
                .get(usize::from(layer.0))
                .filter(|_| ceiling)
                .map(|layer| format!("the ceiling \"{}\": ", layer.name))
                .unwrap_or_default();
            return Some(format!("refused by {name}{text} ({})", candidate::shown(&origin)));
        }
    }
    forbidden.then(|| "the built-in floor forbids it".to_owned())
}

fn report(left: &[Left], other: &[String], surface: Surface) -> anyhow::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for left in left {
        let word = surface.paint(Style::Doubtful, "not proposed");
        writeln!(stderr, "{word}: {}: {}", refusals::shown(&left.refusal), left.why)?;
    }
    for other in other {
        let word = surface.paint(Style::Doubtful, "not proposed");
        writeln!(stderr, "{word}: {other}")?;
    }
    Ok(())
}
