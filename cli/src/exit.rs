//! Exit codes. They are an interface: scripts and CI read them, `remit --help` lists them.

/// A policy has errors, a check failed, or an operation could not be carried out.
pub(crate) const FAILED: u8 = 1;
/// The command line itself is wrong.
pub(crate) const USAGE: u8 = 2;
/// A command whose answer is yes or no could give none.
pub(crate) const NO_ANSWER: u8 = 2;
/// `remit run` could not start or contain the command. 126 (not executable), 127 (not found) and 128+n (killed by
/// signal n) come from the enforcer, as a shell would give them.
pub(crate) const RUN_FAILED: u8 = 125;
