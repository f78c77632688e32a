//! The exact difference of two policies, held against the reference on small worlds and on sampled accesses.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod cases;
mod ceilings;
mod generate;
mod properties;
mod rules;
