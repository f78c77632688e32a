//! `broker`: a credential that the run uses and never holds.
//!
//! It goes to one host and one port, so that no other can ask for it.

use super::Resolver;
use super::endpoint::Target;
use super::layer::Facts;
use super::quantity::Measure;
use super::rules::Said;
use crate::ast::{Broker as Statement, BrokerScheme, BrokerSource, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::HostPattern;
use crate::policy::{
    Broker, Destination, Effect, FileAccess, LayerId, Policy, Rule, Scheme, SecretSource, Subject,
};
use crate::reference::{Access, decide_in};

/// Headers that say how the message is carried; a credential in one would change what the request is.
const CARRYING: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Resolver<'_> {
    pub(super) fn broker(&mut self, statement: &Statement, said: &mut Said) {
        let name = self.variable_name(&statement.name);
        let destination = self.destination(&statement.destination);
        let scheme = self.scheme(&statement.scheme);
        let source = match &statement.source {
            BrokerSource::Env(text) => self.variable_name(text).map(SecretSource::Env),
            BrokerSource::File(text) => self
                .literal_path(text, "a credential's file")
                .map(SecretSource::File),
        };
        let ttl = statement
            .ttl
            .as_ref()
            .map(|ttl| self.amount(ttl, Measure::Duration));
        let (Some(name), Some(destination), Some(scheme), Some(source)) = (name, destination, scheme, source)
        else {
            return;
        };
        if ttl == Some(None) {
            return;
        }
        if let Some(first) = said.brokers.get(&name).copied() {
            self.repeated(
                statement.name.span,
                first,
                format!("the credential `{name}` is brokered already"),
            );
            return;
        }
        said.brokers.insert(name.clone(), self.here(statement.name.span));
        let text = self.shown_broker(statement);
        let subject = Subject::Broker(Broker {
            name,
            destination,
            scheme,
            source,
            ttl_seconds: ttl.flatten(),
        });
        self.add(statement.span, Effect::Allow, subject, text, &statement.suffix);
    }

    fn destination(&mut self, text: &Text) -> Option<Destination> {
        let target = self.target(text)?;
        let found = match target {
            Target::Host(host) => {
                let one = matches!(host.pattern, HostPattern::Name(_)) && host.first_port == host.last_port;
                one.then_some(Destination::Host(host))
            }
            Target::Boxes(boxes) => match boxes.as_slice() {
                [one]
                    if usize::from(one.prefix_len) == address_bits(one)
                        && one.first_port == one.last_port =>
                {
                    Some(Destination::Address(*one))
                }
                _ => None,
            },
        };
        if found.is_none() {
            self.report(
                Diagnostic::error(
                    Code::BadBroker,
                    text.span,
                    "a credential is brokered for one host and one port",
                )
                .label("this is more than one")
                .help("write one statement for each host, as in `for \"api.example.com:443\"`"),
            );
        }
        found
    }

    fn scheme(&mut self, scheme: &BrokerScheme) -> Option<Scheme> {
        let text = match scheme {
            BrokerScheme::Bearer => return Some(Scheme::Bearer),
            BrokerScheme::Basic => return Some(Scheme::Basic),
            BrokerScheme::Header(text) => text,
        };
        let name = self.fixed(text, "the name of a header")?;
        let token = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        let message = if !token {
            format!("`{}` is not the name of a header", name.escape_debug())
        } else if CARRYING.contains(&name.to_ascii_lowercase().as_str()) {
            format!("`{name}` says how a request is carried")
        } else {
            return Some(Scheme::Header(name));
        };
        self.report(
            Diagnostic::error(Code::BadBroker, text.span, message)
                .label("no credential can stand in it")
                .help("write the header that the service reads its key from, as in `header \"X-Api-Key\"`"),
        );
        None
    }

    fn shown_broker(&self, statement: &Statement) -> String {
        let scheme = match &statement.scheme {
            BrokerScheme::Bearer => "bearer".to_owned(),
            BrokerScheme::Basic => "basic".to_owned(),
            BrokerScheme::Header(text) => format!("header {}", self.shown(text)),
        };
        let source = match &statement.source {
            BrokerSource::Env(text) => format!("env {}", self.shown(text)),
            BrokerSource::File(text) => format!("file {}", self.shown(text)),
        };
        let ttl = match &statement.ttl {
            Some(ttl) => format!(" ttl {}", self.shown_value(ttl)),
            None => String::new(),
        };
        format!(
            "broker {} for {} as {scheme} from {source}{ttl}",
            self.shown(&statement.name),
            self.shown_endpoint(&statement.destination),
        )
    }

    /// What the layers broker, before the policy is joined.
    pub(super) fn brokered(&self) -> Vec<(LayerId, Broker)> {
        let brokered = |rule: &Rule| match &rule.subject {
            Subject::Broker(broker) => Some((rule.layer?, broker.clone())),
            _ => None,
        };
        self.rules.iter().filter_map(brokered).collect()
    }

    /// A credential is used only where every ceiling brokers the same, or hands its source to the run anyway.
    pub(super) fn brokers_within(
        &mut self,
        policy: &Policy,
        inner: &Facts,
        ceilings: &[Facts],
        brokered: &[(LayerId, Broker)],
    ) {
        for (_, own) in brokered.iter().filter(|(layer, _)| *layer == LayerId::INNERMOST) {
            let access = match &own.source {
                SecretSource::Env(name) => Access::Environment { name: name.clone() },
                SecretSource::File(path) => Access::File {
                    access: FileAccess::Read,
                    path: path.clone(),
                },
            };
            for ceiling in ceilings {
                let same = brokered
                    .iter()
                    .any(|(layer, other)| *layer == ceiling.id && covers(other, own));
                let given = || decide_in(ceiling.id, policy, &access).effect == Effect::Allow;
                let Some(at) = inner.said.brokers.get(&own.name).filter(|_| !same && !given()) else {
                    continue;
                };
                self.report_in(
                    at.file,
                    Diagnostic::error(
                        Code::BeyondCeiling,
                        at.span,
                        format!("a ceiling does not broker `{}`", own.name),
                    )
                    .label("refused by a ceiling")
                    .also_in(ceiling.named.file, ceiling.named.span, "this ceiling")
                    .help("have the ceiling broker the same credential for the same destination, for at least as long"),
                );
            }
        }
    }
}

/// Whether a ceiling's credential permits a policy's: the same one for the same host, for no longer.
fn covers(ceiling: &Broker, own: &Broker) -> bool {
    let as_long = match (ceiling.ttl_seconds, own.ttl_seconds) {
        (None, _) => true,
        (Some(most), Some(ttl)) => ttl <= most,
        (Some(_), None) => false,
    };
    as_long
        && ceiling.destination == own.destination
        && ceiling.scheme == own.scheme
        && ceiling.source == own.source
}

fn address_bits(endpoint: &crate::policy::Endpoint) -> usize {
    if endpoint.address.is_ipv4() { 32 } else { 128 }
}
