//! Grants as statements of the language.

use std::fmt::Write as _;
use std::net::IpAddr;

use policy_lang::resolve::quoted;

use super::{Grant, Subject};

/// How much a scratch directory holds.
const SCRATCH: &str = "256MiB";

/// Blocks with one statement for each grant, to stand in a policy. The second value has the line of each grant, counted
/// from 0 at the first line of the text.
#[must_use]
pub fn statements(grants: &[Grant], is_absent: &dyn Fn(&Grant) -> bool) -> (String, Vec<usize>) {
    let mut text = String::new();
    let mut lines = vec![0; grants.len()];
    let mut line = 0;
    for block in ["filesystem", "network", "process"] {
        let members: Vec<(usize, &Grant)> = grants
            .iter()
            .enumerate()
            .filter(|(_, grant)| block_of(&grant.subject) == block)
            .collect();
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(text, "    {block} {{");
        line += 1;
        for (index, grant) in members {
            let suffix = if is_absent(grant) { " if present" } else { "" };
            let _ = writeln!(text, "        {}{suffix}", statement(grant));
            if let Some(place) = lines.get_mut(index) {
                *place = line;
            }
            line += 1;
        }
        text.push_str("    }\n");
        line += 1;
    }
    (text, lines)
}

fn block_of(subject: &Subject) -> &'static str {
    match subject {
        Subject::File { .. } | Subject::Scratch { .. } => "filesystem",
        Subject::Network { .. } => "network",
        Subject::Syscall { .. } => "process",
    }
}

fn statement(grant: &Grant) -> String {
    match &grant.subject {
        Subject::File { accesses, target } => {
            let accesses: Vec<&str> = accesses.iter().map(|access| access.word()).collect();
            format!("allow {} {}", accesses.join(", "), quoted(target))
        }
        Subject::Scratch { path } => format!("scratch {} {SCRATCH}", quoted(path)),
        Subject::Network {
            verb,
            protocol,
            address,
            port,
        } => {
            let address = match address {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            };
            format!("allow {} {} \"{address}:{port}\"", verb.word(), protocol.word())
        }
        Subject::Syscall { name } => format!("allow syscall {}", quoted(name)),
    }
}
