//! Policies of any size, as text: of twenty rules fourteen on files (two of them with globs), five on addresses and one on a
//! variable; a fixed dozen of rules on system calls and limits.

use std::fmt::Write as _;

/// A policy with about this many rules of its own.
pub(crate) fn policy(rules: u32) -> String {
    let mut files = String::new();
    let mut network = String::new();
    let mut variables = String::new();
    for number in 0..rules {
        let line = match number % 20 {
            kind @ 0..=13 => {
                file(&mut files, number, kind);
                continue;
            }
            14..=18 => address(number),
            _ => {
                let _ = writeln!(variables, "        pass \"SETTING_{number}\"");
                continue;
            }
        };
        network.push_str(&line);
    }
    format!(
        "policy \"large\" {{\n    summary \"Made to be large.\"\n    filesystem {{\n        allow read, execute \"/usr\"\n{files}    }}\n    \
         network {{\n{network}    }}\n    credentials {{\n        pass \"PATH\"\n{variables}    }}\n    process {{\n        \
         identity dynamic\n        allow syscall @system-service\n        deny syscall @debug\n        \
         limit memory 4GiB, processes 256, wall 30m\n    }}\n}}\n"
    )
}

/// A tree of projects, each granted, with parts denied and parts of those opened again.
fn file(files: &mut String, number: u32, kind: u32) {
    let project = format!("/srv/team{}/project{}", number / 2_000, number / 20);
    let _ = match kind {
        0 => writeln!(files, "        allow read, write \"{project}\""),
        1 => writeln!(
            files,
            "        deny read \"{project}/**/.env{}*\" permit degraded",
            number % 7
        ),
        2 => writeln!(files, "        deny write \"{project}/*.lock\" permit degraded"),
        3 => writeln!(
            files,
            "        deny read, write \"{project}/secrets\" because \"not for agents\""
        ),
        4 => writeln!(files, "        allow read \"{project}/secrets/public\""),
        5 => writeln!(files, "        forbid write \"{project}/.git/hooks\""),
        _ => writeln!(
            files,
            "        allow read, execute \"{project}/tools/bin{number}\" if present"
        ),
    };
}

fn address(number: u32) -> String {
    let [_, a, b, c] = number.to_be_bytes();
    match number % 3 {
        0 => format!("        deny connect tcp \"10.{a}.{b}.{c}:*\"\n"),
        1 => format!("        allow connect tcp \"10.{a}.{b}.0/24:443\"\n"),
        _ => format!("        allow connect \"192.{a}.{b}.{c}:8000-8999\"\n"),
    }
}
