//! One test's own piece of the host: a folder, an instance, and proof that nothing of it is left.
#![allow(
    dead_code,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests; each binary uses a part"
)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use enforcer::Capabilities;
use enforcer::capabilities::Capability;
use serde_json::Value;

use crate::remit::{self, Outcome};

/// Says why a test cannot run here. Where everything is expected to run that is a failure.
pub(crate) fn skipped(reason: &str) {
    assert!(
        std::env::var_os("REMIT_EXPECT_ALL").is_none(),
        "nothing may be skipped on this host, but: {reason}"
    );
    println!("skipped: {reason}");
}

/// A host for the test, or a reason why it cannot run on this one, which has been printed.
pub(crate) fn host(name: &str, needed: &[Capability]) -> Option<Host> {
    let capabilities: Capabilities = enforcer::capabilities::probe();
    let every_run = [
        Capability::Privileges,
        Capability::Landlock,
        Capability::CgroupBpf,
        Capability::Audit,
    ];
    let missing = every_run
        .iter()
        .chain(needed)
        .find_map(|one| capabilities.require(*one).err());
    match missing {
        Some(reason) => {
            skipped(&reason);
            None
        }
        None => Some(Host::new(name)),
    }
}

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Removed with everything the test left in it.
pub(crate) struct Host {
    folder: tempfile::TempDir,
    instance: String,
}

impl Host {
    fn new(name: &str) -> Self {
        let folder = remit::folder();
        set_mode(folder.path(), 0o755);
        let host = Self {
            instance: format!(
                "t{}-{}",
                std::process::id(),
                COUNT.fetch_add(1, Ordering::Relaxed)
            ),
            folder,
        };
        fs::create_dir(host.work()).expect(name);
        host
    }

    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// What the policies of the tests grant.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Beside it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file below the workspace, with its directories.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(&path, text).expect("a file");
        path
    }

    /// A policy that starts the system's programs and reads and writes the workspace, and these statements.
    pub(crate) fn policy(&self, filesystem: &str, rest: &str) -> PathBuf {
        self.policy_of(
            &format!("allow read, write \"{}\"\n{filesystem}", self.work().display()),
            rest,
        )
    }

    /// The same without the workspace. `rest` replaces the process block where it has one.
    pub(crate) fn policy_of(&self, filesystem: &str, rest: &str) -> PathBuf {
        let process = if rest.contains("process {") {
            ""
        } else {
            "process { allow syscall @system-service }"
        };
        let text = format!(
            r#"policy "test" {{
                filesystem {{
                    allow read, execute "/usr", "/bin", "/lib"
                    allow read, execute "/lib64" if present
                    allow read "/etc/ld.so.cache", "/proc"
                    allow read, write "/dev/null", "/dev/tty"
                    allow read "/dev/urandom"
                    {filesystem}
                }}
                credentials {{ pass "PATH" }}
                {process}
                {rest}
            }}"#
        );
        let path = self.beside("policy.remit");
        fs::write(&path, text).expect("a policy");
        path
    }

    /// `remit run` in the workspace, for this command.
    pub(crate) fn remit_run<S: AsRef<OsStr>>(&self, policy: &Path, command: &[S]) -> Command {
        let mut remit = remit::remit();
        remit
            .current_dir(self.work())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        remit
            .args(["run", "--instance", &self.instance, "--events"])
            .arg(self.events_file());
        remit.arg(policy).arg("--").args(command);
        remit
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, policy: &Path, command: &[S]) -> Outcome {
        let _ = fs::remove_file(self.events_file());
        remit::output(self.remit_run(policy, command).stdin(Stdio::null()))
    }

    /// A shell script in the run.
    pub(crate) fn sh(&self, policy: &Path, script: &str) -> Outcome {
        self.run(policy, &["/bin/sh", "-c", script])
    }

    /// Starts a run and comes back at once.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, policy: &Path, command: &[S]) -> Running {
        let mut command = self.remit_run(policy, command);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Running(command.spawn().expect("remit starts"))
    }

    fn events_file(&self) -> PathBuf {
        self.beside("events.jsonl")
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.events_file()).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("an event"))
            .collect()
    }

    /// Asserts that an access to `path` was refused and recorded with a rule that contains `rule`.
    pub(crate) fn assert_recorded(&self, path: &Path, rule: &str) {
        let path = path.to_str().expect("UTF-8");
        let events = self.events();
        let found = events.iter().any(|event| {
            event["details"]["path"] == path
                && matches!(event["effect"].as_str(), Some("deny" | "forbid"))
                && event["rule"]["text"]
                    .as_str()
                    .is_some_and(|text| text.contains(rule))
        });
        let refusals: Vec<String> = events
            .iter()
            .filter(|e| !e["effect"].is_null())
            .map(ToString::to_string)
            .collect();
        assert!(
            found,
            "no refusal of {path} by {rule:?} among:\n{}",
            refusals.join("\n")
        );
    }

    /// What is left of runs on the host: records, cgroups, processes.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let mut left = Vec::new();
        let runs = Path::new("/run").join(&self.instance).join("runs");
        left.extend(names(&runs).map(|name| format!("record {name}")));
        for cgroup in self.cgroups() {
            left.extend(
                names(&cgroup)
                    .filter(|name| cgroup.join(name).is_dir())
                    .map(|name| format!("cgroup {name}")),
            );
        }
        left
    }

    /// The instance's cgroups in every hierarchy.
    fn cgroups(&self) -> Vec<PathBuf> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        mounts
            .lines()
            .filter(|line| line.contains(" - cgroup"))
            .filter_map(|line| line.split(' ').nth(4))
            .map(|mount| Path::new(mount).join(&self.instance))
            .filter(|cgroup| cgroup.exists())
            .collect()
    }

    /// `remit recover`.
    pub(crate) fn recover(&self) {
        remit::output(remit::remit().args(["recover", "--instance", &self.instance])).expect_code(0);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let unload = remit::output(remit::remit().args(["unload", "--instance", &self.instance]));
        if std::thread::panicking() {
            return;
        }
        assert_eq!(unload.code, Some(0), "{}", unload.stderr);
        assert!(
            !Path::new("/run").join(&self.instance).exists(),
            "the state directory is left"
        );
        assert_eq!(self.cgroups(), Vec::<PathBuf>::new(), "cgroups are left");
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        assert!(
            !mounts.contains(&format!("/run/{}", self.instance)),
            "a mount is left:\n{mounts}"
        );
    }
}

/// A run in the background; killed when dropped.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn id(&self) -> i32 {
        i32::try_from(self.0.id()).expect("a process id")
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.id()).expect("a process id");
        rustix::process::kill_process(pid, signal).expect("it is alive");
    }

    pub(crate) fn code(mut self) -> Option<i32> {
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Names in a directory that may not exist.
fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// Waits for something that another process does.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes whose command line contains `mark`.
pub(crate) fn processes(mark: &str) -> usize {
    let mut count = 0;
    for name in names(Path::new("/proc")) {
        let line = fs::read(Path::new("/proc").join(&name).join("cmdline")).unwrap_or_default();
        let own = name == std::process::id().to_string();
        if !own && String::from_utf8_lossy(&line).contains(mark) {
            count += 1;
        }
    }
    count
}
