//! What a learned policy never goes beyond when nobody names a ceiling.

/// Its name beneath the root of the rounds.
pub(super) const FILE: &str = "learning.remit";

/// The default ceiling for these directories. `remit learn --show-ceiling` prints it.
///
/// A scratch directory would hide the work if that lies beneath it.
pub(super) fn default(home: &str, working_directory: &str) -> String {
    let text = include_str!("ceiling.remit");
    let hides = |path: &str| path == "/tmp" || path.starts_with("/tmp/");
    let lines = text.split_inclusive('\n');
    if hides(home) || hides(working_directory) {
        lines.filter(|line| !line.contains("scratch")).collect()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scratch_directory_never_hides_the_work() {
        assert!(default("/home/dev", "/home/dev/work").contains("scratch"));
        assert!(!default("/home/dev", "/tmp/work").contains("scratch"));
        assert!(!default("/tmp", "/srv").contains("scratch"));
    }
}
