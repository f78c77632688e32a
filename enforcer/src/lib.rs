//! Host capabilities, admission, launch, supervision and evidence.
pub mod mask;
