//! Settings of the sandbox runtime (`srt`): reads are open but for a list, writes and hosts are closed but for one.
//!
//! Source: `src/sandbox/sandbox-config.ts` and `linux-sandbox-utils.ts` of anthropic-experimental/sandbox-runtime.

use crate::draft::{Draft, Effect, Suffix, destination};
use crate::paths::{self, Syntax};
use crate::source::{Node, Notes, Table};
use crate::{ImportError, Imported, Options};

/// What srt never lets a program write beneath the working directory, whatever the settings say.
const PROTECTED_FILES: &[&str] = &[
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".zshrc",
    ".zprofile",
    ".profile",
    ".ripgreprc",
    ".mcp.json",
];
const PROTECTED_DIRECTORIES: &[&str] = &[
    ".vscode",
    ".idea",
    ".claude/commands",
    ".claude/agents",
    ".git/hooks",
];
const PROTECTED: &str = "srt protects it in every configuration";

pub(crate) fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    let value = serde_json::from_str(text).map_err(|error| ImportError::Malformed {
        what: "srt settings file",
        why: error.to_string(),
    })?;
    let mut notes = Notes::default();
    let mut draft = Draft::new(
        options.name.clone().unwrap_or_else(|| "srt".to_owned()),
        "Imported from settings of the sandbox runtime.",
    );
    let mut root = Node::root(value).table()?;
    let mut filesystem = root.take_table("filesystem")?;
    let mut network = root.take_table("network")?;
    files(&mut filesystem, &mut draft, &mut notes)?;
    hosts(&mut network, &mut draft, &mut notes)?;
    notes.leave(
        &mut root,
        &[
            "allowPty",
            "enableWeakerNestedSandbox",
            "enableWeakerNetworkIsolation",
            "allowAppleEvents",
        ],
        "Remit has no such switch: terminals work, and nothing is weakened",
    );
    notes.ignore(
        &mut root,
        &[
            "$schema",
            "ignoreViolations",
            "ripgrep",
            "mandatoryDenySearchDepth",
            "seccomp",
            "bwrapPath",
            "socatPath",
        ],
    );
    draft.pass(&["PATH", "LANG", "TERM", "HOME"]);
    notes.narrower(
        "",
        "srt passes the whole environment; this policy passes PATH, LANG, TERM and HOME",
    );
    draft.process("allow syscall @system-service");
    notes.narrower(
        "",
        "srt leaves system calls open; this policy allows @system-service",
    );
    notes.finish(&mut root);
    Ok(Imported {
        policy: draft.text(),
        left: notes.close(options.relax)?,
    })
}

fn files(table: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    if let Some(node) = table.take("disabled")
        && node.flag()?
    {
        notes.narrower(
            &node.place,
            "Remit does not switch a boundary off; nothing beneath `/` but reads is granted",
        );
    }
    draft.file(
        Effect::Allow,
        "read, execute",
        "/",
        Suffix::because("srt lets programs read and start everything that is not denied"),
    );
    for node in table.take_list("allowWrite")? {
        match paths::read(node.text()?, Syntax::Glob) {
            Ok(path) => draft.file(Effect::Allow, "write", &path, Suffix::NONE),
            Err(why) => notes.narrower(&node.place, why),
        }
    }
    // srt lets the more specific list win for reads, so these stay rules that yield.
    for node in table.take_list("denyRead")? {
        let path = refusal(&node, notes)?;
        draft.file(Effect::Deny, "", &path, suffix(&path));
    }
    for node in table.take_list("allowRead")? {
        match paths::read(node.text()?, Syntax::Glob) {
            Ok(path) => draft.file(Effect::Allow, "read, execute", &path, Suffix::PRESENT),
            Err(why) => notes.narrower(&node.place, why),
        }
    }
    for node in table.take_list("denyWrite")? {
        let path = refusal(&node, notes)?;
        draft.file(Effect::Forbid, "write", &path, suffix(&path));
    }
    protected(table.take_flag("allowGitConfig")?.unwrap_or_default(), draft);
    notes.finish(table);
    Ok(())
}

fn protected(git_config: bool, draft: &mut Draft) {
    let config = (!git_config).then_some(".git/config");
    for name in PROTECTED_FILES
        .iter()
        .chain(PROTECTED_DIRECTORIES)
        .copied()
        .chain(config)
    {
        for path in [format!("./{name}"), format!("./**/{name}")] {
            let suffix = Suffix {
                because: Some(PROTECTED),
                ..suffix(&path)
            };
            draft.file(Effect::Forbid, "write", &path, suffix);
        }
    }
}

/// A refusal may be of something that is not there. A glob holds for what is there when the run starts, as in srt.
fn suffix(path: &str) -> Suffix<'static> {
    let glob = path.replace("\\*", "").contains(['*', '?', '[']);
    Suffix {
        because: None,
        if_present: !glob,
        permit_degraded: glob,
    }
}

/// A path that is refused: where it cannot be said, all that lies around it is.
fn refusal(node: &Node, notes: &mut Notes) -> Result<String, ImportError> {
    let text = node.text()?;
    paths::read(text, Syntax::Glob).or_else(|why| {
        let wider = paths::above(text).map_err(|_| ImportError::Restriction {
            place: node.place.clone(),
            why: why.clone(),
        })?;
        notes.narrower(
            &node.place,
            format!("{why}; everything beneath `{wider}` is refused instead"),
        );
        Ok(wider)
    })
}

fn hosts(table: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    for node in table.take_list("allowedDomains")? {
        match target(node.text()?) {
            Ok(target) => {
                draft.network(Effect::Allow, "connect tcp", &target, Suffix::NONE);
                if target == "127.0.0.1:*" {
                    draft.network(Effect::Allow, "connect tcp", "[::1]:*", Suffix::NONE);
                }
            }
            Err(why) => notes.narrower(&node.place, why),
        }
    }
    for node in table.take_list("deniedDomains")? {
        let target = target(node.text()?).map_err(|why| ImportError::Restriction {
            place: node.place.clone(),
            why,
        })?;
        draft.network(Effect::Forbid, "connect", &target, Suffix::NONE);
        if target == "127.0.0.1:*" {
            draft.network(Effect::Forbid, "connect", "[::1]:*", Suffix::NONE);
        }
    }
    if let Some(node) = table.take("allowLocalBinding")
        && node.flag()?
    {
        draft.network(Effect::Allow, "bind tcp", "127.0.0.1:1024-65535", Suffix::NONE);
        draft.network(Effect::Allow, "bind tcp", "[::1]:1024-65535", Suffix::NONE);
    }
    notes.leave(
        table,
        &["allowUnixSockets", "allowAllUnixSockets", "allowMachLookup"],
        "a socket file reaches the daemon behind it, and no rule on paths can tell which: UNIX sockets stay closed",
    );
    notes.leave(
        table,
        &[
            "httpProxyPort",
            "socksProxyPort",
            "parentProxy",
            "mitmProxy",
            "tlsTerminate",
        ],
        "Remit enforces names in the kernel's path, without a proxy to point at",
    );
    // A list that asks for nothing beyond `allowedDomains` is what a policy always means.
    notes.ignore(table, &["strictAllowlist"]);
    notes.finish(table);
    Ok(())
}

fn target(domain: &str) -> Result<String, String> {
    if domain == "localhost" {
        return Ok("127.0.0.1:*".to_owned());
    }
    destination(domain).map(|host| format!("{host}:*"))
}
