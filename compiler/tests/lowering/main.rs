//! Lowering and emitting: each backend against the reference semantics, and what each rule says it became.

mod mechanisms;
mod policies;
mod round_trip;
