//! Processes, privileges, signals and terminals on the real kernel: cases P3 to P5, P7, P8, and exit codes.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::fs;
use std::time::Duration;

use host::{eventually, host, processes, set_mode};
use rustix::process::Signal;

#[test]
fn exit_codes_are_the_command_s_own() {
    let Some(host) = host("codes", &[]) else { return };
    let plain = host.file("plain", "no program");
    let policy = host.policy("", "");
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
    ] {
        assert_eq!(host.sh(&policy, script).code, Some(code), "{script}");
    }
    assert_eq!(host.run(&policy, &["no-such-program"]).code, Some(127));
    assert_eq!(host.run(&policy, &["/no/such/program"]).code, Some(127));
    assert_eq!(host.run(&policy, &[&plain]).code, Some(126));
    set_mode(&plain, 0o755);
    assert_eq!(host.run(&policy, &[&plain]).code, Some(126));
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn a_wall_limit_ends_everything_with_its_own_code() {
    let Some(host) = host("wall", &[]) else { return };
    let policy = host.policy("", "process { allow syscall @system-service limit wall 1s }");
    let begun = std::time::Instant::now();
    assert_eq!(
        host.sh(&policy, "trap '' TERM INT; sleep 7001; sleep 7001").code,
        Some(124)
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(processes("7001"), 0);
}

#[test]
fn what_daemonizes_dies_with_the_main_process() {
    let Some(host) = host("p4", &[]) else { return };
    let script = "setsid sleep 7002 & (setsid sh -c 'trap \"\" TERM HUP INT; sleep 7002; sleep 7002' &) & sleep 0.2; exit 5";
    assert_eq!(host.sh(&host.policy("", ""), script).code, Some(5));
    assert_eq!(processes("7002"), 0);
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn signals_reach_the_command() {
    let Some(host) = host("signals", &[]) else { return };
    let policy = host.policy("", "");
    for (signal, name, code) in [
        (Signal::TERM, "TERM", 41),
        (Signal::INT, "INT", 42),
        (Signal::USR1, "USR1", 43),
        (Signal::HUP, "HUP", 44),
    ] {
        let ready = host.work().join(name);
        let script = format!("trap 'exit {code}' {name}; touch {name}; while :; do sleep 0.05; done");
        // Under nohup the caller ignores HUP, and so does what it starts; a shell cannot trap what it began ignoring.
        let default = format!("--default-signal={name}");
        let running = host.start(&policy, &["/usr/bin/env", &default, "/bin/sh", "-c", &script]);
        eventually("the trap is set", || ready.exists());
        running.signal(signal);
        assert_eq!(running.code(), Some(code), "{name}");
    }
    let running = host.start(&policy, &["/bin/sh", "-c", "touch plain; sleep 7003"]);
    eventually("it runs", || host.work().join("plain").exists());
    running.signal(Signal::TERM);
    assert_eq!(running.code(), Some(143));
    assert_eq!(processes("7003"), 0);
}

#[test]
fn no_privilege_is_gained() {
    let Some(host) = host("p5", &[]) else { return };
    let script = r#"
import os, subprocess
for call in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.chroot("/")):
    try: call(); print("gained")
    except PermissionError: print("EPERM")
status = open("/proc/self/status").read()
for line in status.splitlines():
    if line.startswith(("Cap", "NoNewPrivs", "Groups")): print(" ".join(line.split()))
"#;
    let outcome = host
        .run(&host.policy("", ""), &["/usr/bin/python3", "-c", script])
        .expect_code(0);
    assert_eq!(outcome.stdout.matches("EPERM").count(), 4, "{}", outcome.stdout);
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert!(
            outcome.stdout.contains(&format!("{set}: 0000000000000000")),
            "{}",
            outcome.stdout
        );
    }
    assert!(outcome.stdout.contains("NoNewPrivs: 1"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("Groups:\n"), "{}", outcome.stdout);
}

#[test]
fn a_setuid_program_stays_the_run_s_user_and_root_is_nobody_special() {
    let Some(host) = host("p5-setuid", &[]) else {
        return;
    };
    let copy = host.beside("id");
    fs::copy("/usr/bin/id", &copy).expect("a copy");
    set_mode(&copy, 0o4755);
    let rules = format!("allow read, execute \"{}\"", copy.display());
    let command = [copy.to_str().expect("UTF-8"), "-u"];
    let outcome = host.run(&host.policy(&rules, ""), &command).expect_code(0);
    let uid: u32 = outcome.stdout.trim().parse().expect("a user id");
    assert!((61_184..=65_519).contains(&uid), "{uid}");

    let root = host.policy(&rules, "process { identity user allow syscall @system-service }");
    let mut command = host.remit_run(&root, &["/bin/sh", "-c", "id -u; grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status | sort -u -k2 | wc -l; touch /usr/new /etc/new; chmod 700 ."]);
    let outcome = remit::output(&mut command);
    assert_eq!(outcome.stdout, "0\n1\n", "{}", outcome.stderr);
    assert!(!std::path::Path::new("/usr/new").exists());
}

#[test]
fn an_identity_by_number_is_taken_as_it_is() {
    let Some(host) = host("ids", &[]) else { return };
    let policy = host.policy("", "process { identity 4242:4343 allow syscall @system-service }");
    let outcome = host.sh(&policy, "id -u; id -g; id -G; touch new").expect_code(1);
    assert_eq!(outcome.stdout, "4242\n4343\n4343\n", "{}", outcome.stderr);
    assert!(!host.work().join("new").exists(), "the workspace is root's");
}

#[test]
fn nothing_is_executed_that_is_not_granted() {
    let Some(host) = host("p7", &[]) else { return };
    let script = r##"
import ctypes, mmap, os, shutil, subprocess
def attempt(name, call):
    try: call(); print(name, "done")
    except OSError as e: print(name, "refused")
shutil.copy("/usr/bin/true", "copy"); os.chmod("copy", 0o755)
attempt("copy", lambda: subprocess.run(["./copy"], check=True))
loader = next(p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p))
def through_loader():
    if subprocess.run([loader, "./copy"], stderr=subprocess.DEVNULL).returncode: raise OSError
attempt("loader", through_loader)
open("script", "w").write("#!/bin/sh\necho ran\n"); os.chmod("script", 0o755)
attempt("script", lambda: subprocess.run(["./script"], check=True))
def memfd():
    fd = os.memfd_create("code"); os.write(fd, open("/usr/bin/true", "rb").read())
    subprocess.run([f"/proc/self/fd/{fd}"], check=True, pass_fds=[fd])
attempt("memfd", memfd)
fd = os.open("copy", os.O_RDONLY)
attempt("map", lambda: mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE))
attempt("control", lambda: subprocess.run(["/usr/bin/true"], check=True))
"##;
    let outcome = host
        .run(&host.policy("", ""), &["/usr/bin/python3", "-c", script])
        .expect_code(0);
    assert_eq!(
        outcome.stdout,
        "copy refused\nloader refused\nscript refused\nmemfd refused\nmap refused\ncontrol done\n",
        "{}",
        outcome.stderr
    );
}

#[test]
fn no_rule_depends_on_a_process_s_name_or_on_its_file() {
    let Some(host) = host("p8", &[]) else { return };
    let secret = host.file("secret", "secret");
    let policy = host.policy(
        &format!(
            "deny read \"{s}\"\nallow execute \"{w}/bin\"",
            s = secret.display(),
            w = host.work().display()
        ),
        "",
    );
    fs::create_dir(host.work().join("bin")).expect("a directory");
    fs::copy("/bin/cat", host.work().join("bin/git")).expect("a program");
    let script =
        "bin/git secret; (rm bin/git; exec sleep 0.1) & exec bin/git secret 2>/dev/null || exec cat secret";
    let outcome = host.sh(&policy, script);
    assert_eq!(outcome.stdout, "");
    let renamed = "import ctypes; ctypes.CDLL(None).prctl(15, b'sshd'); print(open('secret').read())";
    let outcome = host.run(&policy, &["/usr/bin/python3", "-c", renamed]);
    assert!(outcome.stderr.contains("PermissionError"), "{}", outcome.stderr);
}

/// Drives a run in a terminal of its own, as a shell would.
const TERMINAL: &str = r#"
import os, pty, sys, time, select, signal, fcntl, termios, struct
command = sys.argv[1:]
pid, tty = pty.fork()
if pid == 0:
    # A shell with job control in front of remit.
    os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
seen = b""
def wait_for(text, seconds=20):
    global seen
    end = time.time() + seconds
    while text not in seen:
        if time.time() > end: print("MISSING", text, "in", seen); sys.exit(1)
        ready, _, _ = select.select([tty], [], [], 0.1)
        if ready:
            try: seen += os.read(tty, 65536)
            except OSError: break
    seen = seen[seen.index(text) + len(text):]
def say(line): os.write(tty, line)
say(b"PS1='prompt''> '; export PATH=/usr/bin:/bin\n"); wait_for(b"prompt> ")
quoted = " ".join("'" + c.replace("'", "'\\''") + "'" for c in command)
say(quoted.encode() + b"\n"); wait_for(b"TIOCSTI refused"); wait_for(b"READY")
fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 133, 0, 0)); wait_for(b"SIZE 44 133")
say(b"\x1a"); wait_for(b"Stopped"); wait_for(b"prompt> ")
say(b"jobs\n"); wait_for(b"Stopped"); wait_for(b"prompt> ")
say(b"fg\n"); wait_for(b"TICK")
say(b"\x03"); wait_for(b"GOT INT"); wait_for(b"prompt> ")
say(b"echo code=$?\n"); wait_for(b"code=33")
say(b"exit\n")
os.waitpid(pid, 0)
print("terminal ok")
"#;

#[test]
fn a_terminal_works_with_job_control() {
    let Some(host) = host("p3", &[]) else { return };
    let policy = host.policy("", "");
    let script = r#"
import fcntl, os, signal, struct, sys, termios, time
def size(*_):
    rows, columns = struct.unpack("HH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 4)); os.write(1, f"SIZE {rows} {columns}\n".encode())
def stop(*_):
    os.write(1, b"GOT INT\n"); os._exit(33)
signal.signal(signal.SIGWINCH, size); signal.signal(signal.SIGINT, stop)
try: fcntl.ioctl(0, termios.TIOCSTI, b"x"); os.write(1, b"INJECTED\n")
except OSError as e: os.write(1, b"TIOCSTI refused\n")
os.write(1, b"READY\n")
while True:
    time.sleep(0.2); os.write(1, b"TICK\n")
"#;
    let agent = host.file("agent.py", script);
    let run = host.remit_run(&policy, &["/usr/bin/python3".as_ref(), agent.as_os_str()]);
    let mut driver = std::process::Command::new("/usr/bin/python3");
    driver
        .arg("-c")
        .arg(TERMINAL)
        .arg(run.get_program())
        .args(run.get_args());
    let outcome = remit::output(driver.current_dir(host.work()));
    assert_eq!(outcome.stdout, "terminal ok\n", "{}", outcome.stderr);
    assert_eq!(host.leftovers(), Vec::<String>::new());
}

#[test]
fn a_directory_as_standard_input_is_refused() {
    let Some(host) = host("stdin", &[]) else { return };
    let directory = fs::File::open(host.work()).expect("a directory");
    let outcome = remit::output(
        host.remit_run(&host.policy("", ""), &["/bin/true"])
            .stdin(directory),
    );
    assert_eq!(outcome.code, Some(125));
    assert!(outcome.stderr.contains("standard input"), "{}", outcome.stderr);
}
