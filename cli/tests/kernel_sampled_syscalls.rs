//! Model equals kernel, for system calls: random rules on calls and their arguments, and what the kernel answers.
//!
//! The calls do nothing: their descriptors, pointers and process ids are invalid. What the policy allows is made
//! outside too, so that a refusal by the kernel itself is not taken for one by the policy.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test"
)]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;
#[path = "common/sampled.rs"]
mod sampled;

use host::{Host, host};
use policy_lang::policy::{Effect, Policy};
use policy_lang::reference::{Access, decide};
use policy_lang::syscall::{Architecture, table};
use sampled::{Disagreements, Random};
use serde_json::{Value, json};

#[cfg(target_arch = "x86_64")]
const HERE: Architecture = Architecture::X86_64;
#[cfg(target_arch = "aarch64")]
const HERE: Architecture = Architecture::Aarch64;

const BAD: &[u64] = &[u64::MAX];
const NIL: &[u64] = &[0];
const NOBODY: &[u64] = &[0x7fff_fffe];
const ANY: &[u64] = &[
    0,
    1,
    2,
    3,
    8,
    0x10,
    0x40,
    0x5412,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    u64::MAX,
];
const MODE: &[u64] = &[0, 0o644, 0o4755, 0o2755, 0o6777, 0x1_0000_0800];

/// A call with the values that its registers may take.
type Call = (&'static str, &'static [&'static [u64]]);

/// Harmless whoever makes them. Rules are made up about these.
const CALLS: &[Call] = &[
    ("ioctl", &[BAD, ANY, NIL]),
    ("ftruncate", &[BAD, ANY]),
    ("fallocate", &[BAD, ANY, ANY, ANY]),
    ("fadvise64", &[BAD, ANY, ANY, ANY]),
    ("sync_file_range", &[BAD, ANY, ANY, ANY]),
    ("copy_file_range", &[BAD, NIL, BAD, NIL, ANY, ANY]),
    ("splice", &[BAD, NIL, BAD, NIL, ANY, ANY]),
    ("tee", &[BAD, BAD, ANY, ANY]),
    ("flock", &[BAD, ANY]),
    ("getpriority", &[ANY, ANY]),
    (
        "setsockopt",
        &[BAD, &[0, 1, 6, 41, 0x1_0000_0000], &[0, 4, 5, 6, 57], NIL, NIL],
    ),
    (
        "socketpair",
        &[&[1, 2, 16], &[1, 2, 3, 5, 0x80001, 0x80002], &[0, 6], NIL],
    ),
    (
        "prctl",
        &[&[3, 7, 21, 39, 999_999, 0x1_0000_0003], NIL, NIL, NIL, NIL],
    ),
    ("ptrace", &[&[1, 2, 3, 16, 0x4206], NOBODY, NIL, NIL]),
    ("personality", &[&[0, 0x40000, 0xffff_ffff]]),
    ("madvise", &[NIL, NIL, ANY]),
    ("mlock2", &[NIL, NIL, ANY]),
    ("membarrier", &[&[0, 999], ANY, NIL]),
    ("kcmp", &[NOBODY, NOBODY, ANY, NIL, NIL]),
    ("tgkill", &[NOBODY, NOBODY, ANY]),
    ("waitid", &[&[9], NIL, NIL, ANY, NIL]),
    ("timer_create", &[ANY, NIL, NIL]),
    ("clock_nanosleep", &[ANY, ANY, NIL, NIL]),
    ("epoll_create1", &[&[1, 0x40, 0x7fff_ffff]]),
    ("inotify_init1", &[&[1, 0x40, 0x7fff_ffff]]),
    ("process_vm_readv", &[NOBODY, NIL, NIL, NIL, NIL, ANY]),
];

/// About these the built-in rules have something to say, and Python needs some of them.
const BUILT_IN: &[Call] = &[
    (
        "socket",
        &[
            &[1, 2, 10, 16, 17, 40],
            &[1, 2, 3, 5, 0x80001, 0x80002],
            &[0, 1, 6, 17, 132, 255, 262],
        ],
    ),
    (
        "clone",
        &[
            &[0x800, 0x811, 0x1000_0800, 0x2_0800, 0x4000_0800, 0x1_0000_0800],
            NIL,
            NIL,
            NIL,
            NIL,
        ],
    ),
    ("clone3", &[NIL, ANY]),
    ("chmod", &[NIL, MODE]),
    ("fchmod", &[BAD, MODE]),
    ("fchmodat", &[BAD, NIL, MODE]),
    ("mknodat", &[BAD, NIL, MODE, NIL]),
    ("openat", &[BAD, NIL, &[0, 0o100, 0o20_200_000], MODE]),
    ("openat2", &[BAD, NIL, NIL, ANY]),
    ("unshare", &[ANY]),
    ("setns", &[BAD, ANY]),
    ("bpf", &[ANY, NIL, NIL]),
    ("io_uring_setup", &[ANY, NIL]),
    ("io_uring_enter", &[BAD, ANY, ANY, ANY, NIL, NIL]),
    ("userfaultfd", &[ANY]),
    ("keyctl", &[ANY, NIL, NIL, NIL, NIL]),
    ("add_key", &[NIL, NIL, NIL, NIL, NIL]),
    ("perf_event_open", &[NIL, NIL, NIL, BAD, NIL]),
    ("mount", &[NIL, NIL, NIL, ANY, NIL]),
    ("umount2", &[NIL, ANY]),
    ("fsopen", &[NIL, ANY]),
    ("open_tree", &[BAD, NIL, ANY]),
    ("move_mount", &[BAD, NIL, BAD, NIL, ANY]),
    ("pivot_root", &[NIL, NIL]),
    ("init_module", &[NIL, NIL, NIL]),
    ("finit_module", &[BAD, NIL, ANY]),
    ("kexec_load", &[NIL, NIL, NIL, ANY]),
    ("swapon", &[NIL, ANY]),
    ("acct", &[NIL]),
    ("clock_settime", &[ANY, NIL]),
    ("open_by_handle_at", &[BAD, NIL, ANY]),
    ("fanotify_init", &[ANY, ANY]),
    ("reboot", &[NIL, NIL, NIL, NIL]),
];

const GROUPS: [&str; 12] = [
    "@aio",
    "@chown",
    "@clock",
    "@debug",
    "@ipc",
    "@keyring",
    "@mount",
    "@obsolete",
    "@privileged",
    "@raw-io",
    "@resources",
    "@setuid",
];

/// A number that no kernel has yet.
const NEWER: u32 = 0x0fff_0000;

fn condition(random: &mut Random, call: &str) -> String {
    let names: Vec<&str> = table::argument_names(call).collect();
    let (argument, bits) = if names.is_empty() || random.chance(30) {
        (format!("arg{}", random.below(4)), 64)
    } else {
        let name = *random.pick(&names);
        (
            name.to_owned(),
            table::argument(call, name).map_or(64, |argument| argument.width.bits()),
        )
    };
    let value = |random: &mut Random| {
        let value = *random.pick(ANY);
        if bits == 32 { value & 0xffff_ffff } else { value }
    };
    let masked = if random.chance(30) {
        format!(" & {:#x}", value(random))
    } else {
        String::new()
    };
    let operator = *random.pick(&["==", "!=", "<", "<=", ">", ">="]);
    format!("{argument}{masked} {operator} {:#x}", value(random))
}

/// One rule, if the language takes it: made-up predicates may be ones that never hold.
fn rule(random: &mut Random, host: &Host, label: usize) -> Option<String> {
    let effect = *random.pick(&["allow", "allow", "deny", "deny", "forbid"]);
    let target = if random.chance(20) {
        (*random.pick(&GROUPS)).to_owned()
    } else {
        let call = random.pick(CALLS).0;
        let conditions: Vec<String> = (0..random.below(3)).map(|_| condition(random, call)).collect();
        let conditions = if conditions.is_empty() {
            String::new()
        } else {
            format!(" where {}", conditions.join(" and "))
        };
        format!("\"{call}\"{conditions}")
    };
    let rule = format!("{effect} syscall {target} label \"r{label}\"\n");
    let file = host.policy_of("", &format!("process {{ {rule} }}"));
    sampled::resolve(host, &file).ok().map(|_| rule)
}

struct Attempt {
    name: &'static str,
    number: u32,
    registers: [u64; 6],
}

impl Attempt {
    fn request(&self) -> Value {
        // JSON numbers are doubles to some; the probe reads decimal text.
        let registers: Vec<String> = self.registers.iter().map(u64::to_string).collect();
        let how = if self.name == "x32" { "child" } else { "call" };
        let mut request = vec![json!(how), json!(self.number)];
        request.extend(registers.into_iter().map(Value::from));
        Value::from(request)
    }

    fn shown(&self) -> String {
        format!("{} ({:#x}) {:x?}", self.name, self.number, self.registers)
    }
}

fn attempts(random: &mut Random) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for (calls, times) in [(CALLS, 5), (BUILT_IN, 2)] {
        for (name, values) in calls {
            let Some(number) = table::number(name, HERE) else {
                continue;
            };
            for _ in 0..times {
                let mut registers = [0; 6];
                for (register, values) in registers.iter_mut().zip(*values) {
                    *register = *random.pick(values);
                }
                attempts.push(Attempt {
                    name,
                    number,
                    registers,
                });
            }
        }
    }
    attempts.push(Attempt {
        name: "newer",
        number: NEWER,
        registers: [0; 6],
    });
    if HERE == Architecture::X86_64 {
        attempts.push(Attempt {
            name: "x32",
            number: 0x4000_0000 | 39,
            registers: [0; 6],
        });
    }
    attempts
}

fn judge(policy: &Policy, attempt: &Attempt, said: &str, events: &mut Vec<Value>, wrong: &mut Disagreements) {
    let access = Access::Syscall {
        architecture: HERE,
        number: attempt.number,
        arguments: attempt.registers,
    };
    let decision = decide(policy, &access);
    if decision.effect == Effect::Allow {
        if matches!(said, "EPERM" | "ENOSYS") {
            wrong.add(format!("{}: kernel {said}, model {decision:?}", attempt.shown()));
        }
        return;
    }
    let expected = match attempt.name {
        "x32" => "signal 31",
        "newer" | "clone3" | "openat2" => "ENOSYS",
        _ => "EPERM",
    };
    if said != expected {
        wrong.add(format!("{}: kernel {said}, model {decision:?}", attempt.shown()));
        return;
    }
    let about = |event: &Value| {
        let rule = event["rule"]["id"] == decision.rule.0;
        let candidate = event["details"]["candidates"]
            .as_array()
            .is_some_and(|rules| rules.iter().any(|rule| *rule == decision.rule.0));
        event["details"]["number"] == attempt.number && (rule || candidate)
    };
    match events.iter().position(about) {
        Some(at) => drop(events.remove(at)),
        None => {
            let others: Vec<String> = events
                .iter()
                .filter(|event| event["details"]["number"] == attempt.number)
                .map(Value::to_string)
                .collect();
            wrong.add(format!(
                "{}: {said} without an event by {decision:?}: {others:?}",
                attempt.shown()
            ));
        }
    }
}

fn rules(random: &mut Random, host: &Host) -> String {
    let mut rules = "allow syscall @system-service\n".to_owned();
    if random.chance(25) {
        rules += "allow syscall @known\n";
    }
    for label in 0..4 + random.below(16) {
        rules += &rule(random, host, label).unwrap_or_default();
    }
    rules
}

fn sample(host: &Host, seed: u64, beneath: &mut usize) -> (usize, usize) {
    let mut random = Random::new(seed);
    // Half of the policies have a ceiling, which takes away here and there. Making rules up writes policies, so it comes first.
    let count = if random.chance(50) { 4 } else { 0 };
    let mut above: Vec<String> = (0..count)
        .map(|_| sampled::relabelled(&rules(&mut random, host)))
        .collect();
    let own = rules(&mut random, host);
    let file = host.policy_of("", &format!("process {{\n{own}}}"));
    let layered = !above.is_empty()
        && sampled::put_within(host, &file, || {
            let above = above.pop().unwrap_or_default();
            format!(
                "filesystem {{ allow read, write, execute \"/\" }} credentials {{ pass \"*\" }}
                 process {{ identity user allow syscall @known\n{above} }}"
            )
        });
    *beneath += usize::from(layered);
    let policy = sampled::resolved(host, &file);
    let made = attempts(&mut random);
    let allowed = |attempt: &Attempt| {
        let access = Access::Syscall {
            architecture: HERE,
            number: attempt.number,
            arguments: attempt.registers,
        };
        decide(&policy, &access).effect == Effect::Allow
    };
    // What the kernel itself answers so would prove nothing.
    let (open, shut): (Vec<Attempt>, Vec<Attempt>) = made.into_iter().partition(allowed);
    let requests: Vec<Value> = open.iter().map(Attempt::request).collect();
    let natively = sampled::probe_outside(host, &requests);
    let open = open
        .into_iter()
        .zip(natively)
        .filter(|(_, said)| !matches!(said.as_str(), "EPERM" | "ENOSYS"));
    let open: Vec<Attempt> = open.map(|(attempt, _)| attempt).collect();
    let attempts: Vec<&Attempt> = open.iter().chain(&shut).collect();
    let requests: Vec<Value> = attempts.iter().map(|attempt| attempt.request()).collect();
    let said = sampled::probe(host, &file, &requests);
    let mut events: Vec<Value> = host
        .events()
        .into_iter()
        .filter(|event| event["kind"] == "syscall")
        .collect();
    let mut wrong = Disagreements::default();
    for (attempt, said) in attempts.iter().zip(&said) {
        judge(&policy, attempt, said, &mut events, &mut wrong);
    }
    wrong.assert_none(&file);
    (open.len(), shut.len())
}

#[test]
fn the_kernel_decides_about_calls_as_the_reference_does() {
    let Some(host) = host("sampled-syscalls", &[]) else {
        return;
    };
    let mut total = (0, 0);
    let mut beneath = 0;
    sampled::seeds(24, |seed| {
        let (allowed, refused) = sample(&host, seed, &mut beneath);
        total = (total.0 + allowed, total.1 + refused);
    });
    println!(
        "{} allowed, {} refused; {beneath} policies beneath a ceiling",
        total.0, total.1
    );
    assert!(
        total.0 > 20 && total.1 > 20 && beneath > 4,
        "the samples mean something: {total:?}, {beneath} beneath a ceiling"
    );
}
