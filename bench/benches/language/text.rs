//! Policies of any size, as text: of a hundred rules seventy on files (ten of them with globs), twenty-eight on addresses
//! and two on variables; few on system calls and limits. What does not fit into one file is spread over groups.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Rules in one file.
const RULES_IN_A_FILE: u32 = 10_000;

/// A policy with about this many rules of its own, as files by name. Its own is `policy.remit`.
pub(crate) fn policy(rules: u32) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let (mut includes, mut uses) = (String::new(), String::new());
    for (part, first) in (0..rules).step_by(RULES_IN_A_FILE as usize).skip(1).enumerate() {
        let blocks = blocks(first..rules.min(first + RULES_IN_A_FILE));
        let text = format!("group part{part} {{\n    summary \"A part.\"\n{blocks}}}\n");
        files.insert(format!("part{part}.remit"), text);
        let _ = writeln!(includes, "include \"part{part}.remit\"");
        let _ = writeln!(uses, "    use part{part}");
    }
    let blocks = blocks(0..rules.min(RULES_IN_A_FILE));
    let text = format!(
        "{includes}policy \"large\" {{\n    summary \"Made to be large.\"\n{uses}{blocks}    process {{\n        \
         identity dynamic\n        allow syscall @system-service\n        deny syscall @debug\n        \
         limit memory 4GiB, processes 256, wall 30m\n    }}\n}}\n"
    );
    files.insert("policy.remit".to_owned(), text);
    files
}

fn blocks(numbers: std::ops::Range<u32>) -> String {
    let mut files = String::new();
    let mut network = String::new();
    let mut variables = String::new();
    for number in numbers {
        match number % 100 {
            0 | 50 => {
                let _ = writeln!(variables, "        pass \"SETTING_{number}\"");
            }
            kind if kind % 10 < 7 => file(&mut files, number, kind % 20),
            _ => address(&mut network, number),
        }
    }
    format!(
        "    filesystem {{\n        allow read, execute \"/usr\"\n{files}    }}\n    network {{\n{network}    }}\n    \
         credentials {{\n        pass \"PATH\"\n{variables}    }}\n"
    )
}

/// A tree of projects, each granted, with parts denied and parts of those opened again.
fn file(files: &mut String, number: u32, kind: u32) {
    let project = format!("/srv/team{}/project{}", number / 2_000, number / 20);
    let _ = match kind {
        1 => writeln!(files, "        allow read, write \"{project}\""),
        2 => writeln!(
            files,
            "        deny read \"{project}/**/.env{}*\" permit degraded",
            number % 7
        ),
        3 => writeln!(files, "        deny write \"{project}/*.lock\" permit degraded"),
        4 => writeln!(
            files,
            "        deny read, write \"{project}/secrets\" because \"not for agents\""
        ),
        5 => writeln!(files, "        allow read \"{project}/secrets/public\""),
        6 => writeln!(files, "        forbid write \"{project}/.git/hooks\""),
        _ => writeln!(
            files,
            "        allow read, execute \"{project}/tools/bin{number}\" if present"
        ),
    };
}

fn address(network: &mut String, number: u32) {
    let [_, a, b, c] = number.to_be_bytes();
    let _ = match number % 3 {
        0 => writeln!(network, "        deny connect tcp \"10.{a}.{b}.{c}:*\""),
        1 => writeln!(network, "        allow connect tcp \"11.{a}.{b}.{c}/32:443\""),
        _ => writeln!(network, "        allow connect \"192.{a}.{b}.{c}:8000-8999\""),
    };
}
