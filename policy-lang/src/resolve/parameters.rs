//! Parameters: declared, given a value, checked against their type.
//!
//! A value is data. It can fill a place of its type and nothing else: it never adds a rule, a wildcard or a `..`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::address::{self, HostText};
use super::path::normalise_value;
use super::quantity;
use super::text::quoted;
use super::{Place, Resolver};
use crate::ast::{Item, Param, ParamType, PolicyBlock, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::suggest::nearest;

/// A parameter with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    /// Absolute and normalised.
    Path(String),
    /// An address.
    Address(IpAddr),
    /// A host name.
    HostName(String),
    /// A prefix, host bits zero.
    Cidr(IpAddr, u8),
    /// A port.
    Port(u16),
    /// As written, and in seconds.
    Duration(String, u64),
    /// As written, and in bytes.
    Size(String, u64),
    /// A member of its set.
    Member(String),
    /// Missing or malformed, and reported.
    Refused,
}

impl Bound {
    /// As text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Path(text)
            | Self::HostName(text)
            | Self::Duration(text, _)
            | Self::Size(text, _)
            | Self::Member(text) => text.clone(),
            Self::Address(address) => address.to_string(),
            Self::Cidr(address, prefix_len) => format!("{address}/{prefix_len}"),
            Self::Port(port) => port.to_string(),
            Self::Refused => String::new(),
        }
    }

    /// As a sentence calls it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Path(_) => "a path",
            Self::Address(_) | Self::HostName(_) => "a host",
            Self::Cidr(..) => "a cidr",
            Self::Port(_) => "a port",
            Self::Duration(..) => "a duration",
            Self::Size(..) => "a size",
            Self::Member(_) => "a string",
            Self::Refused => "nothing",
        }
    }
}

impl Resolver<'_> {
    /// Of a layer. A ceiling, which somebody `asked` for, has its own defaults and nothing from outside.
    pub(super) fn bind_parameters(&mut self, policy: &PolicyBlock, asked: Option<Place>) {
        let mut declared: BTreeMap<&str, Span> = BTreeMap::new();
        for item in &policy.items {
            let Item::Param(param) = item else { continue };
            if let Some(first) = declared.get(param.name.text.as_str()) {
                self.report(
                    Diagnostic::error(
                        Code::Repeated,
                        param.name.span,
                        format!("the parameter `{}` is declared twice", param.name.text),
                    )
                    .label("this is the second")
                    .also(*first, "the first")
                    .help("remove one, or give it another name"),
                );
                continue;
            }
            declared.insert(&param.name.text, param.name.span);
            let bound = self.bind(param, asked);
            self.parameters.insert(param.name.text.clone(), bound);
        }
        if self.complete && asked.is_none() {
            self.unknown_inputs(policy.name.span);
        }
    }

    fn bind(&mut self, param: &Param, asked: Option<Place>) -> Bound {
        let members = self.members(param);
        // The default is checked even when a value replaces it: a policy is wrong or right by itself.
        let default = param
            .default
            .as_ref()
            .map(|default| self.bind_default(param, default, &members));
        if let Some(asked) = asked {
            return default.unwrap_or_else(|| {
                let (name, file) = (&param.name, self.file);
                self.report_in(
                    asked.file,
                    Diagnostic::error(
                        Code::CeilingParameter,
                        asked.span,
                        format!("the parameter `{}` of this ceiling has no default", name.text),
                    )
                    .label("this ceiling")
                    .also_in(file, name.span, "declared here")
                    .help(
                        "write a default in the ceiling; values given to a policy do not reach its ceilings",
                    ),
                );
                Bound::Refused
            });
        }
        let Some(given) = self.inputs.parameters.get(&param.name.text) else {
            return default.unwrap_or_else(|| {
                self.report(
                    Diagnostic::error(
                        Code::MissingParameter,
                        param.name.span,
                        format!("the parameter `{}` has no value", param.name.text),
                    )
                    .label("no default here, and none was given")
                    .help(format!(
                        "give one with `--param {}=VALUE`, or write a default",
                        param.name.text
                    )),
                );
                Bound::Refused
            });
        };
        match self.typed(param.kind.value, given, &members) {
            Ok(bound) => bound,
            Err(mistake) => {
                let found = Diagnostic::error(
                    Code::ParameterType,
                    param.kind.span,
                    format!(
                        "`--param {}={}`: {}",
                        param.name.text,
                        given.escape_debug(),
                        mistake.message
                    ),
                )
                .label("declared here")
                .help(mistake.help);
                self.report(found);
                Bound::Refused
            }
        }
    }

    fn bind_default(&mut self, param: &Param, default: &Value, members: &[String]) -> Bound {
        let text = match default {
            Value::Quantity(quantity) => format!("{}{}", quantity.number, quantity.unit),
            Value::Text(text) => match text.literal() {
                Some(literal) => literal.to_owned(),
                None => {
                    self.report(
                        Diagnostic::error(Code::ParameterPlace, text.span, "a default is a fixed text")
                            .label("it names another parameter")
                            .help("write the value out"),
                    );
                    return Bound::Refused;
                }
            },
            Value::Parameter(_) => return Bound::Refused,
        };
        match self.typed(param.kind.value, &text, members) {
            Ok(bound) => bound,
            Err(mistake) => {
                let mut found = Diagnostic::error(Code::ParameterType, default.span(), mistake.message)
                    .label("not of the declared type")
                    .also(param.kind.span, "the type")
                    .help(mistake.help);
                if let Some(better) = mistake.better {
                    let better = if matches!(default, Value::Quantity(_)) {
                        better
                    } else {
                        quoted(&better)
                    };
                    found = found.suggest(default.span(), better);
                }
                self.report(found);
                Bound::Refused
            }
        }
    }

    fn members(&mut self, param: &Param) -> Vec<String> {
        let mut members = Vec::new();
        for member in &param.members {
            if let Some(text) = self.fixed(member, "a member") {
                members.push(text);
            }
        }
        let is_string = param.kind.value == ParamType::String;
        if is_string && param.members.is_empty() {
            self.report(
                Diagnostic::error(
                    Code::ParameterType,
                    param.kind.span,
                    "a `string` parameter names its members",
                )
                .label("any text at all could be injected here")
                .help("write `string of \"debug\", \"release\"`"),
            );
        } else if let (false, Some(first)) = (is_string, param.members.first()) {
            self.report(
                Diagnostic::error(
                    Code::ParameterType,
                    first.span,
                    "only a `string` parameter has members",
                )
                .label("not here")
                .also(param.kind.span, "the type")
                .help("remove `of …`"),
            );
        }
        members
    }

    fn typed(&self, kind: ParamType, text: &str, members: &[String]) -> Result<Bound, Mistake> {
        if text.contains('\0') {
            return Err(Mistake::new("a value cannot contain a NUL", "remove it"));
        }
        match kind {
            ParamType::Path => {
                normalise_value(text, &self.inputs.home, &self.inputs.working_directory).map(Bound::Path)
            }
            ParamType::Host => match address::host(text) {
                Some(HostText::Address(address)) => match address::embedded(address, 128) {
                    Some((inner, _)) => Err(Mistake::new(
                        format!("{address} stands for the IPv4 address {inner}"),
                        format!("write `{inner}`"),
                    )
                    .better(inner.to_string())),
                    None => Ok(Bound::Address(address)),
                },
                Some(HostText::Name(name)) => Ok(Bound::HostName(name)),
                None => Err(Mistake::new(
                    format!("`{}` is neither a host name nor an address", text.escape_debug()),
                    "write one name or address, without a port, a prefix length or a wildcard",
                )),
            },
            ParamType::Cidr => address::prefix(text)
                .map(|(address, len)| Bound::Cidr(address, len))
                .map_err(|(_, mistake)| mistake),
            ParamType::Port => match text.parse::<u16>() {
                Ok(port) if port > 0 && !text.starts_with('+') => Ok(Bound::Port(port)),
                _ => Err(Mistake::new(
                    format!("`{}` is not a port", text.escape_debug()),
                    "write one number from 1 to 65535",
                )),
            },
            ParamType::Duration => {
                quantity::duration(text).map(|seconds| Bound::Duration(text.to_owned(), seconds))
            }
            ParamType::Size => quantity::size(text).map(|bytes| Bound::Size(text.to_owned(), bytes)),
            ParamType::String => {
                // Without members the declaration was refused.
                if members.is_empty() {
                    return Ok(Bound::Refused);
                }
                if members.iter().any(|member| member == text) {
                    return Ok(Bound::Member(text.to_owned()));
                }
                let list: Vec<String> = members.iter().map(|member| format!("`{member}`")).collect();
                let mistake = Mistake::new(
                    format!("`{}` is not one of the parameter's members", text.escape_debug()),
                    format!("the members are {}", list.join(", ")),
                );
                Err(match nearest(text, members.iter().map(String::as_str)) {
                    Some(near) => mistake.better(near.to_owned()),
                    None => mistake,
                })
            }
        }
    }

    fn unknown_inputs(&mut self, name: Span) {
        let known: Vec<String> = self.parameters.keys().cloned().collect();
        for given in self.inputs.parameters.keys() {
            if self.parameters.contains_key(given) {
                continue;
            }
            let found = Diagnostic::error(
                Code::UnknownParameter,
                name,
                format!(
                    "`--param {}`: this policy has no such parameter",
                    given.escape_debug()
                ),
            )
            .label("this policy");
            let found = match nearest(given, known.iter().map(String::as_str)) {
                Some(near) => found.help(format!("did you mean `--param {near}`?")),
                None if known.is_empty() => found.help("this policy has no parameters"),
                None => found.help(format!("its parameters are {}", known.join(", "))),
            };
            self.report(found);
        }
    }
}

/// Why a text is not of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// What is wrong.
    pub(super) message: String,
    /// What to do.
    pub(super) help: String,
    /// The whole text as it should be.
    pub(super) better: Option<String>,
}

impl Mistake {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
            better: None,
        }
    }

    pub(super) fn better(mut self, text: String) -> Self {
        self.better = Some(text);
        self
    }
}
