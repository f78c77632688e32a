//! Spreads compact RON over lines: what fits on a line stays on one, anything longer gets a line for each element.

/// Columns.
const WIDTH: usize = 118;
const INDENT: usize = 4;

/// Appends `compact`, which must be RON as the serializer writes it without any layout.
pub(super) fn spread(compact: &str, out: &mut String) {
    let marks = marks(compact);
    let mut closing = closing(&marks).into_iter();
    let mut spread: Vec<bool> = Vec::new();
    let mut marks = marks.into_iter().peekable();
    let mut written = 0;
    while let Some(Mark { at, byte }) = marks.next() {
        out.push_str(compact.get(written..at).unwrap_or_default());
        written = at + 1;
        out.push(char::from(byte));
        let broken = spread.last().copied().unwrap_or(false);
        match byte {
            b'(' | b'[' | b'{' => {
                let width = closing.next().unwrap_or(0);
                // One column more for the comma behind it.
                let fits = column(out) + width < WIDTH;
                let empty = width == 1;
                spread.push(!fits && !empty);
                if !fits && !empty {
                    new_line(out, depth(&spread));
                }
            }
            b',' if broken => new_line(out, depth(&spread)),
            b',' | b':' => out.push(' '),
            _ => {
                spread.pop();
            }
        }
        // The bracket that ends a spread element stands on its own line, behind a trailing comma.
        if let Some(next) = marks.peek()
            && matches!(next.byte, b')' | b']' | b'}')
            && spread.last().copied().unwrap_or(false)
        {
            out.push_str(compact.get(written..next.at).unwrap_or_default());
            written = next.at;
            out.push(',');
            new_line(out, depth(&spread).saturating_sub(1));
        }
    }
    out.push_str(compact.get(written..).unwrap_or_default());
    out.push('\n');
}

/// A bracket, comma or colon that is not inside a string.
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    byte: u8,
}

fn marks(compact: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut bytes = compact.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => loop {
                match bytes.next() {
                    Some((_, b'\\')) => {
                        bytes.next();
                    }
                    Some((_, b'"')) | None => break,
                    Some(_) => {}
                }
            },
            b'(' | b'[' | b'{' | b')' | b']' | b'}' | b',' | b':' => marks.push(Mark { at, byte }),
            _ => {}
        }
    }
    marks
}

/// For each opening bracket in order: how wide its content and closing bracket are on one line.
fn closing(marks: &[Mark]) -> Vec<usize> {
    let mut widths = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut spaces = 0;
    for mark in marks {
        match mark.byte {
            b'(' | b'[' | b'{' => {
                open.push((widths.len(), mark.at + spaces));
                widths.push(0);
            }
            b',' | b':' => spaces += 1,
            _ => {
                if let Some((number, start)) = open.pop()
                    && let Some(width) = widths.get_mut(number)
                {
                    *width = mark.at + spaces - start;
                }
            }
        }
    }
    widths
}

fn depth(spread: &[bool]) -> usize {
    spread.iter().filter(|spread| **spread).count()
}

fn column(out: &str) -> usize {
    out.len() - out.rfind('\n').map_or(0, |at| at + 1)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', depth * INDENT));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_out(compact: &str) -> String {
        let mut out = String::new();
        spread(compact, &mut out);
        out
    }

    #[test]
    fn what_fits_stays_on_a_line() {
        assert_eq!(
            spread_out(r#"(a:1,b:[],c:Some("x,y:(")) "#.trim()),
            "(a: 1, b: [], c: Some(\"x,y:(\"))\n"
        );
    }

    #[test]
    fn what_is_too_wide_gets_a_line_for_each_element() {
        let long = "x".repeat(100);
        assert_eq!(
            spread_out(&format!(r#"(a:"{long}",b:[(1,2),(3,4)],c:"{long}")"#)),
            format!("(\n    a: \"{long}\",\n    b: [(1, 2), (3, 4)],\n    c: \"{long}\",\n)\n")
        );
    }

    #[test]
    fn a_nested_element_that_is_too_wide_is_spread_at_its_depth() {
        let long = "x".repeat(70);
        assert_eq!(
            spread_out(&format!(r#"(a:["{long}","{long}"])"#)),
            format!("(\n    a: [\n        \"{long}\",\n        \"{long}\",\n    ],\n)\n")
        );
    }
}
