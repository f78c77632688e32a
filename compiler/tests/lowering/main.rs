//! Lowering and emitting: each backend against the reference semantics, and what each rule says it became.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, also in the functions that its tests share"
)]

mod environment_model;
mod file_model;
mod mechanisms;
mod network_model;
mod policies;
mod round_trip;
