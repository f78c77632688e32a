//! `remit check`: its formats, its levels, its fixes.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A warning with a second place, a note with a safe fix, and a warning without.
const FOUND: &str = "policy \"found\" {
    filesystem {
        allow read \"/usr\"
        allow read \"/usr/share\"
        forbid write \"/usr\" because \"it is not the run's\"
        allow write \"/usr/lib\"
    }
    process {
        limit memory 1GiB, processes 64
    }
}
";

fn check(folder: &Path, arguments: &[&str]) -> remit::Outcome {
    remit::output(remit::remit().current_dir(folder).arg("check").args(arguments))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = remit::folder();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

#[test]
fn warnings_are_no_failure_unless_they_are_denied() {
    let folder = folder(&[("a.remit", FOUND)]);
    let codes = |outcome: &remit::Outcome| {
        let document = outcome.json();
        let findings = document["files"][0]["findings"]
            .as_array()
            .expect("a list")
            .clone();
        findings
            .iter()
            .map(|found| format!("{} {}", found["code"], found["severity"]).replace('"', ""))
            .collect::<Vec<_>>()
    };
    let plain = check(folder.path(), &["a.remit", "--format", "json"]).expect_code(0);
    assert_eq!(codes(&plain), ["R0651 warning", "R0612 note", "R0610 warning"]);
    let denied = check(folder.path(), &["a.remit", "--format", "json", "-D", "warnings"]).expect_code(1);
    assert_eq!(codes(&denied), ["R0651 error", "R0612 note", "R0610 error"]);
    let one = [
        "a.remit",
        "--format",
        "json",
        "--allow",
        "R0651,R0610",
        "-D",
        "warnings",
    ];
    assert_eq!(codes(&check(folder.path(), &one).expect_code(0)), ["R0612 note"]);
    let notes = [
        "a.remit", "--format", "json", "--allow", "notes", "--deny", "R0651",
    ];
    assert_eq!(
        codes(&check(folder.path(), &notes).expect_code(1)),
        ["R0651 error", "R0610 warning"]
    );
    check(folder.path(), &["a.remit", "--allow", "R0610", "--deny", "R0610"]).expect_code(1);
    let misspelt = check(folder.path(), &["a.remit", "--allow", "R0601x"]).expect_code(2);
    assert!(
        misspelt.stderr.contains("did you mean `R0601`?"),
        "{}",
        misspelt.stderr
    );
}

/// What section 3 of the specification requires of each object that we write.
fn assert_is_sarif(document: &Value) {
    assert_eq!(document["version"], "2.1.0");
    assert!(
        document["$schema"]
            .as_str()
            .expect("text")
            .contains("sarif-schema-2.1.0.json")
    );
    let run = &document["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "remit");
    let rules = driver["rules"].as_array().expect("rules");
    for rule in rules {
        assert!(rule["id"].as_str().expect("an id").starts_with('R'));
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[text]["text"].as_str().expect("text").is_empty(), "{rule}");
        }
        assert!(rule.get("helpUri").is_none());
    }
    for result in run["results"].as_array().expect("results") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("a number")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().expect("text")));
        assert!(!result["message"]["text"].as_str().expect("text").is_empty());
        assert_is_location(&result["locations"][0]);
        for related in result["relatedLocations"].as_array().into_iter().flatten() {
            assert_is_location(related);
            assert!(related["message"]["text"].is_string());
        }
        for fix in result["fixes"].as_array().into_iter().flatten() {
            let change = &fix["artifactChanges"][0];
            assert!(change["artifactLocation"]["uri"].is_string());
            assert_is_region(&change["replacements"][0]["deletedRegion"]);
            assert!(change["replacements"][0]["insertedContent"]["text"].is_string());
        }
    }
}

fn assert_is_location(location: &Value) {
    let physical = &location["physicalLocation"];
    let uri = physical["artifactLocation"]["uri"].as_str().expect("a URI");
    assert!(!uri.contains([' ', '\\']), "{uri}");
    assert_is_region(&physical["region"]);
}

fn assert_is_region(region: &Value) {
    let number = |name: &str| region[name].as_u64().expect("a number");
    let start = (number("startLine"), number("startColumn"));
    assert!(start.0 >= 1 && start.1 >= 1);
    assert!(start <= (number("endLine"), number("endColumn")), "{region}");
}

#[test]
fn sarif_has_what_the_specification_requires() {
    let broken = "policy \"x\" { filesystem { alow read \"/usr\" } }\n";
    let folder = folder(&[("a.remit", FOUND), ("b c.remit", broken)]);
    let document = check(folder.path(), &[".", "--format", "sarif"])
        .expect_code(1)
        .json();
    assert_is_sarif(&document);
    let results = document["runs"][0]["results"]
        .as_array()
        .expect("results")
        .clone();
    assert_eq!(results.len(), 4);
    assert!(results.iter().any(|result| result["fixes"].is_array()));
    assert!(results.iter().any(|result| result["relatedLocations"].is_array()));
    let uri = &results[3]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "b%20c.remit");
    let none = folder_without_findings();
    let empty = check(none.path(), &["clean.remit", "--format", "sarif"])
        .expect_code(0)
        .json();
    assert_is_sarif(&empty);
    assert_eq!(empty["runs"][0]["results"], Value::Array(Vec::new()));
}

fn folder_without_findings() -> tempfile::TempDir {
    let clean =
        "policy \"clean\" {\n    process {\n        limit memory 1GiB, processes 64, wall 10m\n    }\n}\n";
    folder(&[("clean.remit", clean)])
}

#[test]
fn annotations_and_test_reports_read_as_reviewed() {
    let folder = folder(&[("a.remit", FOUND)]);
    let github = check(folder.path(), &["a.remit", "--format", "github"]).expect_code(0);
    insta::assert_snapshot!("check_github", github.stdout);
    let junit = check(
        folder.path(),
        &["a.remit", "--format", "junit", "--deny", "R0610"],
    )
    .expect_code(1);
    insta::assert_snapshot!("check_junit", junit.stdout);
    let text = check(folder.path(), &["a.remit"]).expect_code(0);
    insta::assert_snapshot!("check_text", text.stdout);
}

#[test]
fn every_code_is_explained() {
    let folder = remit::folder();
    let explained = check(folder.path(), &["--explain", "r0622"]).expect_code(0);
    insta::assert_snapshot!("check_explain", explained.stdout);
    let document = check(folder.path(), &["--explain", "R0101", "--format", "json"])
        .expect_code(0)
        .json();
    assert_eq!(document["code"], "R0101");
    assert!(!document["page"].as_str().expect("text").is_empty());
    check(folder.path(), &["--explain", "R9999"]).expect_code(2);
    check(folder.path(), &["--explain", "R0622", "a.remit"]).expect_code(2);
    check(folder.path(), &[]).expect_code(2);
}

#[test]
fn a_fix_takes_what_is_safe_and_leaves_the_rest_to_people() {
    let folder = folder(&[("a.remit", FOUND)]);
    let path = folder.path().join("a.remit");
    let fixed = check(folder.path(), &["a.remit", "--fix"]).expect_code(0);
    assert!(fixed.stdout.contains("1 proposal taken"), "{}", fixed.stdout);
    let text = fs::read_to_string(&path).expect("read");
    assert_eq!(text, FOUND.replace("        allow read \"/usr/share\"\n", ""));
    let again = check(folder.path(), &["a.remit", "--fix"]).expect_code(0);
    assert!(!again.stdout.contains("taken"), "{}", again.stdout);
    assert_eq!(fs::read_to_string(&path).expect("read"), text);
}

#[test]
fn a_fix_replaces_no_symbolic_link() {
    let folder = folder(&[("a.remit", FOUND)]);
    std::os::unix::fs::symlink("a.remit", folder.path().join("link.remit")).expect("linked");
    check(folder.path(), &["link.remit"]).expect_code(0);
    check(folder.path(), &["link.remit", "--fix"]).expect_code(1);
    assert_eq!(
        fs::read_to_string(folder.path().join("a.remit")).expect("read"),
        FOUND
    );
}

#[test]
fn a_directory_is_searched_and_files_of_groups_are_no_mistake_there() {
    let folder = folder(&[
        ("policies/a.remit", FOUND),
        ("policies/.hidden/b.remit", "nonsense"),
        (
            "policies/groups.remit",
            "group tools {\n    filesystem {\n        allow read \"/usr\"\n    }\n}\n",
        ),
        ("policies/notes.txt", "nonsense"),
    ]);
    let outcome = check(folder.path(), &["policies", "--format", "json"]).expect_code(0);
    let files = outcome.json()["files"].as_array().expect("files").clone();
    let names: Vec<&str> = files
        .iter()
        .map(|file| file["file"].as_str().expect("text"))
        .collect();
    assert_eq!(names, ["policies/a.remit", "policies/groups.remit"]);
    check(folder.path(), &["policies/groups.remit"]).expect_code(0);
    check(folder.path(), &["policies/.hidden"]).expect_code(1);
}

#[test]
fn files_without_a_policy_are_checked_for_what_they_are() {
    let folder = folder(&[
        (
            "groups.remit",
            "include \"more.remit\"\n\ngroup tools {\n    use others\n    filesystem { deny read \"..\" }\n}\n",
        ),
        ("more.remit", "group others {\n    process { identity user }\n}\n"),
        ("tests.remit", "test \"t\" {\n    read \"/x\" is denied\n}\n"),
    ]);
    let outcome = check(folder.path(), &["groups.remit", "--format", "json"]).expect_code(1);
    let findings = outcome.json()["files"][0]["findings"]
        .as_array()
        .expect("findings")
        .clone();
    let found: Vec<(&str, &str)> = findings
        .iter()
        .map(|found| {
            (
                found["file"].as_str().expect("text"),
                found["code"].as_str().expect("text"),
            )
        })
        .collect();
    assert_eq!(found, [("groups.remit", "R0211"), ("more.remit", "R0710")]);
    let outcome = check(folder.path(), &["tests.remit"]).expect_code(0);
    assert_eq!(outcome.stdout, "tests.remit: tests of another policy\n");
}

#[test]
fn an_older_kernel_is_refused_what_it_cannot_enforce() {
    let policy = "policy \"p\" {
    network {
        allow connect tcp \"192.0.2.1:443\"
    }
    process {
        limit memory 1GiB, processes 64, wall 10m
    }
    require landlock >= 4
}
";
    let folder = folder(&[("p.remit", policy)]);
    let on = |kernel: &str| {
        check(
            folder.path(),
            &["p.remit", "--format", "json", "--target", kernel],
        )
    };
    on("linux-6.12").expect_code(0);
    let old = on("linux-6.1").expect_code(1).json();
    let finding = &old["files"][0]["findings"][0];
    assert_eq!(finding["code"], "R0670");
    assert_eq!(finding["place"]["line"], 8);
    let message = finding["message"].as_str().expect("text");
    assert!(
        message.contains("Linux 6.1") && message.contains("landlock >= 4"),
        "{message}"
    );
    // The cgroup programs need Linux 6.1, so no run starts, and the network rule is not enforced.
    let older = on("linux-5.15").expect_code(1).json();
    let findings = older["files"][0]["findings"].as_array().expect("a list").clone();
    assert!(
        findings.iter().any(|finding| finding["place"]["line"] == 3),
        "{findings:#?}"
    );
    let both = ["p.remit", "--target", "linux-6.12,linux-6.1"];
    assert!(
        check(folder.path(), &both)
            .expect_code(1)
            .stdout
            .contains("1 error")
    );
}

#[test]
fn a_test_that_fails_and_a_kernel_that_is_too_old_read_as_reviewed() {
    let policy = "policy \"p\" {
    filesystem {
        allow read \"/usr\" label \"system\"
    }
    process {
        limit memory 1GiB, processes 64, wall 10m
    }
    require landlock >= 4
}

test \"nothing of the system\" {
    read \"/usr/bin/git\" is denied
}
";
    let folder = folder(&[("p.remit", policy)]);
    let outcome = check(folder.path(), &["p.remit", "--target", "linux-6.6"]).expect_code(1);
    insta::assert_snapshot!("check_test_and_target", outcome.stdout);
}

#[test]
fn conditions_that_no_filter_can_tell_apart_read_as_reviewed() {
    let mut rules = String::new();
    for number in 0..24_u32 {
        let effect = if number % 2 == 0 { "allow" } else { "deny" };
        let bit = 2 * number;
        rules.push_str(&format!(
            "        {effect} syscall \"mmap\" where addr & {} == {} and len & {} != {} because \"x\"\n",
            5_u64 << bit,
            4_u64 << bit,
            5_u64 << bit,
            1_u64 << bit
        ));
    }
    let policy = format!(
        "policy \"p\" {{\n    process {{\n{rules}        limit memory 1GiB, processes 64, wall 10m\n    }}\n}}\n"
    );
    let folder = folder(&[("p.remit", &policy)]);
    let outcome = check(folder.path(), &["p.remit"]).expect_code(1);
    insta::assert_snapshot!("check_not_lowered", outcome.stdout);
}

/// All texts that tests have reviewed.
fn snapshots(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && !name.as_encoded_bytes().starts_with(b".") {
            snapshots(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "snap") {
            found.push_str(&fs::read_to_string(&path).expect("read"));
        }
    }
}

#[test]
fn every_code_is_in_a_text_that_was_reviewed() {
    use policy_lang::diagnostic::Code;
    let mut reviewed = String::new();
    snapshots(&remit::root(), &mut reviewed);
    // A file of more than a mebibyte is made in `policy-lang/tests/limits.rs`.
    let missing: Vec<&str> = Code::ALL
        .iter()
        .filter(|code| **code != Code::FileTooLarge)
        .map(|code| code.as_str())
        .filter(|code| {
            !reviewed.contains(&format!("[{code}]: ")) && !reviewed.contains(&format!("\n{code}\n\n  "))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_guardrails_say_reads_as_reviewed() {
    let rego = r#"package g

deny contains {"id": "owner", "message": "nobody owns this", "rule": rule.rule} if {
	some rule in input.rules
	rule.kind == "network"
	not rule.built_in
}

exception contains {"id": "owner", "rule": rule.rule, "reason": "until the move", "owner": "web", "expires": "2999-12-31"} if {
	some rule in input.rules
	rule.label == "old"
}

warn contains "look twice"
"#;
    let policy = "policy \"p\" {
    network {
        allow connect tcp \"192.0.2.1:443\" label \"old\"
        allow connect tcp \"192.0.2.2:443\"
    }
    process {
        limit memory 1GiB, processes 64, wall 10m
    }
}
";
    let folder = folder(&[
        ("p.remit", policy),
        ("g/owners.rego", rego),
        ("broken/a.rego", "package g\ndeny contains"),
    ]);
    let judged = check(folder.path(), &["p.remit", "--guardrails", "g"]).expect_code(1);
    insta::assert_snapshot!("check_guardrails", judged.stdout);
    let unjudged = check(folder.path(), &["p.remit", "--guardrails", "broken"]).expect_code(1);
    insta::assert_snapshot!("check_guardrails_fail", unjudged.stdout);
}
