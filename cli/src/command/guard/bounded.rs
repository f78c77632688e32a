//! Rego in a process of its own, under limits that the kernel keeps.
//!
//! The interpreter looks at the clock between steps, but one step can take all memory there is, and a deep recursion ends a
//! process. So this binary starts itself once more, with nothing but the job on its input; whatever becomes of it, the
//! answer is a judgement or an error.

use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use compiler::guardrails::{Answer, Job};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Address space of the evaluation.
const MEMORY_BYTES: u64 = 512 << 20;
/// Time on a CPU: what counts the work. The kernel ends the process.
const CPU_SECONDS: u64 = 5;
/// Time that the interpreter takes on the wall: more, so that a busy machine refuses nothing.
const TIME: Duration = Duration::from_secs(15);
/// Time on the wall, for a machine that gives it no CPU.
const PATIENCE: Duration = Duration::from_secs(30);
/// A job, and an answer.
const MESSAGE_BYTES: u64 = 64 << 20;

/// Has a job done.
///
/// # Errors
/// When it is not done: the process was ended by a limit, or by its own fault.
pub(super) fn ask(job: &Job) -> anyhow::Result<Answer> {
    let text = serde_json::to_vec(job).context("the job cannot be written")?;
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["guard", "worker"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut worker = Worker(command.spawn().context("cannot start the evaluation")?);
    let (Some(mut input), Some(output)) = (worker.0.stdin.take(), worker.0.stdout.take()) else {
        bail!("the evaluation has no input and no output");
    };
    // A process that was ended reads no more; that shows in its answer.
    let writer = std::thread::spawn(move || input.write_all(&text));
    let reader = std::thread::spawn(move || {
        let mut answer = Vec::new();
        output
            .take(MESSAGE_BYTES)
            .read_to_end(&mut answer)
            .map(|_| answer)
    });
    let status = worker.wait()?;
    let _ = writer.join();
    let answer = reader.join();
    if !status.success() {
        bail!(
            "the evaluation took more than {CPU_SECONDS} s of the CPU or {} MiB of memory, or failed ({status})",
            MEMORY_BYTES >> 20
        );
    }
    let Ok(Ok(answer)) = answer else {
        bail!("the answer of the evaluation cannot be read");
    };
    serde_json::from_slice(&answer).context("the evaluation gives no answer")
}

/// A child that does not outlive this.
struct Worker(Child);

impl Worker {
    fn wait(&mut self) -> anyhow::Result<std::process::ExitStatus> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.0.try_wait().context("the evaluation is lost")? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                bail!("the evaluation did not end within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The other side: limits first, then the job.
pub(super) fn worker() -> anyhow::Result<ExitCode> {
    let both = |value| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    for (resource, value) in [
        (Resource::As, MEMORY_BYTES),
        (Resource::Cpu, CPU_SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nofile, 16),
    ] {
        setrlimit(resource, both(value)).context("cannot limit the evaluation")?;
    }
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(MESSAGE_BYTES)
        .read_to_end(&mut text)?;
    let job: Job = serde_json::from_slice(&text).context("no job")?;
    let answer = serde_json::to_vec(&compiler::guardrails::work(&job, TIME))?;
    std::io::stdout().lock().write_all(&answer)?;
    Ok(ExitCode::SUCCESS)
}
