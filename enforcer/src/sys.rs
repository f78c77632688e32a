//! The enforcer's only `unsafe` code: system calls that rustix does not offer, one file for each kernel
//! interface. Everything here is a thin, safe wrapper; decisions are made elsewhere.
#![allow(unsafe_code)]

pub(crate) mod bpf;
pub(crate) mod bpf_query;
pub(crate) mod landlock;
pub(crate) mod lock;
pub(crate) mod mount;
pub(crate) mod netlink;
pub(crate) mod process;
pub(crate) mod ring;
pub(crate) mod seccomp;
pub(crate) mod signal;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Turns a system call's return value into a result.
pub(crate) fn check(value: libc::c_long) -> io::Result<libc::c_long> {
    if value < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(value)
    }
}

/// Whether this process may listen to audit records (the group `AUDIT_NLGRP_READLOG`).
pub(crate) fn audit_available() -> io::Result<()> {
    const AUDIT_NLGRP_READLOG: u32 = 1;
    // SAFETY: socket(2) takes no pointer.
    let raw = check(unsafe {
        libc::syscall(
            libc::SYS_socket,
            libc::AF_NETLINK,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            libc::NETLINK_AUDIT,
        )
    })?;
    let raw = i32::try_from(raw).map_err(io::Error::other)?;
    // SAFETY: the kernel just returned this descriptor, and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: an all-zero sockaddr_nl is valid.
    let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
    address.nl_family = u16::try_from(libc::AF_NETLINK).map_err(io::Error::other)?;
    address.nl_groups = AUDIT_NLGRP_READLOG;
    // SAFETY: the pointer and length describe `address`, which outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_bind,
            std::os::fd::AsRawFd::as_raw_fd(&socket),
            std::ptr::from_ref(&address),
            size_of::<libc::sockaddr_nl>(),
        )
    })?;
    Ok(())
}

/// Hands a descriptor to the event loop.
pub(crate) fn watch(fd: OwnedFd) -> io::Result<tokio::io::unix::AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by the value that is registered, which does not change it and closes it only
    // after it is registered no more.
    unsafe { tokio::io::unix::AsyncFd::register(fd) }.map_err(|error| error.into_parts().1)
}

/// Another descriptor for the same file description.
pub(crate) fn duplicate(raw: std::os::fd::RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the caller's number is open while the call lasts; F_DUPFD_CLOEXEC takes no pointer.
    let raw = check(libc::c_long::from(unsafe {
        libc::fcntl(raw, libc::F_DUPFD_CLOEXEC, 3)
    }))?;
    let raw = i32::try_from(raw).map_err(io::Error::other)?;
    // SAFETY: just returned by the kernel.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}
