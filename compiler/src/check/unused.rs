//! Parameters that are declared and stand nowhere.

use std::collections::BTreeSet;

use policy_lang::Diagnostic;
use policy_lang::diagnostic::Code;
use policy_lang::source::FileId;

use super::Context;
use super::place::{Kind, Statement, tokens};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(source) = context.places.file(FileId::default()) else {
        return;
    };
    if context.policy.parameters.is_empty() {
        return;
    }
    let mut used = BTreeSet::new();
    let mut declared = Vec::new();
    let mut before = "";
    for token in tokens(&source.text, 0) {
        match token.kind {
            Kind::Text | Kind::Parameter => used.extend(parameters(token.text)),
            Kind::Word if before == "param" => declared.push(token),
            _ => {}
        }
        before = token.text;
    }
    for name in declared {
        if used.contains(name.text) || !context.policy.parameters.contains_key(name.text) {
            continue;
        }
        let start = source
            .text
            .get(..name.span.start)
            .and_then(|text| text.rfind("param"));
        let mut finding = Diagnostic::warning(
            Code::UnusedParameter,
            name.span,
            format!("the parameter `{}` is never used", name.text),
        )
        .label("binding it changes nothing")
        .help(format!(
            "write `${{{}}}` where it is meant, or remove it together with `--param {}=…` of its callers",
            name.text, name.text
        ));
        if let Some(statement) = start.and_then(|start| Statement::at(FileId::default(), source, start)) {
            finding = finding.suggest(statement.removal(source), "");
        }
        found.push(finding);
    }
}

/// Names in `${…}`, but for those behind a backslash.
fn parameters(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("${").filter_map(|(at, _)| {
        let before = text.get(..at)?;
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        let name = text.get(at + 2..)?.split('}').next()?;
        (backslashes % 2 == 0).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dollar_behind_a_backslash_begins_no_parameter() {
        let names = |text: &'static str| parameters(text).collect::<Vec<_>>();
        assert_eq!(names("\"${a}/b${c}\""), ["a", "c"]);
        assert_eq!(names(r#""\${a}""#), Vec::<&str>::new());
        assert_eq!(names(r#""\\${a}""#), ["a"]);
    }
}
