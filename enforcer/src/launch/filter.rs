//! The one filter that no policy asks for.

use artifact::seccomp::Instruction;

/// `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JEQ | BPF_K`, `BPF_RET | BPF_K`.
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// Offset of `nr` in `struct seccomp_data`. The policy's own filter kills calls of another architecture.
const NUMBER: u32 = 0;
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000 | libc::EPERM.cast_unsigned();

/// Refuses memfd_create(2), for kernels before 6.3: they have no `vm.memfd_noexec`, and neither a mount nor a Landlock
/// rule covers a file that no path leads to.
pub(super) const NO_FILES_IN_MEMORY: [Instruction; 4] = [
    Instruction(LOAD, 0, 0, NUMBER),
    Instruction(JUMP_EQUAL, 0, 1, MEMFD_CREATE),
    Instruction(RETURN, 0, 0, REFUSE),
    Instruction(RETURN, 0, 0, ALLOW),
];

#[cfg(target_arch = "x86_64")]
const MEMFD_CREATE: u32 = 319;
#[cfg(target_arch = "aarch64")]
const MEMFD_CREATE: u32 = 279;
