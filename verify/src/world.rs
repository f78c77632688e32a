//! A network namespace in which every address is this machine's own: what stands in for metadata services and production.
//!
//! A process of its own makes it, listens where it is told to, and lives as long as its standard input is open. Runs and
//! probes enter it by `/proc/PID/ns/net`.

use std::io::{self, BufRead as _, Write as _};
use std::net::{Ipv6Addr, TcpListener, UdpSocket};
use std::process::ExitCode;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use serde::{Deserialize, Serialize};

use crate::sys;

/// Its first argument.
pub const FLAG: &str = "--verify-world";

/// What it says when the world is made.
pub(crate) const READY: &str = "ready";

/// Where somebody listens, on every address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// Over TCP.
    pub tcp: Vec<u16>,
    /// Over UDP.
    pub udp: Vec<u16>,
}

pub(crate) fn main() -> ExitCode {
    match make() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn make() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let ports: Ports = serde_json::from_str(&line)?;
    sys::new_network()?;
    furnish()?;
    // Whoever probes is nobody here; that is not what is to refuse.
    std::fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")?;
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0\t2147483647")?;
    for port in ports.tcp {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))?;
        std::thread::spawn(move || listener.incoming().for_each(drop));
    }
    let mut sockets = Vec::new();
    for port in ports.udp {
        sockets.push(UdpSocket::bind((Ipv6Addr::UNSPECIFIED, port))?);
    }
    println!("{READY}");
    io::stdout().flush()?;
    line.clear();
    input.read_line(&mut line).map(drop)
}

const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const CREATE: u16 = 0x400;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWROUTE: u16 = 24;
const LOOPBACK: u32 = 1;

/// Brings loopback up and makes every address of both families local (rtnetlink(7)).
fn furnish() -> io::Result<()> {
    let mut link = vec![0, 0, 0, 0];
    link.extend(LOOPBACK.to_ne_bytes());
    // IFF_UP, set and to be changed.
    link.extend(1_u32.to_ne_bytes());
    link.extend(1_u32.to_ne_bytes());
    ask(RTM_NEWLINK, REQUEST | ACK, &link)?;
    for family in [libc::AF_INET, libc::AF_INET6] {
        // Family, prefix of no bits, no source, no TOS, table "local", "boot", scope "host", type "local", no flags.
        let mut route = vec![u8::try_from(family).unwrap_or_default(), 0, 0, 0, 255, 3, 254, 2];
        route.extend(0_u32.to_ne_bytes());
        // RTA_OIF
        route.extend(8_u16.to_ne_bytes());
        route.extend(4_u16.to_ne_bytes());
        route.extend(LOOPBACK.to_ne_bytes());
        ask(RTM_NEWROUTE, REQUEST | ACK | CREATE, &route)?;
    }
    Ok(())
}

fn ask(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    // Protocol 0 is NETLINK_ROUTE.
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let length = u32::try_from(16 + body.len()).map_err(io::Error::other)?;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 4096];
    rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    // After the header comes the error number, negative.
    let error = answer
        .get(16..20)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, i32::from_ne_bytes);
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(-error))
    }
}
