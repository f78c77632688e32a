//! The audit records that evidence is made from, as values.
//!
//! Written by `security/landlock/audit.c`, `security/lsm_audit.c` and `kernel/auditsc.c`; the first two are
//! described in the kernel's `Documentation/admin-guide/LSM/landlock.rst`. Parsing is total: any bytes give a
//! record, nothing (a type that is not ours) or an error, in time linear in their length.

use std::net::IpAddr;

use super::fields::{Field, Fields, Value};

/// `AUDIT_SYSCALL`: who made the call that other records with the same serial number are about.
pub const SYSCALL: u16 = 1300;
/// `AUDIT_SECCOMP`.
pub const SECCOMP: u16 = 1326;
/// `AUDIT_LANDLOCK_ACCESS`.
pub const LANDLOCK_ACCESS: u16 = 1423;
/// `AUDIT_LANDLOCK_DOMAIN`.
pub const LANDLOCK_DOMAIN: u16 = 1424;
/// `AUDIT_TRUSTED_APP`, which carries our own barriers.
pub const TRUSTED_APP: u16 = 1121;

/// The longest record that is looked at. A path of 4,096 bytes takes 8,192 digits.
pub const RECORD_MAX: usize = 32 * 1024;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When, and which event it is part of.
    pub stamp: Stamp,
    /// What it says.
    pub body: Body,
}

/// `audit(SECONDS.MILLIS:SERIAL)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// Seconds since the epoch.
    pub seconds: u64,
    /// Milliseconds; the kernel's coarse clock.
    pub millis: u32,
    /// The same for all records of one event.
    pub serial: u64,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Landlock refused something.
    Access(Access),
    /// A Landlock domain was first heard of, or ended.
    Domain(Domain),
    /// seccomp refused a call.
    Seccomp(Seccomp),
    /// Who made the call.
    Syscall(Caller),
    /// Text from a trusted application: perhaps a barrier.
    Message(Vec<u8>),
}

/// `LANDLOCK_ACCESS`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// The refusing domain.
    pub domain: u64,
    /// The missing rights, in the kernel's words.
    pub blockers: Vec<String>,
    /// What it was about.
    pub object: Object,
}

/// The object of a refusal; what does not apply is nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// Path in the run's view.
    pub path: Option<Vec<u8>>,
    /// Name of a directory entry, where the kernel has no path.
    pub name: Option<Vec<u8>>,
    /// Device.
    pub device: Option<Vec<u8>>,
    /// Inode number.
    pub inode: Option<u64>,
    /// ioctl command.
    pub ioctl: Option<u64>,
    /// Local address (bind).
    pub local: Option<IpAddr>,
    /// Local port.
    pub local_port: Option<u16>,
    /// Remote address (connect).
    pub remote: Option<IpAddr>,
    /// Remote port.
    pub remote_port: Option<u16>,
    /// Target process.
    pub pid: Option<u32>,
    /// Target's command name.
    pub comm: Option<Vec<u8>>,
}

/// `LANDLOCK_DOMAIN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Its number; unique since boot.
    pub domain: u64,
    /// What happened to it.
    pub status: DomainStatus,
}

/// What happened to a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DomainStatus {
    /// It refused something for the first time.
    Allocated {
        /// Who made it.
        pid: u32,
        /// Their user id.
        uid: u32,
        /// Their program.
        exe: Vec<u8>,
        /// Their command name.
        comm: Vec<u8>,
    },
    /// Its last process is gone.
    Deallocated {
        /// How much it refused, recorded or not.
        denials: u64,
    },
}

/// `SECCOMP`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seccomp {
    /// Thread group id.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// Command name.
    pub comm: Vec<u8>,
    /// Program.
    pub exe: Option<Vec<u8>>,
    /// `AUDIT_ARCH_*`.
    pub arch: u32,
    /// Number, as the filter saw it.
    pub number: u32,
    /// Signal, when it kills or traps.
    pub signal: u32,
    /// `SECCOMP_RET_*` without its data.
    pub action: u32,
}

/// `SYSCALL`, as far as it says who.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Thread group id.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// Command name.
    pub comm: Vec<u8>,
    /// Program.
    pub exe: Option<Vec<u8>>,
}

/// Why bytes are not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Longer than any record the kernel writes.
    #[error("audit record of {0} bytes")]
    TooLong(usize),
    /// No `audit(…):` in front.
    #[error("audit record without a time stamp")]
    Stamp,
    /// A field is missing or has a value of another kind.
    #[error("audit record {kind} without a usable field {field}")]
    Field {
        /// Record type.
        kind: u16,
        /// Which field.
        field: &'static str,
    },
}

/// Whether [`parse`] knows this type; the rest of the host's records need not be copied.
#[must_use]
pub const fn is_known(kind: u16) -> bool {
    matches!(
        kind,
        SYSCALL | SECCOMP | LANDLOCK_ACCESS | LANDLOCK_DOMAIN | TRUSTED_APP
    )
}

/// Parses the payload of a netlink message of type `kind`.
///
/// # Errors
/// When it has a known type and does not read as the kernel writes it.
pub fn parse(kind: u16, payload: &[u8]) -> Result<Option<Record>, RecordError> {
    if !is_known(kind) {
        return Ok(None);
    }
    if payload.len() > RECORD_MAX {
        return Err(RecordError::TooLong(payload.len()));
    }
    let (stamp, text) = stamp(payload).ok_or(RecordError::Stamp)?;
    let body = match kind {
        LANDLOCK_ACCESS => Body::Access(access(text)?),
        LANDLOCK_DOMAIN => Body::Domain(domain(text)?),
        SECCOMP => Body::Seccomp(seccomp(text)?),
        SYSCALL => Body::Syscall(caller(text)?),
        _ => Body::Message(text.to_vec()),
    };
    Ok(Some(Record { stamp, body }))
}

fn stamp(payload: &[u8]) -> Option<(Stamp, &[u8])> {
    let rest = payload.strip_prefix(b"audit(")?;
    let close = rest.iter().take(64).position(|byte| *byte == b')')?;
    let inside = std::str::from_utf8(rest.get(..close)?).ok()?;
    let (time, serial) = inside.split_once(':')?;
    let (seconds, millis) = time.split_once('.')?;
    let stamp = Stamp {
        seconds: seconds.parse().ok()?,
        millis: millis.parse().ok().filter(|millis| *millis < 1_000)?,
        serial: serial.parse().ok()?,
    };
    let text = rest.get(close + 1..)?;
    Some((stamp, text.strip_prefix(b":").unwrap_or(text)))
}

fn access(text: &[u8]) -> Result<Access, RecordError> {
    let mut access = Access::default();
    let mut domain = None;
    for Field { key, value } in Fields::new(text) {
        let object = &mut access.object;
        match key {
            b"domain" => domain = value.hexadecimal(),
            b"blockers" => access.blockers = words(value),
            b"path" => object.path = Some(value.text()),
            b"name" => object.name = Some(value.text()),
            b"dev" => object.device = Some(value.text()),
            b"ino" => object.inode = value.decimal(),
            b"ioctlcmd" => object.ioctl = value.hexadecimal(),
            b"saddr" => object.local = value.decimal(),
            b"src" => object.local_port = value.decimal(),
            b"daddr" => object.remote = value.decimal(),
            b"dest" => object.remote_port = value.decimal(),
            b"opid" => object.pid = value.decimal(),
            b"ocomm" => object.comm = Some(value.text()),
            _ => {}
        }
    }
    access.domain = domain.ok_or(RecordError::Field {
        kind: LANDLOCK_ACCESS,
        field: "domain",
    })?;
    if access.blockers.is_empty() {
        return Err(RecordError::Field {
            kind: LANDLOCK_ACCESS,
            field: "blockers",
        });
    }
    Ok(access)
}

/// The kernel knows fewer than 64 rights; more words than that are not its own.
fn words(value: Value<'_>) -> Vec<String> {
    value
        .raw()
        .split(|byte| *byte == b',')
        .filter(|word| !word.is_empty())
        .take(64)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

fn domain(text: &[u8]) -> Result<Domain, RecordError> {
    let missing = |field| RecordError::Field {
        kind: LANDLOCK_DOMAIN,
        field,
    };
    let (mut domain, mut status, mut denials, mut pid, mut uid) = (None, None, None, None, None);
    let (mut exe, mut comm) = (Vec::new(), Vec::new());
    for Field { key, value } in Fields::new(text) {
        match key {
            b"domain" => domain = value.hexadecimal(),
            b"status" => status = Some(value.raw()),
            b"denials" => denials = value.decimal(),
            b"pid" => pid = value.decimal(),
            b"uid" => uid = value.decimal(),
            b"exe" => exe = value.text(),
            b"comm" => comm = value.text(),
            _ => {}
        }
    }
    let status = match status {
        Some(b"allocated") => DomainStatus::Allocated {
            pid: pid.ok_or_else(|| missing("pid"))?,
            uid: uid.ok_or_else(|| missing("uid"))?,
            exe,
            comm,
        },
        Some(b"deallocated") => DomainStatus::Deallocated {
            denials: denials.ok_or_else(|| missing("denials"))?,
        },
        _ => return Err(missing("status")),
    };
    Ok(Domain {
        domain: domain.ok_or_else(|| missing("domain"))?,
        status,
    })
}

fn seccomp(text: &[u8]) -> Result<Seccomp, RecordError> {
    let missing = |field| RecordError::Field { kind: SECCOMP, field };
    let who = task(SECCOMP, text)?;
    let (mut arch, mut number, mut signal, mut action) = (None, None, 0, None);
    for Field { key, value } in Fields::new(text) {
        match key {
            b"arch" => arch = value.hexadecimal(),
            // Printed as a signed long; a filter sees the low 32 bits.
            b"syscall" => number = value.decimal::<i64>(),
            b"sig" => signal = value.decimal().unwrap_or(0),
            b"code" => action = value.hexadecimal(),
            _ => {}
        }
    }
    let low = |value: u64| u32::try_from(value & u64::from(u32::MAX)).unwrap_or(0);
    Ok(Seccomp {
        pid: who.pid,
        uid: who.uid,
        comm: who.comm,
        exe: who.exe,
        arch: low(arch.ok_or_else(|| missing("arch"))?),
        number: low(number.ok_or_else(|| missing("syscall"))?.cast_unsigned()),
        signal,
        action: low(action.ok_or_else(|| missing("code"))?),
    })
}

fn caller(text: &[u8]) -> Result<Caller, RecordError> {
    task(SYSCALL, text)
}

fn task(kind: u16, text: &[u8]) -> Result<Caller, RecordError> {
    let (mut pid, mut uid, mut comm, mut exe) = (None, None, Vec::new(), None);
    for Field { key, value } in Fields::new(text) {
        match key {
            b"pid" => pid = value.decimal(),
            b"uid" => uid = value.decimal(),
            b"comm" => comm = value.text(),
            b"exe" => exe = Some(value.text()).filter(|exe| exe != b"(null)"),
            _ => {}
        }
    }
    Ok(Caller {
        pid: pid.ok_or(RecordError::Field { kind, field: "pid" })?,
        uid: uid.ok_or(RecordError::Field { kind, field: "uid" })?,
        comm,
        exe,
    })
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
