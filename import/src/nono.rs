//! Profiles of nono: lists of paths by access, hosts behind a proxy, variables, and groups that its program knows.
//!
//! Source: `nono-profile.schema.json` and `policy.json` of always-further/nono.

use crate::draft::{Draft, Effect, Suffix, destination, quoted};
use crate::paths::{self, Syntax};
use crate::source::{Node, Notes, Table};
use crate::{ImportError, Imported, Options};

/// What nono denies in every profile on Linux: credentials, key rings, browsers, histories and shell configuration.
const DENIED: &[&str] = &[
    "~/.ssh",
    "~/.gnupg",
    "~/.aws",
    "~/.azure",
    "~/.config/gcloud",
    "~/.gcloud",
    "~/.kube",
    "~/.docker",
    "~/.git-credentials",
    "~/.netrc",
    "~/.npmrc",
    "~/.vault-token",
    "~/.credentials",
    "~/.secrets",
    "~/.keys",
    "~/.pki",
    "~/.terraform.d",
    "~/.config/op",
    "~/.password-store",
    "~/.1password",
    "~/.op",
    "~/.local/share/keyrings",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.mozilla/firefox",
    "~/.config/microsoft-edge",
    "~/.config/BraveSoftware",
    "~/.config/vivaldi",
    "~/.config/opera",
    "~/.bash_history",
    "~/.zsh_history",
    "~/.history",
    "~/.python_history",
    "~/.zshrc",
    "~/.zprofile",
    "~/.zshenv",
    "~/.zlogin",
    "~/.zlogout",
    "~/.bashrc",
    "~/.bash_profile",
    "~/.bash_login",
    "~/.bash_logout",
    "~/.profile",
    "~/.config/fish",
    "~/.env",
    "~/.envrc",
];
/// What its base profile lets every program read on Linux, without the devices, which every run has of its own.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/share",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.conf",
    "/etc/alternatives",
    "/etc/os-release",
    "/etc/services",
    "/etc/terminfo",
];

pub(crate) fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    let value = serde_json::from_str(text).map_err(|error| ImportError::Malformed {
        what: "nono profile",
        why: error.to_string(),
    })?;
    let mut notes = Notes::default();
    let mut root = Node::root(value).table()?;
    let mut meta = root.take_table("meta")?;
    let own = meta.take_text("name")?;
    let mut draft = Draft::new(
        options
            .name
            .clone()
            .or(own)
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "nono".to_owned()),
        "Imported from a nono profile.",
    );
    references(&mut root, &mut notes)?;
    for path in SYSTEM {
        draft.file(Effect::Allow, "read, execute", path, Suffix::PRESENT);
    }
    let mut filesystem = root.take_table("filesystem")?;
    files(&mut filesystem, &mut draft, &mut notes)?;
    working_directory(&mut root, &mut draft)?;
    let mut network = root.take_table("network")?;
    hosts(&mut network, &mut draft, &mut notes)?;
    environment(&mut root, &mut draft, &mut notes)?;
    draft.process("allow syscall @system-service");
    notes.leave(
        &mut root,
        &["env_credentials", "secrets"],
        "the run would hold the secret; write `broker` for the host it is for",
    );
    notes.leave(
        &mut root,
        &[
            "allow_gpu",
            "open_urls",
            "hooks",
            "session_hooks",
            "packs",
            "credential_capture",
            "command_args",
        ],
        "Remit has no such thing",
    );
    notes.ignore(
        &mut root,
        &[
            "$schema",
            "security",
            "linux",
            "diagnostics",
            "rollback",
            "undo",
            "interactive",
            "allow_launch_services",
            "unsafe_macos_seatbelt_rules",
        ],
    );
    notes.finish(&mut root);
    Ok(Imported {
        policy: draft.text(),
        left: notes.close(options.relax)?,
    })
}

/// Names that nono's program resolves. They grant, and are left out; what restricts by command cannot be said.
fn references(root: &mut Table, notes: &mut Notes) -> Result<(), ImportError> {
    notes.leave(
        root,
        &["extends"],
        "the base profile is not in this file; import it too and `use` its rules",
    );
    let mut groups = root.take_table("groups")?;
    notes.leave(
        &mut groups,
        &["include"],
        "nono's groups are not in the file; Remit's are listed in docs/std.md",
    );
    if let Some(node) = groups.take("exclude") {
        notes.narrower(&node.place, "what the base profile denies stays denied");
    }
    notes.finish(&mut groups);
    let mut commands = root.take_table("commands")?;
    notes.leave(
        &mut commands,
        &["allow"],
        "a policy names files that may be executed, not commands",
    );
    let denied = commands.take_list("deny")?;
    if let Some(first) = denied.first() {
        return Err(ImportError::Restriction {
            place: first.place.clone(),
            why: "a command's name is no boundary: a copy has another one. Grant `execute` on the tools that are needed, \
                  and remove the list"
                .to_owned(),
        });
    }
    notes.finish(&mut commands);
    let mut policies = root.take_table("command_policies")?;
    if let Some((_, node)) = policies.rest().into_iter().next() {
        return Err(ImportError::Restriction {
            place: node.place,
            why: "Remit's boundaries hold for a whole run, not for one command in it; remove the table to import the rest"
                .to_owned(),
        });
    }
    Ok(())
}

fn files(table: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let mut open = Vec::new();
    for node in table.take_list("bypass_protection")? {
        if let Some((path, _)) = conditional(&node, true)?
            && let Ok(path) = paths::read(&path, Syntax::Literal)
        {
            open.push(path);
        }
    }
    let lists = [
        ("allow", "read, write, execute"),
        ("read", "read, execute"),
        ("write", "write"),
        ("allow_file", "read, write, execute"),
        ("read_file", "read, execute"),
        ("write_file", "write"),
    ];
    for (key, accesses) in lists {
        for node in table.take_list(key)? {
            let Some((path, _)) = conditional(&node, true)? else {
                notes.narrower(&node.place, "its condition is not known to hold here");
                continue;
            };
            match path_of(&path) {
                Ok(path) => draft.file(Effect::Allow, accesses, &path, Suffix::PRESENT),
                Err(why) => notes.narrower(&node.place, why),
            }
        }
    }
    for node in table.take_list("deny")? {
        let Some((path, _)) = conditional(&node, false)? else {
            continue;
        };
        let path = path_of(&path).map_err(|why| ImportError::Restriction {
            place: node.place.clone(),
            why,
        })?;
        draft.file(Effect::Forbid, "", &path, Suffix::PRESENT);
    }
    for path in DENIED
        .iter()
        .filter(|path| !open.iter().any(|open| open == *path))
    {
        let suffix = Suffix {
            because: Some("nono protects it in every profile"),
            ..Suffix::PRESENT
        };
        draft.file(Effect::Forbid, "", path, suffix);
    }
    notes.ignore(table, &["suppress_save_prompt", "ignore"]);
    notes.leave(
        table,
        &[
            "unix_socket",
            "unix_socket_bind",
            "unix_socket_dir",
            "unix_socket_dir_bind",
        ],
        "UNIX sockets stay closed",
    );
    notes.finish(table);
    Ok(())
}

/// A path, perhaps with a condition. `None`: not for this system.
fn conditional(node: &Node, grants: bool) -> Result<Option<(String, bool)>, ImportError> {
    if let Ok(text) = node.text() {
        return Ok(Some((text.to_owned(), true)));
    }
    let mut table = node.clone().table()?;
    let path = table.take_text("path")?.unwrap_or_default();
    let holds = match table.take("when") {
        None => true,
        Some(when) => {
            let conditions = match when.clone().list() {
                Ok(items) => items,
                Err(_) => vec![when],
            };
            let mut holds = false;
            for condition in &conditions {
                // A distribution is not known here: a refusal holds in doubt, a grant does not.
                let text = condition.text()?;
                holds |= text == "linux" || (!grants && !text.starts_with("macos"));
            }
            holds
        }
    };
    Ok(holds.then_some((path, true)))
}

fn path_of(text: &str) -> Result<String, String> {
    let directories = [
        ("$XDG_CONFIG_HOME", "~/.config"),
        ("$XDG_CACHE_HOME", "~/.cache"),
        ("$XDG_DATA_HOME", "~/.local/share"),
        ("$XDG_STATE_HOME", "~/.local/state"),
        ("$TMPDIR", "/tmp"),
    ];
    for (variable, usual) in directories {
        if let Some(rest) = text.strip_prefix(variable) {
            return paths::read(&format!("{usual}{rest}"), Syntax::Literal);
        }
    }
    paths::read(text, Syntax::Literal)
}

fn working_directory(root: &mut Table, draft: &mut Draft) -> Result<(), ImportError> {
    let mut table = root.take_table("workdir")?;
    let accesses = match table.take_text("access")?.as_deref() {
        None | Some("none") => return Ok(()),
        Some("read") => "read, execute",
        Some("write") => "write",
        Some("readwrite") => "read, write, execute",
        Some(_) => {
            return Err(ImportError::Type {
                place: "workdir.access".to_owned(),
                expected: "`none`, `read`, `write` or `readwrite`",
            });
        }
    };
    draft.file(Effect::Allow, accesses, ".", Suffix::NONE);
    Ok(())
}

fn hosts(table: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let blocked = table.take_flag("block")?.unwrap_or_default();
    let mut filtered = false;
    for key in ["allow_domain", "proxy_allow", "allow_proxy"] {
        for node in table.take_list(key)? {
            filtered = true;
            domain(&node, draft, notes)?;
        }
    }
    for key in ["network_profile", "credentials", "proxy_credentials"] {
        if let Some(node) = table.take(key) {
            filtered = true;
            notes.narrower(
                &node.place,
                "nono's program knows these hosts; write them as rules",
            );
        }
    }
    for (name, node) in table.take_table("custom_credentials")?.rest() {
        filtered = true;
        credential(&name, node.table()?, draft, notes)?;
    }
    for key in ["open_port", "port_allow", "allow_port"] {
        for node in table.take_list(key)? {
            let port = node.port()?;
            if port > 0 {
                draft.network(
                    Effect::Allow,
                    "connect, bind tcp",
                    &format!("127.0.0.1:{port}"),
                    Suffix::NONE,
                );
            }
        }
    }
    for node in table.take_list("listen_port")? {
        draft.network(
            Effect::Allow,
            "bind tcp",
            &format!("*:{}", node.port()?),
            Suffix::NONE,
        );
    }
    if !blocked && !filtered {
        draft.network(Effect::Allow, "connect, bind tcp, udp", "*:*", Suffix::NONE);
        notes.equal(
            "network",
            "nono leaves the network open in this profile, and so does this policy",
        );
    }
    notes.leave(
        table,
        &[
            "upstream_proxy",
            "external_proxy",
            "upstream_bypass",
            "external_proxy_bypass",
        ],
        "Remit connects by itself; grant the proxy's address if hosts are reached through one",
    );
    notes.ignore(table, &["allow_http2", "tls_intercept"]);
    notes.finish(table);
    Ok(())
}

fn domain(node: &Node, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let (name, requests) = match node.text() {
        Ok(name) => (name.to_owned(), false),
        Err(_) => {
            let mut table = node.clone().table()?;
            let requests = !table.take_list("endpoints")?.is_empty();
            (table.take_text("domain")?.unwrap_or_default(), requests)
        }
    };
    match destination(&name) {
        Ok(host) if requests => {
            draft.proposal(format!(
                "allow connect tcp \"{host}:443\", which nono limits to some requests"
            ));
            notes.narrower(
                &node.place,
                "a policy does not look into requests; the rule is proposed as a comment",
            );
        }
        Ok(host) => draft.network(Effect::Allow, "connect tcp", &format!("{host}:443"), Suffix::NONE),
        Err(why) => notes.narrower(&node.place, why),
    }
    Ok(())
}

fn credential(name: &str, mut table: Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let place = table.place.clone();
    let upstream = table.take_text("upstream")?.unwrap_or_default();
    let key = table.take_text("credential_key")?.unwrap_or_default();
    let mode = table
        .take_text("inject_mode")?
        .unwrap_or_else(|| "header".to_owned());
    let header = table
        .take_text("inject_header")?
        .unwrap_or_else(|| "Authorization".to_owned());
    let format = table.take_text("credential_format")?;
    let requests = !table.take_list("endpoint_rules")?.is_empty();
    let host = upstream
        .strip_prefix("https://")
        .map(|rest| rest.split('/').next().unwrap_or_default())
        .ok_or_else(|| "only https is brokered".to_owned())
        .and_then(|authority| match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                destination(host).map(|host| format!("{host}:{port}"))
            }
            _ => destination(authority).map(|host| format!("{host}:443")),
        });
    let source = key
        .strip_prefix("env://")
        .map(|variable| format!("env {}", quoted(variable)))
        .or_else(|| {
            key.strip_prefix("file://")
                .map(|path| format!("file {}", quoted(path)))
        });
    let scheme = match (
        mode.as_str(),
        header.eq_ignore_ascii_case("authorization"),
        format.as_deref(),
    ) {
        ("header", true, None | Some("Bearer {}")) => Some("bearer".to_owned()),
        ("basic_auth", ..) => Some("basic".to_owned()),
        ("header", false, None | Some("{}")) => Some(format!("header {}", quoted(&header))),
        _ => None,
    };
    match (host, source, scheme) {
        (Ok(host), Some(source), Some(scheme)) if !requests => {
            draft.credential(format!(
                "broker {} for {} as {scheme} from {source}",
                quoted(name),
                quoted(&host)
            ));
            draft.network(Effect::Allow, "connect tcp", &host, Suffix::NONE);
        }
        (Err(why), ..) => notes.narrower(&place, why),
        _ => notes.narrower(
            &place,
            "this way to present or find a credential has no words in the language",
        ),
    }
    Ok(())
}

fn environment(root: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let mut table = root.take_table("environment")?;
    let allowed = table.take_list("allow_vars")?;
    if allowed.is_empty() {
        draft.pass(&["PATH", "LANG", "TERM", "HOME"]);
        notes.narrower(
            "environment",
            "nono passes every variable; this policy passes PATH, LANG, TERM and HOME",
        );
    }
    for node in &allowed {
        match node.text()? {
            name if variable(name) => draft.pass(&[name]),
            _ => notes.narrower(&node.place, "this is no variable's name"),
        }
    }
    for node in table.take_list("deny_vars")? {
        let name = node.text()?;
        if variable(name) {
            draft.forbid_pass(name);
        }
    }
    for (name, node) in table.take_table("set_vars")?.rest() {
        let value = node.text()?;
        if value.contains('$') || !variable(&name) || name.contains('*') {
            notes.narrower(&node.place, "the value or the name is made when nono starts");
        } else {
            draft.set(&name, value);
        }
    }
    notes.finish(&mut table);
    Ok(())
}

fn variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'*')
}
