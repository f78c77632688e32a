//! A filter as text, for `explain` and for people who review artifacts.

use std::fmt::Write as _;

use artifact::seccomp::{Architecture, Instruction, SeccompFilter};
use policy_lang::syscall::table;

use super::{bpf, language_architecture};

/// One line for each instruction: position, operation, and where it goes on.
#[must_use]
pub fn disassemble(filter: &SeccompFilter) -> String {
    let mut text = String::new();
    let mut looks_at = Looks::Nothing;
    for (at, instruction) in filter.program.iter().enumerate() {
        let Instruction(code, jump_true, jump_false, operand) = *instruction;
        let target = |offset: u8| at + 1 + usize::from(offset);
        let line = match code {
            bpf::LOAD => {
                looks_at = Looks::at(operand);
                format!("load  {}", word_name(operand))
            }
            bpf::AND => {
                looks_at = Looks::Bits;
                format!("and   {operand:#x}")
            }
            bpf::JUMP => format!("goto  {}", at.saturating_add(1).saturating_add(operand as usize)),
            bpf::RETURN => format!("return {}", action_name(operand)),
            bpf::JUMP_EQUAL | bpf::JUMP_GREATER | bpf::JUMP_AT_LEAST | bpf::JUMP_ANY_SET => {
                let operator = match code {
                    bpf::JUMP_EQUAL => "==",
                    bpf::JUMP_GREATER => ">",
                    bpf::JUMP_AT_LEAST => ">=",
                    _ => "&",
                };
                let value = looks_at.show(code, operand, filter.architecture);
                format!(
                    "if {operator} {value} then {} else {}",
                    target(jump_true),
                    target(jump_false)
                )
            }
            _ => format!("unknown {code:#x} {operand:#x}"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{at:>4}  {line}");
    }
    text
}

/// What the accumulator held last in the order of the text. Good enough to print numbers in a fitting form.
#[derive(Clone, Copy)]
enum Looks {
    Nothing,
    Number,
    Architecture,
    Bits,
}

impl Looks {
    const fn at(offset: u32) -> Self {
        match offset {
            bpf::NUMBER_OFFSET => Self::Number,
            bpf::ARCHITECTURE_OFFSET => Self::Architecture,
            _ => Self::Nothing,
        }
    }

    fn show(self, code: u16, operand: u32, architecture: Architecture) -> String {
        match self {
            Self::Number if code != bpf::JUMP_ANY_SET => {
                match table::name(operand, language_architecture(architecture)) {
                    Some(name) => format!("{operand} ({name})"),
                    None => operand.to_string(),
                }
            }
            Self::Architecture => match operand {
                value if value == bpf::audit_arch(Architecture::X86_64) => "x86_64".to_owned(),
                value if value == bpf::audit_arch(Architecture::Aarch64) => "aarch64".to_owned(),
                _ => format!("{operand:#x}"),
            },
            _ if code == bpf::JUMP_ANY_SET => format!("{operand:#x}"),
            _ => operand.to_string(),
        }
    }
}

fn word_name(offset: u32) -> String {
    match offset {
        bpf::NUMBER_OFFSET => "nr".to_owned(),
        bpf::ARCHITECTURE_OFFSET => "arch".to_owned(),
        8 => "ip.low".to_owned(),
        12 => "ip.high".to_owned(),
        _ => {
            let half = if offset.is_multiple_of(8) { "low" } else { "high" };
            format!("arg{}.{half}", offset.saturating_sub(bpf::ARGUMENTS_OFFSET) / 8)
        }
    }
}

fn action_name(action: u32) -> String {
    match action {
        bpf::ALLOW => "ALLOW".to_owned(),
        bpf::KILL_PROCESS => "KILL_PROCESS".to_owned(),
        _ if action & 0xffff_0000 == bpf::ERRNO => match action & 0xffff {
            bpf::EPERM => "ERRNO(EPERM)".to_owned(),
            bpf::ENOSYS => "ERRNO(ENOSYS)".to_owned(),
            errno => format!("ERRNO({errno})"),
        },
        _ => format!("{action:#x}"),
    }
}
