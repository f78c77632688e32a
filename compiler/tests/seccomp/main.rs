//! The seccomp backend against the meaning of the language.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod boundaries;
mod calls;
mod default_policy;
mod layers;
mod model;
mod policies;
