//! A world as its maker holds it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::{VerifyError, host};
use crate::world::{FLAG, Ports, READY};

/// Dropped, its process ends and the namespace with it.
#[derive(Debug)]
pub struct World {
    child: Child,
    /// Open as long as the world is to be.
    _input: ChildStdin,
}

impl World {
    pub(crate) fn new(program: &Path, ports: &Ports) -> Result<Self, VerifyError> {
        let mut child = Command::new(program)
            .arg(FLAG)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(host("start a network namespace's keeper"))?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(VerifyError::Run {
                what: "the keeper of a network namespace".to_owned(),
                said: "it has no input".to_owned(),
            });
        };
        let asked = serde_json::to_string(ports)
            .map_err(std::io::Error::other)
            .and_then(|text| writeln!(input, "{text}"));
        let world = Self { child, _input: input };
        asked.map_err(host("tell a network namespace's keeper what to do"))?;
        let mut said = String::new();
        BufReader::new(output)
            .read_line(&mut said)
            .map_err(host("hear from a network namespace's keeper"))?;
        if said.trim_end() == READY {
            return Ok(world);
        }
        Err(VerifyError::Run {
            what: "a network namespace cannot be made".to_owned(),
            said: said.trim_end().to_owned(),
        })
    }

    /// The namespace, as a file.
    pub(crate) fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.child.id())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
