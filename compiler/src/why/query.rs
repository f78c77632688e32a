//! What a person asks about, as words: `read ~/.ssh/id`, `connect 192.0.2.1:443`, `syscall ioctl request=TIOCSTI`.
//!
//! A path is followed as the kernel would follow it, since that is what a rule speaks of. What was followed is said.

use std::net::{IpAddr, SocketAddr};

use policy_lang::PathResolver;
use policy_lang::pattern::host;
use policy_lang::policy::{FileAccess, Protocol, Verb};
use policy_lang::reference::Access;
use policy_lang::suggest::nearest;
use policy_lang::syscall::{Architecture, table};
use thiserror::Error;

use super::path;

/// What a question depends on besides its words.
pub struct Surroundings<'a> {
    /// What `~` means.
    pub home: &'a str,
    /// What relative paths start from.
    pub working_directory: &'a str,
    /// Follows symbolic links.
    pub paths: &'a dyn PathResolver,
    /// Whose system calls are meant. A call that only another architecture has is looked up there.
    pub architecture: Architecture,
}

/// A question, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The access.
    pub access: Access,
    /// What was done to the words on the way.
    pub notes: Vec<String>,
}

/// A question that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryError {
    /// The first word names no access.
    #[error("`{word}` is no access{}", meant_or(.near, "; ask for read, write, execute, connect, bind, env or syscall"))]
    Verb {
        /// As typed.
        word: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// Too few or too many words.
    #[error("`{verb}` is followed by {wanted}")]
    Words {
        /// The first word.
        verb: &'static str,
        /// What should stand behind it.
        wanted: &'static str,
    },
    /// A path that leads nowhere.
    #[error("`{path}` cannot be followed: {reason}")]
    Path {
        /// As typed.
        path: String,
        /// Why.
        reason: String,
    },
    /// A target that is none.
    #[error("`{target}` is no target: {reason}")]
    Target {
        /// As typed.
        target: String,
        /// Why.
        reason: String,
    },
    /// A system call that nobody has.
    #[error("no system call is called `{name}`{}", meant(.near))]
    Call {
        /// As typed.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// An argument that the call does not have, or a value that is none.
    #[error("`{argument}` is no argument of `{call}`: {reason}")]
    Argument {
        /// The call.
        call: String,
        /// As typed.
        argument: String,
        /// Why.
        reason: String,
    },
}

fn meant(near: &Option<String>) -> String {
    meant_or(near, "")
}

fn meant_or(near: &Option<String>, otherwise: &str) -> String {
    near.as_ref().map_or_else(
        || otherwise.to_owned(),
        |near| format!(", did you mean `{near}`?"),
    )
}

const VERBS: [&str; 8] = [
    "read", "write", "execute", "exec", "connect", "bind", "env", "syscall",
];

/// Understands a question.
///
/// # Errors
/// When it names no access.
pub fn parse(words: &[String], surroundings: &Surroundings<'_>) -> Result<Query, QueryError> {
    let (verb, rest) = words
        .split_first()
        .map_or(("", words), |(verb, rest)| (verb.as_str(), rest));
    let asked = |access| {
        Ok(Query {
            access,
            notes: Vec::new(),
        })
    };
    match verb {
        "read" => file(FileAccess::Read, rest, surroundings),
        "write" => file(FileAccess::Write, rest, surroundings),
        "execute" | "exec" => file(FileAccess::Execute, rest, surroundings),
        "connect" => network(Verb::Connect, rest).and_then(asked),
        "bind" => network(Verb::Bind, rest).and_then(asked),
        "env" => match rest {
            [name] if !name.is_empty() && !name.contains('=') => {
                asked(Access::Environment { name: name.clone() })
            }
            _ => Err(QueryError::Words {
                verb: "env",
                wanted: "one name",
            }),
        },
        "syscall" => call(rest, surroundings.architecture).and_then(asked),
        other => Err(QueryError::Verb {
            word: other.to_owned(),
            near: nearest(other, VERBS).map(str::to_owned),
        }),
    }
}

fn file(access: FileAccess, rest: &[String], surroundings: &Surroundings<'_>) -> Result<Query, QueryError> {
    let [asked] = rest else {
        return Err(QueryError::Words {
            verb: access.word(),
            wanted: "one path",
        });
    };
    let found = path::follow(asked, surroundings).map_err(|reason| QueryError::Path {
        path: asked.clone(),
        reason,
    })?;
    Ok(Query {
        access: Access::File {
            access,
            path: found.path,
        },
        notes: found.notes,
    })
}

/// `[tcp|udp] HOST:PORT [at ADDRESS]`
fn network(verb: Verb, rest: &[String]) -> Result<Access, QueryError> {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let (protocol, words) = match words.as_slice() {
        ["tcp", rest @ ..] => (Protocol::Tcp, rest),
        ["udp", rest @ ..] => (Protocol::Udp, rest),
        rest => (Protocol::Tcp, rest),
    };
    let (target, at) = match words {
        [target] => (*target, None),
        [target, "at", address] => (*target, Some(*address)),
        _ => {
            return Err(QueryError::Words {
                verb: verb.word(),
                wanted: "`tcp` or `udp` (or neither, which is tcp), then HOST:PORT",
            });
        }
    };
    let wrong = |reason: String| QueryError::Target {
        target: target.to_owned(),
        reason,
    };
    if let Ok(address) = target.parse::<SocketAddr>() {
        return Ok(Access::Network {
            verb,
            protocol,
            address: address.ip(),
            port: address.port(),
        });
    }
    let (name, port) = target
        .rsplit_once(':')
        .ok_or_else(|| wrong("it names no port, as in `192.0.2.1:443` or `[2001:db8::1]:443`".to_owned()))?;
    let port = port
        .parse()
        .map_err(|_| wrong(format!("`{port}` is not a port")))?;
    let name = host::name(name).map_err(|error| wrong(error.to_string()))?;
    let address = at
        .map(|at| {
            at.parse::<IpAddr>()
                .map_err(|_| wrong(format!("`{at}` is not an address")))
        })
        .transpose()?;
    Ok(Access::Host {
        verb,
        protocol,
        host: name,
        address,
        port,
    })
}

/// `NAME [argument=value…]`; arguments that are not named are zero.
fn call(rest: &[String], architecture: Architecture) -> Result<Access, QueryError> {
    let Some((name, given)) = rest.split_first() else {
        return Err(QueryError::Words {
            verb: "syscall",
            wanted: "its name, then `argument=value` for those that matter",
        });
    };
    let all = std::iter::once(architecture).chain(Architecture::ALL);
    let (architecture, number) = all
        .into_iter()
        .find_map(|architecture| Some((architecture, table::number(name, architecture)?)))
        .ok_or_else(|| QueryError::Call {
            name: name.clone(),
            near: nearest(name, table::names()).map(str::to_owned),
        })?;
    let mut arguments = [0_u64; 6];
    for written in given {
        let wrong = |reason: String| QueryError::Argument {
            call: name.clone(),
            argument: written.clone(),
            reason,
        };
        let (argument, value) = written
            .split_once('=')
            .ok_or_else(|| wrong("write `name=value`".to_owned()))?;
        let found = table::argument(name, argument).ok_or_else(|| {
            let known: Vec<&str> = table::argument_names(name).collect();
            wrong(match nearest(argument, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its arguments are {}", known.join(", ")),
            })
        })?;
        let value = value
            .split('|')
            .map(|term| number_of(term).ok_or_else(|| wrong(unknown_constant(term))))
            .try_fold(0, |sum, term| term.map(|term| sum | term))?;
        if let Some(register) = arguments.get_mut(usize::from(found.index)) {
            *register = found.width.cut(value);
        }
    }
    Ok(Access::Syscall {
        architecture,
        number,
        arguments,
    })
}

fn number_of(term: &str) -> Option<u64> {
    let term = term.trim();
    match term.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => term.parse().ok().or_else(|| table::constant(term)),
    }
}

fn unknown_constant(term: &str) -> String {
    match nearest(term, table::constant_names()) {
        Some(near) => format!("`{term}` is no number or constant, did you mean `{near}`?"),
        None => format!("`{term}` is no number or constant"),
    }
}

#[cfg(test)]
mod tests;
