//! The part of classic BPF that the generator writes, by the kernel's names.
//!
//! See `include/uapi/linux/{bpf_common,filter,seccomp,audit}.h` and
//! [seccomp_filter](https://docs.kernel.org/userspace-api/seccomp_filter.html).

use artifact::seccomp::{Architecture, Instruction};

/// `BPF_MAXINSNS`: the kernel takes no longer filter.
pub const MAX_INSTRUCTIONS: usize = 4096;

/// `BPF_LD | BPF_W | BPF_ABS`: load a word of `struct seccomp_data`.
pub const LOAD: u16 = 0x20;
/// `BPF_ALU | BPF_AND | BPF_K`.
pub const AND: u16 = 0x54;
/// `BPF_JMP | BPF_JA`.
pub const JUMP: u16 = 0x05;
/// `BPF_JMP | BPF_JEQ | BPF_K`.
pub const JUMP_EQUAL: u16 = 0x15;
/// `BPF_JMP | BPF_JGT | BPF_K`.
pub const JUMP_GREATER: u16 = 0x25;
/// `BPF_JMP | BPF_JGE | BPF_K`.
pub const JUMP_AT_LEAST: u16 = 0x35;
/// `BPF_JMP | BPF_JSET | BPF_K`.
pub const JUMP_ANY_SET: u16 = 0x45;
/// `BPF_RET | BPF_K`.
pub const RETURN: u16 = 0x06;

/// `SECCOMP_RET_KILL_PROCESS`.
pub const KILL_PROCESS: u32 = 0x8000_0000;
/// `SECCOMP_RET_ERRNO`, with no errno in its low half yet.
pub const ERRNO: u32 = 0x0005_0000;
/// `SECCOMP_RET_ALLOW`.
pub const ALLOW: u32 = 0x7fff_0000;

/// `EPERM`.
pub const EPERM: u32 = 1;
/// `ENOSYS`.
pub const ENOSYS: u32 = 38;

/// `__X32_SYSCALL_BIT`.
pub const X32_BIT: u32 = 0x4000_0000;

/// `offsetof(struct seccomp_data, nr)`.
pub const NUMBER_OFFSET: u32 = 0;
/// `offsetof(struct seccomp_data, arch)`.
pub const ARCHITECTURE_OFFSET: u32 = 4;
/// `offsetof(struct seccomp_data, args)`.
pub const ARGUMENTS_OFFSET: u32 = 16;
/// `sizeof(struct seccomp_data)`.
pub const DATA_LEN_BYTES: u32 = 64;

/// The `AUDIT_ARCH_*` value the kernel reports for calls of this architecture.
#[must_use]
pub const fn audit_arch(architecture: Architecture) -> u32 {
    match architecture {
        Architecture::X86_64 => 0xc000_003e,
        Architecture::Aarch64 => 0xc000_00b7,
    }
}

/// An instruction that does not branch.
pub(super) const fn statement(code: u16, operand: u32) -> Instruction {
    Instruction(code, 0, 0, operand)
}
