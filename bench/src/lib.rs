//! What is measured, and what it is measured against. See README.md.

pub mod seccomp;
