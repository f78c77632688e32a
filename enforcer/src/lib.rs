//! Host capabilities, admission, launch, supervision and evidence.
