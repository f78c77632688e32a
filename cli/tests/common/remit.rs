//! Calls the real binary. Shared by the integration tests; each uses a part of it.
#![allow(
    dead_code,
    clippy::panic,
    clippy::expect_used,
    reason = "tests; each binary uses a part"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a workspace")
        .to_owned()
}

/// `remit` with a fixed environment: no colour, 100 columns, no caller behind sudo.
pub(crate) fn remit() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_remit"));
    for name in ["NO_COLOR", "REMIT_LOG", "SUDO_UID", "SUDO_GID", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("COLUMNS", "100").env("TERM", "dumb");
    command
}

/// Runs it to its end.
pub(crate) fn output(command: &mut Command) -> Outcome {
    Outcome::from(command.output().expect("remit starts"))
}

/// What came out.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

impl Outcome {
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.stdout))
    }
}

/// A policy that grants enough to start programs of the system.
pub(crate) const SMALL: &str = r#"policy "small" {
    param workspace: path = "."
    filesystem {
        allow read, execute "/usr", "/bin", "/lib"
        allow read, execute "/lib64" if present
        allow read "/etc/ld.so.cache"
        allow read, write "/dev/null"
        allow read, write "${workspace}"
    }
    credentials { pass "PATH" }
    process { allow syscall @system-service }
}
"#;

/// A folder of its own for one test, removed at its end. Not below `/tmp`, which a run cannot see.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("remit-test.")
        .tempdir_in("/var/tmp")
        .expect("a folder")
}
