//! Whatever bytes a policy file has, it is laid out or refused with findings: never a panic, never a layout that would
//! mean something else. A layout formats to itself, is read without an error, and every span is on its text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy_lang::format::{FormatError, format};
use policy_lang::{Diagnostic, SourceFile};

fn spans_are_on_the_text(source: &SourceFile, found: &[Diagnostic]) {
    for found in found {
        let spans = found.secondary.iter().map(|label| label.span);
        let spans = spans.chain(found.suggestion.iter().map(|suggestion| suggestion.span)).chain([found.span]);
        for span in spans {
            assert!(source.text.get(span.start..span.end).is_some(), "{found:?}");
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let source = SourceFile::from_bytes("fuzz.remit", bytes.to_vec());
    match format(&source) {
        Ok(text) => {
            let formatted = SourceFile::new("fuzz.remit", text);
            spans_are_on_the_text(&formatted, &policy_lang::parse(&formatted).diagnostics);
            let again = format(&formatted);
            assert_eq!(again.as_deref().ok(), Some(formatted.text.as_str()));
        }
        Err(FormatError::Mistakes(found)) => {
            assert!(!found.is_empty());
            spans_are_on_the_text(&source, &found);
        }
        Err(fault) => panic!("{fault}"),
    }
});
