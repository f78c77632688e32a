//! The examples of `--help`, run as they stand.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "common/remit.rs"]
mod remit;

use std::path::Path;
use std::process::Command;

const PAGES: &[&[&str]] = &[
    &[],
    &["check"],
    &["test"],
    &["compile"],
    &["explain"],
    &["why"],
    &["diff"],
    &["import"],
    &["learn"],
    &["guard", "test"],
    &["guard", "input"],
    &["run"],
    &["verify"],
    &["doctor"],
    &["recover"],
    &["unload"],
    &["events", "verify"],
    &["fmt"],
    &["lsp"],
    &["completions"],
];

/// For the examples of `import`.
const SRT: &str = r#"{ "filesystem": { "allowWrite": ["."] } }"#;

/// For the examples of `test`.
const TESTS: &str = r#"test "keys stay home" { read "~/.ssh/id_ed25519" is denied }"#;

/// `recover` and `unload` without `--instance` would speak of the host's own instance, so all examples that touch the
/// host get one of this test's.
fn isolated(example: &str, instance: &str) -> String {
    let host = ["remit run ", "remit learn ", "remit recover", "remit unload"];
    let Some(prefix) = host.iter().find(|prefix| example.starts_with(**prefix)) else {
        return example.to_owned();
    };
    let rest = example.strip_prefix(prefix).expect("it starts so");
    let rest = rest.replace("--instance nightly", "");
    format!("{} --instance {instance} {rest}", prefix.trim_end())
}

#[test]
fn every_example_of_every_help_page_works() {
    let folder = remit::folder();
    let path = folder.path();
    std::fs::write(path.join("build.remit"), format!("{}{TESTS}", remit::SMALL)).expect("written");
    std::fs::write(path.join("settings.json"), SRT).expect("written");
    std::fs::write(
        path.join("seccomp.json"),
        r#"{ "defaultAction": "SCMP_ACT_ERRNO" }"#,
    )
    .expect("written");
    let guardrails = remit::root().join("guardrails");
    std::os::unix::fs::symlink(guardrails, path.join("guardrails")).expect("linked");
    std::fs::write(path.join("review.remit"), remit::SMALL).expect("written");
    std::fs::write(path.join("more.remit"), TESTS).expect("written");
    // `verify` asks for a key that is there.
    let home = remit::folder();
    std::fs::create_dir(home.path().join(".ssh")).expect("a folder");
    std::fs::write(home.path().join(".ssh/id_ed25519"), "no key").expect("written");
    let instance = format!("help{}", std::process::id());
    let mut tried = 0;
    for page in PAGES.iter().copied() {
        let help = remit::output(remit::remit().args(page).arg("--help"))
            .expect_code(0)
            .stdout;
        for example in help.lines().filter_map(|line| line.strip_prefix("  $ ")) {
            sh(path, home.path(), &isolated(example, &instance));
            tried += 1;
        }
    }
    assert!(tried >= 20, "only {tried} examples were found");
}

fn sh(directory: &Path, home: &Path, line: &str) {
    let binary = Path::new(env!("CARGO_BIN_EXE_remit")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").expect("a PATH"));
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", path)
        .env("HOME", home)
        .env_remove("SUDO_UID");
    let output = command.output().expect("sh starts");
    assert!(
        output.status.success(),
        "`{line}`: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
