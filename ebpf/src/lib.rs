//! The kernel-side programs, as one object file, and the layouts both sides share.
//!
//! The programs are fixed; a policy is their data.

pub mod layout;
