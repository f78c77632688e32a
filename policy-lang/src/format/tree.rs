//! A file as blocks, rows and comments, with nothing lost.
//!
//! The grammar's parse says where statements begin and end. What lies between its tokens is white space and comments;
//! a comment belongs to the statement on whose line it begins, and otherwise stands for itself.

use pest::iterators::{Pair, Pairs};

use super::rows::{self, Kind};
use crate::parse::grammar::Rule;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Part of the policy.
    Token,
    /// `// …`
    LineComment,
    /// `/* … */`
    BlockComment,
}

/// A token or a comment, where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
    pub(super) form: Form,
    /// Line breaks between the one before and this.
    pub(super) breaks: usize,
    /// Characters before it on its line.
    pub(super) column: usize,
}

/// A comment on lines of its own.
#[derive(Debug)]
pub(super) struct Comment<'a> {
    pub(super) element: Element<'a>,
    pub(super) blank_before: bool,
}

/// A token or an inner comment of a row.
#[derive(Debug, Clone)]
pub(super) struct Atom<'a> {
    pub(super) element: Element<'a>,
    /// Which part of its row it belongs to, in order.
    pub(super) cell: usize,
    /// Spaces before it within a cell.
    pub(super) spaces: usize,
    /// Whether a line may end before it.
    pub(super) breakable: bool,
}

/// A statement, or a block that stands on one line.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) kind: Kind,
    pub(super) atoms: Vec<Atom<'a>>,
    /// Comments behind it.
    pub(super) trailing: Vec<Element<'a>>,
    pub(super) blank_before: bool,
}

/// A block over several lines.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// Up to its opening brace, and the comments behind that.
    pub(super) head: Row<'a>,
    pub(super) entries: Vec<Entry<'a>>,
    /// Comments behind its closing brace.
    pub(super) trailing: Vec<Element<'a>>,
}

/// What stands in a block or a file.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    Comment(Comment<'a>),
    Row(Row<'a>),
    Block(Block<'a>),
}

/// Reads a file that the grammar has accepted.
pub(super) fn read<'a>(text: &'a str, pairs: Pairs<'a, Rule>) -> Vec<Entry<'a>> {
    let elements = elements(text, leaves(pairs.clone()));
    let mut reader = Reader {
        elements: &elements,
        at: 0,
    };
    let children = pairs
        .flat_map(Pair::into_inner)
        .filter(|pair| pair.as_rule() != Rule::EOI)
        .collect();
    let (entries, _) = reader.entries(children, text.len(), false);
    entries
}

/// Pairs that are one token although they have parts.
fn is_token(pair: &Pair<'_, Rule>) -> bool {
    matches!(pair.as_rule(), Rule::string | Rule::quantity | Rule::ids)
        || pair.clone().into_inner().next().is_none()
}

/// The tokens of some pairs, in order.
pub(super) fn leaves<'a>(pairs: Pairs<'a, Rule>) -> Vec<Pair<'a, Rule>> {
    let mut found = Vec::new();
    // Depth is bounded by the grammar: no rule contains itself.
    for pair in pairs {
        if pair.as_str().is_empty() {
            continue;
        }
        if is_token(&pair) {
            found.push(pair);
        } else {
            found.extend(leaves(pair.into_inner()));
        }
    }
    found
}

/// Tokens and comments of a text, given its tokens.
pub(super) fn elements<'a>(text: &'a str, leaves: Vec<Pair<'a, Rule>>) -> Vec<Element<'a>> {
    let mut gatherer = Gatherer {
        text,
        at: 0,
        breaks: 0,
        column: 0,
        found: Vec::new(),
    };
    for leaf in leaves {
        let span = leaf.as_span();
        gatherer.gap(span.start());
        gatherer.push(Form::Token, span.end());
    }
    gatherer.gap(text.len());
    gatherer.found
}

struct Gatherer<'a> {
    text: &'a str,
    at: usize,
    breaks: usize,
    /// Kept up, since counting it for each element would take the square of a long line.
    column: usize,
    found: Vec<Element<'a>>,
}

impl<'a> Gatherer<'a> {
    /// What lies before the next token. Anything but space and comments is kept as it is.
    fn gap(&mut self, end: usize) {
        while let Some(rest) = self.text.get(self.at..end).filter(|rest| !rest.is_empty()) {
            if rest.starts_with('\n') {
                self.breaks += 1;
                self.at += 1;
                self.column = 0;
            } else if rest.starts_with([' ', '\t', '\r']) {
                self.at += 1;
                self.column += 1;
            } else if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                let comment = rest.get(..length).unwrap_or(rest).trim_end();
                self.push(Form::LineComment, self.at + comment.len());
            } else if rest.starts_with("/*") {
                let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
                self.push(Form::BlockComment, self.at + length);
            } else {
                let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
                self.push(Form::Token, self.at + length);
            }
        }
    }

    fn push(&mut self, form: Form, end: usize) {
        let text = self.text.get(self.at..end).unwrap_or_default();
        self.found.push(Element {
            start: self.at,
            text,
            form,
            breaks: self.breaks,
            column: self.column,
        });
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.chars().count(),
            None => self.column += text.chars().count(),
        }
        self.breaks = 0;
        self.at = end;
    }
}

struct Reader<'e, 'a> {
    elements: &'e [Element<'a>],
    at: usize,
}

impl<'a> Reader<'_, 'a> {
    /// The next element, if it begins before `end`.
    fn next_before(&mut self, end: usize) -> Option<Element<'a>> {
        let next = self.elements.get(self.at).filter(|next| next.start < end)?;
        self.at += 1;
        Some(*next)
    }

    /// Statements and comments up to `end`. What stands behind the opening brace comes second.
    fn entries(
        &mut self,
        children: Vec<Pair<'a, Rule>>,
        end: usize,
        within_block: bool,
    ) -> (Vec<Entry<'a>>, Vec<Element<'a>>) {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut head_trailing = Vec::new();
        for child in children {
            let tokens = leaves(Pairs::single(child.clone()));
            let Some(start) = tokens.first().map(|first| first.as_span().start()) else {
                continue;
            };
            self.comments(start, &mut entries, &mut head_trailing, within_block);
            let breaks = self.elements.get(self.at).map_or(0, |first| first.breaks);
            let blank = breaks > 1 && !entries.is_empty();
            let entry = self.statement(&child, &tokens, blank);
            entries.push(entry);
        }
        self.comments(end, &mut entries, &mut head_trailing, within_block);
        (entries, head_trailing)
    }

    /// Comments up to the next statement: those on the line of the one before belong to that one.
    fn comments(
        &mut self,
        end: usize,
        entries: &mut Vec<Entry<'a>>,
        head_trailing: &mut Vec<Element<'a>>,
        within_block: bool,
    ) {
        let mut behind = true;
        while let Some(element) = self.next_before(end) {
            behind &= element.breaks == 0;
            let trailing = match entries.last_mut() {
                Some(Entry::Row(row)) => Some(&mut row.trailing),
                Some(Entry::Block(block)) => Some(&mut block.trailing),
                Some(Entry::Comment(_)) => None,
                None => within_block.then_some(&mut *head_trailing),
            };
            match trailing.filter(|_| behind) {
                Some(trailing) => trailing.push(element),
                None => {
                    let blank_before = element.breaks > 1 && !entries.is_empty();
                    entries.push(Entry::Comment(Comment {
                        element,
                        blank_before,
                    }));
                }
            }
        }
    }

    fn statement(&mut self, pair: &Pair<'a, Rule>, tokens: &[Pair<'a, Rule>], blank: bool) -> Entry<'a> {
        let children: Vec<_> = pair.clone().into_inner().collect();
        let open = children.iter().position(|child| child.as_rule() == Rule::open);
        let (Some(open), Some(close)) = (open, children.last()) else {
            return Entry::Row(self.row(rows::cells(pair), Kind::of(pair.as_rule()), blank));
        };
        let close = close.as_span();
        let statements: Vec<_> = children
            .get(open + 1..children.len() - 1)
            .unwrap_or_default()
            .to_vec();
        let inside = self.elements.get(self.at..).unwrap_or_default();
        let inside = inside.iter().take_while(|element| element.start <= close.start());
        if rows::fits_one_line(pair, &statements, inside) {
            return Entry::Row(self.row(rows::one_line(tokens), Kind::Header, blank));
        }
        let head: Vec<_> = tokens
            .iter()
            .take_while(|token| {
                token.as_span().start() <= children.get(open).map_or(0, |open| open.as_span().start())
            })
            .cloned()
            .collect();
        let mut head = self.row(rows::head(&head), Kind::Plain, blank);
        let (entries, trailing) = self.entries(statements, close.start(), true);
        head.trailing = trailing;
        let _ = self.next_before(close.end());
        Entry::Block(Block {
            head,
            entries,
            trailing: Vec::new(),
        })
    }

    /// The atoms of a statement, with the comments between them.
    fn row(&mut self, slots: Vec<rows::Slot>, kind: Kind, blank_before: bool) -> Row<'a> {
        let end = slots.last().map_or(0, |last| last.start + 1);
        let mut slots = slots.into_iter().peekable();
        let mut atoms = Vec::new();
        let mut cell = 0;
        while let Some(element) = self.next_before(end) {
            let slot = slots.next_if(|slot| slot.start == element.start);
            cell = slot.as_ref().map_or(cell, |slot| slot.cell);
            atoms.push(Atom {
                element,
                cell,
                spaces: slot.as_ref().map_or(1, |slot| slot.spaces),
                breakable: slot.is_some_and(|slot| slot.breakable),
            });
        }
        Row {
            kind,
            atoms,
            trailing: Vec::new(),
            blank_before,
        }
    }
}
