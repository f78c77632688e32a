//! How large an artifact may be. The decoder is run by a privileged process on files from elsewhere; whatever it
//! does takes time and memory that these numbers bound.

/// Bytes of the encoded form.
pub const ENCODED_BYTES: usize = 64 << 20;
/// Nesting of the encoded form; what the format needs and a little more.
pub const NESTING: usize = 24;
/// Layers: a policy and its ceilings.
pub const LAYERS: usize = 9;
/// Parts of the floor that are open.
pub const UNLOCKS: usize = 256;
/// Credentials.
pub const BROKERS: usize = 256;
/// Globs that say what is kept of a workspace.
pub const KEEP: usize = 1_024;
/// Rules.
pub const RULES: usize = 131_072;
/// Elementary file rules.
pub const PATH_RULES: usize = 262_144;
/// Bytes of a path or a glob (`PATH_MAX` less its terminator).
pub const PATH_BYTES: usize = 4_095;
/// Bytes of one name in a path (`NAME_MAX`).
pub const NAME_BYTES: usize = 255;
/// Scratch mounts.
pub const SCRATCHES: usize = 64;
/// Prefixes.
pub const PREFIXES: usize = 65_536;
/// Port intervals in all lists together.
pub const PORT_INTERVALS: usize = 1_048_576;
/// Elementary rules on host names.
pub const HOSTS: usize = 262_144;
/// Bytes of a host name (RFC 1035, without a final dot).
pub const HOST_BYTES: usize = 253;
/// TCP ports listed for Landlock.
pub const LANDLOCK_PORTS: usize = 1_024;
/// Variables passed, and variables set.
pub const VARIABLES: usize = 4_096;
/// Bytes of a variable with its name: what execve(2) takes as one string (`MAX_ARG_STRLEN`).
pub const VARIABLE_BYTES: usize = 131_071;
/// Instructions of a seccomp filter (`BPF_MAXINSNS`).
pub const INSTRUCTIONS: usize = 4_096;
/// Refusals listed for a filter.
pub const REFUSALS: usize = 4_096;
/// `require` clauses.
pub const REQUIREMENTS: usize = 256;
/// Parameters.
pub const PARAMETERS: usize = 1_024;
/// Mechanisms of a rule, and needs of a mechanism.
pub const LOWERINGS: usize = 32;
/// Bytes of any other text: names, rule texts, reasons.
pub const TEXT_BYTES: usize = 65_536;
