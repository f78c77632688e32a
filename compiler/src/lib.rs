//! Policy to plan to artifact.

pub mod seccomp;
