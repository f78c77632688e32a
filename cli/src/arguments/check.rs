//! `remit check`: what can be asked of it.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
use policy_lang::diagnostic::Code;

use super::{Bindings, Guardrails};

/// `remit check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Policy files, and directories to look for them in
    #[arg(required_unless_present = "explain", value_name = "POLICY", value_hint = ValueHint::AnyPath)]
    pub(crate) policies: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) bindings: Bindings,
    #[command(flatten)]
    pub(crate) guard: Guardrails,
    /// Write for a person, a program or a service
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CheckFormat,
    /// Drop findings with this code, or all `notes`; may be repeated
    #[arg(long, value_name = "CODE|notes", value_delimiter = ',')]
    pub(crate) allow: Vec<Group>,
    /// Make errors of findings with this code, or of all `warnings` or `notes`; may be repeated
    #[arg(long, short = 'D', value_name = "CODE|warnings|notes", value_delimiter = ',')]
    pub(crate) deny: Vec<Group>,
    /// Also find what this kernel cannot enforce; may be repeated
    #[arg(long, value_name = "KERNEL", value_delimiter = ',')]
    pub(crate) target: Vec<Kernel>,
    /// Take the proposals after which a policy allows no more than before, and write the files
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print what a code means, with an example
    #[arg(long, value_name = "CODE", conflicts_with_all = ["policies", "fix", "target"])]
    pub(crate) explain: Option<KnownCode>,
}

/// How findings are written. The variants carry no help of their own, so that `--help` lists them on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    Text,
    Json,
    Sarif,
    Junit,
    Github,
}

/// Kernels that the kernel table knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kernel {
    #[value(name = "linux-5.15")]
    V5_15,
    #[value(name = "linux-6.1")]
    V6_1,
    #[value(name = "linux-6.6")]
    V6_6,
    #[value(name = "linux-6.12")]
    V6_12,
    #[value(name = "linux-6.18")]
    V6_18,
    #[value(name = "linux-7.0")]
    V7_0,
    #[value(name = "linux-7.2")]
    V7_2,
}

/// A code that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownCode(pub(crate) Code);

impl FromStr for KnownCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Code::parse(text).map(Self).ok_or_else(|| {
            let nearest = policy_lang::suggest::nearest(text, Code::ALL.iter().map(|code| code.as_str()));
            match nearest {
                Some(nearest) => format!("no finding has it; did you mean `{nearest}`?"),
                None => "no finding has it; codes look like `R0610`".to_owned(),
            }
        })
    }
}

/// Findings that are meant together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// With one code.
    Code(Code),
    /// All warnings.
    Warnings,
    /// All notes.
    Notes,
}

impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "warnings" => Ok(Self::Warnings),
            "notes" => Ok(Self::Notes),
            code => code.parse().map(|KnownCode(code)| Self::Code(code)),
        }
    }
}
