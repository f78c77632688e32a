//! The groups of the language with the real tools: each small task works with its group, and what the group must not
//! grant is refused.
#![allow(clippy::expect_used, reason = "tests")]

#[path = "common/host.rs"]
mod host;
#[path = "common/remit.rs"]
mod remit;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use host::{Host, host, skipped};
use remit::Outcome;

/// A policy that uses groups, may write its workspace, and says this too.
fn policy(host: &Host, groups: &str, rest: &str) -> PathBuf {
    let text = format!(
        "policy \"std\" {{\n use {groups}\n filesystem {{ allow read, write \"{}\" }}\n {rest}\n}}\n",
        host.work().display()
    );
    let path = host.beside("policy.remit");
    std::fs::write(&path, text).expect("a policy");
    path
}

/// A home directory of the test's own, with these files.
fn home(host: &Host, files: &[(&str, &str)]) -> PathBuf {
    let home = host.beside("home");
    for (name, text) in files {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    }
    home
}

/// A script in a run whose home is this.
fn run(host: &Host, policy: &Path, home: &Path, script: &str) -> Outcome {
    let command = ["/bin/sh", "-ec", script];
    remit::output(
        host.remit_run(policy, &command)
            .env("HOME", home)
            .stdin(Stdio::null()),
    )
}

/// Whether the tools are on this host, or a word about the one that is not.
fn installed(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| !Path::new(tool).exists());
    if let Some(missing) = missing {
        skipped(&format!("`{missing}` is not installed"));
    }
    missing.is_none()
}

#[test]
fn linux_starts_the_shell_and_coreutils() {
    let Some(host) = host("std-linux", &[]) else {
        return;
    };
    let policy = policy(&host, "std::linux", "");
    host.run(&policy, &["/bin/true"]).expect_code(0);
    let outcome = host
        .sh(
            &policy,
            "set -e; printf 'b\\na\\n' | sort > sorted; head -n1 sorted; wc -l < sorted; mkdir -p d/e; cp sorted d/e; \
             mv d/e/sorted d/f; find d -type f; date +%s > /dev/null; id -u > /dev/null; uname > /dev/null; \
             nproc > /dev/null; dd if=/dev/zero of=zeros bs=1k count=4 2> /dev/null; stat -c %s zeros; rm -r d; \
             sleep 0; env | grep -c ^PATH=",
        )
        .expect_code(0);
    assert_eq!(outcome.stdout, "a\n2\nd/f\n4096\n1\n", "{}", outcome.stderr);
    let refused = host.sh(
        &policy,
        "cat /etc/shadow || ls /root || ls /home || touch /usr/x || echo none",
    );
    assert_eq!(refused.stdout, "none\n");
}

#[test]
fn git_commits_with_the_callers_name_and_reads_no_stored_password() {
    let Some(host) = host("std-git", &[]) else { return };
    let home = home(
        &host,
        &[
            (
                ".gitconfig",
                "[user]\n\tname = An Agent\n\temail = agent@example.com\n",
            ),
            (".git-credentials", "https://user:secret@example.com\n"),
            (".config/git/credentials", "https://user:secret@example.com\n"),
        ],
    );
    let policy = policy(&host, "std::linux, std::git", "");
    let outcome = run(
        &host,
        &policy,
        &home,
        "git init -q repository; cd repository; echo one > file; git add file; git commit -qm first; echo two >> file; \
         git commit -qam second; git log --format='%an %s'; git diff --stat HEAD~1 | tail -n1; git gc -q; \
         git worktree add -q ../tree; git -C ../tree status --short; git fsck; \
         cat ~/.git-credentials ~/.config/git/credentials || echo none",
    )
    .expect_code(0);
    assert_eq!(
        outcome.stdout, "An Agent second\nAn Agent first\n 1 file changed, 1 insertion(+)\nnone\n",
        "{}",
        outcome.stderr
    );
}

#[test]
fn ssh_reads_its_configuration_and_no_key() {
    if !installed(&["/usr/bin/ssh", "/usr/bin/ssh-keygen"]) {
        return;
    }
    let Some(host) = host("std-ssh", &[]) else { return };
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMOjB0K8nCWwa5cH5vbjWl2s2Q5jZ4ZqJpLrQp3fVx1n";
    let home = home(
        &host,
        &[
            (
                ".ssh/config",
                "Host build\n  HostName build.example.com\n  Port 2222\n",
            ),
            (".ssh/known_hosts", &format!("build.example.com {key}\n")),
            (".ssh/id_ed25519", "not for the run\n"),
        ],
    );
    let policy = policy(&host, "std::linux, std::ssh-client", "process { identity user }");
    let outcome = run(
        &host,
        &policy,
        &home,
        "ssh -F ~/.ssh/config -G build | grep -E '^(hostname|port) '; \
         ssh-keygen -f ~/.ssh/known_hosts -F build.example.com | grep -c ssh-ed25519; \
         cat ~/.ssh/id_ed25519 || ls ~/.ssh || echo none",
    )
    .expect_code(0);
    assert_eq!(
        outcome.stdout, "hostname build.example.com\nport 2222\n1\nnone\n",
        "{}",
        outcome.stderr
    );
}

#[test]
fn node_runs_children_and_threads_and_npm_packs() {
    if !installed(&["/usr/bin/node", "/usr/bin/npm"]) {
        return;
    }
    let Some(host) = host("std-node", &[]) else { return };
    let home = home(
        &host,
        &[
            (".npmrc", "//registry/:_authToken=secret\n"),
            (".npm/_logs/.keep", ""),
            (".npm/_cacache/.keep", ""),
            (".npm/_update-notifier-last-checked", ""),
        ],
    );
    host.file("package.json", "{ \"name\": \"task\", \"version\": \"1.0.0\" }\n");
    host.file(
        "task.js",
        "const { spawnSync } = require('child_process');\n\
         const { Worker } = require('worker_threads');\n\
         console.log(spawnSync(process.execPath, ['-e', 'console.log(1 + 1)']).stdout.toString().trim());\n\
         new Worker('require(\"worker_threads\").parentPort.postMessage(3)', { eval: true })\n\
             .on('message', number => console.log(number));\n",
    );
    let policy = policy(
        &host,
        "std::linux, std::node",
        "filesystem { scratch \"/tmp\" 64MiB }",
    );
    let outcome = run(
        &host,
        &policy,
        &home,
        "node task.js; npm pack --offline --silent --userconfig=/dev/null; cat ~/.npmrc || echo none",
    )
    .expect_code(0);
    assert_eq!(
        outcome.stdout, "2\n3\ntask-1.0.0.tgz\nnone\n",
        "{}",
        outcome.stderr
    );
}

#[test]
fn python_runs_pools_loops_and_a_virtual_environment() {
    if !installed(&["/usr/bin/python3"]) {
        return;
    }
    let Some(host) = host("std-python", &[]) else {
        return;
    };
    let home = home(
        &host,
        &[
            (".pypirc", "[pypi]\npassword = secret\n"),
            (".netrc", "machine x\n"),
        ],
    );
    host.file(
        "task.py",
        "import asyncio, multiprocessing, ssl, sqlite3, sys\n\
         def square(number): return number * number\n\
         if __name__ == '__main__':\n    \
             with multiprocessing.Pool(2) as pool: print(sum(pool.map(square, range(4))))\n    \
             print(asyncio.run(asyncio.sleep(0, 'slept')))\n    \
             print(sys.prefix != sys.base_prefix)\n",
    );
    let policy = policy(
        &host,
        "std::linux, std::python",
        "filesystem { scratch \"/tmp\" 64MiB }",
    );
    let outcome = run(
        &host,
        &policy,
        &home,
        "/usr/bin/python3 task.py; /usr/bin/python3 -m venv --without-pip .venv; .venv/bin/python task.py; \
         cat ~/.pypirc ~/.netrc || echo none",
    )
    .expect_code(0);
    assert_eq!(
        outcome.stdout, "14\nslept\nFalse\n14\nslept\nTrue\nnone\n",
        "{}",
        outcome.stderr
    );
}

#[test]
fn c_compiles_and_starts_what_it_built_where_the_policy_says() {
    if !installed(&["/usr/bin/gcc", "/usr/bin/make"]) {
        return;
    }
    let Some(host) = host("std-c", &[]) else { return };
    host.file(
        "hello.c",
        "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n",
    );
    host.file("Makefile", "out/hello: hello.c\n\tgcc -O1 -o $@ $<\n");
    std::fs::create_dir(host.work().join("out")).expect("a directory");
    let rest = format!(
        "filesystem {{ scratch \"/tmp\" 64MiB allow read, execute \"{}/out\" }}",
        host.work().display()
    );
    let policy = policy(&host, "std::linux, std::c-toolchain", &rest);
    let outcome = run(
        &host,
        &policy,
        &home(&host, &[("x", "")]),
        "make --silent; out/hello; cp out/hello elsewhere; ./elsewhere || echo none",
    )
    .expect_code(0);
    assert_eq!(outcome.stdout, "hello\nnone\n", "{}", outcome.stderr);
}

#[test]
fn rust_builds_and_starts_a_crate_offline() {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cargo = home.join(".cargo/bin/cargo");
    if !installed(&[cargo.to_str().expect("UTF-8"), "/usr/bin/cc"]) {
        return;
    }
    let Some(host) = host("std-rust", &[]) else { return };
    host.file(
        "Cargo.toml",
        "[package]\nname = \"task\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    host.file(
        "src/main.rs",
        "fn main() { println!(\"{}\", env!(\"BUILT\")); }\n",
    );
    host.file(
        "build.rs",
        "fn main() { println!(\"cargo:rustc-env=BUILT=yes\"); }\n",
    );
    std::fs::create_dir(host.work().join("target")).expect("a directory");
    // The toolchain lies in a home that only its owner enters.
    let rest = format!(
        "filesystem {{ scratch \"/tmp\" 256MiB allow read, write, execute \"{}/target\" }} process {{ identity user }}",
        host.work().display()
    );
    let policy = policy(&host, "std::linux, std::c-toolchain, std::rust", &rest);
    let script = format!("{} run --quiet --offline", cargo.display());
    let outcome = run(&host, &policy, &home, &script).expect_code(0);
    assert_eq!(outcome.stdout, "yes\n", "{}", outcome.stderr);
}

#[test]
fn jvm_compiles_and_runs_a_class() {
    if !installed(&["/usr/bin/java", "/usr/bin/javac"]) {
        return;
    }
    let Some(host) = host("std-jvm", &[]) else { return };
    host.file(
        "Task.java",
        "public class Task { public static void main(String[] arguments) throws Exception {\n\
         System.out.println(java.util.stream.IntStream.range(0, 4).parallel().sum());\n\
         System.out.println(new ProcessBuilder(\"/bin/true\").start().waitFor()); } }\n",
    );
    let policy = policy(
        &host,
        "std::linux, std::jvm",
        "filesystem { scratch \"/tmp\" 64MiB }",
    );
    let outcome = run(
        &host,
        &policy,
        &home(&host, &[(".m2/settings.xml", "secret\n")]),
        "javac Task.java; java -Xmx128m -cp . Task; cat ~/.m2/settings.xml || echo none",
    )
    .expect_code(0);
    assert_eq!(outcome.stdout, "6\n0\nnone\n", "{}", outcome.stderr);
}

#[test]
fn a_harness_with_rules_on_host_names_is_refused_with_the_rule_that_cannot_hold() {
    let Some(host) = host("std-harness", &[]) else {
        return;
    };
    for (group, name) in [
        ("claude-code", "api.anthropic.com"),
        ("codex", "api.openai.com"),
        ("gemini-cli", "generativelanguage.googleapis.com"),
    ] {
        let policy = policy(&host, &format!("std::linux, std::{group}"), "");
        let outcome = host.run(&policy, &["/bin/true"]).expect_code(125);
        assert!(outcome.stderr.contains(name), "{group}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(&format!("std/{group}.remit")),
            "{group}: {}",
            outcome.stderr
        );
    }
}
