//! A classic BPF interpreter with the checks that the kernel makes before it takes a seccomp filter.
//!
//! Written from `net/core/filter.c` (`bpf_check_classic`) and `kernel/seccomp.c` (`seccomp_check_filter`), and
//! sharing nothing with the generator but opcodes: it is what the generator is tested against, and what
//! `explain` asks.

use artifact::seccomp::Instruction;
use thiserror::Error;

use super::bpf;

/// `struct seccomp_data`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeccompData {
    /// Call number.
    pub number: u32,
    /// `AUDIT_ARCH_*`.
    pub architecture: u32,
    /// Where the call was made.
    pub instruction_pointer: u64,
    /// The six registers.
    pub arguments: [u64; 6],
}

/// What running a filter gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// `SECCOMP_RET_*` with its data.
    pub action: u32,
    /// Instructions executed.
    pub executed: usize,
}

/// A program the kernel would refuse with `EINVAL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CheckError {
    /// No instruction, or too many.
    #[error("a filter has 1 to {max} instructions, this one {0}", max = bpf::MAX_INSTRUCTIONS)]
    Length(usize),
    /// An instruction seccomp does not have.
    #[error("instruction {at} has the unknown code {code:#x}")]
    Code {
        /// Position.
        at: usize,
        /// Its code.
        code: u16,
    },
    /// A load that is not a word of `struct seccomp_data`.
    #[error("instruction {at} loads from offset {offset}, which is no word of the call's data")]
    Load {
        /// Position.
        at: usize,
        /// Its operand.
        offset: u32,
    },
    /// A jump behind the last instruction.
    #[error("instruction {at} jumps out of the program")]
    Jump {
        /// Position.
        at: usize,
    },
    /// The last instruction does not return.
    #[error("the last instruction does not return")]
    End,
}

/// A program that passed the kernel's checks: it ends, and reads nothing but the call's data.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'p> {
    program: &'p [Instruction],
}

/// Checks a program as the kernel does.
///
/// # Errors
///
/// The first instruction that the kernel would refuse, and why.
pub fn check(program: &[Instruction]) -> Result<Checked<'_>, CheckError> {
    let len = program.len();
    if len == 0 || len > bpf::MAX_INSTRUCTIONS {
        return Err(CheckError::Length(len));
    }
    for (at, Instruction(code, jump_true, jump_false, operand)) in program.iter().copied().enumerate() {
        let lands_inside = |offset: usize| offset < len - at - 1;
        match code {
            bpf::LOAD => {
                if operand >= bpf::DATA_LEN_BYTES || !operand.is_multiple_of(4) {
                    return Err(CheckError::Load { at, offset: operand });
                }
            }
            bpf::AND | bpf::RETURN => {}
            bpf::JUMP => {
                if !usize::try_from(operand).is_ok_and(lands_inside) {
                    return Err(CheckError::Jump { at });
                }
            }
            bpf::JUMP_EQUAL | bpf::JUMP_GREATER | bpf::JUMP_AT_LEAST | bpf::JUMP_ANY_SET => {
                if !lands_inside(jump_true.into()) || !lands_inside(jump_false.into()) {
                    return Err(CheckError::Jump { at });
                }
            }
            _ => return Err(CheckError::Code { at, code }),
        }
    }
    match program.last() {
        Some(Instruction(bpf::RETURN, ..)) => Ok(Checked { program }),
        _ => Err(CheckError::End),
    }
}

impl Checked<'_> {
    /// Runs the filter for one call.
    #[must_use]
    pub fn run(&self, data: &SeccompData) -> Outcome {
        let mut accumulator = 0_u32;
        let mut at = 0_usize;
        let mut executed = 0_usize;
        // Jumps go forward only, so this ends. `check` made sure that it ends on a return.
        while let Some(Instruction(code, jump_true, jump_false, operand)) = self.program.get(at).copied() {
            executed += 1;
            at += 1;
            let holds = match code {
                bpf::LOAD => {
                    accumulator = data.word(operand);
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
                bpf::JUMP_EQUAL => accumulator == operand,
                bpf::JUMP_GREATER => accumulator > operand,
                bpf::JUMP_AT_LEAST => accumulator >= operand,
                bpf::JUMP_ANY_SET => accumulator & operand != 0,
                _ => {
                    return Outcome {
                        action: operand,
                        executed,
                    };
                }
            };
            at += usize::from(if holds { jump_true } else { jump_false });
        }
        // The kernel's answer to a filter that ends without one.
        Outcome {
            action: bpf::KILL_PROCESS,
            executed,
        }
    }
}

impl SeccompData {
    /// The 32-bit word at a byte offset, as a little-endian kernel lays the structure out.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "one half of a 64-bit field is what is wanted"
    )]
    fn word(&self, offset: u32) -> u32 {
        let half = |value: u64| {
            if offset.is_multiple_of(8) {
                value as u32
            } else {
                (value >> 32) as u32
            }
        };
        match offset {
            bpf::NUMBER_OFFSET => self.number,
            bpf::ARCHITECTURE_OFFSET => self.architecture,
            8..bpf::ARGUMENTS_OFFSET => half(self.instruction_pointer),
            _ => {
                let index = (offset - bpf::ARGUMENTS_OFFSET) / 8;
                self.arguments.get(index as usize).copied().map_or(0, half)
            }
        }
    }
}
