//! Identity-mapped mounts: files of one owner are shown as the run's own (Linux 5.12).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use crate::sys::process::NamespaceHolder;

/// A user namespace that maps nobody yet, and the two files that say whom. It needs no process.
#[derive(Debug)]
pub(super) struct Unmapped {
    namespace: OwnedFd,
    users: OwnedFd,
    groups: OwnedFd,
}

impl Unmapped {
    /// `proc` is a procfs of this PID namespace.
    pub(super) fn make(proc: BorrowedFd<'_>) -> io::Result<Self> {
        let holder = NamespaceHolder::new()?;
        let pid = holder.pid().as_raw_pid();
        let open = |name: &str, flags: OFlags| {
            let path = format!("{pid}/{name}");
            rustix::fs::openat(proc, path, flags | OFlags::CLOEXEC, Mode::empty())
        };
        Ok(Self {
            namespace: open("ns/user", OFlags::RDONLY)?,
            users: open("uid_map", OFlags::WRONLY)?,
            groups: open("gid_map", OFlags::WRONLY)?,
        })
    }

    fn map(self, mapping: Mapping) -> io::Result<OwnedFd> {
        for (file, inside, shown) in [
            (&self.users, mapping.uid, mapping.shown_uid),
            (&self.groups, mapping.gid, mapping.shown_gid),
        ] {
            rustix::io::write(file, format!("{inside} {shown} 1").as_bytes())?;
        }
        Ok(self.namespace)
    }
}

/// User namespaces that map one host user and group to the run's, made when first needed.
#[derive(Debug)]
pub(super) struct Owners<'a> {
    proc: BorrowedFd<'a>,
    /// For the first mapping; more than one is rare.
    ready: Option<Unmapped>,
    namespaces: BTreeMap<Mapping, OwnedFd>,
}

/// From the owner on disk to the owner as shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mapping {
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) shown_uid: u32,
    pub(super) shown_gid: u32,
}

impl<'a> Owners<'a> {
    /// `proc` is a procfs of this PID namespace.
    pub(super) fn new(proc: BorrowedFd<'a>, ready: Unmapped) -> Self {
        Self {
            proc,
            ready: Some(ready),
            namespaces: BTreeMap::new(),
        }
    }

    pub(super) fn namespace(&mut self, mapping: Mapping) -> io::Result<BorrowedFd<'_>> {
        if !self.namespaces.contains_key(&mapping) {
            let unmapped = match self.ready.take() {
                Some(ready) => ready,
                None => Unmapped::make(self.proc)?,
            };
            self.namespaces.insert(mapping, unmapped.map(mapping)?);
        }
        let namespace = self
            .namespaces
            .get(&mapping)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
        Ok(namespace.as_fd())
    }
}
