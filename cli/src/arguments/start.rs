//! Reading a command line.
//!
//! Every command that `remit` has is described to the parser before it reads a word, which for a start takes as long as a
//! namespace. So `run` is tried alone first; whatever that does not understand (a request for help, a mistake) is read
//! again by the whole, which then says what it always says.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use super::{Cli, ColorChoice, Command, Run};

/// Reads this process's command line.
///
/// # Errors
/// What clap says, also for help and version.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "run")
        && let Ok(found) = RunAlone::try_parse_from(&words)
    {
        let Alone::Run(run) = found.command;
        return Ok(Cli {
            color: found.color,
            command: Command::Run(run),
        });
    }
    Cli::try_parse_from(&words)
}

/// [`Cli`] with one command.
#[derive(Debug, Parser)]
#[command(name = "remit", version)]
struct RunAlone {
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[command(subcommand)]
    command: Alone,
}

#[derive(Debug, Subcommand)]
enum Alone {
    Run(Run),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_alone_reads_what_the_whole_reads() {
        for line in [
            "remit run p.remit -- true",
            "remit run --color never p.remit --param a=b --param c=d --events - --quiet -- sh -c exit",
            "remit run p.ron --color=always -C /tmp --home /h --instance other -- true --color auto",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let alone = RunAlone::try_parse_from(&words).unwrap();
            let whole = Cli::try_parse_from(&words).unwrap();
            let Alone::Run(run) = alone.command;
            assert_eq!(alone.color, whole.color, "{line}");
            assert_eq!(
                format!("{:?}", Command::Run(run)),
                format!("{:?}", whole.command),
                "{line}"
            );
        }
        for line in [
            "remit run --help",
            "remit run",
            "remit run p.remit",
            "remit run --no-such p.remit -- x",
        ] {
            assert!(RunAlone::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
