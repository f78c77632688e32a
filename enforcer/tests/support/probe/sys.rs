//! Sockets as a hostile program would use them: any family, type, protocol and address length.
#![allow(
    unsafe_code,
    reason = "the probe makes the calls that safe wrappers refuse to make"
)]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is one call with pointers to live locals"
)]

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

fn check(value: i32) -> io::Result<i32> {
    if value < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(value)
    }
}

pub(crate) fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    let fd = check(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A socket of the address's family.
pub(crate) fn socket_for(address: &SocketAddr, kind: i32) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    socket(family, kind, 0)
}

/// A socket address as the kernel takes it.
pub(crate) struct Raw {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl Raw {
    pub(crate) fn of(address: &SocketAddr) -> Self {
        let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let len = match address.ip() {
            IpAddr::V4(ip) => {
                let to: &mut libc::sockaddr_in = unsafe { &mut *(&raw mut storage).cast() };
                to.sin_family = libc::AF_INET as u16;
                to.sin_port = address.port().to_be();
                to.sin_addr.s_addr = u32::from(ip).to_be();
                size_of::<libc::sockaddr_in>()
            }
            IpAddr::V6(ip) => {
                let to: &mut libc::sockaddr_in6 = unsafe { &mut *(&raw mut storage).cast() };
                to.sin6_family = libc::AF_INET6 as u16;
                to.sin6_port = address.port().to_be();
                to.sin6_addr.s6_addr = ip.octets();
                size_of::<libc::sockaddr_in6>()
            }
        };
        Self {
            storage,
            len: len as libc::socklen_t,
        }
    }

    /// The same bytes under another family.
    pub(crate) fn family(mut self, family: i32) -> Self {
        self.storage.ss_family = family as u16;
        self
    }

    fn pointer(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }
}

pub(crate) fn connect(socket: &OwnedFd, to: &Raw) -> io::Result<()> {
    check(unsafe { libc::connect(socket.as_raw_fd(), to.pointer(), to.len) }).map(drop)
}

pub(crate) fn bind(socket: &OwnedFd, to: &Raw) -> io::Result<()> {
    check(unsafe { libc::bind(socket.as_raw_fd(), to.pointer(), to.len) }).map(drop)
}

pub(crate) fn listen(socket: &OwnedFd) -> io::Result<()> {
    check(unsafe { libc::listen(socket.as_raw_fd(), 16) }).map(drop)
}

/// The port a socket has.
pub(crate) fn local_port(socket: &OwnedFd) -> io::Result<u16> {
    let mut storage: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
    let to = (&raw mut storage).cast();
    check(unsafe { libc::getsockname(socket.as_raw_fd(), to, &raw mut len) })?;
    // At the same place in both families.
    Ok(u16::from_be(storage.sin6_port))
}

pub(crate) fn set(socket: &OwnedFd, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), len) })
        .map(drop)
}

pub(crate) fn send_to(socket: &OwnedFd, data: &[u8], to: &Raw, flags: i32) -> io::Result<()> {
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            data.as_ptr().cast(),
            data.len(),
            flags,
            to.pointer(),
            to.len,
        )
    };
    check(sent as i32).map(drop)
}

pub(crate) fn send(socket: &OwnedFd, data: &[u8]) -> io::Result<()> {
    let sent = unsafe { libc::send(socket.as_raw_fd(), data.as_ptr().cast(), data.len(), 0) };
    check(sent as i32).map(drop)
}

/// sendmsg(2), or sendmmsg(2) with the message twice.
pub(crate) fn send_message(socket: &OwnedFd, data: &[u8], to: &Raw, many: bool) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: data.as_ptr().cast_mut().cast(),
        iov_len: data.len(),
    };
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_name = to.pointer().cast_mut().cast();
    message.msg_namelen = to.len;
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if many {
        let entry = libc::mmsghdr {
            msg_hdr: message,
            msg_len: 0,
        };
        let mut messages = [entry, entry];
        check(unsafe { libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), 2, 0) }).map(drop)
    } else {
        check(unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, 0) } as i32).map(drop)
    }
}

/// Waits until a non-blocking connect is done; what it came to.
pub(crate) fn finish_connect(socket: &OwnedFd, patience_ms: i32) -> io::Result<()> {
    let mut wait = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    if check(unsafe { libc::poll(&raw mut wait, 1, patience_ms) })? == 0 {
        return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
    }
    let mut error = 0_i32;
    let mut len = size_of::<i32>() as libc::socklen_t;
    let to = (&raw mut error).cast();
    let fd = socket.as_raw_fd();
    check(unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, to, &raw mut len) })?;
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(error))
    }
}

pub(crate) fn enter_new_network() -> io::Result<()> {
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

pub(crate) fn enter_network_of(pid: u32) -> io::Result<()> {
    let namespace = std::fs::File::open(format!("/proc/{pid}/ns/net"))?;
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

pub(crate) fn make_node(path: &str, major: u32, minor: u32) -> io::Result<()> {
    let path = std::ffi::CString::new(path)?;
    let device = libc::makedev(major, minor);
    check(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, device) }).map(drop)
}
