//! Nothing is started or mapped as code that no rule grants: case P7, by every route that is known, each with its errno.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use host::host;

const ROUTES: &str = r##"
import ctypes, errno, mmap, os, shutil, sys
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result == -1: raise OSError(ctypes.get_errno(), "")
    return result
def started(call):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        try: call()
        except OSError as e: os._exit(128 + e.errno)
        os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code >= 128: raise OSError(code - 128, "")
    if code: raise OSError(errno.ENOEXEC, f"ended with {code}")
def attempt(name, call):
    try: call(); print(name, "done")
    except OSError as e: print(name, errno.errorcode.get(e.errno, "refused"))
def copy(to, source="/usr/bin/true"):
    shutil.copy(source, to); os.chmod(to, 0o755); return to
def run(path, *arguments): started(lambda: os.execve(path, [path, *arguments], {}))
def at(fd, path, flags):
    argv = (ctypes.c_char_p * 2)(b"x", None)
    started(lambda: check(libc.syscall(execveat, fd, path, argv, argv, flags)))
execveat = 322 if os.uname().machine == "x86_64" else 281
AT_EMPTY_PATH = 0x1000
loader = next(p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p))
library = next(line.split()[-1] for line in open("/proc/self/maps") if "/libc." in line or "/libc-" in line)

attempt("control", lambda: run("/usr/bin/true"))
os.symlink("/usr/bin/true", "link")
attempt("link-to-allowed", lambda: run("./link"))
copy("copy")
attempt("copy", lambda: run("./copy"))
attempt("copy-through-link", lambda: (os.symlink("copy", "alias"), run("./alias")))
attempt("copy-through-proc", lambda: run("/proc/self/cwd/copy"))
attempt("copy-by-descriptor", lambda: at(os.open("copy", os.O_RDONLY), b"", AT_EMPTY_PATH))
attempt("copy-by-path-descriptor", lambda: at(os.open("copy", os.O_PATH), b"", AT_EMPTY_PATH))
attempt("hard-link", lambda: (os.link("/usr/bin/true", "hard"), run("./hard")))
attempt("loader", lambda: run(loader, "./copy"))
open("script", "w").write("#!/bin/sh\nexit 0\n"); os.chmod("script", 0o755)
attempt("script", lambda: run("./script"))
open("wrapped", "w").write("#!./copy\n"); os.chmod("wrapped", 0o755)
attempt("wrapped", lambda: run("./wrapped"))
def memory(flags):
    fd = os.memfd_create("code", flags); os.write(fd, open("/usr/bin/true", "rb").read()); return fd
attempt("memfd", lambda: at(memory(0), b"", AT_EMPTY_PATH))
attempt("memfd-by-name", lambda: run("/proc/self/fd/%d" % os.dup2(memory(0), 9)))
attempt("memfd-exec", lambda: at(memory(0x10), b"", AT_EMPTY_PATH))
attempt("library", lambda: ctypes.CDLL(copy("./library.so", library)))
fd = os.open("copy", os.O_RDONLY)
attempt("map", lambda: mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE))
def protect():
    mapped = mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE, flags=mmap.MAP_PRIVATE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    check(libc.mprotect(ctypes.c_void_p(address), 4096, 5))
attempt("protect", protect)
for place in "/dev/shm", "/tmp":
    attempt(place, lambda: run(copy(place + "/copy")))
"##;

#[test]
fn no_route_starts_what_is_not_granted() {
    let Some(host) = host("p7-routes", &[]) else {
        return;
    };
    let policy = host.policy("scratch \"/tmp\" 16MiB\nallow read, write \"/dev/shm\"", "");
    let outcome = host
        .run(&policy, &["/usr/bin/python3", "-c", ROUTES])
        .expect_code(0);
    let mut done = Vec::new();
    for line in outcome.stdout.lines() {
        let (route, what) = line.split_once(' ').expect("a line");
        if what == "done" {
            done.push(route);
        }
        assert!(
            ["done", "EACCES", "EPERM", "EXDEV", "ENOEXEC", "refused"].contains(&what),
            "{line}: another refusal than expected\n{}",
            outcome.stdout
        );
    }
    assert_eq!(
        done,
        ["control", "link-to-allowed"],
        "{}\n{}",
        outcome.stdout,
        outcome.stderr
    );
    assert_eq!(outcome.stdout.lines().count(), 19, "{}", outcome.stdout);
}

#[test]
fn a_grant_on_one_program_starts_that_program_alone() {
    let Some(host) = host("p7-one", &[]) else { return };
    let folder = host.beside("bin");
    std::fs::create_dir(&folder).expect("a directory");
    for name in ["one", "other"] {
        std::fs::copy("/usr/bin/true", folder.join(name)).expect("a copy");
    }
    let rules = format!(
        "allow read \"{folder}\"\nallow read, execute \"{folder}/one\"",
        folder = folder.display()
    );
    let policy = host.policy(&rules, "");
    let script = format!(
        "{f}/one && echo one; {f}/other && echo other; /lib64/ld-linux-x86-64.so.2 {f}/other && echo loaded",
        f = folder.display()
    );
    let outcome = host.sh(&policy, &script);
    assert_eq!(outcome.stdout, "one\n", "{}", outcome.stderr);
}
