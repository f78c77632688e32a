//! The names of grammar rules in sentences, and the words each accepts.

use super::super::grammar::Rule;

/// A rule as a sentence calls it. Rules that say nothing to a reader have no name.
pub(super) fn name(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::effect => "an effect (`allow`, `ask`, `deny` or `forbid`)",
        Rule::file_access => "an access (`read`, `write` or `execute`)",
        Rule::verb => "a verb (`connect` or `bind`)",
        Rule::protocol => "a protocol (`tcp` or `udp`)",
        Rule::resource => "a resource (`memory`, `processes`, `cpu`, `open-files` or `wall`)",
        Rule::param_type => "a type (`path`, `host`, `cidr`, `port`, `duration`, `size` or `string`)",
        Rule::identity_word => "`dynamic`, `user`",
        Rule::ids => "`uid:gid`",
        Rule::identity => "an identity (`dynamic`, `user` or `uid:gid`)",
        Rule::record_word => "`denied`, `exec`, `connect`, `bind`, `read` or `write`",
        Rule::mode_word => "`in-place` or `ephemeral`",
        Rule::keep_word => "`none`, `review`, `all`",
        Rule::broker_scheme => "`bearer`, `basic`",
        Rule::broker_source => "`env` or `file`",
        Rule::outcome => "an outcome (`allowed`, `asked`, `denied`, `present` or `absent`)",
        Rule::domain => "a block's name",
        Rule::comparison => "a comparison (`==`, `!=`, `<`, `<=`, `>` or `>=`)",
        Rule::string => "a string",
        Rule::word => "a name",
        Rule::group => "a group (`@name`)",
        Rule::group_path => "a group (`std::name`)",
        Rule::unlocked => "a rule of the floor (`io-uring`)",
        Rule::argument | Rule::condition => "an argument's name",
        Rule::constant => "a constant",
        Rule::operand => "a number or a constant",
        Rule::quantity | Rule::number => "a number",
        Rule::unit => "a unit",
        Rule::interpolation => "`${parameter}`",
        Rule::limit_item => "a limit",
        Rule::syscall_target => "a system call or a group",
        Rule::requirement => "a requirement",
        Rule::open => "`{`",
        Rule::close | Rule::unclosed => "`}`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::equals => "`=`",
        Rule::at_least => "`>=`",
        Rule::ampersand => "`&`",
        Rule::pipe => "`|`",
        _ => {
            let quoted = quoted_keyword(rule);
            return (!quoted.is_empty()).then_some(quoted);
        }
    })
}

/// The words a rule accepts.
pub(super) fn of(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::effect => &["allow", "ask", "deny", "forbid"],
        Rule::file_access => &["read", "write", "execute"],
        Rule::verb => &["connect", "bind"],
        Rule::protocol => &["tcp", "udp"],
        Rule::resource => &["memory", "processes", "cpu", "open-files", "wall"],
        Rule::param_type => &["path", "host", "cidr", "port", "duration", "size", "string"],
        Rule::identity_word => &["dynamic", "user"],
        Rule::record_word => &["denied", "exec", "connect", "bind", "read", "write"],
        Rule::mode_word => &["in-place", "ephemeral"],
        Rule::keep_word => &["none", "review", "all"],
        Rule::broker_scheme => &["bearer", "basic"],
        Rule::broker_source => &["env", "file"],
        Rule::outcome => &["allowed", "asked", "denied", "present", "absent"],
        Rule::domain => &["filesystem", "network", "credentials", "process"],
        _ => keyword(rule),
    }
}

macro_rules! keywords {
    ($($rule:ident $(| $also:ident)* = $word:literal,)+) => {
        fn keyword(rule: Rule) -> &'static [&'static str] {
            match rule {
                $(Rule::$rule $(| Rule::$also)* => &[$word],)+
                _ => &[],
            }
        }

        fn quoted_keyword(rule: Rule) -> &'static str {
            match rule {
                $(Rule::$rule $(| Rule::$also)* => concat!("`", $word, "`"),)+
                _ => "",
            }
        }
    };
}

keywords! {
    kw_include | include = "include",
    kw_group | group_block = "group",
    kw_policy | policy = "policy",
    kw_test | test = "test",
    kw_summary | summary = "summary",
    kw_within | within = "within",
    kw_use | use_groups = "use",
    kw_param | param = "param",
    kw_of = "of",
    kw_require | require = "require",
    kw_unlock | unlock = "unlock",
    kw_because | because = "because",
    kw_label | label = "label",
    kw_if | if_present = "if present",
    kw_present = "present",
    kw_permit | permit_degraded = "permit degraded",
    kw_degraded = "degraded",
    kw_filesystem | filesystem = "filesystem",
    kw_scratch | scratch = "scratch",
    kw_hide | hide = "hide",
    kw_network | network = "network",
    kw_credentials | credentials = "credentials",
    kw_pass | pass = "pass",
    kw_set | set = "set",
    kw_broker | broker = "broker",
    kw_for = "for",
    kw_as = "as",
    kw_header | broker_header = "header",
    kw_from = "from",
    kw_ttl = "ttl",
    kw_process | process = "process",
    kw_identity = "identity",
    kw_limit | limit = "limit",
    kw_syscall = "syscall",
    kw_where = "where",
    kw_and = "and",
    kw_workspace | workspace = "workspace",
    kw_mode = "mode",
    kw_keep = "keep",
    kw_audit | audit = "audit",
    kw_record | record = "record",
    kw_is = "is",
    kw_by = "by",
    kw_env = "env",
}

/// Words of other tools' policies, and what they are here.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("file", &["path"]),
    ("dir", &["path"]),
    ("directory", &["path"]),
    ("address", &["host"]),
    ("prefix", &["cidr"]),
    ("bytes", &["size"]),
    ("enum", &["string"]),
    ("grant", &["allow"]),
    ("permit", &["allow"]),
    ("accept", &["allow"]),
    ("block", &["deny"]),
    ("reject", &["deny"]),
    ("drop", &["deny"]),
    ("refuse", &["deny"]),
    ("never", &["forbid"]),
    ("exec", &["execute"]),
    ("run", &["execute"]),
    ("listen", &["bind"]),
    ("send", &["connect"]),
    ("open", &["read"]),
    ("reason", &["because"]),
    ("name", &["label"]),
    ("mem", &["memory"]),
    ("ram", &["memory"]),
    ("pids", &["processes"]),
    ("nofile", &["open-files"]),
    ("files", &["filesystem", "open-files"]),
    ("fs", &["filesystem"]),
    ("net", &["network"]),
    ("env", &["pass", "credentials"]),
    ("environment", &["credentials", "pass"]),
    ("export", &["set"]),
    ("timeout", &["wall"]),
    ("time", &["wall"]),
    ("root", &["dynamic"]),
    ("blocked", &["denied"]),
    ("refused", &["denied"]),
    ("forbidden", &["denied"]),
    ("permitted", &["allowed"]),
    ("log", &["record"]),
    ("nothing", &["none"]),
    ("discard", &["none"]),
    ("everything", &["all"]),
    ("copy", &["ephemeral"]),
    ("overlay", &["ephemeral"]),
    ("import", &["include", "use"]),
    ("extends", &["within"]),
    ("inherit", &["within"]),
    ("confirm", &["ask"]),
    ("prompt", &["ask"]),
    ("unforbid", &["unlock"]),
    ("inject", &["broker"]),
];

/// What a word of another vocabulary means, among the words that can stand here.
pub(super) fn synonym<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (_, meanings) = SYNONYMS.iter().find(|(other, _)| *other == word)?;
    let candidates: Vec<&str> = candidates.collect();
    meanings
        .iter()
        .find_map(|meaning| candidates.iter().find(|candidate| *candidate == meaning))
        .copied()
}

/// Where a word does belong.
pub(super) fn home(word: &str) -> Option<&'static str> {
    Some(match word {
        "read" | "write" | "execute" => "a `filesystem` rule or a `test`",
        "include" | "group" => "the file, outside its policy",
        "scratch" | "hide" => "`filesystem`",
        "connect" | "bind" | "tcp" | "udp" => "a `network` rule or a `test`",
        "pass" | "set" | "broker" => "`credentials`",
        "identity" | "limit" | "syscall" => "`process`",
        "record" => "`audit`",
        "mode" | "keep" | "from" => "`workspace`",
        "allow" | "ask" | "deny" | "forbid" => "`filesystem`, `network`, `credentials` or `process`",
        "summary" | "within" | "use" | "param" | "require" | "unlock" | "filesystem" | "network"
        | "credentials" | "process" | "workspace" | "audit" => "`policy`, outside its blocks",
        _ => return None,
    })
}
