//! Blocks, rows and comments as text.

use super::columns::{self, Columns, Line, Starts, breaks_before, comment_breaks_before, width};
use super::rows::SUFFIX;
use super::tree::{Atom, Block, Comment, Element, Entry, Form, Row};
use super::{INDENT, MAX_WIDTH};

/// Writes a whole file.
pub(super) fn write(entries: &[Entry<'_>]) -> String {
    let mut writer = Writer { text: String::new() };
    writer.entries(entries, &blanks_between_blocks(entries), 0);
    writer.text
}

/// Which entries of a file have an empty line before them: as written, and around every block. Comments above a block
/// belong to it.
fn blanks_between_blocks(entries: &[Entry<'_>]) -> Vec<bool> {
    let mut blanks: Vec<bool> = entries.iter().map(blank_before).collect();
    // The last statement, and the first comment after it.
    let mut previous: Option<usize> = None;
    for (index, entry) in entries.iter().enumerate() {
        if matches!(entry, Entry::Comment(_)) {
            continue;
        }
        if let Some(last) = previous {
            let between = blanks.get_mut(last + 1..=index).unwrap_or_default();
            let apart = is_block(entry) || entries.get(last).is_some_and(is_block);
            if apart
                && !between.contains(&true)
                && let Some(first) = between.first_mut()
            {
                *first = true;
            }
        }
        previous = Some(index);
    }
    blanks
}

fn blank_before(entry: &Entry<'_>) -> bool {
    match entry {
        Entry::Comment(comment) => comment.blank_before,
        Entry::Row(row) => row.blank_before,
        Entry::Block(block) => block.head.blank_before,
    }
}

fn is_block(entry: &Entry<'_>) -> bool {
    match entry {
        Entry::Comment(_) => false,
        Entry::Row(row) => row.atoms.iter().any(|atom| atom.element.text == "{"),
        Entry::Block(_) => true,
    }
}

struct Writer {
    text: String,
}

impl Writer {
    fn entries(&mut self, entries: &[Entry<'_>], blanks: &[bool], indent: usize) {
        let mut at = 0;
        while let Some(rest) = entries.get(at..).filter(|rest| !rest.is_empty()) {
            // Rows between two blank lines or blocks stand in the same columns.
            let together = rest
                .iter()
                .zip(blanks.get(at..).unwrap_or_default())
                .enumerate()
                .take_while(|(index, (entry, blank))| {
                    *index == 0 || !(**blank || matches!(entry, Entry::Block(_)))
                })
                .count();
            let group = rest.get(..together).unwrap_or(rest);
            let rows: Vec<&Row<'_>> = group.iter().filter_map(as_row).collect();
            let columns = Columns::new(&rows, indent);
            if blanks.get(at) == Some(&true) {
                self.text.push('\n');
            }
            for entry in group {
                match entry {
                    Entry::Comment(comment) => self.comment(comment, indent),
                    Entry::Row(row) => self.row(row, indent, &columns),
                    Entry::Block(block) => self.block(block, indent),
                }
            }
            at += together;
        }
    }

    fn block(&mut self, block: &Block<'_>, indent: usize) {
        self.row(&block.head, indent, &Columns::default());
        let blanks: Vec<bool> = block.entries.iter().map(blank_before).collect();
        self.entries(&block.entries, &blanks, indent + INDENT);
        self.text.push_str(&" ".repeat(indent));
        self.text.push('}');
        self.trailing(&block.trailing, 0);
        self.text.push('\n');
    }

    fn row(&mut self, row: &Row<'_>, indent: usize, columns: &Columns) {
        let starts = columns.starts(row);
        match columns::single_line(row, indent, starts) {
            Some(line) => {
                self.text.push_str(&line);
                self.trailing(&row.trailing, columns.trailing);
            }
            None => {
                self.text.push_str(&broken(row, indent, starts));
                self.trailing(&row.trailing, 0);
            }
        }
        self.text.push('\n');
    }

    fn trailing(&mut self, comments: &[Element<'_>], column: usize) {
        let mut spaces = column.saturating_sub(width(&self.text)).max(2);
        for comment in comments {
            self.text.push_str(&" ".repeat(spaces));
            self.text
                .push_str(&trimmed_lines(comment.text, |line| line.to_owned()));
            spaces = 1;
        }
    }

    /// A comment of its own. The lines of a long one move together.
    fn comment(&mut self, comment: &Comment<'_>, indent: usize) {
        let element = &comment.element;
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(&trimmed_lines(element.text, |line| {
            let unindented = line.trim_start_matches(' ');
            if unindented.starts_with('\t') {
                return line.to_owned();
            }
            let spaces = (line.len() - unindented.len() + indent).saturating_sub(element.column);
            format!("{}{unindented}", " ".repeat(spaces))
        }));
        self.text.push('\n');
    }
}

fn as_row<'r, 'a>(entry: &'r Entry<'a>) -> Option<&'r Row<'a>> {
    match entry {
        Entry::Row(row) => Some(row),
        Entry::Comment(_) | Entry::Block(_) => None,
    }
}

/// A comment without space at the ends of its lines; `shift` moves every line after the first.
fn trimmed_lines(text: &str, shift: impl Fn(&str) -> String) -> String {
    let mut lines = text.lines().map(str::trim_end);
    let mut result = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        result.push('\n');
        if !line.is_empty() {
            result.push_str(&shift(line));
        }
    }
    result
}

/// A row over several lines: its list goes on under its beginning, its suffixes stand together if they can. Where its
/// author broke it is kept unless a line is too long that way.
fn broken(row: &Row<'_>, indent: usize, starts: Starts) -> String {
    match lines(row, indent, starts, breaks_before) {
        (_, true) => lines(row, indent, starts, comment_breaks_before).0,
        (text, false) => text,
    }
}

/// The lines of a row, given where they end in any case; and whether one had to end elsewhere too.
fn lines(
    row: &Row<'_>,
    indent: usize,
    starts: Starts,
    kept: impl Fn(Option<&Atom<'_>>, &Atom<'_>) -> bool,
) -> (String, bool) {
    let mut line = Line::new(indent);
    let mut too_long = false;
    let mut list_column = None;
    let mut previous: Option<&Atom<'_>> = None;
    let suffix = suffix_width(row);
    let suffixes_together = suffix.is_some_and(|suffix| indent + INDENT + suffix <= MAX_WIDTH);
    for (index, atom) in row.atoms.iter().enumerate() {
        let ends_line = kept(previous, atom)
            || match (atom.breakable, atom.cell == SUFFIX) {
                (false, _) => false,
                (true, false) => {
                    let overflows = line.width + chunk_width(row, index) > MAX_WIDTH;
                    too_long |= overflows;
                    overflows
                }
                (true, true) if previous.is_some_and(|previous| previous.cell == SUFFIX) => {
                    !suffixes_together
                }
                (true, true) => suffix.is_none_or(|suffix| line.width + 1 + suffix > MAX_WIDTH),
            };
        if ends_line {
            let column = match atom.cell {
                cell if cell >= row.kind.list() && cell != SUFFIX => list_column.unwrap_or(indent + INDENT),
                _ => indent + INDENT,
            };
            line.push("\n");
            line.push_spaces(column);
            line.push(&inner(atom.element));
        } else {
            match atom.element.form {
                Form::Token => line.place(previous, atom, starts),
                Form::LineComment => line.push(&format!("  {}", atom.element.text)),
                Form::BlockComment => line.push(&format!(" {}", inner(atom.element))),
            }
        }
        if atom.cell >= row.kind.list() && list_column.is_none() && atom.element.form == Form::Token {
            list_column = Some(line.width - width(atom.element.text));
        }
        previous = Some(atom);
    }
    (line.text, too_long)
}

fn inner(element: Element<'_>) -> String {
    match element.form {
        Form::Token => element.text.to_owned(),
        Form::LineComment | Form::BlockComment => trimmed_lines(element.text, |line| line.to_owned()),
    }
}

/// The width of what cannot be broken from here on, with the space before it.
fn chunk_width(row: &Row<'_>, index: usize) -> usize {
    let rest = row.atoms.get(index..).unwrap_or_default();
    let chunk = rest
        .iter()
        .enumerate()
        .take_while(|(index, atom)| *index == 0 || !atom.breakable);
    chunk
        .map(|(_, atom)| atom.spaces + width(atom.element.text))
        .sum()
}

/// The width of all suffixes on one line, if they can stand on one.
fn suffix_width(row: &Row<'_>) -> Option<usize> {
    let suffixes: Vec<&Atom<'_>> = row.atoms.iter().filter(|atom| atom.cell == SUFFIX).collect();
    let broken = suffixes
        .windows(2)
        .any(|pair| matches!(pair, [previous, atom] if breaks_before(Some(previous), atom)));
    let width: usize = suffixes
        .iter()
        .map(|atom| atom.spaces + width(atom.element.text))
        .sum();
    (!broken).then(|| width.saturating_sub(1))
}
