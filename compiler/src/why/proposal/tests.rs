use std::collections::BTreeMap;

use policy_lang::policy::{FileAccess, Layer, Protocol, Verb};
use policy_lang::resolve::AsWritten;
use policy_lang::syscall::{Architecture, table};
use policy_lang::{Inputs, SourceFile};

use super::*;

fn resolve(text: &str) -> Result<Policy, String> {
    let inputs = Inputs {
        parameters: BTreeMap::new(),
        home: "/home/me".to_owned(),
        working_directory: "/work".to_owned(),
        paths: &AsWritten,
        files: &policy_lang::loader::NoFiles,
    };
    let resolved = policy_lang::check(&SourceFile::new("p.remit", text), &inputs);
    resolved
        .policy
        .ok_or_else(|| format!("{:?}", resolved.diagnostics))
}

const POLICY: &str = r#"policy "p" {
    param workspace: path = "."
    filesystem {
        allow read "/usr"
        deny read "/usr/share/keys"
        forbid write "/usr/bin"
        deny read "/exact"
    }
    process {
        allow syscall @system-service
        deny syscall "ioctl" where request == TIOCGWINSZ
    }
}
"#;

fn answer(accesses: &[Access], generalise: bool) -> Answer {
    propose(&Request {
        text: POLICY,
        policy: &resolve(POLICY).unwrap(),
        accesses,
        generalise,
        resolve: &resolve,
    })
}

/// The proposed rule, its line and what it covers.
fn rule(accesses: &[Access], generalise: bool) -> (String, usize) {
    match answer(accesses, generalise) {
        Answer::Rule(proposal) => (proposal.rule, proposal.line),
        other => panic!("{other:?}"),
    }
}

fn obstacle(access: Access) -> String {
    match answer(&[access], false) {
        Answer::Refused(obstacles) => obstacles[0].ask.clone(),
        other => panic!("{other:?}"),
    }
}

fn file(access: FileAccess, path: &str) -> Access {
    Access::File {
        access,
        path: path.to_owned(),
    }
}

fn connect(address: &str) -> Access {
    Access::Network {
        verb: Verb::Connect,
        protocol: Protocol::Tcp,
        address: address.parse().unwrap(),
        port: 443,
    }
}

fn call(name: &str, arguments: [u64; 6]) -> Access {
    Access::Syscall {
        architecture: Architecture::X86_64,
        number: table::number(name, Architecture::X86_64).unwrap(),
        arguments,
    }
}

#[test]
fn a_path_gets_a_rule_of_its_own_in_its_block() {
    let found = rule(&[file(FileAccess::Read, "/etc/a*")], false);
    assert_eq!(found, (r#"allow read "/etc/a\\*""#.to_owned(), 8));
}

#[test]
fn an_exception_to_a_wider_denial_is_one() {
    let found = rule(&[file(FileAccess::Read, "/usr/share/keys/a")], false);
    assert_eq!(found.0, r#"allow read "/usr/share/keys/a""#);
}

#[test]
fn several_accesses_to_one_path_are_one_rule_with_what_is_missing() {
    let both = [
        file(FileAccess::Write, "/usr/lib/x"),
        file(FileAccess::Read, "/usr/lib/x"),
        file(FileAccess::Execute, "/usr/lib/x"),
    ];
    // Reading is allowed already.
    assert_eq!(rule(&both, false).0, r#"allow write, execute "/usr/lib/x""#);
}

#[test]
fn a_path_beneath_a_parameter_is_written_with_it() {
    let found = rule(&[file(FileAccess::Write, "/work/${x}/y")], false);
    assert_eq!(found.0, r#"allow write "${workspace}/$\\{x\\}/y""#);
    assert_eq!(
        rule(&[file(FileAccess::Write, "/work")], false).0,
        r#"allow write "${workspace}""#
    );
}

#[test]
fn addresses_are_written_as_they_are_judged() {
    assert_eq!(
        rule(&[connect("::ffff:192.0.2.1")], false).0,
        r#"allow connect tcp "192.0.2.1:443""#
    );
    assert_eq!(
        rule(&[connect("2001:db8::1")], false).0,
        r#"allow connect tcp "[2001:db8::1]:443""#
    );
}

#[test]
fn a_call_gets_the_arguments_that_were_asked_about() {
    assert_eq!(
        rule(&[call("ptrace", [2, 0, 0, 0, 0, 0])], false).0,
        r#"allow syscall "ptrace" where request == 2"#
    );
    assert_eq!(
        rule(&[call("ptrace", [0; 6])], false).0,
        r#"allow syscall "ptrace""#
    );
}

#[test]
fn neighbours_are_included_only_on_request() {
    assert_eq!(
        rule(&[file(FileAccess::Read, "/etc/ssl/a")], true).0,
        r#"allow read "/etc/ssl""#
    );
    assert_eq!(
        rule(&[connect("192.0.2.77")], true).0,
        r#"allow connect tcp "192.0.2.0/24:443""#
    );
    assert_eq!(
        rule(&[call("ptrace", [2, 0, 0, 0, 0, 0])], true).0,
        r#"allow syscall "ptrace""#
    );
    assert_eq!(
        rule(&[file(FileAccess::Read, "/etc")], true).0,
        r#"allow read "/etc""#
    );
}

#[test]
fn a_variable_is_passed_in_a_new_block() {
    let access = Access::Environment {
        name: "LANG".to_owned(),
    };
    let Answer::Rule(proposal) = answer(&[access], false) else {
        panic!("no rule")
    };
    assert_eq!(proposal.rule, r#"pass "LANG""#);
    assert!(
        proposal
            .text
            .contains("    credentials {\n        pass \"LANG\"\n    }\n}\n")
    );
    assert_eq!(
        proposal.text.lines().nth(proposal.line - 1),
        Some("        pass \"LANG\"")
    );
}

#[test]
fn what_is_allowed_needs_nothing() {
    assert_eq!(
        answer(&[file(FileAccess::Read, "/usr/lib")], false),
        Answer::Allowed
    );
}

#[test]
fn a_forbid_a_floor_and_an_equal_denial_get_no_proposal() {
    assert!(obstacle(file(FileAccess::Write, "/usr/bin/x")).starts_with("p.remit:6 forbids it"));
    assert!(obstacle(connect("169.254.169.254")).contains("`unlock metadata because"));
    assert!(obstacle(file(FileAccess::Read, "/exact")).starts_with("p.remit:7 refuses exactly this"));
    assert!(obstacle(call("ioctl", [0, 0x5413, 0, 0, 0, 0])).starts_with("p.remit:11 refuses exactly this"));
}

#[test]
fn a_narrower_call_is_an_exception_to_a_denied_one() {
    assert_eq!(
        rule(&[call("ioctl", [1, 0x5413, 0, 0, 0, 0])], false).0,
        r#"allow syscall "ioctl" where fd == 1 and request == 0x5413"#
    );
}

#[test]
fn what_a_ceiling_refuses_is_asked_for_there() {
    let below_a_ceiling = |text: &str| {
        let mut policy = resolve(text)?;
        policy.layers.push(Layer {
            name: "org".to_owned(),
            file: "org.remit".to_owned(),
        });
        Ok(policy)
    };
    let answer = propose(&Request {
        text: POLICY,
        policy: &below_a_ceiling(POLICY).unwrap(),
        accesses: &[connect("192.0.2.1"), connect("169.254.169.254")],
        generalise: false,
        resolve: &below_a_ceiling,
    });
    let Answer::Refused(obstacles) = answer else {
        panic!("{answer:?}")
    };
    let asked: Vec<&str> = obstacles.iter().map(|found| found.ask.as_str()).collect();
    assert_eq!(asked.len(), 2);
    assert_eq!(
        asked[0],
        "the ceiling \"org\" (org.remit) does not grant it: ask its owner for a rule there that allows `connect tcp \
         \"192.0.2.1:443\"`"
    );
    assert!(asked[1].contains("here and in every ceiling"), "{}", asked[1]);
}

#[test]
fn a_text_that_would_mean_more_than_one_rule_more_is_not_proposed() {
    // Whoever resolves adds a second grant behind our back.
    let twice = |text: &str| resolve(&text.replace("/etc/a\"", "/etc/a\" allow read \"/etc/b\""));
    let answer = propose(&Request {
        text: POLICY,
        policy: &resolve(POLICY).unwrap(),
        accesses: &[file(FileAccess::Read, "/etc/a")],
        generalise: false,
        resolve: &twice,
    });
    assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
}
