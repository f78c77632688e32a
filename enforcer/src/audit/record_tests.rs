//! Records as Linux 6.18 wrote them, and records that no kernel would write.

use super::{
    Access, Body, Caller, Domain, DomainStatus, LANDLOCK_ACCESS, LANDLOCK_DOMAIN, Object, RECORD_MAX, Record,
    RecordError, SECCOMP, SYSCALL, Seccomp, Stamp, TRUSTED_APP, parse,
};

fn body(kind: u16, text: &str) -> Body {
    parse(kind, text.as_bytes()).unwrap().unwrap().body
}

fn access(domain: u64, blocker: &str, object: Object) -> Body {
    Body::Access(Access {
        domain,
        blockers: vec![blocker.to_owned()],
        object,
    })
}

#[test]
fn a_type_that_is_not_ours_is_left_alone() {
    assert_eq!(parse(1305, b"audit(1.000:1): op=set").unwrap(), None);
}

#[test]
fn records_that_are_no_records_are_errors() {
    for (kind, text, error) in [
        (LANDLOCK_ACCESS, "", RecordError::Stamp),
        (LANDLOCK_ACCESS, "audit(1.5000:1): domain=1", RecordError::Stamp),
        (
            LANDLOCK_ACCESS,
            "audit(1.000:1): blockers=ptrace",
            missing(LANDLOCK_ACCESS, "domain"),
        ),
        (
            LANDLOCK_ACCESS,
            "audit(1.000:1): domain=1",
            missing(LANDLOCK_ACCESS, "blockers"),
        ),
        (
            LANDLOCK_DOMAIN,
            "audit(1.000:1): domain=1 status=new",
            missing(LANDLOCK_DOMAIN, "status"),
        ),
        (
            LANDLOCK_DOMAIN,
            "audit(1.000:1): domain=1 status=deallocated",
            missing(LANDLOCK_DOMAIN, "denials"),
        ),
        (
            SECCOMP,
            "audit(1.000:1): pid=1 uid=0 arch=c000003e syscall=1",
            missing(SECCOMP, "code"),
        ),
        (SYSCALL, "audit(1.000:1): pid=-1 uid=0", missing(SYSCALL, "pid")),
    ] {
        assert_eq!(parse(kind, text.as_bytes()), Err(error), "{text}");
    }
    let long = vec![b'a'; RECORD_MAX + 1];
    assert_eq!(parse(SECCOMP, &long), Err(RecordError::TooLong(RECORD_MAX + 1)));
}

fn missing(kind: u16, field: &'static str) -> RecordError {
    RecordError::Field { kind, field }
}

#[test]
fn a_path_of_4095_bytes_that_needs_hexadecimal_is_whole() {
    let path: Vec<u8> = std::iter::repeat_n(b"/\xff ", 1365).flatten().copied().collect();
    let digits: String = path.iter().map(|byte| format!("{byte:02X}")).collect();
    let text = format!("audit(1.000:1): domain=1 blockers=fs.read_file path={digits} dev=\"vda\" ino=1");
    let Body::Access(found) = body(LANDLOCK_ACCESS, &text) else {
        panic!()
    };
    assert_eq!(found.object.path, Some(path));
    assert_eq!(found.object.inode, Some(1));
}

#[test]
fn records_of_linux_6_18_read_as_they_were_written() {
    let file = |path: &[u8], inode| Object {
        path: Some(path.to_vec()),
        device: Some(b"vda".to_vec()),
        inode: Some(inode),
        ..Object::default()
    };
    let refusals = [
        (
            r#"domain=121ae948f blockers=fs.read_file path="/tmp/.tmphoBJtZ/secret" dev="vda" ino=10682486"#,
            access(
                0x1_21ae_948f,
                "fs.read_file",
                file(b"/tmp/.tmphoBJtZ/secret", 10_682_486),
            ),
        ),
        (
            r#"domain=121ae9491 blockers=fs.read_file path=2F746D702F2E746D703143584375652F61202262220AC3A9 dev="vda" ino=10682484"#,
            access(
                0x1_21ae_9491,
                "fs.read_file",
                file("/tmp/.tmp1CXCue/a \"b\"\n\u{e9}".as_bytes(), 10_682_484),
            ),
        ),
        (
            r#"domain=121ae947f blockers=fs.ioctl_dev path="/dev/null" dev="devtmpfs" ino=3 ioctlcmd=0x5401"#,
            access(
                0x1_21ae_947f,
                "fs.ioctl_dev",
                Object {
                    device: Some(b"devtmpfs".to_vec()),
                    ioctl: Some(0x5401),
                    ..file(b"/dev/null", 3)
                },
            ),
        ),
        (
            "domain=121ae9673 blockers=net.connect_tcp daddr=127.0.0.1 dest=9",
            access(
                0x1_21ae_9673,
                "net.connect_tcp",
                Object {
                    remote: "127.0.0.1".parse().ok(),
                    remote_port: Some(9),
                    ..Object::default()
                },
            ),
        ),
        (
            "domain=121ae9673 blockers=net.bind_tcp saddr=127.0.0.1 src=4242",
            access(
                0x1_21ae_9673,
                "net.bind_tcp",
                Object {
                    local: "127.0.0.1".parse().ok(),
                    local_port: Some(4242),
                    ..Object::default()
                },
            ),
        ),
        (
            r#"domain=121ae9673 blockers=scope.signal opid=14466 ocomm="kernel_audit-fe""#,
            access(
                0x1_21ae_9673,
                "scope.signal",
                Object {
                    pid: Some(14_466),
                    comm: Some(b"kernel_audit-fe".to_vec()),
                    ..Object::default()
                },
            ),
        ),
    ];
    for (text, expected) in refusals {
        assert_eq!(
            body(LANDLOCK_ACCESS, &format!("audit(1796052389.402:68886): {text}")),
            expected
        );
    }

    let made = r#"audit(1796052389.402:68887): domain=121ae947f status=allocated mode=enforcing pid=14472 uid=0 exe="/usr/bin/remit" comm="remit-launch""#;
    let record = parse(LANDLOCK_DOMAIN, made.as_bytes()).unwrap().unwrap();
    assert_eq!(
        record.stamp,
        Stamp {
            seconds: 1_796_052_389,
            millis: 402,
            serial: 68_887
        }
    );
    let status = DomainStatus::Allocated {
        pid: 14_472,
        uid: 0,
        exe: b"/usr/bin/remit".to_vec(),
        comm: b"remit-launch".to_vec(),
    };
    assert_eq!(
        record,
        Record {
            stamp: record.stamp,
            body: Body::Domain(Domain {
                domain: 0x1_21ae_947f,
                status
            })
        }
    );
    let ended = body(
        LANDLOCK_DOMAIN,
        "audit(1796052389.458:69524): domain=121ae947f status=deallocated denials=1",
    );
    let status = DomainStatus::Deallocated { denials: 1 };
    assert_eq!(
        ended,
        Body::Domain(Domain {
            domain: 0x1_21ae_947f,
            status
        })
    );

    let call = body(
        SECCOMP,
        r#"audit(1796052389.402:68888): auid=4294967295 uid=0 gid=0 ses=4294967295 pid=14472 comm="perl" exe="/usr/bin/perl" sig=0 arch=c000003e syscall=101 compat=0 ip=0x7effb7ac1829 code=0x50000"#,
    );
    let expected = Seccomp {
        pid: 14_472,
        uid: 0,
        comm: b"perl".to_vec(),
        exe: Some(b"/usr/bin/perl".to_vec()),
        arch: 0xc000_003e,
        number: 101,
        signal: 0,
        action: 0x0005_0000,
    };
    assert_eq!(call, Body::Seccomp(expected));
    let caller = body(
        SYSCALL,
        r#"audit(1.000:2): arch=c000003e syscall=257 success=no exit=-13 a0=ffffff9c items=1 ppid=1 pid=5 auid=0 uid=7 gid=7 tty=(none) ses=1 comm="cat" exe="/usr/bin/cat" key=(null)"#,
    );
    let expected = Caller {
        pid: 5,
        uid: 7,
        comm: b"cat".to_vec(),
        exe: Some(b"/usr/bin/cat".to_vec()),
    };
    assert_eq!(caller, Body::Syscall(expected));
    let message = body(TRUSTED_APP, "audit(1.000:3): pid=1 uid=0 msg='remit-barrier=ae'");
    assert_eq!(
        message,
        Body::Message(b" pid=1 uid=0 msg='remit-barrier=ae'".to_vec())
    );
}

proptest::proptest! {
    /// Whatever a program names its files, it comes back as it was, and cannot add a field.
    #[test]
    fn any_path_survives_the_kernels_quoting(path in proptest::collection::vec(1u8..=255, 1..300)) {
        let plain = path.iter().all(|byte| (0x21..=0x7e).contains(byte) && *byte != b'"');
        let written = if plain {
            format!("\"{}\"", String::from_utf8(path.clone()).unwrap())
        } else {
            path.iter().map(|byte| format!("{byte:02X}")).collect()
        };
        let text = format!("audit(12.345:6): domain=a blockers=fs.truncate path={written} dev=\"x\" ino=7");
        let expected = access(10, "fs.truncate", Object {
            path: Some(path),
            device: Some(b"x".to_vec()),
            inode: Some(7),
            ..Object::default()
        });
        proptest::prop_assert_eq!(body(LANDLOCK_ACCESS, &text), expected);
    }

    #[test]
    fn no_bytes_make_the_parser_fail_otherwise(
        kind in proptest::sample::select(vec![SYSCALL, SECCOMP, LANDLOCK_ACCESS, LANDLOCK_DOMAIN, TRUSTED_APP, 1]),
        text in proptest::collection::vec(proptest::sample::select(b"audit(1.0:): =\"AF09domain,pidblockers\xff\0\n".to_vec()), 0..200),
    ) {
        let _ = parse(kind, &text);
        let stamped = [b"audit(1.000:1):".as_slice(), &text].concat();
        let _ = parse(kind, &stamped);
    }
}
