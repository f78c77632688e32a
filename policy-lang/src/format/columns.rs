//! Where the parts of rows begin that stand together: between two blank lines or blocks.
//!
//! A column is as wide as its widest cell, except that a cell far wider than the narrowest does not push the others
//! away; its row goes on one space later.

use std::collections::BTreeMap;

use super::MAX_WIDTH;
use super::rows::{Kind, SUFFIX};
use super::tree::{Atom, Form, Row};

/// Columns before the suffix.
const CELLS: usize = 4;

/// A cell may be this much wider than the narrowest and still be waited for.
const REACH: usize = 40;

/// The same for the types of parameters, most of which are one word.
const REACH_OF_TYPES: usize = 12;

/// Where the cells of one row begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Starts {
    pub(super) cells: [usize; CELLS],
    pub(super) suffix: usize,
}

impl Starts {
    pub(super) fn of(&self, cell: usize) -> usize {
        self.cells.get(cell).copied().unwrap_or(self.suffix)
    }
}

/// The columns of some rows.
#[derive(Debug, Default)]
pub(super) struct Columns {
    starts: BTreeMap<Kind, Starts>,
    /// Where comments behind rows begin.
    pub(super) trailing: usize,
}

impl Columns {
    pub(super) fn new(rows: &[&Row<'_>], indent: usize) -> Self {
        let mut families: BTreeMap<Kind, Vec<&Row<'_>>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.kind != Kind::Plain) {
            families.entry(row.kind.family()).or_default().push(row);
        }
        let starts = families
            .iter()
            .map(|(kind, rows)| (*kind, starts(*kind, rows, indent)));
        let mut columns = Self {
            starts: starts.collect(),
            trailing: 0,
        };
        let commented = rows.iter().filter(|row| !row.trailing.is_empty());
        let ends = commented.filter_map(|row| single_line(row, indent, columns.starts(row)));
        columns.trailing = within_reach(ends.map(|line| width(&line)), REACH).map_or(0, |end| end + 2);
        columns
    }

    pub(super) fn starts(&self, row: &Row<'_>) -> Starts {
        self.starts.get(&row.kind.family()).copied().unwrap_or_default()
    }
}

fn starts(kind: Kind, rows: &[&Row<'_>], indent: usize) -> Starts {
    let mut starts = Starts::default();
    let mut next = indent;
    for (cell, start) in starts.cells.iter_mut().enumerate() {
        *start = next;
        let in_columns = |row: &&&Row<'_>| row.kind != Kind::FileKeyword && is_uncommented(row);
        let widths = rows
            .iter()
            .filter(in_columns)
            .filter_map(|row| cell_width(row, cell));
        let reach = if kind == Kind::Param && cell == 1 {
            REACH_OF_TYPES
        } else {
            REACH
        };
        if let Some(width) = within_reach(widths, reach) {
            next += width + 1;
        }
        if kind == Kind::File && cell + 1 == kind.list() {
            let keywords = rows.iter().filter(|row| row.kind == Kind::FileKeyword);
            let widths = keywords.filter_map(|row| cell_width(row, 0));
            next = next.max(widths.max().map_or(0, |width| indent + width + 1));
        }
    }
    let ends = rows.iter().filter(|row| has_suffix(row)).filter_map(|row| {
        let (body, suffix) = halves(row, indent, starts)?;
        (width(&body) + 1 + width(&suffix) <= MAX_WIDTH).then(|| width(&body))
    });
    starts.suffix = within_reach(ends, REACH).map_or(0, |end| end + 1);
    starts
}

/// The largest that is not too far from the smallest.
fn within_reach(values: impl Iterator<Item = usize>, reach: usize) -> Option<usize> {
    let values: Vec<usize> = values.collect();
    let least = values.iter().min()? + reach;
    values.into_iter().filter(|value| *value <= least).max()
}

/// The width of a cell that another cell follows.
fn cell_width(row: &Row<'_>, cell: usize) -> Option<usize> {
    let followed = row
        .atoms
        .iter()
        .any(|atom| atom.cell > cell && atom.cell != SUFFIX);
    let mut atoms = row.atoms.iter().filter(|atom| atom.cell == cell);
    let first = atoms.next().filter(|_| followed)?;
    let rest: usize = atoms.map(|atom| atom.spaces + width(atom.element.text)).sum();
    Some(width(first.element.text) + rest)
}

pub(super) fn has_suffix(row: &Row<'_>) -> bool {
    row.atoms.iter().any(|atom| atom.cell == SUFFIX)
}

/// Whether nothing but tokens is in a row. Unlike its line breaks, that is the same after it was laid out, and so are
/// the columns.
fn is_uncommented(row: &Row<'_>) -> bool {
    row.atoms.iter().all(|atom| atom.element.form == Form::Token)
}

/// Whether a row could stand on one line, were it short enough.
pub(super) fn is_plain(row: &Row<'_>) -> bool {
    let mut previous: Option<&Atom<'_>> = None;
    row.atoms.iter().all(|atom| {
        let plain = !breaks_before(previous, atom) && !atom.element.text.contains('\n');
        previous = Some(atom);
        plain
    }) && previous.is_none_or(|last| last.element.form != Form::LineComment)
}

/// Whether a line ends before an atom in any case: a comment asks for it, or its author broke it at a place where that
/// is kept.
pub(super) fn breaks_before(previous: Option<&Atom<'_>>, atom: &Atom<'_>) -> bool {
    let kept = atom.breakable && atom.cell != SUFFIX && atom.element.breaks > 0;
    previous.is_some() && kept || comment_breaks_before(previous, atom)
}

/// Whether a comment ends the line before an atom.
pub(super) fn comment_breaks_before(previous: Option<&Atom<'_>>, atom: &Atom<'_>) -> bool {
    let Some(previous) = previous else {
        return false;
    };
    let beside_comment = atom.element.form != Form::Token || previous.element.form != Form::Token;
    previous.element.form == Form::LineComment || (beside_comment && atom.element.breaks > 0)
}

/// A row as one line without the comments behind it, if it fits on one.
pub(super) fn single_line(row: &Row<'_>, indent: usize, starts: Starts) -> Option<String> {
    let (body, suffix) = halves(row, indent, starts)?;
    if suffix.is_empty() {
        return (width(&body) <= MAX_WIDTH).then_some(body);
    }
    let body_width = width(&body);
    if body_width + 1 + width(&suffix) > MAX_WIDTH {
        return None;
    }
    let aligned = starts.suffix.max(body_width + 1);
    let column = if aligned + width(&suffix) <= MAX_WIDTH {
        aligned
    } else {
        body_width + 1
    };
    Some(format!("{body}{}{suffix}", " ".repeat(column - body_width)))
}

/// What stands in columns, and the suffix.
fn halves(row: &Row<'_>, indent: usize, starts: Starts) -> Option<(String, String)> {
    if !is_plain(row) {
        return None;
    }
    let (mut body, mut suffix) = (Line::new(indent), String::new());
    let mut previous: Option<&Atom<'_>> = None;
    for atom in &row.atoms {
        if atom.cell == SUFFIX {
            if !suffix.is_empty() {
                suffix.push_str(&" ".repeat(atom.spaces));
            }
            suffix.push_str(atom.element.text);
        } else {
            body.place(previous, atom, starts);
        }
        previous = Some(atom);
    }
    Some((body.text, suffix))
}

/// Text being written, with the width of its last line: measuring a long line for each of its atoms would take the
/// square of it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) width: usize,
}

impl Line {
    pub(super) fn new(indent: usize) -> Self {
        Self {
            text: " ".repeat(indent),
            width: indent,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.width = last.chars().count(),
            None => self.width += text.chars().count(),
        }
    }

    pub(super) fn push_spaces(&mut self, spaces: usize) {
        self.push(&" ".repeat(spaces));
    }

    /// Appends an atom, in its column if it begins a cell.
    pub(super) fn place(&mut self, previous: Option<&Atom<'_>>, atom: &Atom<'_>, starts: Starts) {
        if let Some(previous) = previous {
            let spaces = if previous.cell == atom.cell || atom.cell == SUFFIX {
                atom.spaces
            } else {
                starts.of(atom.cell).saturating_sub(self.width).max(atom.spaces)
            };
            self.push_spaces(spaces);
        }
        self.push(atom.element.text);
    }
}

/// Characters of the last line.
pub(super) fn width(text: &str) -> usize {
    let line = text.rsplit('\n').next().unwrap_or(text);
    line.chars().count()
}
