//! The kernel-side programs, as one object file, and the layouts both sides share.
//!
//! The programs are fixed; a policy is their data. They are C with CO-RE, because Rust has no CO-RE relocations
//! yet, and include nothing from the machine that builds them; see `programs/` and `build.rs`.

pub mod layout;

/// The ELF object, aligned as its reader wants it.
pub static OBJECT: &[u8] = &ALIGNED.0;

/// Its SHA-256, in hexadecimal.
pub const OBJECT_SHA256: &str = env!("REMIT_BPF_SHA256");

/// What made it: a compiler and its version, or the committed object.
pub const OBJECT_ORIGIN: &str = env!("REMIT_BPF_ORIGIN");

#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

static ALIGNED: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("REMIT_BPF_OBJECT")));
