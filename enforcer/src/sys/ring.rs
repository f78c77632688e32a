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

/// A mapped ring.
#[derive(Debug)]
pub(crate) struct RingMapping {
    fd: OwnedFd,
    consumer: Mapping,
    producer: Mapping,
    page: usize,
    size: usize,
    position: usize,
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
        let consumer = Mapping::new(fd.as_fd(), libc::PROT_READ | libc::PROT_WRITE, 0, page)?;
        // Twice the data: a length that is not the ring's own fails here, not later.
        let producer = Mapping::new(fd.as_fd(), libc::PROT_READ, page, page + 2 * size)?;
        let mut ring = Self {
            fd,
            consumer,
            producer,
            page,
            size,
            position: 0,
        };
        ring.position = ring.produced().load(Ordering::Acquire);
        ring.consumed().store(ring.position, Ordering::SeqCst);
        Ok(ring)
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
            let offset = self.page + (self.position & (self.size - 1));
            // SAFETY: records are 8-aligned, and `offset` lies within the data.
            let header: &AtomicU32 = unsafe { self.producer.at.add(offset).cast().as_ref() };
            let header = header.load(Ordering::Acquire);
            if header & BUSY != 0 {
                return None;
            }
            let len = usize::try_from(header & !(BUSY | DISCARDED)).ok()?;
            if len > self.size - HEADER {
                return None;
            }
            let result = (header & DISCARDED == 0).then(|| {
                // SAFETY: the data is mapped twice, so `len` bytes from any offset within it are mapped; the
                // kernel does not touch a committed record until `consumed` passes it, below.
                read(unsafe {
                    std::slice::from_raw_parts(self.producer.at.add(offset + HEADER).as_ptr(), len)
                })
            });
            self.position = self.position.wrapping_add((HEADER + len).next_multiple_of(8));
            self.consumed().store(self.position, Ordering::Release);
            if result.is_some() {
                return result;
            }
        }
    }
}

impl AsFd for RingMapping {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
