//! The consumer's end of a `BPF_MAP_TYPE_RINGBUF`, as Documentation/bpf/ringbuf.rst describes it: one writable page
//! with the consumer's position, then read-only the producer's page and the data, mapped twice in a row so that a
//! record never wraps.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};

const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER: usize = 8;

/// A mapping that is unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    at: NonNull<u8>,
    len: usize,
}

impl Mapping {
    fn new(fd: BorrowedFd<'_>, protection: libc::c_int, offset: usize, len: usize) -> io::Result<Self> {
        let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
        // SAFETY: a new mapping of a descriptor; the address is the kernel's choice.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                protection,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                offset,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { at, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` made, and no reference into it outlives `self`.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.len) };
    }
}

/// What is mapped of the data at first. Mapping a page costs more than reading a record, and most runs make few.
const WINDOW: usize = 64 << 10;

/// A part of the data that is mapped.
#[derive(Debug)]
struct Window {
    mapping: Mapping,
    /// Its place in the data, which is there twice.
    start: usize,
}

impl Window {
    /// Where `len` bytes at a place in the data are, if all of them are mapped here.
    fn at(&self, place: usize, len: usize) -> Option<NonNull<u8>> {
        let within = place.checked_sub(self.start)?;
        if within.checked_add(len)? > self.mapping.len {
            return None;
        }
        // SAFETY: `within` is less than the mapping's length.
        Some(unsafe { self.mapping.at.add(within) })
    }
}

/// A mapped ring.
#[derive(Debug)]
pub(crate) struct RingMapping {
    fd: OwnedFd,
    consumer: Mapping,
    producer: Mapping,
    data: Window,
    page: usize,
    size: usize,
    position: usize,
    /// Why the ring cannot be read any further.
    broken: Option<io::Error>,
}

// SAFETY: the mappings are this value's own; another thread may use them when it has the value.
unsafe impl Send for RingMapping {}

impl RingMapping {
    /// Maps a ring of `size` bytes, and skips what is in it.
    pub(crate) fn new(fd: OwnedFd, size: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        if !size.is_power_of_two() || size < page {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if super::bpf::ring_bytes(fd.as_fd())? != size {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a pinned ring has another size than this build",
            ));
        }
        let consumer = Mapping::new(fd.as_fd(), libc::PROT_READ | libc::PROT_WRITE, 0, page)?;
        let producer = Mapping::new(fd.as_fd(), libc::PROT_READ, page, page)?;
        // SAFETY: the first word of a page that is mapped for reading; it is only loaded.
        let produced: &AtomicUsize = unsafe { producer.at.cast().as_ref() };
        let position = produced.load(Ordering::Acquire);
        let start = position & (size - 1) & !(page - 1);
        let data = window(fd.as_fd(), page, start, WINDOW.min(size))?;
        let ring = Self {
            fd,
            consumer,
            producer,
            data,
            page,
            size,
            position,
            broken: None,
        };
        ring.consumed().store(ring.position, Ordering::SeqCst);
        Ok(ring)
    }

    /// Why there will be no more records, if that is so: they are in the ring and cannot be mapped.
    pub(crate) fn broken(&mut self) -> Option<io::Error> {
        self.broken.take()
    }

    /// Where `len` bytes of the record at the current position are.
    fn mapped(&mut self, len: usize) -> Option<NonNull<u8>> {
        let place = self.position & (self.size - 1);
        if let Some(found) = self.data.at(place, len) {
            return Some(found);
        }
        // More than a few records: from now on all of it.
        match window(self.fd.as_fd(), self.page, 0, 2 * self.size) {
            Ok(all) => self.data = all,
            Err(error) => self.broken = Some(error),
        }
        self.data.at(place, len)
    }

    fn consumed(&self) -> &AtomicUsize {
        // SAFETY: the first word of a page that is mapped read-write; both sides use it atomically.
        unsafe { self.consumer.at.cast().as_ref() }
    }

    fn produced(&self) -> &AtomicUsize {
        // SAFETY: the first word of a page that is mapped for reading; it is only loaded.
        unsafe { self.producer.at.cast().as_ref() }
    }

    /// Bytes the ring holds.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Gives the next record to `read` and frees its place; `None` when there is none.
    pub(crate) fn next<R>(&mut self, read: impl Fn(&[u8]) -> R) -> Option<R> {
        loop {
            // The kernel wakes the reader when it finds the ring read up to the new record. That position must be
            // visible before the producer's is read again, or both sides could miss each other.
            fence(Ordering::SeqCst);
            if self.position == self.produced().load(Ordering::Acquire) {
                return None;
            }
            let header = self.mapped(HEADER)?;
            // SAFETY: records are 8-aligned, and the header's bytes are mapped.
            let header: &AtomicU32 = unsafe { header.cast().as_ref() };
            let header = header.load(Ordering::Acquire);
            if header & BUSY != 0 {
                return None;
            }
            let len = usize::try_from(header & !(BUSY | DISCARDED)).ok()?;
            if len > self.size - HEADER {
                return None;
            }
            let record = self.mapped(HEADER + len)?;
            let result = (header & DISCARDED == 0).then(|| {
                // SAFETY: `mapped` found the header and `len` bytes behind it; the kernel does not touch a
                // committed record until `consumed` passes it, below.
                read(unsafe { std::slice::from_raw_parts(record.add(HEADER).as_ptr(), len) })
            });
            self.position = self.position.wrapping_add((HEADER + len).next_multiple_of(8));
            self.consumed().store(self.position, Ordering::Release);
            if result.is_some() {
                return result;
            }
        }
    }
}

/// Maps `len` bytes of the data from `start`, which is a page's beginning.
fn window(fd: BorrowedFd<'_>, page: usize, start: usize, len: usize) -> io::Result<Window> {
    Ok(Window {
        mapping: Mapping::new(fd, libc::PROT_READ, 2 * page + start, len)?,
        start,
    })
}

impl AsFd for RingMapping {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
