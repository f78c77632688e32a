//! Listeners and datagram sinks that outlive their command.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sys;

static DATAGRAMS: AtomicU64 = AtomicU64::new(0);

/// Accepts and closes, for ever.
pub(crate) fn tcp(address: &SocketAddr) -> io::Result<u16> {
    let socket = sys::socket_for(address, libc::SOCK_STREAM)?;
    sys::set(
        &socket,
        libc::SOL_SOCKET,
        libc::SO_REUSEADDR,
        &1_i32.to_ne_bytes(),
    )?;
    sys::bind(&socket, &sys::Raw::of(address))?;
    accepting(socket)
}

/// Listens and accepts with whatever the socket is bound to.
pub(crate) fn accepting(socket: OwnedFd) -> io::Result<u16> {
    sys::listen(&socket)?;
    let port = sys::local_port(&socket)?;
    std::thread::spawn(move || for _ in std::net::TcpListener::from(socket).incoming() {});
    Ok(port)
}

/// Counts what arrives.
pub(crate) fn udp(address: &SocketAddr) -> io::Result<u16> {
    let socket = std::net::UdpSocket::bind(address)?;
    let port = socket.local_addr()?.port();
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while socket.recv_from(&mut buffer).is_ok() {
            DATAGRAMS.fetch_add(1, Ordering::SeqCst);
        }
    });
    Ok(port)
}

/// How many datagrams came, after giving them time to.
pub(crate) fn received() -> u64 {
    std::thread::sleep(std::time::Duration::from_millis(50));
    DATAGRAMS.swap(0, Ordering::SeqCst)
}
