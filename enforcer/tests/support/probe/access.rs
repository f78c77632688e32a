//! The accesses.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::serve;
use crate::sys::{self, Raw};

const STREAM: i32 = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
const PATIENCE_MS: i32 = 300;

/// Does what the words say; what to print after `ok`.
pub(crate) fn perform(words: &[&str]) -> io::Result<String> {
    let nothing = |()| String::new();
    match *words {
        ["socket", family, kind, protocol] => {
            sys::socket(number(family)?, number(kind)?, number(protocol)?).map(|_| String::new())
        }
        ["connect", "tcp", to] => connect(&address(to)?).map(nothing),
        ["fastopen", to] => fast_open(&address(to)?).map(nothing),
        ["connect", "udp", to] => connected_udp(&address(to)?).map(drop).map(nothing),
        ["hold", to] => hold(&address(to)?).map(nothing),
        ["send", "held"] => send_held().map(nothing),
        ["send", how, to] => send(how, &address(to)?).map(nothing),
        ["undo", to] => undo(&address(to)?).map(nothing),
        ["resend", first, then] => resend(&address(first)?, &address(then)?).map(nothing),
        ["bind", kind, to] => bind(kind, &address(to)?).map(|port| port.to_string()),
        ["bind-then-listen", taken, family] => {
            bind_then_listen(&address(taken)?, family).map(|port| port.to_string())
        }
        ["listen", family] => unbound(family)
            .and_then(serve::accepting)
            .map(|port| port.to_string()),
        ["serve", "tcp", to] => serve::tcp(&address(to)?).map(|port| port.to_string()),
        ["serve", "udp", to] => serve::udp(&address(to)?).map(|port| port.to_string()),
        ["received"] => Ok(serve::received().to_string()),
        ["flood", count, to] => flood(number(count)?, &address(to)?).map(|refused| refused.to_string()),
        ["alternate", ms, one, other] => alternate(number(ms)?, &address(one)?, &address(other)?),
        ["routed", to, through] => routed(&address(to)?, &address(through)?).map(nothing),
        ["open", path] => std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map(|_| String::new()),
        ["node", path, major, minor] => sys::make_node(path, number(major)?, number(minor)?).map(nothing),
        ["write", path, text] => std::fs::write(path, text).map(nothing),
        ["read", path] => std::fs::read_to_string(path).map(|text| text.trim().to_owned()),
        ["run", program, argument, code] => Command::new(program.replace("%0A", "\n"))
            .args([argument, code])
            .status()
            .map(|status| status.code().unwrap_or(-1).to_string()),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, format!("{words:?}"))),
    }
}

fn number<T: std::str::FromStr>(word: &str) -> io::Result<T> {
    word.parse()
        .map_err(|_| io::Error::new(ErrorKind::InvalidInput, word.to_owned()))
}

fn address(word: &str) -> io::Result<SocketAddr> {
    number(word)
}

fn connect(to: &SocketAddr) -> io::Result<()> {
    let socket = sys::socket_for(to, STREAM)?;
    finish(sys::connect(&socket, &Raw::of(to)), &socket)
}

fn fast_open(to: &SocketAddr) -> io::Result<()> {
    let socket = sys::socket_for(to, STREAM)?;
    finish(
        sys::send_to(&socket, b"hello", &Raw::of(to), libc::MSG_FASTOPEN),
        &socket,
    )
}

fn finish(result: io::Result<()>, socket: &OwnedFd) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
            sys::finish_connect(socket, PATIENCE_MS)
        }
        result => result,
    }
}

fn connected_udp(to: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = sys::socket_for(to, libc::SOCK_DGRAM)?;
    sys::connect(&socket, &Raw::of(to))?;
    Ok(socket)
}

fn send(how: &str, to: &SocketAddr) -> io::Result<()> {
    let data = b"datagram";
    if how == "connected" {
        return sys::send(&connected_udp(to)?, data);
    }
    let socket = sys::socket_for(to, libc::SOCK_DGRAM)?;
    let raw = Raw::of(to);
    match how {
        "to" => sys::send_to(&socket, data, &raw, 0),
        "message" => sys::send_message(&socket, data, &raw, false),
        "messages" => sys::send_message(&socket, data, &raw, true),
        "unspecified-family" => sys::send_to(&socket, data, &raw.family(libc::AF_UNSPEC), 0),
        // An IPv4 address on an IPv6 socket.
        "v4-on-v6" => {
            let socket = sys::socket(libc::AF_INET6, libc::SOCK_DGRAM, 0)?;
            sys::set(
                &socket,
                libc::IPPROTO_IPV6,
                libc::IPV6_V6ONLY,
                &0_i32.to_ne_bytes(),
            )?;
            sys::send_to(&socket, data, &raw, 0)
        }
        // More than one packet: it leaves in fragments.
        "large" => sys::send_to(&socket, &[7; 60_000], &raw, 0),
        _ => Err(ErrorKind::InvalidInput.into()),
    }
}

static HELD: std::sync::Mutex<Option<OwnedFd>> = std::sync::Mutex::new(None);

/// Connects a UDP socket and keeps it.
fn hold(to: &SocketAddr) -> io::Result<()> {
    *HELD.lock().unwrap() = Some(connected_udp(to)?);
    Ok(())
}

fn send_held() -> io::Result<()> {
    let held = HELD.lock().unwrap();
    sys::send(held.as_ref().ok_or(ErrorKind::NotConnected)?, b"datagram")
}

/// Connects, undoes it, and connects again.
fn undo(to: &SocketAddr) -> io::Result<()> {
    let socket = connected_udp(to)?;
    sys::connect(&socket, &Raw::of(to).family(libc::AF_UNSPEC))?;
    sys::connect(&socket, &Raw::of(to))
}

/// A connected socket that sends elsewhere.
fn resend(first: &SocketAddr, then: &SocketAddr) -> io::Result<()> {
    let socket = connected_udp(first)?;
    sys::send_to(&socket, b"datagram", &Raw::of(then), 0)
}

fn bind(kind: &str, to: &SocketAddr) -> io::Result<u16> {
    let kind = if kind == "tcp" {
        libc::SOCK_STREAM
    } else {
        libc::SOCK_DGRAM
    };
    let socket = sys::socket_for(to, kind)?;
    sys::set(
        &socket,
        libc::SOL_SOCKET,
        libc::SO_REUSEADDR,
        &1_i32.to_ne_bytes(),
    )?;
    sys::bind(&socket, &Raw::of(to))?;
    sys::local_port(&socket)
}

/// A bind that is allowed but fails, and then a listen that chooses its own port.
fn bind_then_listen(taken: &SocketAddr, family: &str) -> io::Result<u16> {
    let socket = unbound(family)?;
    match sys::bind(&socket, &Raw::of(taken)) {
        Err(error) if error.raw_os_error() == Some(libc::EADDRINUSE) => serve::accepting(socket),
        Err(error) => Err(error),
        Ok(()) => Err(ErrorKind::InvalidInput.into()),
    }
}

fn unbound(family: &str) -> io::Result<OwnedFd> {
    let family = if family == "v4" {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    sys::socket(family, libc::SOCK_STREAM, 0)
}

/// Connects UDP sockets as fast as it can; how many were refused.
fn flood(count: u32, to: &SocketAddr) -> io::Result<u32> {
    let socket = sys::socket_for(to, libc::SOCK_DGRAM)?;
    let raw = Raw::of(to);
    Ok((0..count)
        .filter(|_| sys::connect(&socket, &raw).is_err())
        .map(|_| 1)
        .sum())
}

/// Connects to both in turn for a while: how often (allowed, allowed), (refused, refused) and a change between.
fn alternate(ms: u64, one: &SocketAddr, other: &SocketAddr) -> io::Result<String> {
    let sockets = (
        sys::socket_for(one, libc::SOCK_DGRAM)?,
        sys::socket_for(other, libc::SOCK_DGRAM)?,
    );
    let raws = (Raw::of(one), Raw::of(other));
    let end = Instant::now() + Duration::from_millis(ms);
    let (mut first, mut second, mut neither, mut both) = (0_u64, 0_u64, 0_u64, 0_u64);
    while Instant::now() < end {
        let before = sys::connect(&sockets.0, &raws.0).is_ok();
        let middle = sys::connect(&sockets.1, &raws.1).is_ok();
        let after = sys::connect(&sockets.0, &raws.0).is_ok();
        match (before, middle, after) {
            (true, false, true) => first += 1,
            (false, true, false) => second += 1,
            (false, false, false) => neither += 1,
            (true, true, true) => both += 1,
            // A replacement fell between two connects.
            _ => {}
        }
    }
    Ok(format!("{first} {second} {neither} {both}"))
}

/// Sends along a route: the packet goes to `through` first, and names `to` as its end. IPv6 by a segment routing
/// header, IPv4 by a loose source route.
fn routed(to: &SocketAddr, through: &SocketAddr) -> io::Result<()> {
    let socket = sys::socket_for(to, libc::SOCK_DGRAM)?;
    match (to.ip(), through.ip()) {
        (IpAddr::V6(to), IpAddr::V6(through)) => {
            // Next header, length in 8 bytes, type 4, segments left, last entry, flags, tag, then the segments
            // backwards.
            let mut header = vec![0, 4, 4, 1, 1, 0, 0, 0];
            header.extend(to.octets());
            header.extend(through.octets());
            sys::set(&socket, libc::IPPROTO_IPV6, libc::IPV6_RTHDR, &header)?;
        }
        (IpAddr::V4(_), IpAddr::V4(through)) => {
            // Kind, length, pointer, the first stop, and the end of the options.
            let mut option = vec![131, 7, 4];
            option.extend(through.octets());
            option.push(0);
            sys::set(&socket, libc::IPPROTO_IP, libc::IP_OPTIONS, &option)?;
        }
        _ => return Err(ErrorKind::InvalidInput.into()),
    }
    sys::send_to(&socket, b"datagram", &Raw::of(to), 0)
}
