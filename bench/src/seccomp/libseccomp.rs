//! The default policy through libseccomp with its binary tree (`SCMP_FLTATR_CTL_OPTIMIZE` 2), as container
//! runtimes use it.

use std::collections::BTreeSet;
use std::io::Read as _;

use artifact::seccomp::Instruction;
use libseccomp::error::SeccompError;
use libseccomp::{ScmpAction, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};
use policy_lang::syscall::{Architecture, table};

use super::{CONDITIONAL, Is, decode};

/// The program libseccomp emits for nearly the same decisions.
///
/// It takes one comparison of an argument in a rule, so where there are several it is given the first, and compares
/// "not equal" on 64 bits: for `ioctl` and `setsockopt` it has less to do than the others, and refuses less.
///
/// # Errors
///
/// What the library says.
pub fn libseccomp(unconditional: &[u32]) -> Result<Vec<Instruction>, Box<dyn std::error::Error>> {
    let mut filter = ScmpFilterContext::new(ScmpAction::Errno(1))?;
    filter.set_ctl_optimize(2)?;
    for number in unconditional {
        filter.add_rule(ScmpAction::Allow, call(*number))?;
    }
    let mut add = |name: &str, conditions: &[ScmpArgCompare]| -> Result<(), SeccompError> {
        let number = table::number(name, Architecture::X86_64).unwrap_or(u32::MAX);
        filter.add_rule_conditional(ScmpAction::Allow, call(number), conditions)?;
        Ok(())
    };
    for (name, alternatives) in CONDITIONAL {
        for conjunction in alternatives {
            let mut conditions: Vec<ScmpArgCompare> = Vec::new();
            let mut compared = BTreeSet::new();
            for (argument, is) in conjunction
                .iter()
                .filter(|(argument, _)| compared.insert(*argument))
            {
                let (operator, value) = match *is {
                    Is::Equal(value) => (ScmpCompareOp::MaskedEqual(u32::MAX.into()), value),
                    Is::NotEqual(value) => (ScmpCompareOp::NotEqual, value),
                    Is::Masked(mask, value) => (ScmpCompareOp::MaskedEqual(mask.into()), value),
                };
                conditions.push(ScmpArgCompare::new((*argument).into(), operator, value.into()));
            }
            add(name, &conditions)?;
        }
    }

    // A pipe holds 64 KiB, the longest filter has 32.
    let (mut reader, writer) = std::io::pipe()?;
    filter.export_bpf(&writer)?;
    drop(writer);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok(decode(&bytes))
}

fn call(number: u32) -> ScmpSyscall {
    ScmpSyscall::from(i32::try_from(number).unwrap_or(i32::MAX))
}
