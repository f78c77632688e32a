use super::*;

fn line(kind: &str, details: &str) -> String {
    format!(
        r#"{{"schema":1,"time":"2026-11-30T15:35:09Z","host":"h","run":"r1","seq":7,"policy":{{"name":"p","digest":"sha256:00"}},"effect":"deny","mechanism":"landlock-fs","rule":{{"id":0,"effect":"deny","label":null,"location":"built-in","text":"deny everything"}},"because":null,"process":null,"kind":"{kind}","details":{details},"chain":"00"}}"#
    )
}

fn accesses(kind: &str, details: &str) -> Vec<String> {
    read(&line(kind, details))
        .unwrap()
        .accesses
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_file_event_is_one_access_for_each_right() {
    let details =
        r#"{"access":["read","write"],"path":"/w/a b","blockers":["fs.read_file"],"device":null,"inode":1}"#;
    assert_eq!(
        accesses("file", details),
        [r#"read "/w/a b""#, r#"write "/w/a b""#]
    );
}

#[test]
fn a_network_event_is_a_flow_and_the_unspecified_address_may_be_missing() {
    let details = r#"{"verb":"connect","protocol":"udp","family":"ipv6","address":"2001:db8::1","port":53,"hook":"sendmsg"}"#;
    assert_eq!(
        accesses("network", details),
        [r#"connect udp "[2001:db8::1]:53""#]
    );
    let details =
        r#"{"verb":"bind","protocol":"tcp","family":"ip","address":null,"port":80,"hook":"landlock"}"#;
    assert_eq!(accesses("network", details), [r#"bind tcp "0.0.0.0:80""#]);
    let details = r#"{"verb":"socket","protocol":"0","family":"38","address":null,"port":null,"hook":"sock-create","socket_type":5}"#;
    assert_eq!(
        accesses("network", details),
        [r#"syscall "socket" where domain == 38 and type == 5"#]
    );
}

#[test]
fn a_refused_call_says_whether_its_arguments_would_matter() {
    let one = r#"{"name":"ptrace","number":101,"architecture":"x86_64","action":"errno"}"#;
    let read_one = read(&line("syscall", one)).unwrap();
    assert_eq!(read_one.accesses[0].to_string(), r#"syscall "ptrace""#);
    assert!(!read_one.arguments_matter);
    let several =
        r#"{"name":"ioctl","number":16,"architecture":"x86_64","action":"errno","candidates":[3,0]}"#;
    assert!(read(&line("syscall", several)).unwrap().arguments_matter);
}

#[test]
fn what_no_rule_can_open_says_so() {
    for (kind, details, said) in [
        ("scope", "{}", "no rule opens them"),
        ("sysctl", "{}", "no rule opens them"),
        ("device", "{}", "no rule opens them"),
        ("run-started", "{}", "no rule decides that"),
        (
            "file",
            r#"{"access":["read"],"path":"x","path_hex":"ff"}"#,
            "not UTF-8",
        ),
        (
            "syscall",
            r#"{"name":null,"number":9999,"architecture":"x86_64","action":"errno"}"#,
            "no rule can name it",
        ),
        (
            "syscall",
            r#"{"name":"x","number":1,"architecture":"x32","action":"kill-process"}"#,
            "another architecture",
        ),
    ] {
        let error = read(&line(kind, details)).unwrap_err().to_string();
        assert!(error.contains(said), "{kind}: {error}");
    }
    assert!(matches!(
        read(&line("file", "{}").replace("\"schema\":1", "\"schema\":2")),
        Err(EventError::Schema(2))
    ));
    assert!(matches!(read("{"), Err(EventError::Format(_))));
}
