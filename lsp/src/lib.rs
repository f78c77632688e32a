//! The language server: what the compiler knows about a policy, said to an editor while it is being written.
//!
//! One thread reads frames (`transport`), one answers (`server`). Open buffers are laid over the files of the policy
//! root (`analysis`), and everything said about a policy comes from the same functions that `remit check` and
//! `remit compile` call. Work is bounded: a file has at most as many bytes as the language allows, findings are made only
//! when no message waits, and a request that was cancelled while it waited is never begun.

mod actions;
mod analysis;
mod completion;
mod definition;
mod diagnostics;
mod documents;
mod hover;
mod position;
mod rename;
mod server;
mod symbols;
mod tokens;
mod transport;
mod uri;

pub use server::{ServeError, serve};
