//! The seccomp filters, as the kernel checks them (`bpf_check_classic`, `seccomp_check_filter`) and in addition that
//! no path falls off the end.

use super::{Check, Invalid, Rules, ascending, at_most, text};
use crate::bounds;
use crate::seccomp::{Instruction, SeccompFilter};

/// `sizeof(struct seccomp_data)`.
const DATA_BYTES: u32 = 64;

/// Classic BPF operation codes that seccomp accepts, see linux/bpf_common.h.
mod code {
    pub(super) const LD_W_ABS: u16 = 0x20;
    pub(super) const LD_W_LEN: u16 = 0x80;
    pub(super) const LDX_W_LEN: u16 = 0x81;
    pub(super) const RET_K: u16 = 0x06;
    pub(super) const RET_A: u16 = 0x16;
    pub(super) const JA: u16 = 0x05;
    /// JEQ, JGT, JGE and JSET, with a constant and with X.
    pub(super) const JUMPS: [u16; 8] = [0x15, 0x1d, 0x25, 0x2d, 0x35, 0x3d, 0x45, 0x4d];
    /// Division and remainder by a constant are left out: the compiler has no use for them.
    pub(super) const ARITHMETIC: [u16; 17] = [
        0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x44, 0x4c, 0x54, 0x5c, 0x64, 0x6c, 0x74, 0x7c, 0x84, 0xa4, 0xac,
    ];
    /// LD and LDX of a constant, TAX and TXA.
    pub(super) const REGISTERS: [u16; 4] = [0x00, 0x01, 0x07, 0x87];
    /// Scratch memory: LD, LDX, ST, STX.
    pub(super) const MEMORY: [u16; 4] = [0x60, 0x61, 0x02, 0x03];
}

/// `BPF_MEMWORDS`.
const MEMORY_WORDS: u32 = 16;

pub(super) fn check(filters: &[SeccompFilter], rules: Rules<'_>) -> Check {
    let mut architectures: Vec<_> = filters.iter().map(|filter| filter.architecture).collect();
    architectures.sort_unstable();
    if !ascending(architectures) {
        return Err(Invalid::new("seccomp", "an architecture has two filters"));
    }
    for filter in filters {
        let at = || format!("seccomp, {:?}", filter.architecture);
        check_program(&filter.program).map_err(|problem| Invalid::new(at(), problem))?;
        at_most(&at(), filter.refusals.len(), bounds::REFUSALS)?;
        if !ascending(filter.refusals.iter().map(|refusal| refusal.number)) {
            return Err(Invalid::new(
                at(),
                "its refusals are not sorted, or have duplicates",
            ));
        }
        for refusal in &filter.refusals {
            text(&at(), &refusal.name)?;
            at_most(&at(), refusal.rules.len(), bounds::RULES)?;
            for rule in &refusal.rules {
                rules.get(*rule, at)?;
            }
        }
    }
    Ok(())
}

fn check_program(program: &[Instruction]) -> Result<(), String> {
    if program.is_empty() || program.len() > bounds::INSTRUCTIONS {
        return Err(format!(
            "a program has 1 to {} instructions, not {}",
            bounds::INSTRUCTIONS,
            program.len()
        ));
    }
    for (at, instruction) in program.iter().enumerate() {
        check_instruction(*instruction, at, program.len())
            .map_err(|problem| format!("instruction {at}: {problem}"))?;
    }
    Ok(())
}

fn check_instruction(instruction: Instruction, at: usize, len: usize) -> Result<(), &'static str> {
    let Instruction(code, jump_true, jump_false, operand) = instruction;
    let last = at + 1 == len;
    let lands = |offset: usize| at.checked_add(offset).is_some_and(|target| target < len - 1);
    match code {
        code::RET_K | code::RET_A => return Ok(()),
        code::JA => {
            if !usize::try_from(operand).is_ok_and(lands) {
                return Err("it jumps out of the program");
            }
            return Ok(());
        }
        _ if code::JUMPS.contains(&code) => {
            if !lands(jump_true.into()) || !lands(jump_false.into()) {
                return Err("it jumps out of the program");
            }
            return Ok(());
        }
        code::LD_W_ABS if !operand.is_multiple_of(4) || operand >= DATA_BYTES => {
            return Err("it loads from outside the system call's data");
        }
        _ if code::MEMORY.contains(&code) && operand >= MEMORY_WORDS => {
            return Err("it uses scratch memory that is not there");
        }
        code::LD_W_ABS | code::LD_W_LEN | code::LDX_W_LEN => {}
        _ if code::ARITHMETIC.contains(&code)
            || code::REGISTERS.contains(&code)
            || code::MEMORY.contains(&code) => {}
        _ => return Err("its code is none that seccomp takes"),
    }
    if last {
        return Err("the program does not end there");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETURN: Instruction = Instruction(code::RET_K, 0, 0, 0);

    #[test]
    fn jumps_stay_inside_and_the_end_returns() {
        let jump = |true_offset, false_offset| Instruction(0x15, true_offset, false_offset, 0);
        assert_eq!(check_program(&[jump(0, 0), RETURN]), Ok(()));
        assert_eq!(check_program(&[jump(1, 0), RETURN, RETURN]), Ok(()));
        assert!(check_program(&[jump(1, 0), RETURN]).is_err());
        assert!(check_program(&[RETURN, jump(0, 0)]).is_err());
        assert!(check_program(&[Instruction(code::JA, 0, 0, u32::MAX), RETURN]).is_err());
        assert!(check_program(&[Instruction(code::LD_W_ABS, 0, 0, 0)]).is_err());
        assert!(check_program(&[]).is_err());
        assert!(check_program(&vec![RETURN; 4097]).is_err());
    }

    #[test]
    fn loads_stay_inside_the_data_and_codes_are_known() {
        let load = |offset| [Instruction(code::LD_W_ABS, 0, 0, offset), RETURN];
        assert_eq!(check_program(&load(60)), Ok(()));
        for wrong in [2, 64, u32::MAX] {
            assert!(check_program(&load(wrong)).is_err(), "{wrong}");
        }
        assert!(check_program(&[Instruction(0x28, 0, 0, 0), RETURN]).is_err());
        assert!(check_program(&[Instruction(0x60, 0, 0, 16), RETURN]).is_err());
    }
}
