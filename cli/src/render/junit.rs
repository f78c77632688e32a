//! Test results in the XML that continuous integration reads (the schema of Jenkins' `xunit` plugin).

use std::fmt::Write as _;

/// The cases of one file.
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// One case.
pub(crate) struct Case {
    /// What it belongs to.
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    /// A sentence, and all there is to say.
    pub(crate) failure: Option<(String, String)>,
    /// What to say of a case that does not fail.
    pub(crate) output: Option<String>,
}

/// The whole document.
pub(crate) fn draw(suites: &[Suite]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    text.push_str(&format!("<testsuites {}>\n", counts(all())));
    for suite in suites {
        text.push_str(&format!(
            "  <testsuite name=\"{}\" {}>\n",
            escaped(&suite.name),
            counts(suite.cases.iter())
        ));
        suite.cases.iter().for_each(|case| draw_case(&mut text, case));
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    let (mut tests, mut failures) = (0, 0);
    for case in cases {
        tests += 1;
        failures += usize::from(case.failure.is_some());
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"")
}

fn draw_case(text: &mut String, case: &Case) {
    text.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escaped(&case.class),
        escaped(&case.name)
    ));
    if let Some(file) = &case.file {
        text.push_str(&format!(" file=\"{}\"", escaped(file)));
    }
    if let Some(line) = case.line {
        text.push_str(&format!(" line=\"{line}\""));
    }
    // In text, unlike in an attribute, a line break is one.
    let lines = |text: &str| escaped(text).replace("&#10;", "\n");
    match (&case.failure, &case.output) {
        (None, None) => text.push_str("/>\n"),
        (None, Some(output)) => text.push_str(&format!(
            ">\n      <system-out>{}</system-out>\n    </testcase>\n",
            lines(output)
        )),
        (Some((sentence, detail)), _) => text.push_str(&format!(
            ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
            escaped(sentence),
            lines(detail)
        )),
    }
}

/// XML 1.0 cannot carry control characters at all, escaped or not.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            hidden if hidden.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(hidden));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_reserves_is_escaped_and_failures_are_counted() {
        let case = |failure: Option<&str>| Case {
            class: "a <b>".to_owned(),
            name: "read \"/x&y\"".to_owned(),
            file: Some("p.remit".to_owned()),
            line: Some(3),
            failure: failure.map(|text| (text.to_owned(), format!("{text}\n\u{1b}[31m"))),
            output: None,
        };
        insta::assert_snapshot!(draw(&[Suite {
            name: "p.remit".to_owned(),
            cases: vec![case(None), case(Some("it is denied"))],
        }]));
    }
}
