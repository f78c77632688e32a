//! The groups of rules that come with the language: files like any other, embedded.

use crate::source::SourceFile;

/// Name without `std::`, and text. In the order of their names.
pub const STD_GROUPS: &[(&str, &str)] = &[
    ("c-toolchain", include_str!("../../std/c-toolchain.remit")),
    ("chromium", include_str!("../../std/chromium.remit")),
    ("claude-code", include_str!("../../std/claude-code.remit")),
    ("codex", include_str!("../../std/codex.remit")),
    ("gemini-cli", include_str!("../../std/gemini-cli.remit")),
    ("git", include_str!("../../std/git.remit")),
    ("go", include_str!("../../std/go.remit")),
    ("jvm", include_str!("../../std/jvm.remit")),
    ("linux", include_str!("../../std/linux.remit")),
    ("node", include_str!("../../std/node.remit")),
    ("python", include_str!("../../std/python.remit")),
    ("rust", include_str!("../../std/rust.remit")),
    ("ssh-client", include_str!("../../std/ssh-client.remit")),
];

/// The file that defines `std::NAME`.
#[must_use]
pub fn std_group(name: &str) -> Option<SourceFile> {
    let found = STD_GROUPS.iter().find(|(own, _)| *own == name);
    found.map(|(own, text)| SourceFile::new(format!("std/{own}.remit"), *text))
}
