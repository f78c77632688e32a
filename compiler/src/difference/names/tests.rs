use policy_lang::pattern::{Component, PathPattern};

use super::*;

fn tokens(pattern: &str) -> Vec<Token> {
    let components = PathPattern::parse(&format!("/{pattern}"))
        .unwrap()
        .components()
        .unwrap();
    match components.as_slice() {
        [Component::Name(tokens)] => tokens.clone(),
        other => panic!("{other:?}"),
    }
}

fn family(patterns: &[&str]) -> (Vec<Vec<Token>>, Names) {
    let all: Vec<Vec<Token>> = patterns.iter().map(|pattern| tokens(pattern)).collect();
    let names = Names::new(Grammar::Component, all.iter().map(Vec::as_slice));
    (all, names)
}

#[test]
fn every_combination_that_a_name_can_match_is_found() {
    let patterns = ["*.pem", "id_*", "?", "[!a-c]*"];
    let (_, names) = family(&patterns);
    let (kinds, complete) = names.kinds();
    assert!(complete);
    for kind in &kinds {
        let matched: Vec<u32> = (0..)
            .zip(patterns)
            .filter(|(_, pattern)| {
                PathPattern::parse(&format!("/{pattern}"))
                    .unwrap()
                    .covers(&format!("/{}", kind.name))
            })
            .map(|(position, _)| position)
            .collect();
        assert_eq!(matched, kind.matched, "{}", kind.name);
    }
    let found: HashSet<Vec<u32>> = kinds.into_iter().map(|kind| kind.matched).collect();
    let expected: [&[u32]; 7] = [&[], &[0], &[2], &[3], &[0, 3], &[0, 1, 3], &[1, 3]];
    for combination in expected {
        assert!(found.contains(combination), "{combination:?}");
    }
    assert!(found.contains(&vec![2, 3]));
    assert_eq!(found.len(), 8);
}

#[test]
fn dots_alone_are_no_names() {
    let (_, names) = family(&["[.]*"]);
    let (kinds, _) = names.kinds();
    let dotted = kinds.iter().find(|kind| kind.matched == [0]).unwrap();
    assert!(!matches!(dotted.name.as_str(), "." | ".."), "{}", dotted.name);
}

#[test]
fn a_name_that_is_not_taken_is_found_if_there_is_one() {
    let (all, _) = family(&["[ab]"]);
    let patterns: Vec<&[Token]> = all.iter().map(Vec::as_slice).collect();
    let other = |taken: &[&str]| {
        Names::other(
            Grammar::Component,
            &patterns,
            &[0],
            &taken.iter().copied().collect(),
        )
    };
    assert_eq!(other(&["a"]), Ok(Some("b".to_owned())));
    assert_eq!(other(&["a", "b"]), Ok(None));
}

#[test]
fn many_suffixes_have_few_kinds() {
    let patterns: Vec<String> = (0..300).map(|number| format!("*.x{number}y")).collect();
    let (_, names) = family(&patterns.iter().map(String::as_str).collect::<Vec<_>>());
    let (kinds, complete) = names.kinds();
    assert!(complete);
    assert_eq!(kinds.len(), 301);
}
