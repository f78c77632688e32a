//! The default policy through `seccompiler`, as Firecracker uses it.

use std::collections::BTreeMap;

use artifact::seccomp::Instruction;
use policy_lang::syscall::{Architecture, table};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::{CONDITIONAL, Is};

/// The program `seccompiler` emits for the same decisions: these calls allowed, the conditional ones by their
/// conditions, and one errno for all that is refused.
///
/// # Errors
///
/// What the library says.
pub fn seccompiler(unconditional: &[u32]) -> Result<Vec<Instruction>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = unconditional
        .iter()
        .map(|number| (i64::from(*number), Vec::new()))
        .collect();
    let mut add = |name: &str, conditions: Vec<SeccompCondition>| -> Result<(), BackendError> {
        let number = table::number(name, Architecture::X86_64).unwrap_or(u32::MAX);
        rules
            .entry(number.into())
            .or_default()
            .push(SeccompRule::new(conditions)?);
        Ok(())
    };
    for (name, alternatives) in CONDITIONAL {
        for conjunction in alternatives {
            let conditions = conjunction.iter().map(|(argument, is)| {
                let (operator, value) = match *is {
                    Is::Equal(value) => (SeccompCmpOp::Eq, value),
                    Is::NotEqual(value) => (SeccompCmpOp::Ne, value),
                    Is::Masked(mask, value) => (SeccompCmpOp::MaskedEq(mask.into()), value),
                };
                SeccompCondition::new(*argument, Dword, operator, value.into())
            });
            add(name, conditions.collect::<Result<_, _>>()?)?;
        }
    }

    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Errno(1),
        SeccompAction::Allow,
        TargetArch::x86_64,
    )?;
    let program: BpfProgram = filter.try_into()?;
    Ok(program
        .into_iter()
        .map(|filter| Instruction(filter.code, filter.jt, filter.jf, filter.k))
        .collect())
}
