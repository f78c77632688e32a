//! Loading the programs, attaching them to the instance's cgroup, pinning it all under the instance's own bpffs.
//!
//! A stamp is written last and removed first. It says which object was loaded, for which cgroup and level; what
//! does not carry the stamp that this build would write is done again from nothing.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use aya::programs::Program;
use aya::{Btf, Ebpf, EbpfLoader};
use rustix::mount::{MountFlags, UnmountFlags};

use super::error::BpfError;
use super::ring::SLOTS;
use crate::instance::Instance;
use crate::sys;

/// `enum bpf_attach_type` of each cgroup program.
const CGROUP_PROGRAMS: [(&str, u32); 11] = [
    ("connect4", 10),
    ("connect6", 11),
    ("sendmsg4", 14),
    ("sendmsg6", 15),
    ("bind4", 8),
    ("bind6", 9),
    ("sock_create", 2),
    ("egress", 1),
    ("ingress", 0),
    ("device", 6),
    ("sysctl", 18),
];

/// Tracing programs: the link's name, the tracepoint, and the programs to try until the kernel takes one.
const TRACEPOINTS: [(&str, &str, &[&str]); 3] = [
    ("exec", "sched_process_exec", &["exec"]),
    ("fork", "sched_process_fork", &["fork"]),
    ("exit", "sched_process_exit", &["exit", "exit_before_6_16"]),
];

/// What is to be loaded, and where it is to be attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    text: String,
    cgroup: u64,
}

impl Stamp {
    /// The stamp that this build would write now.
    pub(super) fn wanted(instance: &Instance, ring_bytes: u32) -> Result<Self, BpfError> {
        let path = instance.cgroup();
        let cgroup = match fs::metadata(&path) {
            Ok(found) => found.ino(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(BpfError::NotLoaded),
            Err(error) => return Err(BpfError::state("look at the cgroup", &path)(error)),
        };
        Ok(Self {
            text: format!(
                "object {}\ncgroup {cgroup}\nlevel {}\nring {ring_bytes}\n",
                ebpf::OBJECT_SHA256,
                instance.run_level(),
            ),
            cgroup,
        })
    }
}

pub(super) fn lock_path(instance: &Instance) -> PathBuf {
    instance.state_dir().join("bpf.lock")
}

pub(super) fn stamp_path(instance: &Instance) -> PathBuf {
    instance.state_dir().join("bpf.stamp")
}

pub(super) fn slot_lock_path(instance: &Instance, slot: u32) -> PathBuf {
    instance.state_dir().join(format!("ring-{slot}.lock"))
}

pub(super) fn ring_pin_path(instance: &Instance, slot: u32) -> PathBuf {
    instance.bpf_dir().join(format!("ring-{slot}"))
}

fn link_path(instance: &Instance, name: &str) -> PathBuf {
    instance.bpf_dir().join(format!("link-{name}"))
}

/// Every program's attachment. While it is held they stay attached, whatever becomes of their pins.
#[derive(Debug)]
#[expect(dead_code, reason = "held, not used")]
pub(super) struct Attached(Vec<OwnedFd>);

/// What the stamp promises, if everything is there and still attached. A link whose cgroup was removed stays
/// pinned but judges nobody, so each is asked.
pub(super) fn whole(instance: &Instance, wanted: &Stamp) -> Result<Option<Attached>, BpfError> {
    match fs::read_to_string(stamp_path(instance)) {
        Ok(found) if found == wanted.text => {}
        _ => return Ok(None),
    }
    let mut links = Vec::with_capacity(CGROUP_PROGRAMS.len() + TRACEPOINTS.len());
    for (name, kind) in CGROUP_PROGRAMS {
        let path = link_path(instance, name);
        let Ok(link) = sys::bpf::open_pin(&path) else {
            return Ok(None);
        };
        let info = sys::bpf::link_info(link.as_fd()).map_err(BpfError::state("ask about", &path))?;
        if info.cgroup != wanted.cgroup || info.attach_type != kind {
            return Ok(None);
        }
        links.push(link);
    }
    for (name, ..) in TRACEPOINTS {
        match sys::bpf::open_pin(&link_path(instance, name)) {
            Ok(link) => links.push(link),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(Attached(links)))
}

/// Loads, attaches and pins everything, after removing whatever is there. The caller has the exclusive lock.
pub(super) fn load(instance: &Instance, ring_bytes: u32) -> Result<(), BpfError> {
    if !in_initial_cgroup_namespace() {
        return Err(BpfError::CgroupNamespace);
    }
    if is_populated(instance) {
        return Err(BpfError::InUse {
            instance: instance.name().to_owned(),
            what: "processes are left in its cgroups and must be ended first",
        });
    }
    tear_down(instance)?;
    let directory = instance.bpf_dir();
    mount(&directory)?;
    let stamp = Stamp::wanted(instance, ring_bytes)?;
    let cgroup =
        File::open(instance.cgroup()).map_err(BpfError::state("open the cgroup", &instance.cgroup()))?;

    let kernel = Btf::from_sys_fs().map_err(|error| BpfError::KernelTypes(Box::new(error)))?;
    let level = instance.run_level();
    let fact_key = random_key()?;
    let mut object = EbpfLoader::new()
        .btf(Some(&kernel))
        .override_global("run_level", &level, true)
        .override_global("fact_key", fact_key.as_slice(), true)
        .load(ebpf::OBJECT)
        .map_err(|error| BpfError::Object(Box::new(error)))?;

    for (name, map) in object.maps_mut().filter(|(name, _)| !name.starts_with('.')) {
        map.pin(directory.join(name))
            .map_err(BpfError::program("pin a map of", name))?;
    }
    for (name, kind) in CGROUP_PROGRAMS {
        let program = load_program(&mut object, name, None)?;
        let link = sys::bpf::attach(program.as_fd(), cgroup.as_fd(), kind)
            .map_err(BpfError::program("attach", name))?;
        pin_link(instance, name, &link)?;
    }
    for (name, tracepoint, programs) in TRACEPOINTS {
        let program = first_that_loads(&mut object, programs, (tracepoint, &kernel))?;
        let link = sys::bpf::attach_tracepoint(program.as_fd()).map_err(BpfError::program("attach", name))?;
        pin_link(instance, name, &link)?;
    }
    write_stamp(instance, &stamp)
}

/// The secret behind what the programs remember of each other's decisions.
fn random_key() -> Result<[u64; 3], BpfError> {
    let mut key = [0; 3];
    for word in &mut key {
        let mut bytes = [0; 8];
        let read = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
        if read != Ok(bytes.len()) {
            let error = read
                .err()
                .map_or_else(|| io::ErrorKind::UnexpectedEof.into(), io::Error::from);
            return Err(BpfError::map("make a key for", "facts")(error));
        }
        *word = u64::from_ne_bytes(bytes);
    }
    Ok(key)
}

fn pin_link(instance: &Instance, name: &str, link: &OwnedFd) -> Result<(), BpfError> {
    let path = link_path(instance, name);
    sys::bpf::pin(link.as_fd(), &path).map_err(BpfError::state("pin a link to", &path))
}

fn first_that_loads(
    object: &mut Ebpf,
    programs: &[&str],
    tracepoint: (&str, &Btf),
) -> Result<OwnedFd, BpfError> {
    let mut result = Err(BpfError::NotLoaded);
    for name in programs {
        result = load_program(object, name, Some(tracepoint));
        if result.is_ok() {
            break;
        }
    }
    result
}

fn load_program(
    object: &mut Ebpf,
    name: &str,
    tracepoint: Option<(&str, &Btf)>,
) -> Result<OwnedFd, BpfError> {
    let unknown = || io::Error::new(io::ErrorKind::NotFound, "no such program in the object");
    let program = object
        .program_mut(name)
        .ok_or_else(|| BpfError::program("find", name)(unknown()))?;
    let loaded = match (&mut *program, tracepoint) {
        (Program::CgroupSockAddr(program), None) => program.load(),
        (Program::CgroupSock(program), None) => program.load(),
        (Program::CgroupSkb(program), None) => program.load(),
        (Program::CgroupDevice(program), None) => program.load(),
        (Program::CgroupSysctl(program), None) => program.load(),
        (Program::BtfTracePoint(program), Some((tracepoint, kernel))) => program.load(tracepoint, kernel),
        _ => return Err(BpfError::program("find", name)(unknown())),
    };
    loaded.map_err(BpfError::program("load", name))?;
    program
        .fd()
        .map_err(BpfError::program("use", name))?
        .as_fd()
        .try_clone_to_owned()
        .map_err(BpfError::program("use", name))
}

/// Removes stamp, pins and mount. The caller has the exclusive lock.
pub(super) fn tear_down(instance: &Instance) -> Result<(), BpfError> {
    let stamp = stamp_path(instance);
    remove(&stamp)?;
    let directory = instance.bpf_dir();
    if is_mounted(&directory) {
        // By name as well as by unmounting: another mount namespace may have a copy of the mount.
        for entry in list(&directory)? {
            remove(&entry)?;
        }
        rustix::mount::unmount(&directory, UnmountFlags::DETACH)
            .map_err(|error| BpfError::state("unmount", &directory)(error.into()))?;
    }
    match fs::remove_dir(&directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BpfError::state("remove", &directory)(error))
        }
        _ => Ok(()),
    }
}

/// Removes the lock files, for an instance that leaves the host.
pub(super) fn remove_locks(instance: &Instance) -> Result<(), BpfError> {
    for slot in 0..SLOTS {
        let path = slot_lock_path(instance, slot);
        if !path.exists() {
            // Slots are taken in order, so their files have no gap.
            break;
        }
        remove(&path)?;
    }
    remove(&lock_path(instance))
}

fn mount(directory: &Path) -> Result<(), BpfError> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .mode(0o700)
        .create(directory)
        .map_err(BpfError::state("create", directory))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("remit", directory, "bpf", flags, c"mode=0700")
        .map_err(|error| BpfError::state("mount a bpffs at", directory)(error.into()))
}

fn is_mounted(directory: &Path) -> bool {
    const BPF_FS_MAGIC: u64 = 0xcafe_4a11;
    rustix::fs::statfs(directory)
        .is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|kind| kind == BPF_FS_MAGIC))
}

/// Everything that was pinned. The kernel puts two files of its own into each bpffs, which cannot be removed.
fn list(directory: &Path) -> Result<Vec<PathBuf>, BpfError> {
    let mut paths = fs::read_dir(directory)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(BpfError::state("list", directory))?;
    Vec::retain(&mut paths, |path| {
        path.extension().is_none_or(|kind| kind != "debug")
    });
    Ok(paths)
}

fn remove(path: &Path) -> Result<(), BpfError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BpfError::state("remove", path)(error)),
        _ => Ok(()),
    }
}

fn write_stamp(instance: &Instance, stamp: &Stamp) -> Result<(), BpfError> {
    let path = stamp_path(instance);
    let draft = path.with_extension("draft");
    fs::write(&draft, &stamp.text)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(BpfError::state("write", &path))
}

/// Whether any process is in the instance's cgroups.
fn is_populated(instance: &Instance) -> bool {
    fs::read_to_string(instance.cgroup().join("cgroup.events"))
        .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}

fn in_initial_cgroup_namespace() -> bool {
    /// `PROC_CGROUP_INIT_INO`.
    const INITIAL: u64 = 0xeffffffb;
    fs::metadata("/proc/self/ns/cgroup").is_ok_and(|found| found.ino() == INITIAL)
}
