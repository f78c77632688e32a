//! What a run finds where a path is hidden from it: a file system that refuses every look and says so.
//!
//! Landlock cannot take back a right that flows down a tree, so a denied path inside a granted one is covered by
//! a mount. An empty tmpfs would hide it, but silently: the kernel records nothing when a directory is empty. The
//! mask is therefore a FUSE file system of one superblock that the supervisor serves. Every name that is looked
//! up below a mask, every open of it, comes here as a request with the thread that made it, is answered `EACCES`,
//! and becomes an event. When the supervisor is gone the kernel answers `ENOTCONN`: still closed.
//!
//! Nothing but refusals passes through here, so no granted access pays for it.
//!
//! Protocol: `include/uapi/linux/fuse.h`, version 7.31 and above (Linux 5.4).

mod mount;
mod protocol;
mod tree;

pub(crate) use mount::mount;
pub use protocol::{Refused, Served, serve};
pub use tree::{MaskKind, MaskTree, NodeId};
