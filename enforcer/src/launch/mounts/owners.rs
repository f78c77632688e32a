//! Identity-mapped mounts: files of one owner are shown as the run's own (Linux 5.12).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use super::write_at;
use crate::sys::process::NamespaceHolder;

/// User namespaces that map one host user and group to the run's, made when first needed.
#[derive(Debug)]
pub(super) struct Owners<'a> {
    proc: BorrowedFd<'a>,
    /// For the first mapping; more than one is rare.
    ready: Option<NamespaceHolder>,
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
    pub(super) fn new(proc: BorrowedFd<'a>, ready: NamespaceHolder) -> Self {
        Self {
            proc,
            ready: Some(ready),
            namespaces: BTreeMap::new(),
        }
    }

    pub(super) fn namespace(&mut self, mapping: Mapping) -> io::Result<BorrowedFd<'_>> {
        if !self.namespaces.contains_key(&mapping) {
            let holder = match self.ready.take() {
                Some(ready) => ready,
                None => NamespaceHolder::new()?,
            };
            let namespace = make(self.proc, holder, mapping)?;
            self.namespaces.insert(mapping, namespace);
        }
        let namespace = self
            .namespaces
            .get(&mapping)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
        Ok(namespace.as_fd())
    }
}

fn make(proc: BorrowedFd<'_>, holder: NamespaceHolder, mapping: Mapping) -> io::Result<OwnedFd> {
    let pid = holder.pid().as_raw_pid();
    write_at(
        proc,
        &format!("{pid}/uid_map"),
        &format!("{} {} 1", mapping.uid, mapping.shown_uid),
    )?;
    write_at(
        proc,
        &format!("{pid}/gid_map"),
        &format!("{} {} 1", mapping.gid, mapping.shown_gid),
    )?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(
        proc,
        format!("{pid}/ns/user"),
        flags,
        Mode::empty(),
    )?)
}
