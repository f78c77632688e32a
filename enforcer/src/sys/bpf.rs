//! bpf(2) for what a run needs when the programs are loaded already: pinned objects, map elements, links. Loading
//! is aya's. See include/uapi/linux/bpf.h; each struct here is the part of `union bpf_attr` that a command reads.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ebpf::layout;

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP_ELEM: libc::c_int = 1;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const MAP_DELETE_ELEM: libc::c_int = 3;
const MAP_GET_NEXT_KEY: libc::c_int = 4;
const OBJ_PIN: libc::c_int = 6;
const OBJ_GET: libc::c_int = 7;
const OBJ_GET_INFO_BY_FD: libc::c_int = 15;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const MAP_UPDATE_BATCH: libc::c_int = 26;
const MAP_DELETE_BATCH: libc::c_int = 27;
const LINK_CREATE: libc::c_int = 28;

/// `BPF_MAP_TYPE_RINGBUF`.
const RINGBUF: u32 = 27;

/// The kernel's own ENOTSUPP, which no libc names: a map type without batches.
const ENOTSUPP: i32 = 524;

/// Types that are their bytes: no padding, no pointer, every bit pattern valid.
///
/// # Safety
/// Implementors hold that.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: integers.
unsafe impl Plain for u64 {}
// SAFETY: `repr(C)` integers and arrays; `layout` asserts that sizes and offsets leave no gap.
unsafe impl Plain for layout::Run {}
// SAFETY: as above.
unsafe impl Plain for layout::NodeKey {}
// SAFETY: as above.
unsafe impl Plain for layout::Node {}
// SAFETY: as above.
unsafe impl Plain for layout::Counters {}

/// Calls bpf(2) with a command's part of `union bpf_attr`.
///
/// # Safety
/// `A` is `repr(C)` without padding and is what `command` reads; pointers in it are valid for what it does.
unsafe fn bpf<A>(command: libc::c_int, attributes: &mut A) -> io::Result<libc::c_long> {
    // SAFETY: the pointer and size describe `attributes`; the rest is the caller's promise.
    super::check(unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_mut(attributes),
            size_of::<A>(),
        )
    })
}

fn raw(fd: BorrowedFd<'_>) -> u32 {
    fd.as_raw_fd().unsigned_abs()
}

fn own(value: libc::c_long) -> io::Result<OwnedFd> {
    let fd = i32::try_from(value).map_err(io::Error::other)?;
    // SAFETY: the kernel just returned this descriptor, close-on-exec as all of bpf(2)'s, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn address<T>(value: &T) -> u64 {
    std::ptr::from_ref(value).addr() as u64
}

#[repr(C)]
struct Pin {
    path: u64,
    fd: u32,
    flags: u32,
}

fn pin_request(path: &Path, fd: u32) -> io::Result<(CString, Pin)> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let request = Pin {
        path: path.as_ptr().addr() as u64,
        fd,
        flags: 0,
    };
    Ok((path, request))
}

/// Opens a pinned object.
pub(crate) fn open_pin(path: &Path) -> io::Result<OwnedFd> {
    let (_path, mut request) = pin_request(path, 0)?;
    // SAFETY: `Pin` is what the command reads, and `_path` outlives the call.
    own(unsafe { bpf(OBJ_GET, &mut request) }?)
}

/// Pins an object under a path on a bpffs.
pub(crate) fn pin(fd: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let (_path, mut request) = pin_request(path, raw(fd))?;
    // SAFETY: as above.
    unsafe { bpf(OBJ_PIN, &mut request) }?;
    Ok(())
}

/// Makes a ring buffer. `bytes` is a power of two and whole pages.
pub(crate) fn create_ring(bytes: u32) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Create {
        map_type: u32,
        key_size: u32,
        value_size: u32,
        max_entries: u32,
        map_flags: u32,
        inner_map_fd: u32,
        numa_node: u32,
        name: [u8; 16],
    }
    let mut name = [0; 16];
    name[..10].copy_from_slice(b"remit_ring");
    let mut request = Create {
        map_type: RINGBUF,
        key_size: 0,
        value_size: 0,
        max_entries: bytes,
        map_flags: 0,
        inner_map_fd: 0,
        numa_node: 0,
        name,
    };
    // SAFETY: `Create` is the start of what the command reads; the kernel takes the rest as zero.
    own(unsafe { bpf(MAP_CREATE, &mut request) }?)
}

/// Attaches a cgroup program; the attachment lasts as long as the link is open or pinned.
pub(crate) fn attach(program: BorrowedFd<'_>, cgroup: BorrowedFd<'_>, kind: u32) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Link {
        program: u32,
        target: u32,
        kind: u32,
        flags: u32,
    }
    let mut request = Link {
        program: raw(program),
        target: raw(cgroup),
        kind,
        flags: 0,
    };
    // SAFETY: `Link` is the start of what the command reads.
    own(unsafe { bpf(LINK_CREATE, &mut request) }?)
}

/// Attaches a tracing program to the tracepoint that it was loaded for.
pub(crate) fn attach_tracepoint(program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Open {
        /// Null: the program knows.
        name: u64,
        program: u32,
        padding: u32,
    }
    let mut request = Open {
        name: 0,
        program: raw(program),
        padding: 0,
    };
    // SAFETY: `Open` is the start of what the command reads, and has no pointer.
    own(unsafe { bpf(RAW_TRACEPOINT_OPEN, &mut request) }?)
}

/// `struct bpf_link_info` as far as cgroup and raw tracepoint links have it.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LinkInfo {
    pub(crate) kind: u32,
    pub(crate) id: u32,
    pub(crate) program: u32,
    reserved: u32,
    /// Of a cgroup link: where it is attached, zero when the cgroup is gone.
    pub(crate) cgroup: u64,
    pub(crate) attach_type: u32,
    reserved_2: u32,
}

#[repr(C)]
#[derive(Debug, Default)]
struct MapInfo {
    kind: u32,
    id: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

/// Asks about a BPF object.
///
/// # Safety
/// `T` is `repr(C)`, valid for every bit pattern, and what the kernel fills for the kind of object `fd` is, or its
/// start.
unsafe fn info<T: Default>(fd: BorrowedFd<'_>) -> io::Result<T> {
    #[repr(C)]
    struct Info {
        fd: u32,
        len: u32,
        info: u64,
    }
    let mut found = T::default();
    let mut request = Info {
        fd: raw(fd),
        len: u32::try_from(size_of::<T>()).map_err(io::Error::other)?,
        info: std::ptr::from_mut(&mut found).expose_provenance() as u64,
    };
    // SAFETY: `Info` is what the command reads; the kernel writes at most `len` bytes to `found`.
    unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut request) }?;
    Ok(found)
}

/// What a link is attached to.
pub(crate) fn link_info(link: BorrowedFd<'_>) -> io::Result<LinkInfo> {
    // SAFETY: integers in the kernel's order.
    unsafe { info(link) }
}

/// How much a ring holds.
pub(crate) fn ring_bytes(ring: BorrowedFd<'_>) -> io::Result<usize> {
    // SAFETY: integers in the kernel's order.
    let found: MapInfo = unsafe { info(ring) }?;
    if found.kind != RINGBUF {
        return Err(io::ErrorKind::InvalidData.into());
    }
    usize::try_from(found.max_entries).map_err(io::Error::other)
}

/// What a map element update may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Update {
    /// Make or replace.
    Any = 0,
    /// Make; fail when it exists.
    Create = 1,
    /// Replace; fail when it does not.
    Replace = 2,
}

#[repr(C)]
struct Element {
    map: u32,
    padding: u32,
    key: u64,
    /// Or the next key.
    value: u64,
    flags: u64,
}

#[repr(C)]
struct Batch {
    in_batch: u64,
    out_batch: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

/// A map whose keys and values are `K` and `V`.
#[derive(Debug)]
pub(crate) struct Map<K, V> {
    fd: OwnedFd,
    types: std::marker::PhantomData<fn(K) -> V>,
}

impl<K: Plain, V: Plain> Map<K, V> {
    /// Opens a pinned map, and checks that keys and values have the sizes of `K` and `V`: the kernel reads and
    /// writes as many bytes as the map says.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd = open_pin(path)?;
        // SAFETY: integers in the kernel's order.
        let found: MapInfo = unsafe { info(std::os::fd::AsFd::as_fd(&fd)) }?;
        let sizes = (found.key_size.try_into(), found.value_size.try_into());
        if sizes != (Ok(size_of::<K>()), Ok(size_of::<V>())) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a pinned map has other key or value sizes than this build",
            ));
        }
        Ok(Self {
            fd,
            types: std::marker::PhantomData,
        })
    }

    fn map(&self) -> u32 {
        self.fd.as_raw_fd().unsigned_abs()
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &K) -> io::Result<Option<V>> {
        let mut value = std::mem::MaybeUninit::<V>::uninit();
        let mut request = Element {
            map: self.map(),
            padding: 0,
            key: address(key),
            value: value.as_mut_ptr().expose_provenance() as u64,
            flags: 0,
        };
        // SAFETY: the map's sizes were checked, so the kernel reads a `K` and writes a `V`.
        match unsafe { bpf(MAP_LOOKUP_ELEM, &mut request) } {
            // SAFETY: the kernel wrote all of it.
            Ok(_) => Ok(Some(unsafe { value.assume_init() })),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets the value of a key.
    pub(crate) fn set(&self, key: &K, value: &V, how: Update) -> io::Result<()> {
        let mut request = Element {
            map: self.map(),
            padding: 0,
            key: address(key),
            value: address(value),
            flags: how as u64,
        };
        // SAFETY: the map's sizes were checked, so the kernel reads a `K` and a `V`.
        unsafe { bpf(MAP_UPDATE_ELEM, &mut request) }?;
        Ok(())
    }

    /// Deletes a key; says whether it was there.
    pub(crate) fn delete(&self, key: &K) -> io::Result<bool> {
        let mut request = Element {
            map: self.map(),
            padding: 0,
            key: address(key),
            value: 0,
            flags: 0,
        };
        // SAFETY: the map's sizes were checked, so the kernel reads a `K`.
        match unsafe { bpf(MAP_DELETE_ELEM, &mut request) } {
            Ok(_) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All keys. What is added meanwhile may be missed; what is deleted meanwhile may start it over, so the
    /// result can name a key twice.
    pub(crate) fn keys(&self) -> io::Result<Vec<K>> {
        let mut keys: Vec<K> = Vec::new();
        loop {
            let mut next = std::mem::MaybeUninit::<K>::uninit();
            let mut request = Element {
                map: self.map(),
                padding: 0,
                key: keys.last().map_or(0, address),
                value: next.as_mut_ptr().expose_provenance() as u64,
                flags: 0,
            };
            // SAFETY: the map's sizes were checked, so the kernel reads a `K` (or none) and writes a `K`.
            match unsafe { bpf(MAP_GET_NEXT_KEY, &mut request) } {
                // SAFETY: the kernel wrote all of it.
                Ok(_) => keys.push(unsafe { next.assume_init() }),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(keys),
                Err(error) => return Err(error),
            }
        }
    }

    /// Sets many keys, in one call where the kernel can. On an error some may have been set.
    pub(crate) fn set_all(&self, keys: &[K], values: &[V]) -> io::Result<()> {
        if keys.len() != values.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if self.batch(MAP_UPDATE_BATCH, keys, Some(values))? {
            return Ok(());
        }
        keys.iter()
            .zip(values)
            .try_for_each(|(key, value)| self.set(key, value, Update::Any))
    }

    /// Deletes many keys; those that are not there are no error.
    pub(crate) fn delete_all(&self, keys: &[K]) -> io::Result<()> {
        // A batch stops at the first key that is not there.
        match self.batch(MAP_DELETE_BATCH, keys, None) {
            Ok(true) => Ok(()),
            Ok(false) => keys.iter().try_for_each(|key| self.delete(key).map(drop)),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                keys.iter().try_for_each(|key| self.delete(key).map(drop))
            }
            Err(error) => Err(error),
        }
    }

    /// False when the kernel has no batches for this type of map.
    fn batch(&self, command: libc::c_int, keys: &[K], values: Option<&[V]>) -> io::Result<bool> {
        if keys.is_empty() {
            return Ok(true);
        }
        let mut request = Batch {
            in_batch: 0,
            out_batch: 0,
            keys: keys.as_ptr().expose_provenance() as u64,
            values: values.map_or(0, |values| values.as_ptr().expose_provenance() as u64),
            count: u32::try_from(keys.len()).map_err(io::Error::other)?,
            map: self.map(),
            element_flags: 0,
            flags: 0,
        };
        // SAFETY: the map's sizes were checked, and the slices hold `count` keys and, where asked for, values.
        match unsafe { bpf(command, &mut request) } {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(ENOTSUPP | libc::EINVAL | libc::EOPNOTSUPP)
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Puts a map into a slot of an array of maps. The kernel waits for every program that runs to finish: this takes
/// some 10 ms.
pub(crate) fn set_slot(outer: &Map<u32, u32>, slot: u32, inner: BorrowedFd<'_>) -> io::Result<()> {
    outer.set(&slot, &raw(inner), Update::Any)
}

/// Waits until every program that runs now has finished (`MEMBARRIER_CMD_GLOBAL` is a grace period).
pub(crate) fn wait_for_programs() -> io::Result<()> {
    const GLOBAL: libc::c_int = 1;
    // SAFETY: no pointers.
    super::check(unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) })?;
    Ok(())
}
