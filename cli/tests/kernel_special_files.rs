//! FIFOs, which a read-only mount does not close, and moves, whose refusal the kernel records with every right at once.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;

use host::{host, set_mode};

/// Opens each path for writing without waiting for a reader: without one that is `ENXIO`, once it is allowed.
const WRITE: &str = r#"
import errno, os, sys
for path in sys.argv[1:]:
    try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)); print(path, "done")
    except OSError as e: print(path, errno.errorcode[e.errno])
"#;

#[test]
fn a_fifo_in_a_place_that_may_not_be_written_is_closed_and_the_attempt_recorded() {
    let Some(host) = host("fifo", &[]) else { return };
    let place = host.work().join("control");
    fs::create_dir_all(place.join("deep")).expect("directories");
    for fifo in ["control/one", "control/deep/two", "free"] {
        let path = host.work().join(fifo);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o666.into()).expect("a FIFO");
        set_mode(&path, 0o666);
    }
    let policy = host.policy(&format!("deny write \"{}\"", place.display()), "");
    let command = [
        "/usr/bin/python3",
        "-ISc",
        WRITE,
        "control/one",
        "control/deep/two",
        "free",
    ];
    let outcome = host.run(&policy, &command).expect_code(0);
    assert_eq!(
        outcome.stdout,
        "control/one EACCES\ncontrol/deep/two EACCES\nfree ENXIO\n"
    );
    host.assert_recorded(&place.join("one"), "deny write");
    host.assert_recorded(&place.join("deep/two"), "deny write");
}

#[test]
fn a_move_that_would_gain_a_right_is_recorded_as_a_refused_write() {
    let Some(host) = host("move", &[]) else { return };
    let from = host.beside("from");
    let to = host.beside("to");
    for folder in [&from, &to] {
        fs::create_dir(folder).expect("a directory");
        set_mode(folder, 0o777);
    }
    fs::write(from.join("file"), "x").expect("a file");
    let policy = host.policy_of(&format!("allow execute \"{}\"", to.display()), "");
    let script = "import os, sys; os.rename(sys.argv[1] + '/file', sys.argv[2] + '/file')";
    let folders = [from.to_str().expect("UTF-8"), to.to_str().expect("UTF-8")];
    let command = ["/usr/bin/python3", "-ISc", script, folders[0], folders[1]];
    let mut run = host.remit_run(&policy, &command);
    let outcome = remit::output(run.current_dir("/"));
    assert!(outcome.stderr.contains("Permission denied"), "{}", outcome.stderr);
    assert!(from.join("file").exists());
    for folder in [&from, &to] {
        host.assert_recorded(folder, "deny everything");
    }
    let events = host.events();
    let about_folders = events.iter().filter(|event| {
        let path = event["details"]["path"].as_str();
        path.is_some_and(|path| folders.contains(&path))
    });
    for event in about_folders {
        assert_eq!(event["kind"], "file", "{event}");
        assert_eq!(event["details"]["access"][0], "write", "{event}");
    }
}
