//! Giving things up: descriptors, limits, ids, capabilities.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, Gid, Resource, Signal, Uid};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::Rlimit;
use crate::sys;

/// Asks for SIGKILL when the supervisor ends, and fails when it has ended already: its end of the pipe is closed.
/// Process 1 takes its whole PID namespace with it. Nobody may look into this process, which has seen the host.
pub(super) fn die_with_supervisor(report: BorrowedFd<'_>) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let mut pipe = [PollFd::from_borrowed_fd(report, PollFlags::empty())];
    poll(&mut pipe, Some(&Timespec::default()))?;
    if pipe.iter().any(|fd| fd.revents().contains(PollFlags::ERR)) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Closes everything but standard input, output and error and the pipe.
pub(super) fn close_all_but(report: BorrowedFd<'_>) -> io::Result<()> {
    let report = report.as_raw_fd();
    sys::process::close_range(3, report - 1)?;
    sys::process::close_range(report + 1, RawFd::MAX)
}

/// Sets resource limits, soft and hard alike.
pub(super) fn limit(limits: &[(Rlimit, u64)]) -> io::Result<()> {
    for (limit, value) in limits {
        let resource = match limit {
            Rlimit::OpenFiles => Resource::Nofile,
            Rlimit::Processes => Resource::Nproc,
            Rlimit::AddressSpace => Resource::As,
        };
        let value = rustix::process::Rlimit {
            current: Some(*value),
            maximum: Some(*value),
        };
        rustix::process::setrlimit(resource, value)?;
    }
    Ok(())
}

/// Real, effective and saved ids; no supplementary groups.
pub(super) fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    rustix::thread::set_thread_groups(&[])?;
    let gid = Gid::from_raw(gid);
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    // Capabilities are dropped in the next step, also where the new id is root's.
    rustix::thread::set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    let uid = Uid::from_raw(uid);
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}

/// Empties the bounding set: no program that is executed from here on can have a capability. This process keeps its own.
pub(super) fn empty_bounding_set() -> io::Result<()> {
    for bit in 0..64u32 {
        let Some(capability) = 1u64.checked_shl(bit).and_then(CapabilitySet::from_bits) else {
            break;
        };
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The first number the kernel does not know.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Empties the ambient, inheritable, permitted and effective sets. The bounding set is empty already.
pub(super) fn drop_capabilities() -> io::Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}
