//! Where a statement stands: what may begin there, and what one looks like.

use super::super::grammar::Rule;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// A kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Context {
    /// Outside every block.
    Top,
    /// `policy`
    Policy,
    /// `group`
    Group,
    /// `filesystem`
    Filesystem,
    /// `network`
    Network,
    /// `credentials`
    Credentials,
    /// `process`
    Process,
    /// `workspace`
    Workspace,
    /// `audit`
    Audit,
    /// `test`
    Test,
}

/// Words that begin blocks of a policy.
const BLOCKS: &[&str] = &[
    "filesystem",
    "network",
    "credentials",
    "process",
    "workspace",
    "audit",
];

impl Context {
    pub(super) fn strict_rule(self) -> Rule {
        match self {
            Self::Top => Rule::strict_top,
            Self::Policy => Rule::strict_policy,
            Self::Group => Rule::strict_group,
            Self::Filesystem => Rule::strict_filesystem,
            Self::Network => Rule::strict_network,
            Self::Credentials => Rule::strict_credentials,
            Self::Process => Rule::strict_process,
            Self::Workspace => Rule::strict_workspace,
            Self::Audit => Rule::strict_audit,
            Self::Test => Rule::strict_test,
        }
    }

    /// As it is called in a sentence.
    pub(in crate::parse) fn described(self) -> &'static str {
        match self {
            Self::Top => "the file",
            Self::Policy => "`policy`",
            Self::Group => "`group`",
            Self::Filesystem => "`filesystem`",
            Self::Network => "`network`",
            Self::Credentials => "`credentials`",
            Self::Process => "`process`",
            Self::Workspace => "`workspace`",
            Self::Audit => "`audit`",
            Self::Test => "`test`",
        }
    }

    /// The rules that begin its statements.
    pub(super) fn starters(self) -> &'static [Rule] {
        match self {
            Self::Top => &[Rule::kw_include, Rule::kw_group, Rule::kw_policy, Rule::kw_test],
            Self::Policy => &[
                Rule::kw_summary,
                Rule::kw_within,
                Rule::kw_use,
                Rule::kw_param,
                Rule::kw_filesystem,
                Rule::kw_network,
                Rule::kw_credentials,
                Rule::kw_process,
                Rule::kw_workspace,
                Rule::kw_audit,
                Rule::kw_require,
                Rule::kw_unlock,
            ],
            Self::Group => &[
                Rule::kw_summary,
                Rule::kw_use,
                Rule::kw_filesystem,
                Rule::kw_network,
                Rule::kw_credentials,
                Rule::kw_process,
            ],
            Self::Filesystem => &[Rule::effect, Rule::kw_scratch, Rule::kw_hide],
            Self::Network => &[Rule::effect],
            Self::Credentials => &[Rule::effect, Rule::kw_pass, Rule::kw_set, Rule::kw_broker],
            Self::Process => &[Rule::kw_identity, Rule::effect, Rule::kw_limit],
            Self::Workspace => &[Rule::kw_from, Rule::kw_mode, Rule::kw_keep],
            Self::Audit => &[Rule::kw_record],
            Self::Test => &[Rule::file_access, Rule::verb, Rule::kw_env, Rule::kw_syscall],
        }
    }

    /// What a statement looks like, as help.
    pub(super) fn shape(self) -> &'static str {
        match self {
            Self::Top => {
                "a file is `policy \"name\" { … }`, and any number of `test \"name\" { … }`, `include \"file\"` and \
                 `group name { … }`"
            }
            Self::Policy => {
                "a policy holds `summary`, `within`, `use`, `param`, `require`, `unlock`, and the blocks `filesystem`, `network`, `credentials`, \
                 `process`, `workspace` and `audit`"
            }
            Self::Group => {
                "a group holds `summary`, `use`, and the blocks `filesystem`, `network`, `credentials` and `process`"
            }
            Self::Filesystem => "a rule reads `allow read, write \"/path\" because \"why\"`",
            Self::Network => "a rule reads `allow connect tcp \"192.0.2.1:443\" because \"why\"`",
            Self::Credentials => {
                "a statement reads `pass \"PATH\"`, `deny pass \"AWS_*\"`, `set \"CI\" = \"true\"` or \
                 `broker \"TOKEN\" for \"api.example.com:443\" as bearer from env \"TOKEN\" ttl 15m`"
            }
            Self::Process => {
                "a statement reads `identity dynamic`, `allow syscall @system-service`, \
                 `deny syscall \"ioctl\" where request == TIOCSTI` or `limit memory 4GiB`"
            }
            Self::Workspace => "a statement reads `from \".\"`, `mode ephemeral` or `keep review`",
            Self::Audit => "a statement reads `record denied, exec, connect`",
            Self::Test => {
                "a line reads `read \"/etc/shadow\" is denied` or `connect \"192.0.2.1:443\" is allowed`"
            }
        }
    }

    /// A block or header that is complete in itself but stands in the wrong place.
    pub(super) fn misplaced(self, word: &str, at: Span, skipped: Span, text: &str) -> Option<Diagnostic> {
        if self != Self::Top {
            return None;
        }
        let stretch = text.get(skipped.start..skipped.end).unwrap_or_default();
        if word == "}" {
            return Some(
                Diagnostic::error(Code::UnexpectedToken, at, "this `}` closes nothing")
                    .label("no block is open here")
                    .help("remove it, or look for a `}` too many above")
                    .suggest(at, ""),
            );
        }
        (BLOCKS.contains(&word) && stretch.contains('{')).then(|| {
            Diagnostic::error(
                Code::UnexpectedToken,
                at,
                format!("`{word}` stands outside the policy"),
            )
            .label("a block of `policy`")
            .help("move it inside `policy \"name\" { … }`; perhaps a `}` above closes the policy too early")
        })
    }
}
