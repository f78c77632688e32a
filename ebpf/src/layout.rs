//! Shared layouts. `programs/layout.h` declares the same structs; both sides assert sizes and offsets.

use std::mem::offset_of;

/// Value of the `runs` hash map, keyed by cgroup id (`u64`). A cgroup below the runs' parent that has no entry
/// is refused everything.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which of the run's tables are in force; see [`NodeKey`]. Switching it replaces the whole policy at once.
    /// Zero: none yet, nothing is allowed.
    pub generation: u32,
    /// Bits of [`flags`].
    pub flags: u32,
    /// Index of the run's ring in the `rings` array.
    pub ring: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bits of [`Run::flags`].
pub mod flags {
    /// Record program starts, forks and exits.
    pub const RECORD_EXEC: u32 = 1;
    /// Record allowed connects and sends.
    pub const RECORD_CONNECT: u32 = 1 << 1;
    /// Record allowed binds.
    pub const RECORD_BIND: u32 = 1 << 2;
}

/// Key of the `nodes` table, a hash map that all runs share: the cgroup is part of the key, so no run can match
/// another's entry, not even while the kernel gives the memory of one run's entry to the next.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey {
    /// Cgroup id.
    pub cgroup: u64,
    /// [`Run::generation`].
    pub generation: u32,
    /// Counted from zero; nodes lead to each other by this number.
    pub node: u32,
}

/// How many intervals a [`Group`] has.
pub const GROUP_ENTRIES: usize = 16;

/// How many groups a [`Node`] has.
pub const NODE_GROUPS: usize = 30;

/// Intervals of keys, and what each leads to: two cache lines that lie side by side.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The last key of each interval. Keys are words of an address or [`value::port_key`]s, as numbers.
    pub last: [u32; GROUP_ENTRIES],
    /// See [`value`].
    pub values: [u32; GROUP_ENTRIES],
}

/// Value of the `nodes` table: groups of intervals, parts of which are *spans*.
///
/// A span is a power of two of intervals that begins at a multiple of its size, or a power of two of groups, which
/// then have fences; or the whole node. In a span every key is in one interval.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Values, in node 0: where a look-up begins, for IPv4 and for IPv6.
    pub roots: [u32; 2],
    /// Zero. With it groups begin at cache lines: the kernel keeps 72 bytes before a value.
    pub reserved: [u32; 12],
    /// The last key of each group, where a span has several.
    pub fences: [u32; 32],
    /// The intervals.
    pub groups: [Group; NODE_GROUPS],
}

/// Values of a [`Node`]. A decision, whose zero is the default rule's refusal; or a span, and the key to look up in it.
pub mod value {
    /// Spans that one look-up passes at most. What would take more is not put into tables.
    pub const STEPS_MAX: usize = 16;
    /// Nodes that a generation has at most.
    pub const NODES_MAX: usize = 1 << 15;
    /// A rule's number is below this.
    pub const RULES_MAX: u32 = 1 << 29;

    /// Which key is looked up in a span.
    #[repr(u32)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Next {
        /// The same as before: what did not fit into one span is cut up, and this one says where to look.
        Same = 1,
        /// The next word of the address; it begins with the first.
        Word = 2,
        /// The port.
        Ports = 3,
    }

    /// The value of a decision.
    #[must_use]
    pub const fn decision(allow: bool, rule: u32) -> u32 {
        rule << 1 | allow as u32
    }

    /// The value that leads to a span: `1 << groups` groups of `1 << entries` intervals each, from interval `first`
    /// of the node on. Several groups are whole ones.
    #[must_use]
    pub const fn span(next: Next, node: u32, first: u32, groups: u32, entries: u32) -> u32 {
        (next as u32) << 30 | node << 15 | first << 6 | groups << 3 | entries
    }

    /// The key of a port: protocol * 2 + verb (TCP 0, UDP 1; connect 0, bind 1) before the number.
    #[must_use]
    pub const fn port_key(slot: u32, port: u16) -> u32 {
        slot << 16 | port as u32
    }
}

/// What an [`EventHeader`] is followed by.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// [`ExecEvent`]: a header and the path of the program.
    Exec = 1,
    /// [`ForkEvent`].
    Fork = 2,
    /// [`ExitEvent`].
    Exit = 3,
    /// [`NetworkEvent`].
    Network = 4,
    /// [`DeviceEvent`].
    Device = 5,
    /// [`SysctlEvent`].
    Sysctl = 6,
}

/// The start of every record in a run's ring.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHeader {
    /// `bpf_ktime_get_boot_ns`.
    pub time_ns: u64,
    /// The run's cgroup.
    pub cgroup: u64,
    /// An [`EventKind`].
    pub kind: u32,
    /// Thread group id in the initial PID namespace. Zero with `tid`, `uid` and `comm` where the kernel does not
    /// know the process: [`NetworkHook::Egress`] and [`NetworkHook::Ingress`] run for a socket.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Real user id.
    pub uid: u32,
    /// `TASK_COMM_LEN`.
    pub comm: [u8; 16],
}

/// A program was started (`sched_process_exec`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecEvent {
    /// Common part.
    pub header: EventHeader,
    /// Parent's thread group id.
    pub parent: u32,
    /// Bytes of path that follow this struct, without a terminator; at most 4,096.
    pub path_len: u32,
}

/// A process was created (`sched_process_fork`; threads are not reported).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkEvent {
    /// Common part; the parent's.
    pub header: EventHeader,
    /// The child's thread group id.
    pub child: u32,
    /// Zero.
    pub reserved: u32,
}

/// A process ended (`sched_process_exit` of the last thread).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitEvent {
    /// Common part.
    pub header: EventHeader,
    /// As wait(2) encodes it.
    pub status: u32,
    /// Zero.
    pub reserved: u32,
}

/// A network decision.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkEvent {
    /// Common part.
    pub header: EventHeader,
    /// The deciding rule.
    pub rule: u32,
    /// 1 allowed, 0 refused.
    pub allowed: u8,
    /// A [`NetworkHook`].
    pub hook: u8,
    /// IP protocol number (6, 17, or what was refused).
    pub protocol: u8,
    /// 4 or 6 after translation of mapped forms; the address family as asked for where neither.
    pub family: u8,
    /// Host byte order.
    pub port: u16,
    /// Socket type (`SOCK_STREAM`, …) for socket creation, else zero.
    pub socket_type: u16,
    /// IP protocol asked for at socket creation, else zero.
    pub socket_protocol: u16,
    /// Zero.
    pub reserved: u16,
    /// After translation; IPv4 in the first four bytes.
    pub address: [u8; 16],
}

/// Where a network decision was made.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkHook {
    /// `cgroup/connect4`, `cgroup/connect6`.
    Connect = 1,
    /// `cgroup/sendmsg4`, `cgroup/sendmsg6`.
    Send = 2,
    /// `cgroup/bind4`, `cgroup/bind6`.
    Bind = 3,
    /// `cgroup/sock_create`.
    Create = 4,
    /// `cgroup_skb/egress`.
    Egress = 5,
    /// `cgroup_skb/ingress`: a connection to a port that no rule lets the run listen on.
    Ingress = 6,
}

/// A device was refused.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceEvent {
    /// Common part.
    pub header: EventHeader,
    /// `BPF_DEVCG_DEV_CHAR` or `BPF_DEVCG_DEV_BLOCK`.
    pub device_type: u32,
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// `BPF_DEVCG_ACC_*` bits.
    pub access: u32,
}

/// A sysctl write was refused.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SysctlEvent {
    /// Common part.
    pub header: EventHeader,
    /// Name, as under /proc/sys, NUL-padded.
    pub name: [u8; 64],
}

/// Value of the `counters` hash map, keyed by cgroup id: records wanted and records lost to a full ring, indexed
/// by [`EventKind`] (index 0 unused).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Reservations tried.
    pub seen: [u64; 8],
    /// Reservations refused.
    pub lost: [u64; 8],
}

/// The same sizes and offsets as `programs/layout.h` asserts, in the same order.
const _: () = {
    assert!(size_of::<Run>() == 16);
    assert!(offset_of!(Run, flags) == 4);
    assert!(offset_of!(Run, ring) == 8);
    assert!(size_of::<NodeKey>() == 16);
    assert!(offset_of!(NodeKey, generation) == 8);
    assert!(offset_of!(NodeKey, node) == 12);
    assert!(size_of::<Group>() == 128);
    assert!(offset_of!(Group, values) == 64);
    assert!(size_of::<Node>() == 4024);
    assert!(offset_of!(Node, fences) == 56);
    assert!(offset_of!(Node, groups) == 184);
    assert!(size_of::<EventHeader>() == 48);
    assert!(offset_of!(EventHeader, cgroup) == 8);
    assert!(offset_of!(EventHeader, kind) == 16);
    assert!(offset_of!(EventHeader, pid) == 20);
    assert!(offset_of!(EventHeader, tid) == 24);
    assert!(offset_of!(EventHeader, uid) == 28);
    assert!(offset_of!(EventHeader, comm) == 32);
    assert!(size_of::<ExecEvent>() == 56);
    assert!(offset_of!(ExecEvent, parent) == 48);
    assert!(offset_of!(ExecEvent, path_len) == 52);
    assert!(size_of::<ForkEvent>() == 56);
    assert!(offset_of!(ForkEvent, child) == 48);
    assert!(size_of::<ExitEvent>() == 56);
    assert!(offset_of!(ExitEvent, status) == 48);
    assert!(size_of::<NetworkEvent>() == 80);
    assert!(offset_of!(NetworkEvent, rule) == 48);
    assert!(offset_of!(NetworkEvent, allowed) == 52);
    assert!(offset_of!(NetworkEvent, hook) == 53);
    assert!(offset_of!(NetworkEvent, protocol) == 54);
    assert!(offset_of!(NetworkEvent, family) == 55);
    assert!(offset_of!(NetworkEvent, port) == 56);
    assert!(offset_of!(NetworkEvent, socket_type) == 58);
    assert!(offset_of!(NetworkEvent, socket_protocol) == 60);
    assert!(offset_of!(NetworkEvent, address) == 64);
    assert!(size_of::<DeviceEvent>() == 64);
    assert!(offset_of!(DeviceEvent, device_type) == 48);
    assert!(offset_of!(DeviceEvent, major) == 52);
    assert!(offset_of!(DeviceEvent, minor) == 56);
    assert!(offset_of!(DeviceEvent, access) == 60);
    assert!(size_of::<SysctlEvent>() == 112);
    assert!(offset_of!(SysctlEvent, name) == 48);
    assert!(size_of::<Counters>() == 128);
    assert!(offset_of!(Counters, lost) == 64);
};
