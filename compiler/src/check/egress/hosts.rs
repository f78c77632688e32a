//! Host patterns under which anybody can have a name.

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::pattern::HostPattern;
use policy_lang::policy::{Effect, HostEndpoint, Rule};

use crate::check::Context;

/// Domains whose owners give names beneath them to anybody who asks.
const SHARED: &[&str] = &[
    "amazonaws.com",
    "appspot.com",
    "azurewebsites.net",
    "blob.core.windows.net",
    "cloudfront.net",
    "firebaseapp.com",
    "fly.dev",
    "github.io",
    "gitlab.io",
    "herokuapp.com",
    "netlify.app",
    "ngrok-free.app",
    "ngrok.io",
    "onrender.com",
    "pages.dev",
    "r2.dev",
    "run.app",
    "storage.googleapis.com",
    "supabase.co",
    "trycloudflare.com",
    "vercel.app",
    "web.app",
    "workers.dev",
];

pub(super) fn check<'a>(
    context: &Context<'_>,
    rule: &Rule,
    hosts: impl Iterator<Item = (&'a HostEndpoint, &'a usize)>,
    found: &mut Vec<Diagnostic>,
) {
    if rule.effect == Effect::Ask {
        return;
    }
    for (host, index) in hosts {
        let HostPattern::Beneath(parent) = &host.pattern else {
            continue;
        };
        let is_top = !parent.contains('.');
        let is_shared = SHARED.iter().any(|shared| {
            let ends = parent.strip_suffix(shared);
            ends.is_some_and(|front| front.is_empty() || front.ends_with('.') && parent.contains("amazonaws"))
        });
        if is_top || is_shared {
            found.push(context.target(rule, *index).found(|span| {
                Diagnostic::warning(
                    Code::BroadHost,
                    span,
                    format!("anybody can have a name under `{parent}`"),
                )
                .label("an attacker's server can be one of these")
                .help("name the hosts that the task needs, or write `ask` instead of `allow`")
            }));
        }
    }
}
