//! Permission profiles of Codex's `config.toml`, and the older `sandbox_mode`.
//!
//! Source: the permissions page of Codex's documentation. A narrower path wins over a broader one, a denial over every
//! grant; network access is off until it is enabled, and then open unless `domains` lists hosts.

use serde_json::Value;

use crate::draft::{Draft, Effect, Suffix, destination};
use crate::paths::{self, Syntax};
use crate::source::{Node, Notes, Table};
use crate::{ImportError, Imported, Options};

/// What `:minimal` stands for: what programs need to start.
const RUNTIME: &[&str] = &["/bin", "/sbin", "/usr", "/etc", "/lib", "/lib64", "/nix/store"];
/// What Codex keeps from being written in every workspace.
const PROTECTED: &[&str] = &[".git", ".codex", ".agents"];
const PROTECTS: &str = "Codex keeps it read-only in every workspace";

pub(crate) fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    let value: Value = toml::from_str(text).map_err(|error| ImportError::Malformed {
        what: "TOML file",
        why: error.to_string(),
    })?;
    let mut notes = Notes::default();
    // The file configures all of Codex; only these keys are about the sandbox.
    let mut root = Node::root(value).table()?;
    let mut permissions = root.take_table("permissions")?;
    let default = root.take_text("default_permissions")?;
    let mode = root.take_text("sandbox_mode")?;
    let mut draft = Draft::new(
        options.name.clone().unwrap_or_else(|| "codex".to_owned()),
        "Imported from Codex's configuration.",
    );
    let mut codex = Profile::default();
    // `sandbox_mode` makes Codex ignore profiles, unless one is asked for here.
    match (&options.profile, &default, mode) {
        (None, _, Some(mode)) => older(&mode, &mut root, &mut codex, &mut notes)?,
        (Some(name), _, _) | (None, Some(name), None) => {
            codex.profile(name, &mut permissions, &mut notes, 0)?;
        }
        (None, None, None) => {
            return Err(ImportError::Profile {
                name: "default_permissions".to_owned(),
                known: permissions.rest().into_iter().map(|(name, _)| name).collect(),
            });
        }
    }
    codex.write(&mut draft, &mut notes);
    draft.pass(&["PATH", "LANG", "TERM", "HOME"]);
    notes.narrower(
        "shell_environment_policy",
        "this policy passes PATH, LANG, TERM and HOME; add what else a task needs",
    );
    draft.process("allow syscall @system-service");
    Ok(Imported {
        policy: draft.text(),
        left: notes.close(options.relax)?,
    })
}

/// One access to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Deny,
}

#[derive(Debug, Default)]
struct Profile {
    files: Vec<(String, Access)>,
    /// Directories that commands work in, besides `.`.
    workspaces: Vec<String>,
    network: bool,
    /// Absent: every host. In the order of the file.
    domains: Option<Vec<(String, bool)>>,
}

impl Profile {
    fn profile(
        &mut self,
        name: &str,
        profiles: &mut Table,
        notes: &mut Notes,
        depth: usize,
    ) -> Result<(), ImportError> {
        let read_only = |profile: &mut Self| profile.files.push(("/".to_owned(), Access::Read));
        match name {
            ":read-only" => {
                read_only(self);
                return Ok(());
            }
            ":workspace" => {
                read_only(self);
                self.workspace(".", Access::Write);
                self.files.push(("/tmp".to_owned(), Access::Write));
                return Ok(());
            }
            ":danger-full-access" => {
                return Err(ImportError::Restriction {
                    place: "permissions".to_owned(),
                    why: "`:danger-full-access` is no sandbox, and a policy always is one; choose another profile".to_owned(),
                });
            }
            _ => {}
        }
        let mut others = profiles.clone();
        // A profile is taken out before its base is read, so that no cycle ends in itself.
        let Some(node) = others.take(name).filter(|_| depth < 16) else {
            return Err(ImportError::Profile {
                name: name.to_owned(),
                known: profiles.rest().into_iter().map(|(name, _)| name).collect(),
            });
        };
        let mut profile = node.table()?;
        if let Some(base) = profile.take_text("extends")? {
            self.profile(&base, &mut others, notes, depth + 1)?;
        }
        for (path, node) in profile.take_table("workspace_roots")?.rest() {
            if node.flag()? {
                match paths::read(&path, Syntax::Literal) {
                    Ok(path) => self.workspaces.push(path),
                    Err(why) => notes.narrower(&node.place, why),
                }
            }
        }
        let mut filesystem = profile.take_table("filesystem")?;
        notes.ignore(&mut filesystem, &["glob_scan_max_depth"]);
        for (path, node) in filesystem.rest() {
            self.entry(&path, node, notes)?;
        }
        self.hosts(&mut profile.take_table("network")?, notes)?;
        notes.ignore(&mut profile, &["description"]);
        notes.finish(&mut profile);
        Ok(())
    }

    /// A path with an access, or a table of paths beneath it.
    fn entry(&mut self, path: &str, node: Node, notes: &mut Notes) -> Result<(), ImportError> {
        if let Value::Object(_) = node.value {
            for (below, node) in node.table()?.rest() {
                let joined = if below == "." {
                    path.to_owned()
                } else {
                    format!("{path}/{below}")
                };
                self.entry(&joined, node, notes)?;
            }
            return Ok(());
        }
        let access = match node.text()? {
            "read" => Access::Read,
            "write" => Access::Write,
            "deny" | "none" => Access::Deny,
            _ => {
                return Err(ImportError::Type {
                    place: node.place,
                    expected: "`read`, `write` or `deny`",
                });
            }
        };
        let (root, rest) = path.split_once('/').unwrap_or((path, ""));
        let beneath = |root: &str| {
            if rest.is_empty() {
                root.to_owned()
            } else {
                format!("{}/{rest}", root.trim_end_matches('/'))
            }
        };
        let written: Vec<String> = match root {
            ":minimal" if rest.is_empty() => RUNTIME.iter().map(|path| (*path).to_owned()).collect(),
            ":root" => vec![beneath("/")],
            ":tmpdir" | ":slash_tmp" => vec![beneath("/tmp")],
            ":workspace_roots" | ":project_roots" | ":cwd" | ":current_working_directory" => {
                if rest.is_empty() && access != Access::Deny {
                    self.workspace(".", access);
                    return Ok(());
                }
                std::iter::once(".".to_owned())
                    .chain(self.workspaces.iter().cloned())
                    .map(|root| beneath(&root))
                    .collect()
            }
            _ if root.starts_with(':') && access == Access::Deny => {
                return Err(ImportError::Restriction {
                    place: node.place,
                    why: format!("`{root}` is not known to this version"),
                });
            }
            _ if root.starts_with(':') => {
                notes.narrower(&node.place, format!("`{root}` is not known to this version"));
                return Ok(());
            }
            _ => vec![path.to_owned()],
        };
        for path in written {
            self.path(&path, access, &node.place, notes)?;
        }
        Ok(())
    }

    fn path(
        &mut self,
        path: &str,
        access: Access,
        place: &str,
        notes: &mut Notes,
    ) -> Result<(), ImportError> {
        match paths::read(path, Syntax::Glob) {
            Ok(path) => self.files.push((path, access)),
            Err(why) if access == Access::Write => notes.narrower(place, why),
            // `read` takes writing away beneath a broader grant.
            Err(why) => {
                let wider = paths::above(path).map_err(|_| ImportError::Restriction {
                    place: place.to_owned(),
                    why: why.clone(),
                })?;
                notes.narrower(
                    place,
                    format!("{why}; everything beneath `{wider}` is refused instead"),
                );
                self.files.push((wider, Access::Deny));
            }
        }
        Ok(())
    }

    fn workspace(&mut self, path: &str, access: Access) {
        let roots = std::iter::once(path.to_owned()).chain(self.workspaces.clone());
        for root in roots.collect::<Vec<_>>() {
            self.files.push((root, access));
        }
    }

    fn hosts(&mut self, network: &mut Table, notes: &mut Notes) -> Result<(), ImportError> {
        if let Some(enabled) = network.take_flag("enabled")? {
            self.network = enabled;
        }
        if let Some(node) = network.take("domains") {
            let domains = self.domains.get_or_insert_default();
            for (domain, node) in node.table()?.rest() {
                let allowed = match node.text()? {
                    "allow" => true,
                    "deny" => false,
                    _ => {
                        return Err(ImportError::Type {
                            place: node.place,
                            expected: "`allow` or `deny`",
                        });
                    }
                };
                let patterns = domain_patterns(&domain);
                match patterns {
                    Ok(patterns) => domains.extend(patterns.into_iter().map(|host| (host, allowed))),
                    Err(why) if allowed => notes.narrower(&node.place, why),
                    Err(why) => {
                        return Err(ImportError::Restriction {
                            place: node.place,
                            why,
                        });
                    }
                }
            }
        }
        notes.leave(
            network,
            &["unix_sockets", "dangerously_allow_all_unix_sockets"],
            "a socket file reaches the daemon behind it: UNIX sockets stay closed",
        );
        notes.leave(
            network,
            &[
                "allow_local_binding", "allow_upstream_proxy", "dangerously_allow_non_loopback_proxy", "proxy_url",
                "socks_url", "enable_socks5", "enable_socks5_udp", "mode", "mitm",
            ],
            "Remit enforces names in the kernel's path, without a proxy; write `allow bind` for ports a task serves",
        );
        notes.finish(network);
        Ok(())
    }

    fn write(&self, draft: &mut Draft, notes: &mut Notes) {
        for (path, access) in &self.files {
            let glob = path.replace("\\*", "").contains(['*', '?', '[']);
            let missing = Suffix {
                because: None,
                if_present: !glob && path != "/" && path != ".",
                permit_degraded: false,
            };
            let refusal = Suffix {
                permit_degraded: glob,
                ..missing
            };
            match access {
                Access::Read => {
                    draft.file(Effect::Allow, "read, execute", path, missing);
                    if self.inside_a_grant(path) {
                        draft.file(Effect::Deny, "write", path, refusal);
                    }
                }
                Access::Write => {
                    draft.file(Effect::Allow, "read, write, execute", path, missing);
                    for name in PROTECTED {
                        let suffix = Suffix {
                            because: Some(PROTECTS),
                            ..Suffix::PRESENT
                        };
                        let path = format!("{}/{name}", path.trim_end_matches('/'));
                        if !glob {
                            draft.file(Effect::Forbid, "write", &path, suffix);
                        }
                    }
                }
                Access::Deny => draft.file(Effect::Forbid, "", path, refusal),
            }
        }
        if !self.network {
            return;
        }
        match &self.domains {
            None => {
                draft.network(Effect::Allow, "connect tcp, udp", "*:*", Suffix::NONE);
                notes.equal(
                    "network.enabled",
                    "no host is listed, so every address is reachable",
                );
            }
            Some(domains) => {
                for (host, allowed) in domains {
                    let effect = if *allowed { Effect::Allow } else { Effect::Forbid };
                    draft.network(effect, "connect tcp", &format!("{host}:*"), Suffix::NONE);
                }
            }
        }
    }

    /// Whether something broader may be written, so that `read` has to take that back. Said once too often it does no harm.
    fn inside_a_grant(&self, path: &str) -> bool {
        path != "/" && self.files.iter().any(|(_, access)| *access == Access::Write)
    }
}

/// `*.x` is what lies beneath a name, `**.x` the name as well.
fn domain_patterns(domain: &str) -> Result<Vec<String>, String> {
    if domain == "*" {
        return Ok(vec!["*".to_owned()]);
    }
    match domain.strip_prefix("**.") {
        Some(name) => Ok(vec![destination(name)?, destination(&format!("*.{name}"))?]),
        None => Ok(vec![destination(domain)?]),
    }
}

fn older(mode: &str, root: &mut Table, codex: &mut Profile, notes: &mut Notes) -> Result<(), ImportError> {
    codex.files.push(("/".to_owned(), Access::Read));
    match mode {
        "read-only" => return Ok(()),
        "workspace-write" => {}
        _ => {
            return Err(ImportError::Restriction {
                place: "sandbox_mode".to_owned(),
                why: "a policy always is a sandbox; choose `read-only` or `workspace-write`".to_owned(),
            });
        }
    }
    let mut settings = root.take_table("sandbox_workspace_write")?;
    for node in settings.take_list("writable_roots")? {
        match paths::read(node.text()?, Syntax::Literal) {
            Ok(path) => codex.workspaces.push(path),
            Err(why) => notes.narrower(&node.place, why),
        }
    }
    codex.workspace(".", Access::Write);
    let excludes = settings.take_flag("exclude_slash_tmp")?.unwrap_or_default();
    settings.take("exclude_tmpdir_env_var");
    if !excludes {
        codex.files.push(("/tmp".to_owned(), Access::Write));
    }
    codex.network = settings.take_flag("network_access")?.unwrap_or_default();
    notes.finish(&mut settings);
    Ok(())
}
