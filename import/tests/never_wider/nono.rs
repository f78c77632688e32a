//! nono: lists of paths unite, `deny` takes away, and some paths are denied in every profile.

use import::{Format, Options, import};
use policy_lang::policy::FileAccess;
use policy_lang::reference::{Access, decide};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::json;

use super::{HOSTS, allows_file, allows_host, covers, places};
use crate::support::resolved;

const PATHS: &[&str] = &[
    "/", "~", "~/.ssh", "~/.cache", "/tmp", "/opt", "/opt/a", "/opt/a/b", "$WORKDIR", "~/.npmrc",
];
const VARIABLES: &[&str] = &["PATH", "LC_*", "LC_ALL", "AWS_*", "AWS_KEY"];

fn covers_path(written: &str, place: &str) -> bool {
    covers(&written.replace("$WORKDIR", "."), place)
}

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(of, 0..=of.len().min(3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn nono(
        allow in some(PATHS),
        read in some(PATHS),
        write in some(PATHS),
        deny in some(PATHS),
        bypass in some(&["~/.npmrc", "~/.ssh"]),
        domains in some(&["a.example", "b.example"]),
        block in any::<bool>(),
        passed in some(VARIABLES),
        stripped in some(VARIABLES),
    ) {
        let text = json!({
            "filesystem": { "allow": allow, "read": read, "write": write, "deny": deny, "bypass_protection": bypass },
            "network": { "block": block, "allow_domain": domains },
            "environment": { "allow_vars": passed, "deny_vars": stripped },
        });
        let policy = resolved(&import(Format::Nono, &text.to_string(), &Options::default()).unwrap().policy);
        for place in places() {
            let any = |list: &[&str]| list.iter().any(|path| covers_path(path, &place));
            let always = ["~/.ssh", "~/.npmrc", "~/.bashrc", "~/.env"];
            let protected = always.iter().any(|path| !bypass.contains(path) && covers(path, &place));
            let system = place.starts_with("/usr/bin") || place.starts_with("/etc/ssl");
            let refused = any(&deny) || protected;
            let reads = !refused && (any(&allow) || any(&read) || system);
            let writes = !refused && (any(&allow) || any(&write));
            prop_assert!(reads || !allows_file(&policy, FileAccess::Read, &place), "read {place}\n{text}");
            prop_assert!(writes || !allows_file(&policy, FileAccess::Write, &place), "write {place}\n{text}");
        }
        for host in HOSTS {
            let open = !block && domains.is_empty();
            prop_assert!(open || domains.contains(host) || !allows_host(&policy, host, 443), "connect {host}\n{text}");
        }
        for name in ["PATH", "LC_ALL", "LC_X", "AWS_KEY", "AWS_Y", "OTHER"] {
            let any = |list: &[&str]| list.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => *pattern == name,
            });
            let passes = (passed.is_empty() || any(&passed)) && !any(&stripped);
            let access = Access::Environment { name: name.to_owned() };
            let allowed = decide(&policy, &access).effect == policy_lang::policy::Effect::Allow;
            prop_assert!(passes || !allowed, "{name}\n{text}");
        }
    }
}
