//! Lowering and emitting: each backend against the reference semantics, and what each rule says it became.

mod file_model;
mod mechanisms;
mod network_model;
mod policies;
mod round_trip;
