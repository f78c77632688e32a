//! How long checking takes, and how that grows.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use compiler::check::{Options, check};
use policy_lang::SourceFile;

use super::HOME;

/// A policy of so many rules: files, globs among them, addresses, variables and calls.
pub(crate) fn text(rules: usize) -> String {
    let mut text = String::from("policy \"large\" {\n    filesystem {\n");
    for number in 0..rules / 2 {
        let (effect, because) = if number % 7 == 0 {
            ("deny", " because \"x\"")
        } else {
            ("allow", "")
        };
        let path = format!("/srv/{}/{}/{number}", number % 10, number % 100);
        writeln!(text, "        {effect} read \"{path}\"{because}").unwrap();
    }
    for number in 0..rules / 50 {
        writeln!(
            text,
            "        deny read \"/srv/{number}/**/*.key\" because \"keys\""
        )
        .unwrap();
    }
    for number in 0..10 {
        writeln!(
            text,
            "        deny read \"/srv/**/[a-c]{number}*.pem\" because \"keys\""
        )
        .unwrap();
    }
    text.push_str("    }\n    network {\n");
    for number in 0..rules / 3 {
        let (second, third) = (number / 256 % 256, number % 256);
        writeln!(
            text,
            "        allow connect tcp \"198.{second}.{third}.0/24:443\""
        )
        .unwrap();
    }
    text.push_str("    }\n    credentials {\n");
    for number in 0..rules / 10 {
        writeln!(text, "        pass \"VARIABLE_{number}\"").unwrap();
    }
    text.push_str("    }\n    process {\n        allow syscall @system-service\n        limit memory 1GiB, processes 64, wall 10m\n    }\n}\n");
    text
}

fn time(rules: usize) -> Duration {
    let source = SourceFile::new("large.remit", text(rules));
    let policy = super::tree::check(&source).policy.unwrap();
    assert!(policy.rules.len() > rules * 9 / 10);
    let options = Options {
        files: std::slice::from_ref(&source),
        home: HOME,
        caller_is_root: false,
    };
    let once = || {
        let start = Instant::now();
        let found = check(&policy, &options);
        assert!(found.len() < 20, "{found:#?}");
        start.elapsed()
    };
    (0..5).map(|_| once()).min().unwrap()
}

#[test]
fn checking_ten_times_the_rules_takes_little_more_than_ten_times_as_long() {
    let (small, large) = (time(1_000), time(10_000));
    eprintln!("1,000 rules {small:?}, 10,000 rules {large:?}");
    // n log n is 13 times. Comparing all with all would be 100 times.
    assert!(large < small * 40, "{small:?} to {large:?}");
}
