//! `"address:port"`: from text to boxes of addresses and ports.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Resolver;
use super::address::{self, HostText};
use super::parameters::{Bound, Mistake};
use super::text::{Filled, quoted};
use crate::ast::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::HostPattern;
use crate::policy::{Endpoint, HostEndpoint};

/// What a target stands for.
pub(super) enum Target {
    /// Addresses: one box, or one for each family if the address is `*`.
    Boxes(Vec<Endpoint>),
    /// Hosts by name.
    Host(HostEndpoint),
}

/// The two halves of an endpoint, as text.
struct Halves<'t> {
    /// Without brackets, with its prefix length.
    address: Cow<'t, str>,
    port: &'t str,
}

/// Why a text is no endpoint.
struct Wrong {
    code: Code,
    mistake: Mistake,
}

fn wrong(code: Code, mistake: Mistake) -> Wrong {
    Wrong { code, mistake }
}

impl Resolver<'_> {
    /// What a target stands for.
    pub(super) fn target(&mut self, text: &Text) -> Option<Target> {
        let whole = self.endpoint_text(text)?;
        match parse(&whole) {
            Ok(target) => Some(target),
            Err(wrong) => {
                self.refuse(text, wrong);
                None
            }
        }
    }

    /// One host and one port, as a program would give them: IPv6 forms of IPv4 addresses stay as they are.
    pub(super) fn socket_address(&mut self, text: &Text) -> Option<(HostText, u16)> {
        let whole = self.endpoint_text(text)?;
        let found = halves(&whole).and_then(|halves| {
            let host = address::host(&halves.address).ok_or_else(|| not_a_host(&halves.address, &whole))?;
            match ports(halves.port)? {
                (first, last) if first == last => Ok((host, first)),
                _ => Err(wrong(
                    Code::BadPort,
                    Mistake::new("a test names one port", "write one number after the colon"),
                )),
            }
        });
        match found {
            Ok(found) => Some(found),
            Err(mut wrong) => {
                // A proposal for a rule may be a prefix or all ports, which a test cannot use.
                wrong.mistake.better = None;
                self.refuse(text, wrong);
                None
            }
        }
    }

    fn refuse(&mut self, text: &Text, wrong: Wrong) {
        let Wrong { code, mistake } = wrong;
        let mut found = Diagnostic::error(code, text.span, mistake.message).help(mistake.help);
        // What comes out of a parameter is not repaired by editing the rule.
        found = match mistake.better.filter(|_| text.literal().is_some()) {
            Some(better) => {
                let better = quoted(&better);
                found
                    .label(format!("did you mean `{better}`?"))
                    .suggest(text.span, better)
            }
            None => found.label("in this target"),
        };
        self.report(found);
    }

    /// Parameters filled in, each only where a whole part of its type stands.
    fn endpoint_text(&mut self, text: &Text) -> Option<String> {
        let pieces = self.filled(text)?;
        let mut whole = String::new();
        let mut sound = true;
        for (index, piece) in pieces.iter().enumerate() {
            let (name, bound) = match piece {
                Filled::Written(written) => {
                    whole.push_str(written);
                    continue;
                }
                Filled::Parameter(name, bound) => (name, bound),
            };
            let before = whole.clone();
            let next = match pieces.get(index + 1) {
                Some(Filled::Written(next)) => next.chars().next(),
                Some(Filled::Parameter(..)) => Some('$'),
                None => None,
            };
            let starts = before.is_empty() || before == "[";
            let fits = match bound {
                Bound::Address(_) => starts && matches!(next, None | Some(':' | ']' | '/')),
                Bound::HostName(_) => {
                    (before.is_empty() || before == "*.") && matches!(next, None | Some(':'))
                }
                Bound::Cidr(..) => starts && matches!(next, None | Some(':' | ']')),
                Bound::Port(_) => {
                    (before.ends_with(':') || before.ends_with('-')) && matches!(next, None | Some('-'))
                }
                _ => false,
            };
            if !fits {
                sound = false;
                self.report(
                    Diagnostic::error(
                        Code::ParameterPlace,
                        name.span,
                        format!("`{}` is {}, which does not fit here", name.text, bound.kind()),
                    )
                    .label("cannot stand here")
                    .help(
                        "before the colon stands a `host` or `cidr` parameter, after it a `port` parameter",
                    ),
                );
                continue;
            }
            let bare = before.is_empty();
            match bound {
                Bound::Address(IpAddr::V6(address)) if bare => whole.push_str(&format!("[{address}]")),
                Bound::Cidr(address @ IpAddr::V6(_), len) if bare => {
                    whole.push_str(&format!("[{address}]/{len}"))
                }
                other => whole.push_str(&other.text()),
            }
        }
        sound.then_some(whole)
    }

    /// A text that takes a parameter of any type: the value of a variable.
    pub(super) fn value_text(&mut self, text: &Text) -> Option<String> {
        let pieces = self.filled(text)?;
        let mut whole = String::new();
        for piece in pieces {
            match piece {
                Filled::Written(written) => whole.push_str(written),
                Filled::Parameter(_, bound) => whole.push_str(&bound.text()),
            }
        }
        Some(whole)
    }
}

fn parse(whole: &str) -> Result<Target, Wrong> {
    let halves = halves(whole)?;
    let (first_port, last_port) = ports(halves.port)?;
    let target = |(address, prefix_len)| Endpoint {
        address,
        prefix_len,
        first_port,
        last_port,
    };
    if halves.address == "*" {
        return Ok(Target::Boxes(vec![
            target((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)),
            target((IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0)),
        ]));
    }
    let bare = halves.address.split('/').next().unwrap_or_default();
    if bare.parse::<IpAddr>().is_err() {
        return match HostPattern::parse(&halves.address) {
            Ok(pattern) => Ok(Target::Host(HostEndpoint {
                pattern,
                first_port,
                last_port,
            })),
            Err(_) => Err(not_a_host(&halves.address, whole)),
        };
    }
    match address::prefix(&halves.address) {
        Ok(found) => Ok(Target::Boxes(vec![target(found)])),
        Err((code, mut mistake)) => {
            mistake.better = mistake.better.map(|better| joined(&better, halves.port));
            Err(wrong(code, mistake))
        }
    }
}

/// An address and a port as the language writes them.
fn joined(address: &str, port: &str) -> String {
    match address.split_once('/') {
        Some((bare, len)) if bare.contains(':') => format!("[{bare}]/{len}:{port}"),
        None if address.contains(':') => format!("[{address}]:{port}"),
        _ => format!("{address}:{port}"),
    }
}

/// Splits at the colon that belongs to the port.
fn halves(whole: &str) -> Result<Halves<'_>, Wrong> {
    if let Some(rest) = whole.strip_prefix('[') {
        return bracketed(whole, rest);
    }
    let Some((address, port)) = whole.rsplit_once(':') else {
        return Err(no_port(whole, whole));
    };
    if !address.contains(':') {
        return Ok(Halves {
            address: address.into(),
            port,
        });
    }
    if whole.contains("//") {
        return Err(not_a_host(whole, whole));
    }
    let is_address = |text: &str| {
        let (bare, len) = text.split_once('/').unwrap_or((text, "0"));
        bare.parse::<Ipv6Addr>().is_ok() && len.bytes().all(|digit| digit.is_ascii_digit())
    };
    let better = if is_address(address) {
        Some(joined(address, port))
    } else if is_address(whole) {
        Some(joined(whole, "*"))
    } else {
        None
    };
    let mistake = Mistake::new(
        format!(
            "in `{}`, it cannot be told where the address ends",
            whole.escape_debug()
        ),
        "write an IPv6 address in brackets, as in `[2001:db8::1]:443` or `[2001:db8::]/32:443`",
    );
    Err(wrong(
        Code::BadAddress,
        match better {
            Some(better) => mistake.better(better),
            None => mistake,
        },
    ))
}

fn bracketed<'t>(whole: &'t str, rest: &'t str) -> Result<Halves<'t>, Wrong> {
    let malformed = || {
        wrong(
            Code::BadAddress,
            Mistake::new(
                format!("`{}` is not an address and a port", whole.escape_debug()),
                "write an IPv6 address in brackets, as in `[2001:db8::1]:443` or `[2001:db8::/32]:443`",
            ),
        )
    };
    let (inside, after) = rest.split_once(']').ok_or_else(malformed)?;
    if inside.parse::<Ipv4Addr>().is_ok() {
        return Err(wrong(
            Code::BadAddress,
            Mistake::new(
                "brackets are for IPv6 addresses",
                "write the IPv4 address without them",
            )
            .better(format!("{inside}{after}")),
        ));
    }
    if after.is_empty() {
        return Err(no_port(whole, inside));
    }
    if let Some(port) = after.strip_prefix(':') {
        return Ok(Halves {
            address: inside.into(),
            port,
        });
    }
    let (len, port) = after
        .strip_prefix('/')
        .and_then(|after| after.split_once(':'))
        .ok_or_else(malformed)?;
    if inside.contains('/') || len.is_empty() {
        return Err(malformed());
    }
    Ok(Halves {
        address: format!("{inside}/{len}").into(),
        port,
    })
}

fn no_port(whole: &str, address: &str) -> Wrong {
    if whole.is_empty() {
        return wrong(
            Code::BadAddress,
            Mistake::new(
                "a target cannot be empty",
                "write `\"*:*\"` for every address and port",
            ),
        );
    }
    wrong(
        Code::BadPort,
        Mistake::new(
            format!("`{}` names no port", whole.escape_debug()),
            "write `:443` for one port, `:3000-3999` for a range, `:*` for all of them",
        )
        .better(joined(address, "*")),
    )
}

fn not_a_host(text: &str, whole: &str) -> Wrong {
    let dotted = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'/'));
    let help = if whole.contains('%') {
        "an address has no zone here; write it without `%…`".to_owned()
    } else if whole.contains("//") {
        "write a host and a port, not a URL".to_owned()
    } else {
        match HostPattern::parse(text) {
            // A name cannot be a prefix, and digits alone were meant as an address.
            Err(reason) if !dotted && !text.contains(['/', ' ']) => format!("as a host name, {reason}"),
            _ => "write an IPv4 address, an IPv6 address in brackets, a prefix, a host name, or `*` for every address"
                .to_owned(),
        }
    };
    wrong(
        Code::BadAddress,
        Mistake::new(
            format!("`{}` is neither an address nor a host name", text.escape_debug()),
            help,
        ),
    )
}

fn ports(text: &str) -> Result<(u16, u16), Wrong> {
    if text == "*" {
        return Ok((0, u16::MAX));
    }
    let number = |text: &str| -> Result<u16, Wrong> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| digits).ok_or_else(|| {
            wrong(
                Code::BadPort,
                Mistake::new(
                    if text.is_empty() {
                        "the port is empty".to_owned()
                    } else {
                        format!("`{}` is not a port", text.escape_debug())
                    },
                    "write a number from 0 to 65535, a range like `3000-3999`, or `*`",
                ),
            )
        })
    };
    let Some((first, last)) = text.split_once('-') else {
        return number(text).map(|port| (port, port));
    };
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(wrong(
            Code::BadPort,
            Mistake::new(
                format!("the range `{first}-{last}` runs backwards"),
                format!("write `{last}-{first}`"),
            ),
        ));
    }
    Ok((first, last))
}
