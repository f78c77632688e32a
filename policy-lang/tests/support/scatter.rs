//! Policies of every kind of statement, as tokens with arbitrary space and comments between them.

use proptest::prelude::*;

/// What stands between two tokens, and the token after it.
pub(crate) type Pieces = Vec<(String, String)>;

const STATEMENTS: &[(&str, &[&str])] = &[
    (
        "filesystem {",
        &[
            "allow read \"/a\"",
            "deny \"/b\" , \"/c/**/*.txt\" if present",
            "forbid read , write , execute \"${w}/x\" because \"a reason\" label \"l\"",
            "ask write \"/long/path/number/one\" , \"/long/path/number/two\" , \"/long/path/number/three\" , \"/long/path/number/four\"",
            "scratch \"/tmp\" 512MiB permit degraded",
            "hide \"/é/語\"",
        ],
    ),
    (
        "network {",
        &[
            "allow connect tcp \"1.2.3.4:5\"",
            "deny \"10.0.0.0/8:*\" , \"[::]/0:*\" because \"none\"",
            "ask connect , bind tcp , udp \"*.example.com:443\"",
        ],
    ),
    (
        "credentials {",
        &[
            "pass \"PATH\" , \"LANG\"",
            "deny pass \"AWS_*\"",
            "set \"CI\" = \"// no comment\"",
            "broker \"U\" for \"h:443\" as header \"X\" from file \"/run/u\" because \"r\"",
            "broker \"T\" for \"h:443\" as bearer from env \"T\" ttl 15m",
        ],
    ),
    (
        "process {",
        &[
            "identity 1000:1000",
            "allow syscall @system-service , \"read\"",
            "deny syscall \"ioctl\" where request == TIOCSTI | 0x10 and arg2 & 0xff != 1 , @debug label \"x\"",
            "limit memory 4GiB , cpu 200% , wall ${d}",
        ],
    ),
    (
        "workspace {",
        &[
            "from \"${w}\"",
            "mode in-place",
            "keep review",
            "keep \"*.md\" , \"docs/**\"",
        ],
    ),
    ("audit {", &["record denied , exec"]),
];

const HEADERS: &[&str] = &[
    "summary \"s\"",
    "within \"a/b.remit\"",
    "use std::git , std::node",
    "param w : path = \".\"",
    "param m : string of \"a\" , \"b\" = \"a\"",
    "require landlock >= 3 , cgroup-bpf",
    "unlock io-uring , bpf because \"measured\"",
];

/// What stands beside the policy.
const TOP: &[&str] = &[
    "include \"org/a.remit\"",
    "group org::a { summary \"s\" use std::git }",
    "group b { filesystem { allow read \"/a\" } }",
    "group c { }",
];

const EXPECTATIONS: &[&str] = &[
    "read \"/a\" is allowed",
    "connect udp \"1.2.3.4:5\" is denied by network",
    "bind \"1.2.3.4:5\" is denied by \"l\"",
    "syscall \"ioctl\" where request == TIOCSTI is denied",
    "env \"A\" is absent",
];

/// Space, or a comment with the line breaks it needs.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => Just(" ".to_owned()),
        3 => Just("\n".to_owned()),
        1 => Just("\n\n\n  ".to_owned()),
        1 => Just(" // to the end\n".to_owned()),
        1 => Just("\n// alone\n".to_owned()),
        1 => Just(" /* inside */ ".to_owned()),
        1 => Just("\n  /* over\n     lines */\n".to_owned()),
        1 => Just(" /* é\n\tover lines */ // and \"more\"\n".to_owned()),
    ]
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        // A string holds spaces.
        let end = match rest.strip_prefix('"') {
            Some(inner) => inner.find('"').map_or(rest.len(), |end| end + 2),
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        words.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    words
}

fn some(from: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(from), 0..5).prop_map(|lines| lines.join(" "))
}

fn block() -> impl Strategy<Value = String> {
    prop::sample::select(STATEMENTS)
        .prop_flat_map(|(open, lines)| some(lines).prop_map(move |lines| format!("{open} {lines} }}")))
}

/// A whole file.
pub(crate) fn policy() -> impl Strategy<Value = Pieces> {
    let body = prop::collection::vec(prop_oneof![some(HEADERS), block()], 0..5);
    let tests = prop::collection::vec(some(EXPECTATIONS), 0..3);
    let text = (some(TOP), body, tests).prop_map(|(top, body, tests)| {
        let tests = tests.iter().map(|lines| format!(" test \"t\" {{ {lines} }}"));
        format!(
            "{top} policy \"p\" {{ {} }}{}",
            body.join(" "),
            tests.collect::<String>()
        )
    });
    text.prop_flat_map(|text| {
        let words = words(&text);
        let gaps = prop::collection::vec(gap(), words.len());
        gaps.prop_map(move |gaps| gaps.into_iter().zip(words.clone()).collect())
    })
}

pub(crate) fn join(pieces: &Pieces) -> String {
    pieces
        .iter()
        .flat_map(|(gap, word)| [gap.as_str(), word])
        .collect()
}

/// The same with more spaces where there is nothing but one.
pub(crate) fn widen(pieces: &Pieces, width: usize) -> String {
    let widened = pieces.iter().flat_map(|(gap, word)| {
        let gap = if gap == " " {
            " ".repeat(width)
        } else {
            gap.clone()
        };
        [gap, word.clone()]
    });
    widened.collect()
}

/// A text without the space between its tokens; in comments without the space at the ends of lines.
pub(crate) fn essence(text: &str) -> String {
    let mut essence = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = if let Some(inner) = rest.strip_prefix('"') {
            inner.find('"').unwrap() + 2
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else {
            next.len_utf8()
        };
        let piece = rest[..length].trim();
        essence.extend(piece.lines().flat_map(|line| [line.trim(), "\n"]));
        rest = &rest[length..];
    }
    essence
}
