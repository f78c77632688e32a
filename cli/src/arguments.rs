//! The command line. Everything a person can type, and the help they read first.

mod check;
mod examples;
mod fmt;
mod start;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

pub(crate) use check::{Check, CheckFormat, Group, Kernel};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

pub(crate) use fmt::Fmt;
pub(crate) use start::parse;

/// Contains an agent's run to what a reviewed policy grants.
#[derive(Debug, Parser)]
#[command(name = "remit", version, max_term_width = 100, after_help = examples::TOP)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Colour output; `auto` looks at the terminal, NO_COLOR and TERM
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour. The variants carry no help of their own, so that `--help` lists them on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// How results are written: for a person, or for a program as one JSON document on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check policies and report everything wrong with them
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Run a policy's tests, and show which rules they leave untried
    #[command(after_help = examples::TEST)]
    Test(Test),
    /// Compile a policy to the artifact that is reviewed and run
    #[command(after_help = examples::COMPILE)]
    Compile(Compile),
    /// Show what enforces each rule, and whether this host can
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Say why an access is allowed or refused, and what rule would allow it
    #[command(after_help = examples::WHY)]
    Why(Why),
    /// Compare two policies: what became allowed or refused, with an access that shows it
    #[command(after_help = examples::DIFF)]
    Diff(Diff),
    /// Turn another tool's settings into a policy
    #[command(after_help = examples::IMPORT)]
    Import(Import),
    /// Propose a policy from what a command is refused (needs root)
    #[command(after_help = examples::LEARN)]
    Learn(Learn),
    /// Work with guardrails: what an organisation asks of every policy, in Rego
    #[command(subcommand)]
    Guard(Guard),
    /// Run a command within a policy (needs root)
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Prove a policy on this host from inside a real run (needs root)
    #[command(after_help = examples::VERIFY)]
    Verify(Verify),
    /// Show what this kernel offers, what is missing, and what that costs
    #[command(after_help = examples::DOCTOR)]
    Doctor(Doctor),
    /// Finish runs whose enforcer died, as the next run would (needs root)
    #[command(after_help = examples::RECOVER)]
    Recover(InstanceOnly),
    /// Remove everything Remit keeps on this host (needs root)
    #[command(after_help = examples::UNLOAD)]
    Unload(InstanceOnly),
    /// Work with recorded events
    #[command(subcommand)]
    Events(Events),
    /// Lay policy files out in the one style, in place
    #[command(after_help = examples::FMT)]
    Fmt(Fmt),
    /// Serve an editor: findings, hover, completion, definitions, layout
    #[command(after_help = examples::LSP)]
    Lsp,
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
}

/// What a policy is resolved with.
#[derive(Debug, Clone, Args)]
pub(crate) struct Bindings {
    /// Bind a parameter of the policy; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    /// What `~` means [default: the home of the user who called, also under sudo]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
    /// What relative paths and parameters of type `path` start from [default: the current directory]
    #[arg(long, short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// What `include` and `within` read from [default: the nearest directory above the policy with a `.remit-root`, else its own]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Option<PathBuf>,
}

/// `name=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// A name the policy declares with `param`.
    pub(crate) name: String,
    /// Text; the resolver gives it its type.
    pub(crate) value: String,
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some(("", _)) => Err("the name before `=` is empty".to_owned()),
            Some((name, value)) => Ok(Self {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            None => Err(format!("no `=` in it; write `--param {text}=VALUE`")),
        }
    }
}

/// `remit test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Policy file
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    /// Files of `test` blocks, judged with those of the policy
    #[arg(value_name = "TESTS", value_hint = ValueHint::FilePath)]
    pub(crate) tests: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    /// Only tests with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Fail when fewer rules than this decide a tested access
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) fail_under: Option<u8>,
    /// Which rules coverage counts: the policy's own, or those of its groups and ceilings too
    #[arg(long, value_name = "RULES", default_value = "own")]
    pub(crate) coverage: CoverageOf,
    /// Write for a person, as one document for a program, or for continuous integration
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TestFormat,
}

/// Which rules coverage counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CoverageOf {
    Own,
    All,
}

/// How test results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    Text,
    Json,
    Junit,
}

/// `remit compile`.
#[derive(Debug, Args)]
pub(crate) struct Compile {
    /// Policy file
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    /// Where to write the artifact; `-` is stdout
    #[arg(long, short, value_name = "FILE.ron", default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    #[command(flatten)]
    pub(crate) guard: Guardrails,
}

/// `remit diff`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The policy as it was; with `--ceiling` the one to be compared with it
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,
    /// The policy as it is to be
    #[arg(
        value_name = "NEW",
        required_unless_present = "ceiling",
        conflicts_with = "ceiling"
    )]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    /// Compare one policy with a ceiling, which it need not name with `within`
    #[arg(long, value_name = "CEILING", value_hint = ValueHint::FilePath)]
    pub(crate) ceiling: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    #[command(flatten)]
    pub(crate) guard: Guardrails,
    /// Write for a person, as one document for a program, or as a comment for a pull request
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: DiffFormat,
}

/// How a comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    Text,
    Json,
    Markdown,
}

/// `remit import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Whose settings they are
    #[arg(value_name = "FROM")]
    pub(crate) from: ImportFormat,
    /// The file to import; `-` is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) source: Option<PathBuf>,
    /// A `docker run` line, after `--`
    #[arg(last = true, value_name = "LINE")]
    pub(crate) line: Vec<OsString>,
    /// Where to write the policy; `-` is stdout
    #[arg(long, short, value_name = "FILE.remit", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// The name of the policy [default: the source's own, or the format's]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Which profile of a file that holds several (codex) [default: the one the file selects]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Leave out restrictions that no policy can say, although the result is wider
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) relax: Vec<RelaxWhat>,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// Settings of Anthropic's sandbox runtime (JSON)
    Srt,
    /// Permission profiles or sandbox settings of Codex (TOML)
    Codex,
    /// A profile of nono (JSON)
    Nono,
    /// A sandbox policy of NVIDIA OpenShell (YAML)
    Openshell,
    /// A `docker run` line
    Docker,
    /// A seccomp profile of Docker or another OCI runtime (JSON)
    Oci,
}

/// Restrictions that may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RelaxWhat {
    /// Which programs may use an endpoint
    Binaries,
    /// Which requests an endpoint takes
    Requests,
    /// Keys that this version does not know
    Unknown,
}

/// `remit learn`.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// A policy to extend [default: a new one, with `use std::linux`]
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<PathBuf>,
    /// The command and its arguments, after `--`
    #[arg(last = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
    /// The ceiling of a new policy [default: `remit learn --show-ceiling`]
    #[arg(long, value_name = "CEILING", value_hint = ValueHint::FilePath)]
    pub(crate) within: Option<PathBuf>,
    /// Where to write the policy; `-` is stdout
    #[arg(long, short, value_name = "FILE.remit", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// The name of a new policy [default: the program's]
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) policy_name: Option<String>,
    /// Try the command at most so often
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Print the default ceiling and stop
    #[arg(long)]
    pub(crate) show_ceiling: bool,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    #[command(flatten)]
    pub(crate) instance: InstanceName,
}

/// `remit explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Policy file or compiled artifact
    #[arg(value_name = "POLICY|ARTIFACT", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    /// Show the built-in floor too
    #[arg(long)]
    pub(crate) all: bool,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// What every policy has to keep to.
#[derive(Debug, Args)]
pub(crate) struct Guardrails {
    /// Refuse a policy that the Rego in this folder denies, or that it cannot judge
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) guardrails: Option<PathBuf>,
}

/// `remit guard`.
#[derive(Debug, Subcommand)]
pub(crate) enum Guard {
    /// Run the tests of guardrails
    #[command(after_help = examples::GUARD_TEST)]
    Test(GuardTest),
    /// Print what guardrails read of a policy
    #[command(after_help = examples::GUARD_INPUT)]
    Input(GuardInput),
    /// Evaluate what comes on stdin: how this binary starts itself
    #[command(hide = true)]
    Worker,
}

/// `remit guard test`.
#[derive(Debug, Args)]
pub(crate) struct GuardTest {
    /// Folder of `.rego` files
    #[arg(value_name = "DIR", default_value = "guardrails", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// `remit guard input`.
#[derive(Debug, Args)]
pub(crate) struct GuardInput {
    /// Policy file
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
}

/// `remit why`.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// Policy file or compiled artifact
    #[arg(value_name = "POLICY|ARTIFACT", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    /// The access: `read PATH`, `connect HOST:PORT`, `env NAME`, `syscall NAME argument=value`, …
    #[arg(
        value_name = "ACCESS",
        required_unless_present = "event",
        conflicts_with = "event"
    )]
    pub(crate) access: Vec<String>,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    /// Answer from this compiled artifact, and say whether the policy decides the same
    #[arg(long, value_name = "FILE.ron", value_hint = ValueHint::FilePath)]
    pub(crate) artifact: Option<PathBuf>,
    /// Answer for a recorded event: a file written by `remit run --events`, and the event's `seq`
    #[arg(long, value_name = "FILE:SEQ")]
    pub(crate) event: Option<EventPosition>,
    /// Which run of the event file, where it holds several
    #[arg(long, value_name = "ID", requires = "event")]
    pub(crate) run: Option<String>,
    /// An argument of the recorded call, since the kernel does not record them; may be repeated
    #[arg(long = "argument", value_name = "NAME=VALUE", requires = "event")]
    pub(crate) arguments: Vec<String>,
    /// Look for the narrowest rule that would allow it (`--event` always does)
    #[arg(long)]
    pub(crate) propose: bool,
    /// Let the proposed rule cover the neighbours too: the directory, the network, any arguments
    #[arg(long)]
    pub(crate) generalise: bool,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// `file:seq`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventPosition {
    /// JSON lines.
    pub(crate) file: PathBuf,
    /// Number of the event in its run.
    pub(crate) seq: u64,
}

impl FromStr for EventPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "write the event file and the event's `seq`, as in `events.jsonl:7`".to_owned();
        let (file, seq) = text.rsplit_once(':').ok_or_else(wrong)?;
        Ok(Self {
            file: PathBuf::from(file),
            seq: seq.parse().map_err(|_| wrong())?,
        })
    }
}

/// `remit run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Policy file or compiled artifact
    #[arg(value_name = "POLICY|ARTIFACT", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    #[command(flatten)]
    pub(crate) guard: Guardrails,
    /// Append events as JSON lines to a file; `-` is stdout
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) events: Option<PathBuf>,
    /// Start the run in this network namespace; `remit verify` makes one, so that no probe leaves the host
    #[arg(long, hide = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) network_namespace: Option<PathBuf>,
    /// Do not write a line to stderr for each refusal
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) instance: InstanceName,
}

/// `remit verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Policy file
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    /// Only probes whose name begins with this; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Print the names of the probes and try none
    #[arg(long)]
    pub(crate) list: bool,
    /// Write the report to be signed off to a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    /// Write for a person, as one document for a program, or for continuous integration
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TestFormat,
}

/// `remit doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Commands that speak of an instance and nothing else.
#[derive(Debug, Args)]
pub(crate) struct InstanceOnly {
    #[command(flatten)]
    pub(crate) instance: InstanceName,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Which of several independent installations on one host.
#[derive(Debug, Args)]
pub(crate) struct InstanceName {
    /// Name of the cgroup, the state directory and the pins this belongs to
    #[arg(long = "instance", value_name = "NAME", default_value = "remit")]
    pub(crate) name: String,
}

/// `remit events`.
#[derive(Debug, Subcommand)]
pub(crate) enum Events {
    /// Check that an event file has no gap and no edit
    #[command(after_help = examples::EVENTS_VERIFY)]
    Verify(EventsVerify),
}

/// `remit events verify`.
#[derive(Debug, Args)]
pub(crate) struct EventsVerify {
    /// Event file written by `remit run --events`; `-` is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Accept a run whose end is not recorded, because it is still alive
    #[arg(long)]
    pub(crate) unfinished: bool,
    /// Write for a person or, as one document, for a program
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// `remit completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_parameter_keeps_every_equals_sign_after_the_first() {
        let parameter: Parameter = "filter=a=b".parse().unwrap();
        assert_eq!(
            (parameter.name.as_str(), parameter.value.as_str()),
            ("filter", "a=b")
        );
    }

    #[test]
    fn a_parameter_without_a_value_says_how_to_write_one() {
        assert_eq!(
            "port".parse::<Parameter>().unwrap_err(),
            "no `=` in it; write `--param port=VALUE`"
        );
        assert_eq!(
            "=1".parse::<Parameter>().unwrap_err(),
            "the name before `=` is empty"
        );
    }
}
