//! Columns: as wide as their contents, the last one wrapped to the surface.

use super::{Style, Surface};

/// One cell of a column that is not wrapped.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Option<Style>,
}

impl Cell {
    /// Text as it is.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            style: None,
        }
    }

    /// Text that stands out.
    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            style: Some(style),
        }
    }
}

/// A row: short cells, then one text that wraps.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The short cells.
    pub(crate) cells: Vec<Cell>,
    /// The text; each line of it starts a new line.
    pub(crate) text: String,
}

/// Draws rows under each other, two spaces between columns.
pub(crate) fn draw(rows: &[Row], surface: Surface) -> String {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(|column| width_of(rows, column)).collect();
    let indent = widths.iter().map(|width| width + 2).sum::<usize>();
    // A text squeezed to a few characters is unreadable: it goes below, indented.
    let below = indent + 24 > surface.width;
    let (start, room) = if below {
        (4, surface.width.saturating_sub(4))
    } else {
        (indent, surface.width.saturating_sub(indent))
    };
    let mut drawn = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.cells.iter().zip(&widths) {
            let pad = width.saturating_sub(length(&cell.text)) + 2;
            let painted = cell
                .style
                .map_or_else(|| cell.text.clone(), |style| surface.paint(style, &cell.text));
            line.push_str(&painted);
            line.push_str(&" ".repeat(pad));
        }
        let texts = wrap(&row.text, room);
        for (index, text) in texts.iter().enumerate() {
            if index > 0 || below {
                drawn.push_str(line.trim_end());
                drawn.push('\n');
                line = " ".repeat(start);
            }
            line.push_str(text);
        }
        drawn.push_str(line.trim_end());
        drawn.push('\n');
    }
    drawn
}

fn width_of(rows: &[Row], column: usize) -> usize {
    rows.iter()
        .filter_map(|row| row.cells.get(column))
        .map(|cell| length(&cell.text))
        .max()
        .unwrap_or_default()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Breaks at spaces; a word that is longer than the room stays whole, so that a path can be copied.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && length(&line) + 1 + length(word) > room {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURFACE: Surface = Surface {
        colour: false,
        width: 40,
    };

    fn row(first: &str, text: &str) -> Row {
        Row {
            cells: vec![Cell::plain(first)],
            text: text.to_owned(),
        }
    }

    #[test]
    fn the_text_wraps_under_itself() {
        let drawn = draw(
            &[
                row("abc", "one two three four five six seven eight nine"),
                row("a", "x"),
            ],
            SURFACE,
        );
        assert_eq!(
            drawn,
            "abc  one two three four five six seven\n     eight nine\na    x\n"
        );
    }

    #[test]
    fn where_columns_leave_no_room_the_text_goes_below() {
        let drawn = draw(
            &[row("a name that takes most of the line", "why it is so")],
            SURFACE,
        );
        assert_eq!(drawn, "a name that takes most of the line\n    why it is so\n");
    }

    #[test]
    fn a_word_longer_than_the_room_stays_whole() {
        assert_eq!(
            wrap("see /a/very/long/path now", 6),
            ["see", "/a/very/long/path", "now"]
        );
    }
}
