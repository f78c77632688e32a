//! The documentation of each code, so that a tool can show it where the finding is.
//!
//! The pages are read by people on the web too, so there is one text for both.

use super::Code;

const PAGES: [&str; 2] = [
    include_str!("../../../docs/diagnostics.md"),
    include_str!("../../../docs/lints.md"),
];

impl Code {
    /// What the documentation says of it: Markdown, without a heading. Empty if it says nothing, which a test forbids.
    #[must_use]
    pub fn page(self) -> &'static str {
        PAGES
            .iter()
            .find_map(|page| section(page, self.as_str()))
            .unwrap_or_default()
    }
}

/// What stands between a heading and the next one.
fn section<'a>(page: &'a str, code: &str) -> Option<&'a str> {
    page.split("\n## ")
        .find_map(|section| section.strip_prefix(code)?.strip_prefix('\n'))
        .map(str::trim)
}
