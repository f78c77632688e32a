//! Text from a run, made safe to show in a terminal.
//!
//! A path may contain anything. Shown as it is, it could move the cursor, change colours, set the title or look
//! like another line. So whatever is not plainly printable is shown as an escape.

/// Replaces control characters, invisible and direction-changing characters, and bytes that are not UTF-8.
/// A backslash is doubled, so that an escape cannot be imitated.
#[must_use]
pub fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push(&mut out, character);
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

fn push(out: &mut String, character: char) {
    match character {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        _ if character.is_control() || is_invisible(character) => {
            out.extend(character.escape_unicode());
        }
        _ => out.push(character),
    }
}

/// Characters that a person does not see, or that change what is seen around them (Unicode TR36, section 3).
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_that_a_terminal_acts_on_is_left() {
        for (bytes, shown) in [
            (&b"/a b/\xc3\xa9"[..], "/a b/é"),
            (b"a\nremit: ok", "a\\nremit: ok"),
            (b"\x1b[2J\x07", "\\u{1b}[2J\\u{7}"),
            (b"\x7f\xc2\x9b", "\\u{7f}\\u{9b}"),
            (b"\xff\xfe", "\\xff\\xfe"),
            ("\u{202e}txt".as_bytes(), "\\u{202e}txt"),
            (b"a\\nb", "a\\\\nb"),
        ] {
            assert_eq!(escaped(bytes), shown);
        }
    }
}
