use policy_lang::resolve::Resolution;

use super::*;

/// `/link` leads to `/srv/data/deep`, `/gone` does not exist.
struct Tree;

impl PathResolver for Tree {
    fn resolve(&self, path: &str) -> Resolution {
        if path.starts_with("/gone") {
            return Resolution::Absent {
                path: path.to_owned(),
            };
        }
        match path.strip_prefix("/link") {
            Some(rest) => Resolution::Present {
                path: format!("/srv/data/deep{rest}"),
                link: rest.is_empty(),
            },
            None => Resolution::Present {
                path: path.to_owned(),
                link: false,
            },
        }
    }
}

fn ask(words: &str) -> Result<Query, QueryError> {
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let surroundings = Surroundings {
        home: "/home/me",
        working_directory: "/work",
        paths: &Tree,
        architecture: Architecture::X86_64,
    };
    parse(&words, &surroundings)
}

fn path(words: &str) -> String {
    match ask(words).unwrap().access {
        Access::File { path, .. } => path,
        other => panic!("{other}"),
    }
}

#[test]
fn paths_start_where_a_shell_starts_them() {
    assert_eq!(path("read /etc//./passwd"), "/etc/passwd");
    assert_eq!(path("read ~"), "/home/me");
    assert_eq!(path("write ~/.ssh/id"), "/home/me/.ssh/id");
    assert_eq!(path("exec src/main"), "/work/src/main");
    assert_eq!(path("read .."), "/");
    assert_eq!(path("read ../../../x"), "/x");
}

#[test]
fn a_link_is_followed_before_its_parent_is_taken() {
    assert_eq!(path("read /link/../x"), "/srv/data/x");
    assert_eq!(path("read /link/a"), "/srv/data/deep/a");
    let query = ask("read /link/a").unwrap();
    assert_eq!(
        query.notes,
        ["`/link/a` leads to /srv/data/deep/a, and that is what the kernel judges"]
    );
    assert!(ask("read /etc/passwd").unwrap().notes.is_empty());
}

#[test]
fn what_is_not_there_is_judged_for_when_it_is() {
    assert_eq!(
        ask("read /gone/x").unwrap().notes,
        ["/gone/x does not exist here; the answer is for when it does"]
    );
}

#[test]
fn proc_is_the_runs_own_and_not_looked_up() {
    assert_eq!(path("read /proc/self/environ"), "/proc/self/environ");
}

#[test]
fn targets_are_addresses_or_names() {
    for (words, text) in [
        ("connect 192.0.2.1:443", r#"connect tcp "192.0.2.1:443""#),
        (
            "connect udp [2001:db8::1]:53",
            r#"connect udp "[2001:db8::1]:53""#,
        ),
        ("bind tcp 127.0.0.1:3000", r#"bind tcp "127.0.0.1:3000""#),
        (
            "connect Registry.Example.com.:443",
            r#"connect tcp "registry.example.com:443""#,
        ),
        (
            "connect example.com:443 at 10.0.0.1",
            r#"connect tcp "example.com:443" at 10.0.0.1"#,
        ),
    ] {
        assert_eq!(ask(words).unwrap().access.to_string(), text);
    }
}

#[test]
fn arguments_of_calls_are_names_numbers_and_constants() {
    for (words, text) in [
        ("syscall ptrace", r#"syscall "ptrace""#),
        (
            "syscall ioctl request=TIOCSTI",
            r#"syscall "ioctl" where request == 0x5412"#,
        ),
        (
            "syscall ioctl arg1=0x5412",
            r#"syscall "ioctl" where request == 0x5412"#,
        ),
        (
            "syscall clone flags=CLONE_NEWUSER|CLONE_NEWNS",
            r#"syscall "clone" where flags == 0x10020000"#,
        ),
    ] {
        assert_eq!(ask(words).unwrap().access.to_string(), text);
    }
}

#[test]
fn what_makes_no_sense_says_what_would() {
    for (words, said) in [
        ("raed /x", "did you mean `read`?"),
        ("read", "`read` is followed by one path"),
        ("read /a /b", "`read` is followed by one path"),
        ("read ~other/x", "`~name` is not understood"),
        ("connect example.com", "names no port"),
        ("connect example.com:https", "`https` is not a port"),
        ("connect 10.0.0.0/8:443", "stands in no host name"),
        ("env A=b", "one name"),
        ("syscall ptrac", "did you mean `ptrace`?"),
        ("syscall ioctl reqest=1", "did you mean `request`?"),
        ("syscall ioctl request=TIOCSTX", "did you mean `TIOCSTI`?"),
        ("syscall ioctl request", "write `name=value`"),
    ] {
        let error = ask(words).unwrap_err().to_string();
        assert!(error.contains(said), "{words}: {error}");
    }
}
