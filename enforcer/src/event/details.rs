//! What happened, one type for each kind of event.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use artifact::filesystem::FileAccess;
use artifact::network::Verb;
use artifact::rule::Mechanism;
use serde::{Serialize, Serializer};

use super::words;

/// What happened. The name of the variant, in kebab case, is the event's `kind`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", content = "details", rename_all = "kebab-case")]
pub enum Details {
    /// The run's command is about to start.
    RunStarted(RunStarted),
    /// The run was not started because the host or the policy does not let it.
    AdmissionRefused(AdmissionRefused),
    /// A rule is not fully enforced on this host, and the policy permits that.
    Degraded(Degraded),
    /// Every process of the run is dead and everything it did is on record.
    RunEnded(RunEnded),
    /// A process started a program.
    Exec(ExecDetails),
    /// A process made another.
    Fork(ForkDetails),
    /// A process ended.
    Exit(ExitDetails),
    /// An address was connected to, sent to or bound, or that was refused.
    Network(NetworkDetails),
    /// A file access was refused.
    File(FileDetails),
    /// A system call was refused.
    Syscall(SyscallDetails),
    /// A signal, a trace or an abstract socket outside the run was refused.
    Scope(ScopeDetails),
    /// A device was refused.
    Device(DeviceDetails),
    /// A kernel setting was refused.
    Sysctl(SysctlDetails),
    /// Something was not recorded.
    Loss(Loss),
}

impl Details {
    /// Every `kind`.
    pub const KINDS: [&'static str; 14] = [
        "run-started",
        "admission-refused",
        "degraded",
        "run-ended",
        "exec",
        "fork",
        "exit",
        "network",
        "file",
        "syscall",
        "scope",
        "device",
        "sysctl",
        "loss",
    ];

    /// The `kind` in the line.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "run-started",
            Self::AdmissionRefused(_) => "admission-refused",
            Self::Degraded(_) => "degraded",
            Self::RunEnded(_) => "run-ended",
            Self::Exec(_) => "exec",
            Self::Fork(_) => "fork",
            Self::Exit(_) => "exit",
            Self::Network(_) => "network",
            Self::File(_) => "file",
            Self::Syscall(_) => "syscall",
            Self::Scope(_) => "scope",
            Self::Device(_) => "device",
            Self::Sysctl(_) => "sysctl",
            Self::Loss(_) => "loss",
        }
    }
}

/// Bytes from the kernel that are usually, but not always, UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(Box<[u8]>);

impl Text {
    /// Keeps the bytes as they are.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// A command name: ends at the first NUL.
    #[must_use]
    pub fn comm(bytes: &[u8]) -> Self {
        Self::new(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, U+FFFD for what is not UTF-8.
    #[must_use]
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The bytes in hexadecimal when the text alone would lose something.
    #[must_use]
    pub fn hex_if_lossy(&self) -> Option<String> {
        std::str::from_utf8(&self.0)
            .is_err()
            .then(|| super::chain::hex(&self.0))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.lossy(), formatter)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.serialize_str(&self.lossy()),
        }
    }
}

/// Details of `run-started`.
#[derive(Debug, Clone, Serialize)]
pub struct RunStarted {
    /// Instance the run belongs to.
    pub instance: String,
    /// Kernel release.
    pub kernel: String,
    /// The program as it was asked for. Arguments are not recorded: they may hold secrets.
    pub program: Text,
    /// How many arguments there were.
    pub arguments: usize,
    /// Working directory.
    pub working_directory: Text,
    /// User id of the run.
    pub uid: u32,
    /// Group id of the run.
    pub gid: u32,
    /// User id of who asked for it.
    pub caller_uid: u32,
    /// Cgroup id.
    pub cgroup: u64,
    /// The mechanisms that the policy's rules became, all of them in force.
    #[serde(serialize_with = "words::mechanisms")]
    pub mechanisms: Vec<Mechanism>,
    /// How many rules the policy has, built-in ones included.
    pub rules: usize,
}

/// Details of `admission-refused`.
#[derive(Debug, Clone, Serialize)]
pub struct AdmissionRefused {
    /// What is missing, in one sentence.
    pub reason: String,
}

/// Details of `degraded`.
#[derive(Debug, Clone, Serialize)]
pub struct Degraded {
    /// What is not enforced, in one sentence.
    pub gap: String,
}

/// Details of `run-ended`.
#[derive(Debug, Clone, Serialize)]
pub struct RunEnded {
    /// The exit code `remit run` ends with.
    pub exit_code: u8,
    /// Why it ended, in words: `exited`, `killed by signal 9`, `wall limit`, …
    pub reason: String,
    /// How long it ran.
    pub duration_ns: u64,
    /// What was recorded.
    pub receipt: Receipt,
}

/// What was recorded about a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// Events in the stream, the one that carries this receipt included.
    pub events: u64,
    /// How many of them are refusals.
    pub refusals: u64,
    /// Records that were lost, by any stage.
    pub lost: u64,
    /// File and TCP refusals the kernel counted; nothing when it did not say in time.
    pub landlock_denials: Option<u64>,
    /// `chain` of the last event before this one.
    pub chain: String,
}

/// Details of `exec`.
#[derive(Debug, Clone, Serialize)]
pub struct ExecDetails {
    /// The program, as the kernel resolved it.
    pub path: Text,
    /// The path's bytes in hexadecimal, when they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
}

/// Details of `fork`.
#[derive(Debug, Clone, Serialize)]
pub struct ForkDetails {
    /// The new process.
    pub child: u32,
}

/// Details of `exit`.
#[derive(Debug, Clone, Serialize)]
pub struct ExitDetails {
    /// Exit code, when it ended by itself.
    pub code: Option<u8>,
    /// Signal that ended it.
    pub signal: Option<u8>,
}

/// Details of `network`.
#[derive(Debug, Clone, Serialize)]
pub struct NetworkDetails {
    /// `connect`, `bind` or `socket`; nothing for a kind of packet that has no such verb.
    #[serde(serialize_with = "verb")]
    pub verb: NetworkVerb,
    /// `tcp`, `udp`, or the IP protocol's number.
    pub protocol: Cow<'static, str>,
    /// `ipv4`, `ipv6`, or the address family's number.
    pub family: Cow<'static, str>,
    /// Address after translation of mapped forms.
    pub address: Option<IpAddr>,
    /// Port.
    pub port: Option<u16>,
    /// Where the kernel decided: `connect`, `sendmsg`, `bind`, `sock-create`, `egress`, `ingress`, `landlock`.
    pub hook: &'static str,
    /// Socket type, at the creation of a socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket_type: Option<u16>,
}

/// What was done to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkVerb {
    /// A verb of the language.
    Rule(Verb),
    /// A socket was made.
    Socket,
}

impl NetworkVerb {
    /// The word in the line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rule(Verb::Connect) => "connect",
            Self::Rule(Verb::Bind) => "bind",
            Self::Socket => "socket",
        }
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls this with a reference to the field"
)]
fn verb<S: Serializer>(value: &NetworkVerb, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.word())
}

/// Details of `file`.
#[derive(Debug, Clone, Serialize)]
pub struct FileDetails {
    /// What was refused, in the language's verbs.
    #[serde(serialize_with = "words::accesses")]
    pub access: Vec<FileAccess>,
    /// Path as the run sees it. For creation, removal, renaming and linking it is the directory.
    pub path: Text,
    /// The path's bytes in hexadecimal, when they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// Landlock's words for the missing rights (`fs.read_file`, …); empty where a mask refused.
    pub blockers: Vec<String>,
    /// Device the file is on.
    pub device: Option<Text>,
    /// Inode number.
    pub inode: Option<u64>,
}

/// Details of `syscall`.
#[derive(Debug, Clone, Serialize)]
pub struct SyscallDetails {
    /// Name, where this kernel architecture's table has one.
    pub name: Option<String>,
    /// Number.
    pub number: u32,
    /// `x86_64`, `x32`, `i386`, `aarch64`, `arm`, or `AUDIT_ARCH` in hexadecimal.
    pub architecture: String,
    /// `errno`, `kill-process`, `kill-thread`, `trap`, …
    pub action: &'static str,
    /// Rules that can be the reason, when there is more than one: the arguments are not in the kernel's record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<u32>,
}

/// Details of `scope`.
#[derive(Debug, Clone, Serialize)]
pub struct ScopeDetails {
    /// Landlock's words (`scope.signal`, `scope.abstract_unix_socket`, `ptrace`, `fs.change_topology`).
    pub blockers: Vec<String>,
    /// The process it was meant for.
    pub target_pid: Option<u32>,
    /// That process's command name.
    pub target_comm: Option<Text>,
    /// The abstract socket's name or the path it was about.
    pub object: Option<Text>,
}

/// Details of `device`.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceDetails {
    /// `char`, `block`, or nothing where only the path is known.
    pub device_type: Option<&'static str>,
    /// Major number.
    pub major: Option<u32>,
    /// Minor number.
    pub minor: Option<u32>,
    /// `mknod`, `read`, `write`, `ioctl`.
    pub access: Vec<&'static str>,
    /// Path of the device, where the record has it.
    pub path: Option<Text>,
    /// The ioctl's command in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ioctl: Option<String>,
}

/// Details of `sysctl`.
#[derive(Debug, Clone, Serialize)]
pub struct SysctlDetails {
    /// Name below /proc/sys.
    pub name: Text,
}

/// Details of `loss`.
#[derive(Debug, Clone, Serialize)]
pub struct Loss {
    /// Where.
    pub stage: LossStage,
    /// How many records, at least.
    pub count: u64,
    /// Of what, and whether others on this host may be the ones that lost.
    pub explanation: String,
}

/// Where records can be lost. Each stage counts its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossStage {
    /// The run's ring was full.
    Ring,
    /// The kernel's audit queue was full; this is counted for the whole host.
    AuditQueue,
    /// The audit socket was full.
    AuditSocket,
    /// The kernel counted more Landlock refusals than arrived.
    Landlock,
    /// A record could not be understood.
    Record,
    /// A record could not be attributed to a run.
    Attribution,
}
