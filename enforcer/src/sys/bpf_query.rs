//! bpf(2), only the question whether cgroup programs can be attached; loading is aya's.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

const BPF_PROG_QUERY: libc::c_int = 16;
const BPF_CGROUP_INET4_CONNECT: u32 = 10;

/// The start of `union bpf_attr` for `BPF_PROG_QUERY`.
#[repr(C)]
#[derive(Debug, Default)]
struct ProgQuery {
    target_fd: u32,
    attach_type: u32,
    query_flags: u32,
    attach_flags: u32,
    prog_ids: u64,
    prog_cnt: u32,
    reserved: u32,
    prog_attach_flags: u64,
}

/// Asks which connect programs a cgroup has: an answer means the kernel and this process can do cgroup BPF.
pub(crate) fn cgroup(directory: &Path) -> io::Result<()> {
    let cgroup = File::open(directory)?;
    let mut query = ProgQuery {
        target_fd: u32::try_from(cgroup.as_raw_fd()).map_err(io::Error::other)?,
        attach_type: BPF_CGROUP_INET4_CONNECT,
        ..ProgQuery::default()
    };
    // SAFETY: the pointer and size describe `query`; with `prog_ids` null the kernel writes only into it.
    super::check(unsafe {
        libc::syscall(
            libc::SYS_bpf,
            BPF_PROG_QUERY,
            std::ptr::from_mut(&mut query),
            size_of::<ProgQuery>(),
        )
    })?;
    Ok(())
}
