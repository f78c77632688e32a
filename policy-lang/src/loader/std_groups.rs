//! The groups of rules that come with the language: files like any other, embedded.

use crate::source::SourceFile;

/// Name without `std::`, and text. In the order of their names.
pub const STD_GROUPS: &[(&str, &str)] = &[("linux", include_str!("../../std/linux.remit"))];

/// The file that defines `std::NAME`.
#[must_use]
pub fn std_group(name: &str) -> Option<SourceFile> {
    let found = STD_GROUPS.iter().find(|(own, _)| *own == name);
    found.map(|(own, text)| SourceFile::new(format!("std/{own}.remit"), *text))
}
