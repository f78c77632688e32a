//! Runs with a prober inside, and probers beside them.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::events::Recorded;
use super::{Stage, VARIABLE, VerifyError, World, host};
use crate::operation::{Operation, Outcome};
use crate::prober::{Answer, FLAG, Task, Tried};
use crate::sys;
use artifact::Artifact;
use rustix::process::{Pid, Signal};

/// One answer takes less; the first has to wait for a policy to be compiled and programs to be loaded.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came back.
#[derive(Debug, Clone, Default)]
pub struct Ran {
    /// One for each operation, in their order.
    pub tried: Vec<Option<Tried>>,
    /// Refusals on record.
    pub refusals: Vec<Recorded>,
    /// User and group of the run.
    pub user: Option<(u32, u32)>,
    /// What was left behind was alive at the end of the prober, and after it.
    pub daemon: Option<(bool, bool)>,
}

/// Another run, alive as long as this is.
#[derive(Debug)]
pub struct Neighbour {
    /// Its prober, as the host numbers it.
    pub pid: i32,
    _talk: Talk,
}

impl Stage {
    /// A world with listeners.
    ///
    /// # Errors
    /// When the kernel does not let one be made.
    pub fn world(&self, ports: &crate::world::Ports) -> Result<World, VerifyError> {
        World::new(&self.program, ports)
    }

    /// Starts another run with a workspace of its own.
    ///
    /// # Errors
    /// When it does not start.
    pub fn neighbour(&self, artifact: &Artifact, world: &World) -> Result<Neighbour, VerifyError> {
        let (mut talk, token, _) = self.start(artifact, world)?;
        talk.ask(&Task::default(), 0)?;
        let pid = processes(&token).into_iter().next();
        let pid = pid.ok_or_else(|| talk.failure("another run", "its process is not found"))?;
        Ok(Neighbour { pid, _talk: talk })
    }

    /// Tries operations in a run.
    ///
    /// # Errors
    /// When the run does not start, or ends before it should.
    pub fn inside(
        &self,
        artifact: &Artifact,
        world: &World,
        operations: &[Operation],
    ) -> Result<Ran, VerifyError> {
        let (mut talk, token, events) = self.start(artifact, world)?;
        let task = Task {
            operations: operations.to_vec(),
            ..Task::default()
        };
        let tried = talk.ask(&task, operations.len())?;
        let alive = processes(&token).len() > 1;
        talk.finish()?;
        let still = !processes(&token).is_empty();
        let mut ran = super::events::read(&events).map_err(host("read the run's events"))?;
        ran.tried = tried;
        ran.daemon = operations.contains(&Operation::Daemon).then_some((alive, still));
        Ok(ran)
    }

    /// Tries operations outside of a run, but in the same network.
    ///
    /// # Errors
    /// When the prober does not start.
    pub fn outside(
        &self,
        world: &World,
        user: Option<(u32, u32)>,
        operations: &[Operation],
    ) -> Result<Ran, VerifyError> {
        let token = self.next_token();
        let mut command = Command::new(&self.program);
        command.args([FLAG, &token]).current_dir("/");
        let mut talk = self.talk(command, "a prober outside of a run")?;
        let task = Task {
            network: Some(world.namespace()),
            user,
            operations: operations.to_vec(),
        };
        let tried = talk.ask(&task, operations.len())?;
        let alive = processes(&token).len() > 1;
        talk.finish()?;
        let still = !processes(&token).is_empty();
        end_all(&token);
        Ok(Ran {
            tried,
            daemon: operations.contains(&Operation::Daemon).then_some((alive, still)),
            ..Ran::default()
        })
    }

    fn next_token(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        format!("{}-{}", self.token, NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn start(&self, artifact: &Artifact, world: &World) -> Result<(Talk, String, PathBuf), VerifyError> {
        let token = self.next_token();
        let file = |suffix: &str| self.private().join(format!("{token}.{suffix}"));
        let (policy, events) = (file("ron"), file("jsonl"));
        let text =
            artifact::codec::encode(artifact).map_err(|error| VerifyError::Compile(error.to_string()))?;
        fs::write(&policy, text).map_err(host("write an artifact"))?;
        let mut command = Command::new(&self.program);
        command
            .arg("run")
            .arg(&policy)
            .args([
                "--quiet",
                "--color",
                "never",
                "--instance",
                self.instance.name(),
                "--events",
            ])
            .arg(&events)
            .args(["--network-namespace", &world.namespace(), "-C"])
            .arg(&self.working_directory)
            .arg("--")
            .arg(&self.program)
            .args([FLAG, &token]);
        Ok((self.talk(command, "a run")?, token, events))
    }

    fn talk(&self, mut command: Command, what: &'static str) -> Result<Talk, VerifyError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let errors = self
            .private()
            .join(format!("{}.stderr", NEXT.fetch_add(1, Ordering::Relaxed)));
        let stderr = File::create(&errors).map_err(host("keep what a run says"))?;
        let mut child = command
            .envs(self.variables.iter().map(|name| (name, &self.token)))
            .env(VARIABLE, &self.token)
            .env_remove("REMIT_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .map_err(host(format!("start {what}")))?;
        let (sender, answers) = channel();
        if let Some(output) = child.stdout.take() {
            // Ends when the other end is closed.
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Talk {
            input: child.stdin.take(),
            child,
            answers,
            errors,
            what,
        })
    }
}

/// A prober at work.
#[derive(Debug)]
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    errors: PathBuf,
    what: &'static str,
}

impl Talk {
    /// Gives it its task and takes the answers.
    fn ask(&mut self, task: &Task, count: usize) -> Result<Vec<Option<Tried>>, VerifyError> {
        let mut tried = vec![None; count];
        if let Some(input) = &mut self.input {
            let told = serde_json::to_string(task)
                .map_err(std::io::Error::other)
                .and_then(|text| writeln!(input, "{text}"));
            // One that did not start says why on its standard error.
            let _ = told;
        }
        loop {
            let line = self.next_line()?;
            match serde_json::from_str(&line) {
                Ok(Answer::Tried(one)) => {
                    if let Some(place) = tried.get_mut(one.index) {
                        *place = Some(one);
                    }
                }
                Ok(Answer::Finished) => return Ok(tried),
                Ok(Answer::Failed(said)) => return Err(self.failure(self.what, &said)),
                // Something that was started in the run, and wrote to its output.
                Err(_) => {}
            }
        }
    }

    fn next_line(&mut self) -> Result<String, VerifyError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.answers.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) if sys::interrupted() => return Err(VerifyError::Interrupted),
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.failure(self.what, "no answer in time")),
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = self.child.wait();
                    return Err(self.failure(self.what, "it ended before it had tried everything"));
                }
            }
        }
    }

    /// Lets it end, and waits for that.
    fn finish(&mut self) -> Result<(), VerifyError> {
        self.input = None;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Ok(Some(status)) = self.child.try_wait() {
                return match status.code() {
                    Some(0) => Ok(()),
                    _ => Err(self.failure(self.what, &format!("it ended with {status}"))),
                };
            }
            if sys::interrupted() {
                return Err(VerifyError::Interrupted);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(self.failure(self.what, "it does not end"))
    }

    fn failure(&self, what: &str, said: &str) -> VerifyError {
        let errors = fs::read_to_string(&self.errors).unwrap_or_default();
        let errors = errors.trim();
        VerifyError::Run {
            what: what.to_owned(),
            said: if errors.is_empty() {
                said.to_owned()
            } else {
                format!("{said}\n{errors}")
            },
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.input = None;
        // The run ends with its prober, and its supervisor leaves nothing behind when it may finish.
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Probers with this word, or one that begins with it.
fn processes(token: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for name in super::names(Path::new("/proc")) {
        let Ok(pid) = name.parse::<i32>() else { continue };
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).skip(1);
        let is = |word: Option<&[u8]>, what: &str| word == Some(what.as_bytes());
        let whole_or_begun = |word: Option<&[u8]>| {
            word.and_then(|word| word.strip_prefix(token.as_bytes()))
                .is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'-'))
        };
        if is(words.next(), FLAG) && whole_or_begun(words.next()) {
            found.push(pid);
        }
    }
    found
}

/// Kills what is left of probers.
pub(super) fn end_all(token: &str) {
    for pid in processes(token).into_iter().filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// What was on record while one operation was tried. The kernel's stamps are up to a tick early.
#[must_use]
pub fn during(ran: &Ran, tried: &Tried) -> Vec<Recorded> {
    const EARLY: u64 = 12_000;
    const LATE: u64 = 1_500;
    let span = tried.begun.saturating_sub(EARLY)..=tried.ended + LATE;
    ran.refusals
        .iter()
        .filter(|refusal| span.contains(&refusal.time))
        .cloned()
        .collect()
}

/// What an operation came to, what was left behind counted as its outcome.
#[must_use]
pub fn outcome(ran: &Ran, operation: &Operation, tried: &Tried) -> Outcome {
    match (operation, ran.daemon, tried.outcome) {
        (Operation::Daemon, Some((true, false)), Outcome::Done) => Outcome::Killed(libc::SIGKILL),
        (Operation::Daemon, Some((true, true)), Outcome::Done) => Outcome::Done,
        (Operation::Daemon, _, Outcome::Done) => Outcome::Silent,
        (_, _, outcome) => outcome,
    }
}
