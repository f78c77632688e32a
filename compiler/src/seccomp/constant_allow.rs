//! The kernel's analysis of which calls a filter always allows.
//!
//! `seccomp_is_const_allow` in `kernel/seccomp.c` (since 5.11) walks a new filter once for each call number,
//! and caches "allowed" for those where the walk needs nothing but the number and the architecture. This is a
//! second implementation of it, to assert that no unconditional allow falls off that path.

use artifact::seccomp::Instruction;

use super::bpf;

/// Whether the kernel will answer this call from its cache, without running the filter.
#[must_use]
pub fn is_constant_allow(program: &[Instruction], architecture: u32, number: u32) -> bool {
    let mut accumulator = 0_u32;
    let mut at = 0_usize;
    while let Some(Instruction(code, jump_true, jump_false, operand)) = program.get(at).copied() {
        at += 1;
        let holds = match code {
            bpf::LOAD => {
                accumulator = match operand {
                    bpf::NUMBER_OFFSET => number,
                    bpf::ARCHITECTURE_OFFSET => architecture,
                    _ => return false,
                };
                continue;
            }
            bpf::AND => {
                accumulator &= operand;
                continue;
            }
            bpf::JUMP => {
                at = at.saturating_add(operand as usize);
                continue;
            }
            bpf::RETURN => return operand == bpf::ALLOW,
            bpf::JUMP_EQUAL => accumulator == operand,
            bpf::JUMP_GREATER => accumulator > operand,
            bpf::JUMP_AT_LEAST => accumulator >= operand,
            bpf::JUMP_ANY_SET => accumulator & operand != 0,
            _ => return false,
        };
        at += usize::from(if holds { jump_true } else { jump_false });
    }
    false
}
