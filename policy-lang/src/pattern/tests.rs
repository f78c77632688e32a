use super::*;

fn pattern(text: &str) -> PathPattern {
    PathPattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> (Malformed, usize) {
    let error = PathPattern::parse(text).unwrap_err();
    (error.malformed, error.offset)
}

#[test]
fn what_has_no_active_wildcard_is_a_literal() {
    assert_eq!(pattern("/a/b"), PathPattern::Literal("/a/b".into()));
    assert_eq!(pattern(r"/a/\*\\"), PathPattern::Literal(r"/a/*\".into()));
    assert_eq!(pattern("/"), PathPattern::Literal("/".into()));
    assert_eq!(pattern("/a/[b]*"), PathPattern::Glob("/a/[b]*".into()));
    // A class of one character can only be that character.
    assert_eq!(pattern("/a/[*]"), PathPattern::Literal("/a/*".into()));
}

#[test]
fn an_escaped_value_stays_a_literal() {
    let value = r"/w/a*b?[c]\d/**";
    assert_eq!(pattern(&escape(value)), PathPattern::Literal(value.into()));
}

#[test]
fn malformed_patterns_are_refused_where_they_go_wrong() {
    assert_eq!(refused("a"), (Malformed::Relative, 0));
    assert_eq!(refused("/a//b"), (Malformed::EmptyComponent, 3));
    assert_eq!(refused("/a/"), (Malformed::EmptyComponent, 3));
    assert_eq!(refused("/a/.."), (Malformed::DotComponent, 3));
    assert_eq!(refused(r"/a/\.."), (Malformed::DotComponent, 3));
    assert_eq!(refused("/a/b**"), (Malformed::Depth, 4));
    assert_eq!(refused("/a/\\"), (Malformed::Escape, 3));
    assert_eq!(refused("/a/[bc/d]"), (Malformed::OpenClass, 3));
    assert_eq!(refused("/a/x[]"), (Malformed::EmptyClass, 4));
    assert_eq!(refused("/a/[!]"), (Malformed::EmptyClass, 3));
    assert_eq!(refused("/a/[c-a]"), (Malformed::BackwardRange, 4));
    assert_eq!(refused("/a/[^a]"), (Malformed::Caret, 4));
    assert_eq!(refused("/a\0*"), (Malformed::Nul, 2));
    assert_eq!(refused(&"/*".repeat(128)), (Malformed::TooDeep, 0));
    assert!(PathPattern::parse(&"/a".repeat(2_000)).is_ok());
}

#[test]
fn a_literal_covers_itself_and_what_lies_beneath() {
    let w = pattern("/w");
    assert!(w.covers("/w") && w.covers("/w/a/b"));
    assert!(!w.covers("/") && !w.covers("/wa") && !w.covers("/v/w"));
    assert!(pattern("/").covers("/") && pattern("/").covers("/a"));
}

#[test]
fn wildcards_stay_inside_a_component_but_for_two_stars() {
    let env = pattern("/w/**/.env");
    assert!(env.covers("/w/.env") && env.covers("/w/a/b/.env") && env.covers("/w/a/.env/b"));
    assert!(
        !env.covers("/w/a.env")
            && !env.covers("/w/.envrc")
            && !env.covers("/.env")
            && !env.covers("/wx/.env")
    );
    let star = pattern("/a/*.rs");
    assert!(star.covers("/a/x.rs") && star.covers("/a/.rs") && star.covers("/a/d.rs/z"));
    assert!(!star.covers("/a/b/x.rs") && !star.covers("/a/x.rsx"));
    assert!(pattern("/a/?").covers("/a/é") && !pattern("/a/?").covers("/a/bc"));
    assert!(pattern("/a/[!x-z]b").covers("/a/ab") && !pattern("/a/[!x-z]b").covers("/a/yb"));
    assert!(pattern(r"/a/[\]\-]*").covers("/a/]x") && pattern("/a/[b-]").covers("/a/-"));
    assert!(pattern("/a/**").covers("/a") && pattern("/a/**").covers("/a/b/c"));
    assert!(pattern("/**").covers("/"));
}

#[test]
fn names_with_newlines_quotes_and_thousands_of_bytes_match_exactly() {
    let long = format!("/w/{}", "n\"\n".repeat(1_400));
    assert!(pattern(&long).covers(&long));
    assert!(!pattern(&long).covers(&long[..long.len() - 1]));
    assert!(pattern("/w/*\n").covers(&long));
    let deep = "/d".repeat(25);
    assert!(pattern(&format!("{deep}/*")).covers(&format!("{deep}/f")));
    assert!(!pattern(&format!("{deep}/*")).covers(&deep));
}

#[test]
fn many_stars_do_not_blow_up() {
    let started = std::time::Instant::now();
    let stars = pattern(&format!("/{}b", "*a".repeat(60)));
    assert!(!stars.covers(&format!("/{}", "a".repeat(4_000))));
    let deep = pattern(&format!("{}/x", "/**/a".repeat(30)));
    assert!(!deep.covers(&"/a".repeat(1_000)));
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

/// Covers by trying every split: no automaton, no sharing with the code under test but for the syntax of the cases.
fn covers_naively(components: &[&str], path: &[&str]) -> bool {
    match (components.first(), path.first()) {
        (None, _) => true,
        (Some(&"**"), _) => {
            covers_naively(&components[1..], path)
                || (!path.is_empty() && covers_naively(components, &path[1..]))
        }
        (Some(_), None) => false,
        (Some(component), Some(name)) => {
            let (component, name): (Vec<char>, Vec<char>) =
                (component.chars().collect(), name.chars().collect());
            name_naively(&component, &name) && covers_naively(&components[1..], &path[1..])
        }
    }
}

fn name_naively(component: &[char], name: &[char]) -> bool {
    match (component, name) {
        ([], rest) => rest.is_empty(),
        (['*', after @ ..], _) => (0..=name.len()).any(|skip| name_naively(after, &name[skip..])),
        (_, []) => false,
        (['?', after @ ..], [_, rest @ ..]) => name_naively(after, rest),
        (['[', '!', one, ']', after @ ..], [first, rest @ ..]) => one != first && name_naively(after, rest),
        (['[', one, two, ']', after @ ..], [first, rest @ ..]) => {
            (one == first || two == first) && name_naively(after, rest)
        }
        ([one, after @ ..], [first, rest @ ..]) => one == first && name_naively(after, rest),
    }
}

/// Every path of up to three names over a small alphabet that is rich enough to tell the cases apart.
fn paths() -> Vec<String> {
    let mut names: Vec<String> = ["c", "ca", "ac", "cb", "bc", ".a", "a.", ".b", ".aa", ".ab"]
        .map(str::to_owned)
        .into();
    for length in 1..=3 {
        for bits in 0..1 << length {
            names.push(
                (0..length)
                    .map(|at| if bits >> at & 1 == 0 { 'a' } else { 'b' })
                    .collect(),
            );
        }
    }
    let plain = ["a", "b", "ab", "ba", "c", ".a", ".b", ".ab"].map(str::to_owned);
    let below = |paths: &[String], names: &[String]| -> Vec<String> {
        paths
            .iter()
            .flat_map(|path| names.iter().map(move |name| format!("{path}/{name}")))
            .collect()
    };
    let mut paths = vec![String::new()];
    let one = below(&paths, &names);
    let two = below(&one, &names);
    let three = below(&below(&below(&paths, &plain), &plain), &plain);
    paths.extend([one, two, three].concat());
    paths[0] = "/".into();
    paths
}

#[test]
fn covering_inclusion_and_intersection_agree_with_counting_every_small_path() {
    let names = [
        "a", "b", "ab", "*", "?", "??", "a*", "*b", "*a*", "[ab]", "[!a]", "a?", ".*", "[!a]*", "**",
    ];
    let mut patterns: Vec<String> = vec!["/".into()];
    for one in names {
        patterns.push(format!("/{one}"));
        patterns.extend(names.iter().map(|two| format!("/{one}/{two}")));
    }
    let paths = paths();
    let sets: Vec<(PathPattern, Vec<u64>)> = patterns
        .iter()
        .map(|text| {
            let parsed = pattern(text);
            let components: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
            let mut covered = vec![0; paths.len().div_ceil(64)];
            for (at, path) in paths.iter().enumerate() {
                let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
                let expected = covers_naively(&components, &names);
                assert_eq!(parsed.covers(path), expected, "{text} covers {path}");
                covered[at / 64] |= u64::from(expected) << (at % 64);
            }
            (parsed, covered)
        })
        .collect();
    for (outer, outer_paths) in &sets {
        for (inner, inner_paths) in &sets {
            let pairs = || outer_paths.iter().zip(inner_paths);
            let included = pairs().all(|(outer, inner)| inner & !outer == 0);
            assert_eq!(
                outer.includes(inner),
                included.into(),
                "{outer:?} includes {inner:?}"
            );
            let both = pairs().any(|(outer, inner)| outer & inner != 0);
            assert_eq!(
                outer.intersects(inner),
                both.into(),
                "{outer:?} intersects {inner:?}"
            );
        }
    }
}

#[test]
fn two_stars_are_compared_exactly() {
    let includes = |outer, inner| pattern(outer).includes(&pattern(inner));
    assert_eq!(includes("/**/b", "/**/a/**/b"), Proof::Holds);
    assert_eq!(includes("/**/a/**/b", "/**/b"), Proof::Fails);
    assert_eq!(includes("/**/*/*", "/*/**/*"), Proof::Holds);
    assert_eq!(includes("/*/**/*", "/**/*/*"), Proof::Holds);
    assert_eq!(includes("/**/a/*", "/a/**"), Proof::Fails);
    assert_eq!(includes("/w/**/.env", "/w/a/**/.env*"), Proof::Fails);
    assert_eq!(includes("/w/**/.env*", "/w/a/**/.env"), Proof::Holds);
    assert_eq!(pattern("/b/b").intersects(&pattern("/**/a/**/b")), Proof::Holds);
    assert_eq!(pattern("/w/**/a").intersects(&pattern("/v/**/a")), Proof::Fails);
}

#[test]
fn dot_names_are_no_paths_and_so_no_counterexamples() {
    assert!(pattern("/[!.]").includes(&pattern("/?")).holds());
    assert!(pattern("/*[!.]*").includes(&pattern("/??")).holds());
    assert_eq!(pattern("/*[!.]*").includes(&pattern("/???")), Proof::Fails);
    assert_eq!(pattern("/[--.]").intersects(&pattern("/[.-0]")), Proof::Fails);
}

#[test]
fn inclusion_sees_the_whole_of_unicode() {
    assert_eq!(
        pattern("/[\u{1}-\u{ffff}]").includes(&pattern("/?")),
        Proof::Fails
    );
    assert!(
        pattern("/[\u{1}-\u{d7ff}\u{e000}-\u{10ffff}]")
            .includes(&pattern("/?"))
            .holds()
    );
    assert!(
        pattern("/[!\u{d7ff}]")
            .includes(&pattern("/[\u{e000}-\u{10ffff}]"))
            .holds()
    );
}

#[test]
fn a_search_that_would_take_too_long_gives_up() {
    let long = pattern(&format!("/{}a", "?".repeat(25_000)));
    assert_eq!(pattern("/*a").includes(&long), Proof::Undecided);
    assert_eq!(pattern("/*b").intersects(&long), Proof::Undecided);
    // What a name on this system can be is decided.
    let name = pattern(&format!("/{}a", "?".repeat(254)));
    assert_eq!(pattern("/*a").includes(&name), Proof::Holds);
    assert_eq!(pattern("/*b").intersects(&name), Proof::Fails);
}
