//! The program inside the run: reads what to try, tries each thing in a process of its own, says what came of it.
//!
//! It is this very binary, started again. Its plan comes on standard input as one line of JSON, its answers go to
//! standard output, one line each. Between two things it waits, so that what is recorded can be told apart by its time.

mod perform;

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::LinkNameSpaceType;
use serde::{Deserialize, Serialize};

use crate::operation::{Operation, Outcome};
use crate::sys;

/// Its first argument; the second is a word by which its processes are found.
pub const FLAG: &str = "--verify-probe";
/// The first argument of the set-user-ID program.
pub const WHO_FLAG: &str = "--verify-who";

/// System calls without which it does not start, try anything or answer.
pub const NEEDED: [&str; 36] = [
    "arch_prctl",
    "brk",
    "clock_nanosleep",
    "clone",
    "close",
    "execve",
    "exit_group",
    "fstat",
    "futex",
    "getegid",
    "geteuid",
    "getgid",
    "getpid",
    "getrandom",
    "getuid",
    "kill",
    "mmap",
    "mprotect",
    "munmap",
    "mremap",
    "poll",
    "prctl",
    "prlimit64",
    "read",
    "readlink",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "set_robust_list",
    "set_tid_address",
    "sigaltstack",
    "statx",
    "unlink",
    "wait4",
    "write",
];

/// Before each thing, in a run.
const PAUSE: Duration = Duration::from_millis(16);
const PATIENCE: Duration = Duration::from_secs(3);

/// What it is told.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Task {
    /// Enter this network namespace first. Only outside of a run.
    pub network: Option<String>,
    /// Become this user and group. Only outside of a run.
    pub user: Option<(u32, u32)>,
    /// What to try, in this order.
    pub operations: Vec<Operation>,
}

/// What it says, a line each.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// One operation.
    Tried(Tried),
    /// All of them; it waits for the end of its input.
    Finished,
    /// It cannot go on.
    Failed(String),
}

/// One operation.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Tried {
    /// Which.
    pub index: usize,
    /// What came of it.
    pub outcome: Outcome,
    /// Microseconds since 1970.
    pub begun: u64,
    /// The same, when it had ended.
    pub ended: u64,
}

pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&Answer::Failed(error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// The set-user-ID program: 0 when it became somebody else.
pub(crate) fn who() -> ExitCode {
    let changed = rustix::process::geteuid() != rustix::process::getuid();
    if changed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(u8::try_from(libc::EPERM).unwrap_or(1))
    }
}

fn run() -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let task: Task = serde_json::from_str(&line)?;
    if let Some(network) = &task.network {
        let namespace = std::fs::File::open(network)?;
        rustix::thread::move_into_link_name_space(
            std::os::fd::AsFd::as_fd(&namespace),
            Some(LinkNameSpaceType::Network),
        )?;
    }
    if let Some((uid, gid)) = task.user {
        sys::become_user(uid, gid)?;
    }
    for (index, operation) in task.operations.iter().enumerate() {
        std::thread::sleep(PAUSE);
        let begun = now();
        let child = sys::fork(|| perform::perform(operation))?;
        let outcome = wait(child, operation);
        say(&Answer::Tried(Tried {
            index,
            outcome,
            begun,
            ended: now(),
        }));
    }
    say(&Answer::Finished);
    // Whoever asked looks around while this is alive.
    line.clear();
    input.read_line(&mut line)?;
    Ok(())
}

/// What the child's end says.
fn wait(child: i32, operation: &Operation) -> Outcome {
    let Some(pid) = Pid::from_raw(child) else {
        return Outcome::Silent;
    };
    let end = Instant::now() + PATIENCE;
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(0), _) => Outcome::Done,
                    (Some(code), _) => Outcome::Errno(code),
                    // It was let start, and had no room to.
                    (None, Some(libc::SIGSEGV | libc::SIGKILL))
                        if matches!(operation, Operation::Execute { .. }) =>
                    {
                        Outcome::Done
                    }
                    (None, Some(signal)) => Outcome::Killed(signal),
                    (None, None) => Outcome::Silent,
                };
            }
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_micros(200)),
            _ => {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
                return Outcome::Silent;
            }
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn say(answer: &Answer) {
    let mut output = std::io::stdout().lock();
    let line = serde_json::to_string(answer).unwrap_or_default();
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}
