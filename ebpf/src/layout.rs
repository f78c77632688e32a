//! Shared layouts. `programs/layout.h` declares the same structs; both sides assert sizes and offsets.

use std::mem::offset_of;

/// Value of the `runs` hash map, keyed by cgroup id (`u64`). A cgroup below the runs' parent that has no entry
/// is refused everything.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which of the run's tables are in force; see [`PrefixKey`]. Switching it replaces the whole policy at once.
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

/// Key of the `prefixes` table (`BPF_MAP_TYPE_LPM_TRIE`), which all runs share: the cgroup leads the key, so no
/// run can match another's entry, not even while the kernel gives the memory of one run's entry to the next.
/// `prefix_len` counts bits from `cgroup`: [`KEY_BITS`] + 0..=32 for IPv4, + 0..=128 for IPv6.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrefixKey {
    /// In bits.
    pub prefix_len: u32,
    /// Cgroup id, as bytes in host order.
    pub cgroup: [u8; 8],
    /// [`Run::generation`].
    pub generation: u32,
    /// 4 or 6.
    pub family: u32,
    /// Network byte order; IPv4 in the first four bytes, the rest zero.
    pub address: [u8; 16],
}

/// Value of the `prefixes` table: one port list for each protocol and verb.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixValue {
    /// Indexed by protocol * 2 + verb (TCP 0, UDP 1; connect 0, bind 1). [`NO_LIST`]: rule 0 refuses every port.
    pub lists: [u32; 4],
}

/// Bits of a key before the address or the port: cgroup, generation, and family or list.
pub const KEY_BITS: u32 = 128;

/// The list that has no port.
pub const NO_LIST: u32 = 0;

/// Key of the `ports` table (`BPF_MAP_TYPE_LPM_TRIE`), which all runs share. An interval of ports is the set of
/// aligned blocks it is made of, at most 30; intervals of a list never overlap. `prefix_len` counts bits from
/// `cgroup`: [`KEY_BITS`] + 0..=16.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortKey {
    /// In bits.
    pub prefix_len: u32,
    /// Cgroup id, as bytes in host order.
    pub cgroup: [u8; 8],
    /// [`Run::generation`].
    pub generation: u32,
    /// A value of [`PrefixValue::lists`].
    pub list: u32,
    /// Network byte order.
    pub port: [u8; 2],
    /// Must be zero.
    pub reserved: [u8; 2],
}

/// Value of the `ports` table. A port without an entry is refused by rule 0.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortValue {
    /// 1 allows; anything else refuses.
    pub allow: u32,
    /// The deciding rule.
    pub rule: u32,
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
    assert!(size_of::<PrefixKey>() == 36);
    assert!(offset_of!(PrefixKey, cgroup) == 4);
    assert!(offset_of!(PrefixKey, generation) == 12);
    assert!(offset_of!(PrefixKey, family) == 16);
    assert!(offset_of!(PrefixKey, address) == 20);
    assert!(size_of::<PrefixValue>() == 16);
    assert!(size_of::<PortKey>() == 24);
    assert!(offset_of!(PortKey, cgroup) == 4);
    assert!(offset_of!(PortKey, generation) == 12);
    assert!(offset_of!(PortKey, list) == 16);
    assert!(offset_of!(PortKey, port) == 20);
    assert!(size_of::<PortValue>() == 8);
    assert!(offset_of!(PortValue, rule) == 4);
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
