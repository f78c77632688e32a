//! `srt`: `denyRead` and `allowRead` by what is nearer, `denyWrite` before `allowWrite`, `deniedDomains` before
//! `allowedDomains`.

use import::{Format, Options, import};
use policy_lang::policy::FileAccess;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

use super::{DOMAINS, HOSTS, WRITTEN, allows_file, allows_host, covers, domain_covers, places};
use crate::support::resolved;

/// Never writable, in the working directory and below.
const PROTECTED: &[&str] = &[".bashrc", ".gitconfig", ".vscode", ".git/hooks"];

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(of, 0..=of.len().min(3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn srt(
        deny_read in some(WRITTEN),
        allow_write in some(WRITTEN),
        deny_write in some(WRITTEN),
        allowed in some(DOMAINS),
        denied in some(DOMAINS),
        git_config in select(&[true, false]),
    ) {
        let deny_read: Vec<_> = deny_read.into_iter().filter(|path| *path != "/").collect();
        let text = json!({
            "filesystem": { "denyRead": deny_read, "allowWrite": allow_write, "denyWrite": deny_write, "allowGitConfig": git_config },
            "network": { "allowedDomains": allowed, "deniedDomains": denied },
        });
        let policy = resolved(&import(Format::Srt, &text.to_string(), &Options::default()).unwrap().policy);
        for place in places() {
            let any = |list: &[&str]| list.iter().any(|path| covers(path, &place));
            let reads = !any(&deny_read);
            prop_assert!(reads || !allows_file(&policy, FileAccess::Read, &place), "read {place}");
            prop_assert!(reads || !allows_file(&policy, FileAccess::Execute, &place), "execute {place}");
            let protected = PROTECTED.iter().any(|name| covers(&format!("**/{name}"), &place))
                || !git_config && covers("**/.git/config", &place);
            let writes = any(&allow_write) && !any(&deny_write) && !protected;
            prop_assert!(writes || !allows_file(&policy, FileAccess::Write, &place), "write {place}");
        }
        for host in HOSTS {
            let any = |list: &[&str]| list.iter().any(|domain| domain_covers(domain, host));
            let connects = any(&allowed) && !any(&denied);
            prop_assert_eq!(connects, allows_host(&policy, host, 443), "connect {}", host);
        }
    }
}

#[test]
fn srt_settings_grant_what_they_say() {
    let text = json!({
        "filesystem": { "denyRead": ["~/.ssh"], "allowWrite": ["."], "denyWrite": ["build"] },
        "network": { "allowedDomains": ["a.example"] },
    });
    let policy = resolved(
        &import(Format::Srt, &text.to_string(), &Options::default())
            .unwrap()
            .policy,
    );
    assert!(allows_file(&policy, FileAccess::Read, "/etc/hosts"));
    assert!(allows_file(
        &policy,
        FileAccess::Write,
        "/home/dev/work/src/main.rs"
    ));
    assert!(!allows_file(&policy, FileAccess::Write, "/home/dev/work/build/x"));
    assert!(!allows_file(&policy, FileAccess::Read, "/home/dev/.ssh/id"));
}
