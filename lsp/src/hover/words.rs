//! The words of the language, each in a sentence. docs/language.md is the reference.

use policy_lang::ast::ParamType;

/// Word and meaning.
pub(crate) const WORDS: &[(&str, &str)] = &[
    (
        "policy",
        "what one kind of run may do; nothing that is not written here",
    ),
    ("group", "named rules that policies take over with `use`"),
    ("include", "reads a file of groups from the policy root"),
    (
        "test",
        "accesses and what is expected of them; `remit test` tries them",
    ),
    ("summary", "what the policy is for, in a sentence"),
    ("within", "a ceiling: the stricter of it and this policy decides"),
    (
        "use",
        "takes over the rules of groups, as if they were written here",
    ),
    ("param", "a value that is given when the policy is compiled"),
    ("require", "what the host must offer; without it no run starts"),
    (
        "unlock",
        "opens a part of the built-in floor; every layer must say so, and something must still allow it",
    ),
    ("filesystem", "which files may be read, changed and started"),
    ("network", "which addresses and ports may be reached and bound"),
    ("credentials", "which variables and secrets a run gets"),
    ("process", "identity, system calls and limits"),
    ("workspace", "where a run works, and what becomes of its changes"),
    ("audit", "what is recorded besides refusals"),
    ("allow", "grants; the most lax effect"),
    ("ask", "grants once somebody approves"),
    ("deny", "refuses, and yields to a rule on less"),
    ("forbid", "refuses, and yields to nothing"),
    ("read", "opening for reading, listing"),
    ("write", "every change: contents, names, attributes"),
    ("execute", "starting a program and mapping one as code"),
    ("scratch", "an empty directory in memory, gone with the run"),
    ("hide", "refused, and absent from the run's view"),
    ("connect", "connecting, and sending a datagram"),
    ("bind", "taking a port"),
    ("tcp", "TCP only"),
    ("udp", "UDP only"),
    ("pass", "copies a variable of the caller"),
    ("set", "gives a variable a value"),
    (
        "broker",
        "a credential that is added outside the run, which never holds it",
    ),
    ("identity", "whom the run's processes belong to"),
    ("dynamic", "a user id of the run's own"),
    ("user", "the caller's user id"),
    ("syscall", "system calls, by name or by group"),
    ("where", "only with these arguments"),
    ("limit", "the most of a resource"),
    ("memory", "bytes"),
    ("processes", "processes and threads"),
    ("cpu", "share of CPUs; `200%` is two"),
    ("open-files", "descriptors of each process"),
    ("wall", "how long the run may last"),
    ("from", "the directory that the workspace is made from"),
    ("mode", "`in-place` or `ephemeral`"),
    ("keep", "which changes outlive the run"),
    ("ephemeral", "the run changes a copy that is gone at its end"),
    ("in-place", "the run changes the files themselves"),
    ("record", "which allowed accesses leave an event"),
    ("label", "a name for tests and events"),
    ("because", "a reason that travels with every refusal and event"),
    (
        "present",
        "with `if`: the rule is skipped where its path is absent",
    ),
    (
        "degraded",
        "with `permit`: a host that can enforce the rule only partly may run it, and an event says so",
    ),
    ("by", "the block or the label of the rule that must decide"),
    ("landlock", "Landlock at this ABI or above"),
    ("seccomp", "seccomp filters with logging"),
    ("cgroup-bpf", "BPF programs on cgroups"),
    ("memory-controller", "the memory controller of cgroups"),
    ("pids-controller", "the pids controller of cgroups"),
    ("cpu-controller", "the cpu controller of cgroups"),
];

/// The meaning of a word.
pub(crate) fn meaning(word: &str) -> Option<&'static str> {
    WORDS
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, meaning)| *meaning)
}

/// What a parameter of a type is and fills.
pub(super) const fn parameter_type(kind: ParamType) -> &'static str {
    match kind {
        ParamType::Path => "A path, which fills the beginning of a path.",
        ParamType::Host => "One address or name, which fills the address of a target.",
        ParamType::Cidr => "A prefix, which fills the address of a target.",
        ParamType::Port => "One port, which fills a port of a target.",
        ParamType::Duration => "A duration, which fills `limit wall` and `ttl`.",
        ParamType::Size => "A size, which fills `limit memory` and `scratch`.",
        ParamType::String => "One of these, which fills a part of a name in a path.",
    }
}
