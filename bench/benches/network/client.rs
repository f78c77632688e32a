//! The process that connects: it sits in a cgroup and does a batch for each line.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};

/// The `number`th address that the benchmark connects to.
pub(crate) fn address(number: u32) -> Ipv4Addr {
    // A multiplier that spreads; 127.0.0.1 itself is as good as any.
    Ipv4Addr::from(0x7f00_0000 | number.wrapping_mul(2_654_435_761) >> 8)
}

/// Keeps this thread on one processor: the clients share one, and the server has another, so that where the
/// scheduler puts a process is not what is compared.
pub(crate) fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    // A machine with one processor measures that.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

pub(crate) fn main(cgroup: &str) {
    pin(1);
    std::fs::write(format!("{cgroup}/cgroup.procs"), "0").unwrap();
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["connect", port, count, destinations] => {
                let [count, destinations] = [count, destinations].map(|word| word.parse().unwrap());
                let (connecting, all) = connections(port.parse().unwrap(), count, destinations);
                println!("{connecting} {all}");
            }
            ["flood", count, rate] => {
                flood(count.parse().unwrap(), rate.parse().unwrap());
                println!("done");
            }
            _ => unreachable!("{line}"),
        }
    }
}

/// Nanoseconds for each connection: connect(2) alone, and the whole.
fn connections(port: u16, count: u32, destinations: u32) -> (u64, u64) {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let mut connecting = Duration::ZERO;
    let start = Instant::now();
    for _ in 0..count {
        let number = NEXT.fetch_add(7919, std::sync::atomic::Ordering::Relaxed) % destinations;
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        // Closing resets the connection: no port stays in TIME_WAIT.
        sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).unwrap();
        let to = SocketAddrV4::new(address(number), port);
        let before = Instant::now();
        connect(&socket, &to).unwrap();
        connecting += before.elapsed();
    }
    let each = |time: Duration| u64::try_from(time.as_nanos()).unwrap() / u64::from(count);
    (each(connecting), each(start.elapsed()))
}

fn flood(count: u32, rate: u32) {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).unwrap();
    let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9);
    let start = Instant::now();
    for number in 0..count {
        assert!(connect(&socket, &to).is_err());
        if rate != u32::MAX && number % 128 == 0 {
            let due = Duration::from_secs_f64(f64::from(number) / f64::from(rate));
            std::thread::sleep(due.saturating_sub(start.elapsed()));
        }
    }
}

/// A running client.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    pub(crate) fn start(cgroup: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["client", cgroup.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output };
        assert_eq!(client.line(), "ready");
        client
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn connect(&mut self, port: u16, count: u32, destinations: u32) -> (u64, u64) {
        writeln!(self.input, "connect {port} {count} {destinations}").unwrap();
        let line = self.line();
        let (connecting, all) = line.split_once(' ').unwrap();
        (connecting.parse().unwrap(), all.parse().unwrap())
    }

    pub(crate) fn begin_flood(&mut self, count: u32, rate: u32) {
        writeln!(self.input, "flood {count} {rate}").unwrap();
    }

    pub(crate) fn end_flood(&mut self) {
        assert_eq!(self.line(), "done");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
