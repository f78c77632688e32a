//! The run's mount tree: the host's, cut off and sealed, with the run's own mounts over it.
//!
//! Everything that shows a host object is cloned *before* the tree is sealed, from the host's own mounts, and
//! attributes are only ever added: what the host mounted read-only stays so, and no mount below depends on one
//! above for being right. See mount_setattr(2) and `Documentation/filesystems/mount_api.rst`.

mod devices;
mod owners;
mod private;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use artifact::filesystem::path;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags};

use super::{Failure, LaunchSpec, Mount, Source, Step};
use crate::sys;

/// What every run needs and no spec decides: made while the supervisor still prepares. Nothing of it is attached.
#[derive(Debug)]
pub(super) struct Ready {
    proc: OwnedFd,
    unmapped: owners::Unmapped,
    devices: devices::Devices,
}

impl Ready {
    pub(super) fn make() -> Result<Self, Failure> {
        let proc = private::proc().map_err(at("procfs"))?;
        let unmapped = owners::Unmapped::make(proc.as_fd()).map_err(at("a user namespace"))?;
        let devices = devices::Devices::make().map_err(at("/dev"))?;
        Ok(Self {
            proc,
            unmapped,
            devices,
        })
    }
}

fn at(path: &str) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    move |error| Failure::new(Step::Mounts, path, &error)
}

/// What the finished tree cannot refuse, and a filter has to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Built {
    /// Files that live in memory alone can be executed.
    pub(super) memory_programs: bool,
}

/// Builds the whole tree.
pub(super) fn build(spec: &LaunchSpec, ready: Ready, masks: Option<OwnedFd>) -> Result<Built, Failure> {
    let Ready {
        proc,
        unmapped,
        devices,
    } = ready;
    // Not earlier: a cgroup whose tables are not there yet is refused this write too.
    let forbidden = private::forbid_memory_programs(proc.as_fd()).map_err(at("/proc/sys/vm/memfd_noexec"))?;
    let mut owners = owners::Owners::new(proc.as_fd(), unmapped);
    let mut detached = Vec::with_capacity(spec.mounts.len());
    for (index, mount) in spec.mounts.iter().enumerate() {
        let clone = match mount.source {
            Source::Host => {
                let earlier = spec.mounts.get(..index).unwrap_or_default();
                let clone = HostClone::make(mount, earlier, (spec.uid, spec.gid), &mut owners);
                Some(clone.map_err(at(&mount.path))?)
            }
            _ => None,
        };
        detached.push(clone);
    }
    // Its namespaces are in the mounts now. An unused one has files of this procfs open for writing, and that cannot
    // become read-only then.
    drop(owners);
    sys::mount::seal_all(spec.base_attributes).map_err(at("/"))?;
    let masks = mask_mounts(spec, masks).map_err(at("masks"))?;
    let mut spare = Spare(SPARE);
    for (mount, clone) in spec.mounts.iter().zip(detached) {
        place(spec, mount, clone, &masks, &proc, &devices, &mut spare).map_err(at(&mount.path))?;
    }
    devices.leave(&mut spare);
    spare.leave(proc);
    Ok(Built {
        memory_programs: !forbidden,
    })
}

/// As many descriptors as may be left open until all are closed in one call, which is soon; the limit may be 1024.
const SPARE: usize = 256;

/// How many more may be left open.
#[derive(Debug)]
struct Spare(usize);

impl Spare {
    /// Does without a system call now, where that is possible.
    fn leave(&mut self, fd: OwnedFd) {
        if let Some(left) = self.0.checked_sub(1) {
            self.0 = left;
            std::mem::forget(fd);
        }
    }
}

/// A private copy of what the host has at a path, and below it.
#[derive(Debug)]
struct HostClone {
    mount: OwnedFd,
    /// The object itself, where nothing of the run's own will cover it before its turn comes: the copy goes over it.
    target: Option<OwnedFd>,
}

impl HostClone {
    fn make(
        mount: &Mount,
        earlier: &[Mount],
        run: (u32, u32),
        owners: &mut owners::Owners<'_>,
    ) -> io::Result<Self> {
        let object = open_exactly(&mount.path)?;
        let clone = clone_of(object.as_fd())?;
        if let Some((uid, gid)) = mount.owner {
            let mapping = owners::Mapping {
                uid,
                gid,
                shown_uid: run.0,
                shown_gid: run.1,
            };
            sys::mount::map_owners(clone.as_fd(), owners.namespace(mapping)?)?;
        }
        sys::mount::add_attributes(clone.as_fd(), mount.attributes)?;
        let covered = || earlier.iter().any(|above| path::covers(&above.path, &mount.path));
        Ok(Self {
            mount: clone,
            // With many mounts one descriptor for each is enough.
            target: (earlier.len() < SPARE && !covered()).then_some(object),
        })
    }
}

fn place(
    spec: &LaunchSpec,
    mount: &Mount,
    clone: Option<HostClone>,
    masks: &[(String, OwnedFd)],
    proc: &OwnedFd,
    devices: &devices::Devices,
    spare: &mut Spare,
) -> io::Result<()> {
    match &mount.source {
        Source::Host => {
            let clone = clone.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
            let target = match clone.target {
                Some(target) => target,
                None => open_exactly(&mount.path)?,
            };
            attach_at(clone.mount.as_fd(), target.as_fd())?;
            spare.leave(clone.mount);
            spare.leave(target);
            Ok(())
        }
        Source::Visible => {
            let clone = clone_of(open_exactly(&mount.path)?.as_fd())?;
            sys::mount::add_attributes(clone.as_fd(), mount.attributes)?;
            attach(clone.as_fd(), &mount.path)
        }
        Source::Mask(name) => {
            let mask = masks.iter().find(|(found, _)| found == name);
            let (_, mask) = mask.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))?;
            attach(mask.as_fd(), &mount.path)
        }
        Source::Empty => {
            let empty = private::empty(&mount.path, mount.kind, &mount.skeleton)?;
            sys::mount::add_attributes(empty.as_fd(), mount.attributes | sys::mount::RDONLY)?;
            attach(empty.as_fd(), &mount.path)
        }
        Source::Proc => {
            sys::mount::add_attributes(proc.as_fd(), mount.attributes & !private::PROC_HAS)?;
            attach(proc.as_fd(), &mount.path)
        }
        Source::Devices => devices.attach(&mount.path, mount.attributes, &spec.landlock),
        Source::Tmpfs { size_bytes, mode } => {
            let tmpfs = private::tmpfs(*size_bytes, *mode)?;
            private::furnish(tmpfs.as_fd(), &mount.path, &mount.skeleton, *mode)?;
            sys::mount::add_attributes(tmpfs.as_fd(), mount.attributes & !private::TMPFS_HAS)?;
            attach(tmpfs.as_fd(), &mount.path)?;
            spare.leave(tmpfs);
            Ok(())
        }
    }
}

/// A detached mount of each mask that is wanted. The supervisor mounted their file system, and answers.
fn mask_mounts(spec: &LaunchSpec, all: Option<OwnedFd>) -> io::Result<Vec<(String, OwnedFd)>> {
    let Some(all) = all else {
        return Ok(Vec::new());
    };
    // Before Linux 6.15 a detached mount cannot be cloned, so it is attached where a private mount will cover it.
    attach(all.as_fd(), "/proc")?;
    let wanted = spec.mounts.iter().filter_map(|mount| match &mount.source {
        Source::Mask(name) => Some(name.clone()),
        _ => None,
    });
    let clones = wanted
        .map(|name| {
            let child =
                rustix::fs::openat(&all, name.as_str(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            Ok((name, clone_of(child.as_fd())?))
        })
        .collect::<io::Result<Vec<_>>>()?;
    rustix::mount::unmount("/proc", UnmountFlags::DETACH)?;
    Ok(clones)
}

/// Opens a path none of whose components is a symbolic link.
fn open_exactly(path: &str) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat2(
        CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )?)
}

/// A detached copy of the mount at a descriptor, and of those below it.
fn clone_of(object: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(rustix::mount::open_tree(object, "", flags)?)
}

/// Puts a detached mount over a path, as that is visible now.
fn attach(mount: BorrowedFd<'_>, path: &str) -> io::Result<()> {
    let target = open_exactly(path)?;
    attach_at(mount, target.as_fd())
}

fn attach_at(mount: BorrowedFd<'_>, target: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(rustix::mount::move_mount(mount, "", target, "", flags)?)
}
