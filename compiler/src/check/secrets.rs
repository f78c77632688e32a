//! Files that hold keys and tokens, and that the run can read.

use std::collections::BTreeMap;

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::pattern::PathPattern;
use policy_lang::policy::FileAccess;

use super::context::some_of;
use super::{Context, workspace};

/// What to ask about beneath the home directory, and what it is called.
const AT_HOME: &[(&str, &str)] = &[
    (".ssh/id_ed25519", "~/.ssh"),
    (".aws/credentials", "~/.aws"),
    (".config/gcloud/credentials.db", "~/.config/gcloud"),
    (".azure/msal_token_cache.json", "~/.azure"),
    (".kube/config", "~/.kube/config"),
    (".docker/config.json", "~/.docker/config.json"),
    (".gnupg/private-keys-v1.d/key", "~/.gnupg"),
    (".netrc", "~/.netrc"),
    (".npmrc", "~/.npmrc"),
    (".pypirc", "~/.pypirc"),
    (".git-credentials", "~/.git-credentials"),
    (".cargo/credentials.toml", "~/.cargo/credentials.toml"),
    (".config/gh/hosts.yml", "~/.config/gh"),
    (".vault-token", "~/.vault-token"),
    (".password-store/a.gpg", "~/.password-store"),
    (".local/share/keyrings/login.keyring", "~/.local/share/keyrings"),
    (".terraform.d/credentials.tfrc.json", "~/.terraform.d"),
    (".mozilla/firefox/profiles.ini", "~/.mozilla"),
    (".config/google-chrome/Default/Cookies", "~/.config/google-chrome"),
];

/// The same of the machine.
const OF_THE_MACHINE: &[(&str, &str)] = &[
    ("/etc/shadow", "/etc/shadow"),
    ("/etc/gshadow", "/etc/gshadow"),
    ("/etc/ssh/ssh_host_ed25519_key", "/etc/ssh"),
    ("/etc/ssl/private/key.pem", "/etc/ssl/private"),
    ("/etc/kubernetes/admin.conf", "/etc/kubernetes"),
    ("/run/secrets/token", "/run/secrets"),
    ("/var/run/secrets/token", "/var/run/secrets"),
    ("/var/lib/kubelet/pki/key.pem", "/var/lib/kubelet"),
];

/// The same of a checkout.
const IN_A_CHECKOUT: &[&str] = &[".env", ".env.local", ".npmrc", ".netrc"];

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    // By rule and target: the same grant is mentioned once.
    let mut readable: BTreeMap<(u32, usize), Vec<&str>> = BTreeMap::new();
    let at_home = AT_HOME
        .iter()
        .map(|(path, shown)| (context.at_home(path), *shown));
    let of_the_machine = OF_THE_MACHINE
        .iter()
        .map(|(path, shown)| ((*path).to_owned(), *shown));
    for (path, shown) in at_home.chain(of_the_machine) {
        if let Some(grant) = context.grant_of(FileAccess::Read, &path)
            && !is_everything(context, grant.target)
        {
            readable
                .entry((grant.rule.id.0, grant.index))
                .or_default()
                .push(shown);
        }
    }
    for ((rule, index), names) in readable {
        let Some(rule) = context.policy.rule(policy_lang::policy::RuleId(rule)) else {
            continue;
        };
        found.push(context.target(rule, index).found(|span| {
            Diagnostic::warning(
                Code::SecretsReadable,
                span,
                format!("the run can read secrets: {}", some_of(&names)),
            )
            .label("what is read can be sent wherever the run may connect")
            .help("grant less, or add `deny read \"…\" because \"…\"` on them; `broker` gives the use of a credential without its value")
        }));
    }
    for grant in workspace::all(context) {
        let Some(root) = grant.literal() else { continue };
        let names: Vec<&str> = IN_A_CHECKOUT
            .iter()
            .copied()
            .filter(|name| {
                let path = format!("{}/{name}", root.trim_end_matches('/'));
                context.granted_file(FileAccess::Read, &path).is_some()
            })
            .collect();
        if names.is_empty() {
            continue;
        }
        let target = context.written_target(&grant);
        found.push(context.target(grant.rule, grant.index).found(|span| {
            Diagnostic::remark(
                Code::SecretsReadable,
                span,
                format!("secrets that lie in this checkout can be read: {}", some_of(&names)),
            )
            .label("files of settings often hold tokens")
            .help(format!(
                "add `deny read, write \"{target}/.env\" if present because \"secrets are brokered, never read\"`"
            ))
        }));
    }
}

/// Grants of that size have a finding of their own.
fn is_everything(context: &Context<'_>, target: &PathPattern) -> bool {
    target.covers("/") || target.covers(context.options.home)
}
