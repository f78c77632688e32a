//! Sandbox policies of NVIDIA OpenShell: paths, an identity, and endpoints with the programs and requests they take.
//!
//! Source: the policy schema reference of NVIDIA/OpenShell, version 1.

use std::net::IpAddr;

use serde_json::Value;

use crate::draft::{Draft, Effect, Suffix, destination};
use crate::paths::{self, Syntax};
use crate::source::{Node, Notes, Table};
use crate::{ImportError, Imported, Options, Relax};

pub(crate) fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| ImportError::Malformed {
        what: "OpenShell policy",
        why: error.to_string(),
    })?;
    let mut notes = Notes::default();
    let mut root = Node::root(value).table()?;
    match root.take("version") {
        Some(node) if node.number()? == 1 => {}
        _ => {
            return Err(ImportError::Type {
                place: "version".to_owned(),
                expected: "1, the only version there is",
            });
        }
    }
    let mut draft = Draft::new(
        options.name.clone().unwrap_or_else(|| "openshell".to_owned()),
        "Imported from an OpenShell sandbox policy.",
    );
    // `filesystem` is an older name of the same table.
    for key in ["filesystem_policy", "filesystem"] {
        files(&mut root.take_table(key)?, &mut draft, &mut notes)?;
    }
    identity(&mut root.take_table("process")?, &mut draft, &mut notes)?;
    for (_, node) in root.take_table("network_policies")?.rest() {
        entry(node.table()?, &mut draft, &mut notes, options.relax)?;
    }
    for (_, node) in root.take_table("network_middlewares")?.rest() {
        if !options.relax.requests {
            return Err(ImportError::Restriction {
                place: node.place,
                why: "requests are not looked into; leave middleware out with `--relax requests`".to_owned(),
            });
        }
        notes.wider(&node.place, "requests are not looked into");
    }
    let mut landlock = root.take_table("landlock")?;
    if landlock.take_text("compatibility")?.as_deref() == Some("best_effort") {
        notes.narrower(
            "landlock.compatibility",
            "a host that cannot enforce a rule refuses the run",
        );
    }
    notes.finish(&mut landlock);
    draft.pass(&["PATH", "LANG", "TERM", "HOME"]);
    draft.process("allow syscall @system-service");
    notes.finish(&mut root);
    Ok(Imported {
        policy: draft.text(),
        left: notes.close(options.relax)?,
    })
}

fn files(table: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let mut grant =
        |path: &str, accesses: &str, node: &Node, notes: &mut Notes| match paths::read(path, Syntax::Literal)
        {
            Ok(path) if private(&path) => {
                notes.equal(&node.place, "every run has a `/dev` and a `/proc` of its own");
            }
            Ok(path) => draft.file(Effect::Allow, accesses, &path, Suffix::PRESENT),
            Err(why) => notes.narrower(&node.place, why),
        };
    for node in table.take_list("read_only")? {
        grant(node.text()?, "read, execute", &node, notes);
    }
    for node in table.take_list("read_write")? {
        grant(node.text()?, "read, write, execute", &node, notes);
    }
    if table.take_flag("include_workdir")?.unwrap_or_default() {
        draft.file(Effect::Allow, "read, write, execute", ".", Suffix::NONE);
    }
    notes.finish(table);
    Ok(())
}

fn private(path: &str) -> bool {
    ["/dev", "/proc"]
        .iter()
        .any(|tree| path == *tree || path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/')))
}

fn identity(table: &mut Table, draft: &mut Draft, notes: &mut Notes) -> Result<(), ImportError> {
    let mut id = |key: &str| -> Result<Option<(String, Option<u32>)>, ImportError> {
        Ok(table.take(key).map(|node| {
            let number = match &node.value {
                Value::String(text) => text.parse().ok(),
                value => value.as_u64().and_then(|id| u32::try_from(id).ok()),
            };
            (node.place, number)
        }))
    };
    match (id("run_as_user")?, id("run_as_group")?) {
        (Some((_, Some(user))), Some((_, Some(group)))) => draft.process(format!("identity {user}:{group}")),
        (None, None) => {}
        (user, group) => {
            for (place, _) in user.into_iter().chain(group) {
                notes.narrower(
                    &place,
                    "only a numeric user and group are carried; the run gets ids of its own",
                );
            }
        }
    }
    notes.finish(table);
    Ok(())
}

/// One set of endpoints and the programs that may use them.
fn entry(mut entry: Table, draft: &mut Draft, notes: &mut Notes, relax: Relax) -> Result<(), ImportError> {
    entry.take("name");
    let binaries = entry.take_list("binaries")?;
    let mut programs = Vec::new();
    for node in binaries {
        let path = match node.text() {
            Ok(path) => path.to_owned(),
            Err(_) => node.table()?.take_text("path")?.unwrap_or_default(),
        };
        programs.push(path);
    }
    let restricted =
        !programs.is_empty() && !programs.iter().any(|path| matches!(path.as_str(), "/**" | "**"));
    for node in entry.take_list("endpoints")? {
        endpoint(
            node.table()?,
            restricted.then_some(programs.as_slice()),
            draft,
            notes,
            relax,
        )?;
    }
    notes.finish(&mut entry);
    Ok(())
}

fn endpoint(
    mut endpoint: Table,
    programs: Option<&[String]>,
    draft: &mut Draft,
    notes: &mut Notes,
    relax: Relax,
) -> Result<(), ImportError> {
    let place = endpoint.place.clone();
    let mut ports = Vec::new();
    if let Some(node) = endpoint.take("port") {
        ports.push(node.port()?);
    }
    for node in endpoint.take_list("ports")? {
        ports.push(node.port()?);
    }
    let host = endpoint.take_text("host")?.unwrap_or_default();
    let addresses = endpoint.take_list("allowed_ips")?;
    let requests = takes_some_requests_only(&mut endpoint)?;
    notes.ignore(
        &mut endpoint,
        &[
            "tls",
            "enforcement",
            "allow_encoded_slash",
            "websocket_credential_rewrite",
            "request_body_credential_rewrite",
            "allow_uninspected_credentials",
            "credential_signing",
            "signing_service",
            "signing_region",
            "credential_binding",
            "graphql_max_body_bytes",
            "mcp",
            "json_rpc",
        ],
    );
    notes.finish(&mut endpoint);

    let mut targets = Vec::new();
    if host.is_empty() {
        for node in &addresses {
            match prefix(node.text()?) {
                Ok(prefix) => targets.push(prefix),
                Err(why) => notes.narrower(&node.place, why),
            }
        }
    } else {
        match pattern(&host) {
            Ok(pattern) => targets.push(pattern),
            Err(why) => notes.narrower(&place, why),
        }
        if !addresses.is_empty() {
            notes.narrower(
                &place,
                "private addresses of a name are granted by rules on addresses, which are not made here",
            );
        }
    }
    for target in &targets {
        for port in ports.iter().filter(|port| **port > 0) {
            let target = format!("{target}:{port}");
            let mut unsaid = Vec::new();
            if let Some(programs) = programs.filter(|_| !relax.binaries) {
                unsaid.push(format!("for {} only", programs.join(", ")));
            }
            if requests && !relax.requests {
                unsaid.push("for some requests only".to_owned());
            }
            if unsaid.is_empty() {
                draft.network(Effect::Allow, "connect tcp", &target, Suffix::NONE);
                if programs.is_some() {
                    notes.wider(&place, "every program of the run may use the endpoint");
                }
                if requests {
                    notes.wider(&place, "every request is let through");
                }
            } else {
                draft.proposal(format!("allow connect tcp \"{target}\", {}", unsaid.join(", ")));
                notes.narrower(
                    &place,
                    format!(
                        "the source grants it {}, which no rule says; it is proposed as a comment, `--relax {}` grants it",
                        unsaid.join(", "),
                        if requests { "binaries,requests" } else { "binaries" }
                    ),
                );
            }
        }
    }
    Ok(())
}

/// Whether the endpoint looks into what is sent, and lets only a part of it through.
fn takes_some_requests_only(endpoint: &mut Table) -> Result<bool, ImportError> {
    let path = endpoint.take_text("path")?.filter(|path| !path.is_empty());
    let access = endpoint.take_text("access")?;
    let rules = endpoint.take("rules").is_some();
    let refused = endpoint.take("deny_rules").is_some();
    let queries =
        endpoint.take("persisted_queries").is_some() | endpoint.take("graphql_persisted_queries").is_some();
    let inspected = !matches!(endpoint.take_text("protocol")?.as_deref(), None | Some("tcp"));
    Ok(path.is_some() || rules || refused || queries || (inspected && access.as_deref() != Some("full")))
}

/// `**.x` is what a policy writes `*.x`; one label only cannot be said.
fn pattern(host: &str) -> Result<String, String> {
    match host.strip_prefix("**.") {
        Some(name) => destination(&format!("*.{name}")),
        None if host.starts_with("*.") => Err(
            "`*` stands for one label here, and for any number of them in a policy; list the names"
                .to_owned(),
        ),
        None => destination(host),
    }
}

fn prefix(text: &str) -> Result<String, String> {
    let (address, length) = text
        .split_once('/')
        .map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address
        .parse()
        .map_err(|_| format!("`{}` is no address", text.escape_debug()))?;
    let shown = match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    match length {
        None => Ok(shown),
        Some(length) if length.bytes().all(|byte| byte.is_ascii_digit()) => Ok(format!("{shown}/{length}")),
        Some(_) => Err(format!("`{}` is no prefix", text.escape_debug())),
    }
}
