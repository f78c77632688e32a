//! One thing that is tried, in a process that ends with it.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::process::Pid;

use crate::operation::{OPEN_FLAGS, Operation};
use crate::sys;

/// How long what is left behind would live on a host that let it.
const DAEMON_SECONDS: u64 = 60;

/// Nothing, or the error number.
pub(super) fn perform(operation: &Operation) -> Result<(), i32> {
    match operation {
        Operation::Read { path } => opened(std::fs::OpenOptions::new().read(true), path),
        Operation::Write { path } => write(path),
        Operation::Execute { path } => sys::execute_nothing(path),
        Operation::Connect { udp, address, port } => connect(*udp, socket_address(*address, *port)),
        Operation::Bind { udp, address, port } => bind(*udp, socket_address(*address, *port)),
        Operation::Socket {
            family,
            kind,
            protocol,
        } => sys::socket(*family, *kind, *protocol),
        Operation::Call {
            number, arguments, ..
        } => sys::call(i64::from(*number), *arguments),
        Operation::X32 => sys::x32(),
        Operation::I386 => sys::i386(),
        Operation::Variable { name } => std::env::var_os(name).map(drop).ok_or(libc::ENODATA),
        Operation::Descriptor { number } => sys::is_open(*number),
        Operation::Signal { pid } => {
            let pid = Pid::from_raw(*pid).ok_or(libc::EINVAL)?;
            rustix::process::test_kill_process(pid).map_err(rustix::io::Errno::raw_os_error)
        }
        Operation::SetUser => {
            let root = rustix::process::getuid().is_root();
            sys::call(libc::SYS_setuid, [u64::from(root), 0, 0, 0, 0, 0])
        }
        Operation::Privileges => privileges(),
        Operation::SetIdProgram { path } => Err(sys::execute(path, super::WHO_FLAG)),
        Operation::Daemon => daemon(),
    }
}

fn number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

fn opened(options: &mut std::fs::OpenOptions, path: impl AsRef<Path>) -> Result<(), i32> {
    // `custom_flags` adds to what the standard library sets itself, O_CLOEXEC.
    match options.custom_flags(OPEN_FLAGS).open(path) {
        Ok(_) => Ok(()),
        // A FIFO that nobody reads: the permission was there.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(()),
        Err(error) => Err(number(&error)),
    }
}

fn write(path: &str) -> Result<(), i32> {
    let path = Path::new(path);
    let made = match std::fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => path.join(format!(".remit-verify-{}", std::process::id())),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => path.to_owned(),
        // A path that cannot be looked at is tried all the same.
        Ok(_) | Err(_) => return opened(std::fs::OpenOptions::new().write(true), path),
    };
    opened(std::fs::OpenOptions::new().write(true).create_new(true), &made)?;
    std::fs::remove_file(&made).map_err(|error| number(&error))
}

/// Link-local addresses need an interface; in a probe's world it is the first.
fn socket_address(address: IpAddr, port: u16) -> SocketAddr {
    match address {
        IpAddr::V6(address) if address.is_unicast_link_local() => {
            SocketAddrV6::new(address, port, 0, 1).into()
        }
        address => SocketAddr::new(address, port),
    }
}

fn socket(udp: bool, address: &SocketAddr) -> Result<std::os::fd::OwnedFd, i32> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let kind = if udp {
        SocketType::DGRAM
    } else {
        SocketType::STREAM
    };
    rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)
        .map_err(rustix::io::Errno::raw_os_error)
}

fn connect(udp: bool, address: SocketAddr) -> Result<(), i32> {
    let socket = socket(udp, &address)?;
    let sent = if udp {
        rustix::net::sendto(&socket, b"remit verify", SendFlags::empty(), &address).map(drop)
    } else {
        rustix::net::connect(&socket, &address)
    };
    sent.map_err(rustix::io::Errno::raw_os_error)
}

fn bind(udp: bool, address: SocketAddr) -> Result<(), i32> {
    let socket = socket(udp, &address)?;
    rustix::net::bind(&socket, &address).map_err(rustix::io::Errno::raw_os_error)
}

/// Whether there is anything to use or to gain: no_new_privs unset, a capability left in the bounding set, no filter.
fn privileges() -> Result<(), i32> {
    let closed = sys::prctl(libc::PR_GET_NO_NEW_PRIVS, 0) == 1
        && sys::prctl(libc::PR_GET_SECCOMP, 0) == 2
        && (0..64).all(|capability| sys::prctl(libc::PR_CAPBSET_READ, capability) != 1);
    if closed { Err(libc::EPERM) } else { Ok(()) }
}

/// Forks twice, so that nobody waits for what is left.
fn daemon() -> Result<(), i32> {
    let stay = || {
        let _ = rustix::process::setsid();
        sys::ignore(libc::SIGTERM);
        sys::ignore(libc::SIGHUP);
        std::thread::sleep(std::time::Duration::from_secs(DAEMON_SECONDS));
        Ok(())
    };
    let failed = |error: io::Error| number(&error);
    let _ = rustix::process::setsid();
    sys::fork(stay).map(drop).map_err(failed)
}
