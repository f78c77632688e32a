//! What should have stood where the grammar could not go on.
//!
//! The stretch is read again by the grammar's `strict_…` rule. pest then names the rules it tried at the furthest
//! position it reached; [`words`] knows what each is called and which words it accepts.

use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};

use super::grammar::{Grammar, Rule};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceFile, Span};
use crate::suggest::nearest;
use crate::syscall::table;

mod context;
mod words;

pub(super) use context::Context;

/// Explains a skipped stretch. `previous` is the statement before it, which it may have been meant to go on.
pub(super) fn explain(
    source: &SourceFile,
    context: Context,
    skipped: Span,
    previous: Option<Span>,
) -> Diagnostic {
    let text = source.text.as_str();
    let first = token(text, skipped.start);
    if let Some(found) = context.misplaced(source.slice(first), first, skipped, text) {
        return found;
    }
    let start = previous.map_or(skipped.start, |previous| previous.start);
    let stretch = source.slice(Span::new(start, skipped.end));
    let (at, expected) = match Grammar::parse(context.strict_rule(), stretch) {
        Ok(_) => (skipped.start, Vec::new()),
        Err(error) => {
            let offset = match error.location {
                InputLocation::Pos(offset) | InputLocation::Span((offset, _)) => offset,
            };
            let rules = match error.variant {
                ErrorVariant::ParsingError { positives, .. } => positives,
                ErrorVariant::CustomError { .. } => Vec::new(),
            };
            (start + offset, rules)
        }
    };
    // What is reported lies in the stretch, also where the statement before it would have taken more.
    let at = skip_space(
        text,
        at.max(previous.map_or(at, |previous| previous.end.min(skipped.start))),
    );
    if at >= skipped.end {
        return ends_early(source, context, skipped, &expected);
    }
    describe(source, context, token(text, at), &expected)
}

/// The stretch is a beginning: it breaks off after its last token.
fn ends_early(source: &SourceFile, context: Context, skipped: Span, expected: &[Rule]) -> Diagnostic {
    let text = source.text.as_str();
    let mut last = token(text, skipped.start);
    loop {
        let next = skip_space(text, last.end);
        if next >= skipped.end || next == last.start {
            break;
        }
        last = token(text, next);
        if last.end == last.start {
            break;
        }
    }
    let wanted = list(context, expected);
    Diagnostic::error(
        Code::UnexpectedToken,
        last,
        format!("expected {wanted} after {}", shown(source.slice(last))),
    )
    .label("something is missing after this")
    .help(context.shape())
}

fn describe(source: &SourceFile, context: Context, found: Span, expected: &[Rule]) -> Diagnostic {
    let written = source.slice(found);
    let candidates = expected.iter().flat_map(|rule| words::of(*rule)).copied();
    let is_word = written.starts_with(|first: char| first.is_ascii_alphabetic());
    // A word of the language in the wrong place is no slip of another one.
    let meant = if is_word && words::home(written).is_none() {
        words::synonym(written, candidates.clone()).or_else(|| nearest(written, candidates))
    } else {
        None
    };
    let mut diagnostic = Diagnostic::error(
        Code::UnexpectedToken,
        found,
        format!("expected {}, found {}", list(context, expected), shown(written)),
    );
    let takes = |wanted: Rule| expected.contains(&wanted);
    if is_word && (takes(Rule::syscall_target) || takes(Rule::group)) {
        let group = format!("@{written}");
        let known = table::group(&group).is_some();
        let better = if known { group } else { format!("\"{written}\"") };
        return diagnostic
            .label(format!("did you mean `{better}`?"))
            .help("a group begins with `@`, a call is quoted")
            .suggest(found, better);
    }
    let bare = written.trim_matches('"');
    if takes(Rule::unlocked) && Grammar::parse(Rule::unlocked, bare).is_ok_and(|found| found.as_str() == bare)
    {
        return diagnostic
            .label(format!("did you mean `{bare}`?"))
            .help("rules of the floor are named without quotes; `remit explain --all` lists them")
            .suggest(found, bare);
    }
    if written == "=" && takes(Rule::comparison) {
        return diagnostic
            .label("did you mean `==`?")
            .help("`==` compares")
            .suggest(found, "==");
    }
    diagnostic = match meant {
        Some(meant) => diagnostic
            .label(format!("did you mean `{meant}`?"))
            .suggest(found, meant)
            .help(context.shape()),
        None => diagnostic.label("this does not belong here").help(
            words::home(written).filter(|_| is_word).map_or_else(
                || context.shape().to_owned(),
                |home| format!("`{written}` belongs in {home}; {}", context.shape()),
            ),
        ),
    };
    diagnostic
}

/// "`a`, `b` or `c`", with the beginnings of statements summed up.
fn list(context: Context, expected: &[Rule]) -> String {
    let starters = context.starters();
    let all = context != Context::Top && starters.iter().all(|starter| expected.contains(starter));
    let mut items: Vec<String> = Vec::new();
    for rule in expected {
        if all && starters.contains(rule) {
            continue;
        }
        if let Some(name) = words::name(*rule)
            && !items.iter().any(|item| item == name)
        {
            items.push(name.to_owned());
        }
    }
    if all {
        items.push(format!("a statement of {}", context.described()));
    }
    match items.as_slice() {
        [] if context == Context::Top => "`policy` or `test`".to_owned(),
        [] => format!("a statement of {}", context.described()),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn shown(written: &str) -> String {
    match written.chars().next() {
        None => "the end of the file".to_owned(),
        Some('"') if written.len() > 1 => "a string".to_owned(),
        Some(_) => format!("`{written}`"),
    }
}

/// One token, for underlining: a word, a number, a string or a character.
fn token(text: &str, start: usize) -> Span {
    let rest = text.get(start..).unwrap_or_default();
    let part_of_word = |next: char| next.is_alphanumeric() || matches!(next, '_' | '-');
    let len = match rest.chars().next() {
        None => 0,
        Some('"') => string_len(rest),
        Some('@') => {
            1 + rest
                .get(1..)
                .unwrap_or_default()
                .find(|next| !part_of_word(next))
                .unwrap_or(rest.len() - 1)
        }
        Some(first) if part_of_word(first) => rest.find(|next| !part_of_word(next)).unwrap_or(rest.len()),
        Some(first) => ["==", "!=", "<=", ">=", "::"]
            .iter()
            .find(|double| rest.starts_with(**double))
            .map_or(first.len_utf8(), |double| double.len()),
    };
    Span::new(start, start + len)
}

fn string_len(rest: &str) -> usize {
    let mut escaped = false;
    for (index, next) in rest.char_indices().skip(1) {
        match next {
            '\n' => return index,
            '"' if !escaped => return index + 1,
            _ => escaped = next == '\\' && !escaped,
        }
    }
    rest.len()
}

/// The first byte that is neither white space nor comment.
fn skip_space(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let skipped = if trimmed.starts_with("//") {
            trimmed.find('\n').unwrap_or(trimmed.len())
        } else if trimmed.starts_with("/*") {
            trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
        } else {
            return at;
        };
        at += skipped;
    }
}
