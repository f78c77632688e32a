//! Mounting the mask file system, detached: it appears in no mount tree until the launcher puts it into the run's.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

/// Returns the FUSE device to serve from, and the mount. It ends with the last of both and its copies.
pub(crate) fn mount() -> io::Result<(OwnedFd, OwnedFd)> {
    let device = rustix::fs::open(
        "/dev/fuse",
        OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK,
        Mode::empty(),
    )?;
    let context = rustix::mount::fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let number = device.as_raw_fd().to_string();
    for (key, value) in [
        ("fd", number.as_str()),
        ("rootmode", "40000"),
        ("user_id", "0"),
        ("group_id", "0"),
    ] {
        rustix::mount::fsconfig_set_string(context.as_fd(), key, value)?;
    }
    rustix::mount::fsconfig_set_flag(context.as_fd(), "allow_other")?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    // Neither read-only nor `noexec`: those would refuse first, and nobody would hear of it.
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let mount = rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    Ok((device, mount))
}
