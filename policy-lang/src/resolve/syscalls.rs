//! Targets of syscall rules: names, groups, argument predicates.

use super::Resolver;
use super::quantity::integer;
use crate::ast::{
    Condition as Written, Operand, OperandTerm, Operator, SyscallTarget, SyscallTargetName, Text,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::inclusion::Proof;
use crate::source::Span;
use crate::suggest::nearest;
use crate::syscall::{Comparison, Condition, SyscallSet, Width, table};

/// More conditions on six registers repeat or contradict each other.
const MAX_CONDITIONS: usize = 24;

impl Resolver<'_> {
    pub(super) fn syscalls(&mut self, target: &SyscallTarget) -> Option<SyscallSet> {
        match &target.name {
            SyscallTargetName::Group(group) => {
                let Some(names) = table::group(&group.text) else {
                    self.unknown(
                        Code::UnknownGroup,
                        group.span,
                        format!("no group of system calls is called `{}`", group.text),
                        nearest(&group.text, table::group_names()),
                        "the groups are systemd's, see `systemd-analyze syscall-filter`",
                    );
                    return None;
                };
                if let Some(condition) = target.conditions.first() {
                    self.report(
                        Diagnostic::error(Code::BadPredicate, condition.span, "a group has no arguments")
                            .label("this needs a single call")
                            .also(group.span, "this is a group")
                            .help("name the call, as in `\"ioctl\" where request == TIOCSTI`"),
                    );
                    return None;
                }
                Some(SyscallSet {
                    names,
                    conditions: Vec::new(),
                })
            }
            SyscallTargetName::Call(text) => {
                let name = self.call(text)?;
                if let Some(first_too_many) = target.conditions.get(MAX_CONDITIONS) {
                    self.report(
                        Diagnostic::error(
                            Code::BadPredicate,
                            first_too_many.span,
                            format!("a predicate has at most {MAX_CONDITIONS} conditions"),
                        )
                        .label("one too many")
                        .help("a range takes two, `>=` and `<=`; write several targets for several ranges"),
                    );
                    return None;
                }
                let conditions: Vec<Option<Condition>> = target
                    .conditions
                    .iter()
                    .map(|condition| self.condition(&name, condition))
                    .collect();
                let conditions: Vec<Condition> = conditions.into_iter().collect::<Option<_>>()?;
                let set = SyscallSet {
                    names: [name].into(),
                    conditions,
                };
                if set.is_empty() == Proof::Holds {
                    self.never(target.span, "no call can satisfy this predicate");
                    return None;
                }
                Some(set)
            }
        }
    }

    /// The name of a call.
    pub(super) fn call(&mut self, text: &Text) -> Option<String> {
        let name = self.fixed(text, "a system call's name")?;
        if table::is_known(&name) {
            return Some(name);
        }
        let near = nearest(&name, table::names()).map(|near| format!("\"{near}\""));
        let help = if table::group(&format!("@{name}")).is_some() {
            "a group is written without quotes, with an `@`"
        } else {
            "names are those of the kernel, see syscalls(2)"
        };
        self.unknown(
            Code::UnknownSyscall,
            text.span,
            format!("no system call is called `{}`", name.escape_debug()),
            near.as_deref(),
            help,
        );
        None
    }

    fn condition(&mut self, call: &str, written: &Written) -> Option<Condition> {
        let name = &written.argument;
        let Some(argument) = table::argument(call, &name.text) else {
            let known: Vec<&str> = table::argument_names(call).collect();
            self.unknown(
                Code::UnknownArgument,
                name.span,
                format!("`{call}` has no argument `{}`", name.text),
                nearest(&name.text, known.iter().copied()),
                &format!("its arguments are {}", known.join(", ")),
            );
            return None;
        };
        let mask = written
            .mask
            .as_ref()
            .map(|mask| self.operand(mask, argument.width));
        let value = self.operand(&written.value, argument.width);
        let (mask, value) = match mask {
            Some(mask) => (Some(mask?), value?),
            None => (None, value?),
        };
        let operator = written.operator.value;
        let greatest = argument.width.cut(u64::MAX);
        let never = match (operator, mask) {
            (Operator::Less, None) => value == 0,
            (Operator::Greater, None) => value == greatest,
            (Operator::Equal, Some(mask)) => value & !mask != 0,
            _ => false,
        };
        if never {
            self.never(written.span, "this can never hold");
            return None;
        }
        let comparison = match (operator, mask) {
            (Operator::Equal, None) => Comparison::Equal(value),
            (Operator::NotEqual, None) => Comparison::NotEqual(value),
            (Operator::Less, None) => Comparison::Less(value),
            (Operator::LessOrEqual, None) => Comparison::LessOrEqual(value),
            (Operator::Greater, None) => Comparison::Greater(value),
            (Operator::GreaterOrEqual, None) => Comparison::GreaterOrEqual(value),
            (Operator::Equal, Some(mask)) => Comparison::MaskedEqual { mask, value },
            (Operator::NotEqual, Some(mask)) if value & !mask == 0 => {
                Comparison::MaskedNotEqual { mask, value }
            }
            (Operator::NotEqual, Some(_)) => {
                self.always(written.span);
                return None;
            }
            (_, Some(_)) => {
                self.report(
                    Diagnostic::error(
                        Code::BadPredicate,
                        written.operator.span,
                        "after `&` stands `==` or `!=`",
                    )
                    .label("masked bits have no order")
                    .help("write `flags & MASK == VALUE` or `flags & MASK != VALUE`"),
                );
                return None;
            }
        };
        Some(Condition {
            argument: argument.index,
            width: argument.width,
            comparison,
        })
    }

    /// The value of an operand, cut to what the kernel looks at.
    fn operand(&mut self, operand: &Operand, width: Width) -> Option<u64> {
        let mut value = 0;
        for term in &operand.terms {
            value |= match term {
                OperandTerm::Number(quantity) => {
                    let Some(number) = integer(quantity) else {
                        self.report(
                            Diagnostic::error(
                                Code::BadQuantity,
                                quantity.span,
                                "this is not a 64-bit number",
                            )
                            .label("here")
                            .help("write a decimal or `0x` hexadecimal number, or a constant's name"),
                        );
                        return None;
                    };
                    if width.cut(number) != number {
                        self.never(
                            quantity.span,
                            "the kernel looks at the low 32 bits of this argument",
                        );
                        return None;
                    }
                    number
                }
                OperandTerm::Constant(name) => {
                    let Some(number) = table::constant(&name.text) else {
                        self.unknown(
                            Code::UnknownConstant,
                            name.span,
                            format!("no constant is called `{}`", name.text),
                            nearest(&name.text, table::constant_names()),
                            "write the number, as in `0x5412`",
                        );
                        return None;
                    };
                    width.cut(number)
                }
            };
        }
        Some(value)
    }

    /// The registers that a test's conditions describe: equalities only, the others zero.
    pub(super) fn registers(&mut self, call: &str, conditions: &[Written]) -> Option<[u64; 6]> {
        let mut registers = [0_u64; 6];
        let mut sound = true;
        for written in conditions {
            let Some(condition) = self.condition(call, written) else {
                sound = false;
                continue;
            };
            match (
                condition.comparison,
                registers.get_mut(usize::from(condition.argument)),
            ) {
                (Comparison::Equal(value), Some(register)) => *register = value,
                _ => {
                    sound = false;
                    self.report(
                        Diagnostic::error(
                            Code::BadPredicate,
                            written.span,
                            "a test names one call with its arguments",
                        )
                        .label("only `==` can stand here")
                        .help("write `argument == value`; arguments that are not named are zero"),
                    );
                }
            }
        }
        sound.then_some(registers)
    }

    fn unknown(&mut self, code: Code, span: Span, message: String, near: Option<&str>, help: &str) {
        let found = Diagnostic::error(code, span, message).help(help);
        let found = match near {
            Some(near) => found.label(format!("did you mean `{near}`?")).suggest(span, near),
            None => found.label("not known"),
        };
        self.report(found);
    }

    fn never(&mut self, span: Span, message: &str) {
        self.report(
            Diagnostic::error(Code::BadPredicate, span, message)
                .label("the rule would match nothing")
                .help("correct the numbers; a mask keeps only its own bits"),
        );
    }

    fn always(&mut self, span: Span) {
        self.report(
            Diagnostic::error(Code::BadPredicate, span, "this always holds")
                .label("the value has bits that the mask drops")
                .help("correct the numbers, or remove the predicate"),
        );
    }
}
