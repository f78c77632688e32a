//! The recogniser that pest makes of `grammar.pest`.
#![allow(
    missing_docs,
    reason = "pest_derive writes this module, and documents no rule"
)]

#[derive(pest_derive::Parser)]
#[grammar = "grammar.pest"]
pub(crate) struct Grammar;
