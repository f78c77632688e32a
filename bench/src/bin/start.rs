//! Whole-process start times, side by side: `/bin/true` bare, under bwrap, and under `remit run` with the quickstart
//! policy and events on. One round runs each once, so a noisy moment touches all three alike.
//!
//! Usage: `start [--rounds N] [--remit PATH] [--policy PATH]`, as root, on a machine with bwrap.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What `remit run` is measured against, as the project's target names it.
const BWRAP: &[&str] = &[
    "bwrap",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--unshare-all",
    "/bin/true",
];

/// Its own, so that no other build's programs are in the way.
const INSTANCE: &str = "bench-start";

struct Options {
    rounds: usize,
    remit: PathBuf,
    policy: PathBuf,
}

struct Candidate {
    name: &'static str,
    command: Vec<String>,
    times: Vec<Duration>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("start: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let options = options()?;
    let events = std::env::temp_dir().join(format!("remit-bench-{}.jsonl", std::process::id()));
    let workspace = std::env::temp_dir().join(format!("remit-bench-{}", std::process::id()));
    std::fs::create_dir_all(&workspace).map_err(|error| error.to_string())?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let remit = vec![
        text(&options.remit),
        "run".into(),
        text(&options.policy),
        "--param".into(),
        format!("workspace={}", text(&workspace)),
        "--events".into(),
        text(&events),
        "--instance".into(),
        INSTANCE.into(),
        "--".into(),
        "/bin/true".into(),
    ];
    let mut candidates = [
        candidate("bare", vec!["/bin/true".into()]),
        candidate("bwrap", BWRAP.iter().map(ToString::to_string).collect()),
        candidate("remit run", remit),
    ];
    for round in 0..options.rounds + 5 {
        for candidate in &mut candidates {
            let time = measure(&candidate.command)?;
            // The first rounds load what later ones find: page cache, pinned programs.
            if round >= 5 {
                candidate.times.push(time);
            }
        }
    }
    let _ = Command::new(&options.remit)
        .args(["unload", "--instance", INSTANCE])
        .status();
    let _ = std::fs::remove_file(&events);
    let _ = std::fs::remove_dir_all(&workspace);
    report(&mut candidates);
    Ok(())
}

fn candidate(name: &'static str, command: Vec<String>) -> Candidate {
    Candidate {
        name,
        command,
        times: Vec::new(),
    }
}

fn measure(command: &[String]) -> Result<Duration, String> {
    let (program, arguments) = command.split_first().ok_or("empty command")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{program}: {error}"))?;
    let time = start.elapsed();
    if status.success() {
        Ok(time)
    } else {
        Err(format!("{program} ended with {status}"))
    }
}

fn report(candidates: &mut [Candidate]) {
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>9} {:>14}",
        "", "min ms", "p10 ms", "median ms", "p90 ms", "ratio to bwrap"
    );
    for candidate in candidates.iter_mut() {
        candidate.times.sort_unstable();
    }
    let reference = candidates
        .iter()
        .find(|candidate| candidate.name == "bwrap")
        .map_or(1.0, |c| quantile(c, 50));
    for candidate in candidates.iter() {
        println!(
            "{:<10} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>14.2}",
            candidate.name,
            quantile(candidate, 0),
            quantile(candidate, 10),
            quantile(candidate, 50),
            quantile(candidate, 90),
            quantile(candidate, 50) / reference
        );
    }
}

/// A quantile in milliseconds; `percent` from 0 to 100.
fn quantile(candidate: &Candidate, percent: usize) -> f64 {
    let last = candidate.times.len().saturating_sub(1);
    candidate
        .times
        .get(last * percent / 100)
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        rounds: 200,
        remit: "target/release/remit".into(),
        policy: "examples/quickstart/policy.remit".into(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{argument} wants a value"))?;
        match argument.as_str() {
            "--rounds" => options.rounds = value.parse().map_err(|_| format!("{value} is no number"))?,
            "--remit" => options.remit = value.into(),
            "--policy" => options.policy = value.into(),
            other => return Err(format!("unknown option {other}")),
        }
    }
    Ok(options)
}
