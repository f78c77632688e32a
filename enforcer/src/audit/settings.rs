//! Audit switched on for as long as an instance is loaded, and put back as it was.
//!
//! A host with an audit daemon keeps its own settings. On one without, the first instance saves what it finds and
//! sets: audit on; the rule `never,task`, with which no other process pays for that (system calls would get
//! about 60 ns slower); a queue of 8,192 records, since with the default 64 one of twenty refusals in a burst is
//! lost; and no waiting on a full queue, since a run must not be able to slow its host down. What the queue then
//! drops is counted.
//!
//! These settings belong to the host and not to one instance, so they are kept beside the instances'
//! directories, with the list of instances that need them; the last one to be unloaded puts them back.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::AuditError;
use super::netlink::{DONE, Socket};
use crate::instance::Instance;

/// `AUDIT_GET`.
pub(super) const GET: u16 = 1000;
const SET: u16 = 1001;
const ADD_RULE: u16 = 1011;
const DELETE_RULE: u16 = 1012;
const LIST_RULES: u16 = 1013;

const BACKLOG: u32 = 8_192;
/// A request is answered by a kernel thread, which on a busy machine may not run at once.
const PATIENCE: Duration = Duration::from_secs(5);
/// No instance name has a dot, so no instance's directory is this one.
const DIRECTORY: &str = "/run/remit.audit";

/// `struct audit_status`, as far as it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Status {
    /// 0 off, 1 on, 2 on and locked until reboot.
    pub enabled: u32,
    /// The audit daemon, or 0.
    pub pid: u32,
    /// Records a second beyond which the kernel drops, or 0. Not among what earlier versions saved.
    #[serde(default)]
    pub rate_limit: u32,
    /// Records the queue holds before it drops.
    pub backlog_limit: u32,
    /// Records dropped since boot, for the whole host.
    pub lost: u32,
    /// How long a task waits for room in the queue, in hundredths of a second.
    pub backlog_wait_time: u32,
}

impl Status {
    const ENABLED: u32 = 0x1;
    const BACKLOG_LIMIT: u32 = 0x10;
    const BACKLOG_WAIT_TIME: u32 = 0x20;

    /// Reads the kernel's struct; later kernels append to it.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let word = |index: usize| -> Option<u32> {
            let bytes = payload.get(index * 4..index * 4 + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        Some(Self {
            enabled: word(1)?,
            pid: word(3)?,
            rate_limit: word(4)?,
            backlog_limit: word(5)?,
            lost: word(6)?,
            backlog_wait_time: word(9)?,
        })
    }

    fn request(self) -> Vec<u8> {
        let mask = Self::ENABLED | Self::BACKLOG_LIMIT | Self::BACKLOG_WAIT_TIME;
        let words = [
            mask,
            self.enabled,
            0,
            0,
            0,
            self.backlog_limit,
            0,
            0,
            0,
            self.backlog_wait_time,
            0,
        ];
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// Whether the settings are not ours to change.
    const fn is_foreign(self) -> bool {
        self.pid != 0 || self.enabled == 2
    }

    const fn wanted(self) -> Self {
        let backlog_limit = if self.backlog_limit > BACKLOG {
            self.backlog_limit
        } else {
            BACKLOG
        };
        Self {
            enabled: 1,
            backlog_limit,
            backlog_wait_time: 0,
            ..self
        }
    }
}

/// What was found before the first instance changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Previous {
    status: Status,
    /// The rule was not there and must go again.
    added_rule: bool,
}

/// Makes sure that records arrive. `asked` is the number of an [`ask_status`].
pub(super) fn ensure(socket: &mut Socket, asked: u32, instance: &Instance) -> Result<Status, AuditError> {
    let status = answered_status(socket, asked)?;
    if status.pid != 0 && status.enabled == 0 {
        return Err(AuditError::Off { pid: status.pid });
    }
    if status.is_foreign() {
        return Ok(status);
    }
    let store = Store::new(DIRECTORY);
    if status == status.wanted() && store.user(instance.name()).exists() {
        return Ok(status);
    }
    let _lock = store.lock()?;
    store.write(&store.user(instance.name()), b"")?;
    if store.previous()?.is_none() {
        let added_rule = !has_rule(socket)?;
        let text = serde_json::to_vec(&Previous { status, added_rule })
            .map_err(|error| store.failed(&store.saved(), error.into()))?;
        store.write(&store.saved(), &text)?;
    }
    // Before audit is switched on: a process that is forked in between would be slow for the rest of its life.
    match ask(socket, "load the audit rule never,task", ADD_RULE, &never_task()) {
        Err(AuditError::Request { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    set(socket, status.wanted())?;
    get(socket)
}

/// Puts the host's audit settings back, when `instance` was the last that needed them.
///
/// # Errors
/// When the saved settings cannot be read, or the kernel does not take them. They stay saved then.
pub fn restore(instance: &Instance) -> Result<(), AuditError> {
    let store = Store::new(DIRECTORY);
    if !store.directory.exists() {
        return Ok(());
    }
    let _lock = store.lock()?;
    store.remove(&store.user(instance.name()))?;
    if store.has_users()? {
        return Ok(());
    }
    if let Some(previous) = store.previous()? {
        let mut socket = Socket::open()?;
        if !get(&mut socket)?.is_foreign() {
            set(&mut socket, previous.status)?;
            if previous.added_rule {
                match ask(
                    &mut socket,
                    "remove the audit rule never,task",
                    DELETE_RULE,
                    &never_task(),
                ) {
                    Err(AuditError::Request { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                    other => other?,
                }
            }
        }
    }
    fs::remove_dir_all(&store.directory).map_err(|error| store.failed(&store.directory, error))
}

/// What the kernel's audit settings are.
///
/// # Errors
/// When the kernel does not tell.
pub fn status() -> Result<Status, AuditError> {
    get(&mut Socket::open()?)
}

/// seccomp records only the actions in this list, whatever a filter asks for.
pub(super) fn check_seccomp_logging() -> Result<(), AuditError> {
    const PATH: &str = "/proc/sys/kernel/seccomp/actions_logged";
    let logged = fs::read_to_string(PATH).map_err(|source| AuditError::State {
        path: PathBuf::from(PATH),
        source,
    })?;
    let has = |action| logged.split_whitespace().any(|word| word == action);
    if ["errno", "kill_process", "kill_thread"].into_iter().all(has) {
        Ok(())
    } else {
        Err(AuditError::ActionsNotLogged {
            logged: logged.trim_end().to_owned(),
        })
    }
}

/// The multicast group exists in every network namespace, and is silent in all but the first, where kernel threads are.
/// Where they cannot be seen, in a container, the barrier at the end of the run finds out.
pub(super) fn check_network_namespace() -> Result<(), AuditError> {
    const KERNEL_THREADS: &str = "/proc/2";
    let is_kernel = fs::read(format!("{KERNEL_THREADS}/comm")).is_ok_and(|name| name == b"kthreadd\n");
    let namespace = |process: &str| fs::read_link(format!("{process}/ns/net"));
    match (namespace("/proc/self"), namespace(KERNEL_THREADS)) {
        (Ok(own), Ok(first)) if is_kernel && own != first => Err(AuditError::Namespace),
        _ => Ok(()),
    }
}

/// Text that no other barrier has, and that nobody can guess.
pub(super) fn token() -> Result<Vec<u8>, AuditError> {
    let mut random = [0u8; 16];
    rustix::rand::getrandom(&mut random[..], rustix::rand::GetRandomFlags::empty()).map_err(|error| {
        AuditError::Socket {
            step: "find a barrier for",
            source: error.into(),
        }
    })?;
    Ok(format!("remit-barrier={}", crate::event::hex(&random)).into_bytes())
}

fn get(socket: &mut Socket) -> Result<Status, AuditError> {
    let asked = ask_status(socket)?;
    answered_status(socket, asked)
}

const TELL_STATUS: &str = "tell the audit status";

/// Asks for the status. The kernel starts a thread to answer, which takes its time.
pub(super) fn ask_status(socket: &mut Socket) -> Result<u32, AuditError> {
    socket.ask(TELL_STATUS, GET, &[])
}

fn answered_status(socket: &mut Socket, asked: u32) -> Result<Status, AuditError> {
    let mut status = None;
    socket.answers(TELL_STATUS, asked, Instant::now() + PATIENCE, |message| {
        if message.kind == GET {
            status = Status::parse(message.payload);
        }
        status.is_some()
    })?;
    status.ok_or_else(|| AuditError::Request {
        step: TELL_STATUS,
        source: io::ErrorKind::InvalidData.into(),
    })
}

fn set(socket: &mut Socket, status: Status) -> Result<(), AuditError> {
    ask(socket, "change the audit settings", SET, &status.request())
}

fn ask(socket: &mut Socket, step: &'static str, kind: u16, payload: &[u8]) -> Result<(), AuditError> {
    socket.request(step, kind, payload, Instant::now() + PATIENCE, |_| true)
}

fn has_rule(socket: &mut Socket) -> Result<bool, AuditError> {
    let wanted = never_task();
    let mut found = false;
    socket.request(
        "list the audit rules",
        LIST_RULES,
        &[],
        Instant::now() + PATIENCE,
        |message| {
            // Flags, action and field count say it all: a task rule without fields.
            found |= message.kind == LIST_RULES && message.payload.get(..12) == wanted.get(..12);
            message.kind == DONE
        },
    )?;
    Ok(found)
}

/// `struct audit_rule_data` of `auditctl -a never,task`.
fn never_task() -> Vec<u8> {
    const FILTER_TASK: u32 = 1;
    const NEVER: u32 = 0;
    const MASK_WORDS: usize = 64;
    const FIELD_WORDS: usize = 3 * 64;
    let mask = std::iter::repeat_n(u32::MAX, MASK_WORDS - 1).chain([0]);
    [FILTER_TASK, NEVER, 0]
        .into_iter()
        .chain(mask)
        .chain(std::iter::repeat_n(0, FIELD_WORDS + 1))
        .flat_map(u32::to_ne_bytes)
        .collect()
}

/// The directory the settings are kept in.
struct Store {
    directory: PathBuf,
}

impl Store {
    fn new(directory: &str) -> Self {
        Self {
            directory: PathBuf::from(directory),
        }
    }

    fn saved(&self) -> PathBuf {
        self.directory.join("previous")
    }

    fn user(&self, instance: &str) -> PathBuf {
        self.directory.join("instances").join(instance)
    }

    fn failed(&self, path: &Path, source: io::Error) -> AuditError {
        AuditError::State {
            path: path.to_owned(),
            source,
        }
    }

    /// Makes the directory and locks it. Unloading removes it, so the lock counts only while it is still there.
    fn lock(&self) -> Result<File, AuditError> {
        let failed = |error| self.failed(&self.directory, error);
        loop {
            let mut builder = DirBuilder::new();
            builder.mode(0o700).recursive(true);
            builder.create(self.directory.join("instances")).map_err(failed)?;
            let held = match OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
                .open(&self.directory)
            {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.map_err(failed)?,
            };
            flock(&held, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
            let locked = held.metadata().map_err(failed)?;
            let is_there = fs::symlink_metadata(&self.directory)
                .is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino()));
            if is_there && self.directory.join("instances").exists() {
                return Ok(held);
            }
        }
    }

    fn write(&self, path: &Path, text: &[u8]) -> Result<(), AuditError> {
        let fresh = path.with_extension("new");
        fs::write(&fresh, text)
            .and_then(|()| fs::rename(&fresh, path))
            .map_err(|error| self.failed(path, error))
    }

    fn remove(&self, path: &Path) -> Result<(), AuditError> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(path, error)),
            _ => Ok(()),
        }
    }

    fn previous(&self) -> Result<Option<Previous>, AuditError> {
        let path = self.saved();
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| self.failed(&path, error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(&path, error)),
        }
    }

    /// Whether an instance is left. One whose directory is gone was removed by other means.
    fn has_users(&self) -> Result<bool, AuditError> {
        let path = self.directory.join("instances");
        let failed = |error| self.failed(&path, error);
        let mut left = false;
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if Path::new("/run").join(entry.file_name()).is_dir() {
                left = true;
            } else {
                self.remove(&entry.path())?;
            }
        }
        Ok(left)
    }
}
