/**
 * Tree-sitter grammar of Remit policies. `policy-lang/src/grammar.pest` is the grammar that decides what a policy is; this
 * one colours and folds it while it is being typed. `scripts/editors` parses every policy of the repository with it.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const list = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "remit",

  extras: ($) => [/\s/, $.line_comment, $.block_comment],

  word: ($) => $.word,

  rules: {
    file: ($) => repeat(choice($.include, $.group_block, $.policy, $.test)),

    include: ($) => seq("include", field("path", $.string)),

    group_block: ($) => seq("group", field("name", $.group_path), "{", repeat($._header_or_block), "}"),

    policy: ($) => seq("policy", field("name", $.string), "{", repeat($._header_or_block), "}"),

    _header_or_block: ($) =>
      choice(
        $.summary,
        $.within,
        $.use,
        $.param,
        $.require,
        $.unlock,
        $.filesystem,
        $.network,
        $.credentials,
        $.process,
        $.workspace,
        $.audit,
      ),

    summary: ($) => seq("summary", $.string),
    within: ($) => seq("within", field("path", $.string)),
    use: ($) => seq("use", list($.group_path)),
    group_path: ($) => seq($.word, repeat(seq(token.immediate("::"), alias($._immediate_word, $.word)))),
    param: ($) =>
      seq(
        "param",
        field("name", alias($.word, $.parameter)),
        ":",
        field("type", $.type),
        optional(seq("of", list($.string))),
        optional(seq("=", field("default", choice($.string, $.quantity)))),
      ),
    type: (_) => choice("path", "host", "cidr", "port", "duration", "size", "string"),
    require: ($) => seq("require", list($.requirement)),
    requirement: ($) => seq($.word, optional(seq(">=", $.quantity))),
    unlock: ($) => seq("unlock", list(alias($.word, $.unlocked)), $.because),

    _suffix: ($) => choice($.because, $.label, $.if_present, $.permit_degraded),
    because: ($) => seq("because", $.string),
    label: ($) => seq("label", $.string),
    if_present: (_) => seq("if", "present"),
    permit_degraded: (_) => seq("permit", "degraded"),

    filesystem: ($) => seq("filesystem", "{", repeat(choice($.file_rule, $.scratch, $.hide)), "}"),
    file_rule: ($) => seq($.effect, optional(list($.access)), list($.string), repeat($._suffix)),
    scratch: ($) => seq("scratch", $.string, $._value, repeat($._suffix)),
    hide: ($) => seq("hide", list($.string), repeat($._suffix)),

    network: ($) => seq("network", "{", repeat($.network_rule), "}"),
    network_rule: ($) =>
      seq($.effect, optional(list($.verb)), optional(list($.protocol)), list($.string), repeat($._suffix)),

    credentials: ($) => seq("credentials", "{", repeat(choice($.pass, $.set, $.broker)), "}"),
    pass: ($) => seq(optional($.effect), "pass", list($.string), repeat($._suffix)),
    set: ($) => seq("set", field("name", $.string), "=", field("value", $.string), repeat($._suffix)),
    broker: ($) =>
      seq(
        "broker",
        field("name", $.string),
        "for",
        field("destination", $.string),
        "as",
        choice("bearer", "basic", seq("header", $.string)),
        "from",
        choice("env", "file"),
        field("source", $.string),
        optional(seq("ttl", $._value)),
        repeat($._suffix),
      ),

    process: ($) => seq("process", "{", repeat(choice($.identity, $.syscall_rule, $.limit)), "}"),
    identity: ($) => seq("identity", choice("dynamic", "user", $.ids), repeat($._suffix)),
    ids: ($) => seq($.quantity, token.immediate(":"), alias($._immediate_number, $.quantity)),
    limit: ($) => seq("limit", list(seq($.resource, $._value)), repeat($._suffix)),
    resource: (_) => choice("memory", "processes", "cpu", "open-files", "wall"),
    syscall_rule: ($) => seq($.effect, "syscall", list($.syscall_target), repeat($._suffix)),
    syscall_target: ($) => seq(choice($.syscall_group, $.string), optional($.conditions)),
    syscall_group: (_) => /@[A-Za-z][A-Za-z0-9_-]*/,
    conditions: ($) => seq("where", $.condition, repeat(seq("and", $.condition))),
    condition: ($) =>
      seq(field("argument", $._name), optional(seq("&", $.operand)), $.comparison, field("value", $.operand)),
    operand: ($) => seq($._term, repeat(seq("|", $._term))),
    _term: ($) => choice($.quantity, alias($._name, $.constant)),
    _name: ($) => choice($.word, $.underscored),
    underscored: (_) => /_[A-Za-z0-9_]*/,
    comparison: (_) => choice("==", "!=", "<=", ">=", "<", ">"),

    workspace: ($) => seq("workspace", "{", repeat(choice($.from, $.mode, $.keep)), "}"),
    from: ($) => seq("from", $.string),
    mode: (_) => seq("mode", choice("ephemeral", "in-place")),
    keep: ($) => seq("keep", choice("none", "review", "all", list($.string))),

    audit: ($) => seq("audit", "{", repeat($.record), "}"),
    record: ($) => seq("record", list($.recorded)),
    recorded: (_) => choice("denied", "exec", "connect", "bind", "read", "write"),

    test: ($) => seq("test", field("name", $.string), "{", repeat($.expectation), "}"),
    expectation: ($) =>
      seq(
        choice(
          seq($.access, $.string),
          seq($.verb, optional($.protocol), $.string),
          seq("env", $.string),
          seq("syscall", $.string, optional($.conditions)),
        ),
        "is",
        $.outcome,
        optional(seq("by", choice($.domain, $.string))),
      ),
    outcome: (_) => choice("allowed", "asked", "denied", "present", "absent"),
    domain: (_) => choice("filesystem", "network", "credentials", "process"),

    effect: (_) => choice("allow", "ask", "deny", "forbid"),
    access: (_) => choice("read", "write", "execute"),
    verb: (_) => choice("connect", "bind"),
    protocol: (_) => choice("tcp", "udp"),

    _value: ($) => choice($.quantity, $.interpolation),
    quantity: (_) => token(/(0x[0-9A-Fa-f]+|[0-9][0-9_]*(\.[0-9]+)?)([A-Za-z]+|%)?/),
    _immediate_number: (_) => token.immediate(/(0x[0-9A-Fa-f]+|[0-9][0-9_]*(\.[0-9]+)?)([A-Za-z]+|%)?/),

    string: ($) =>
      seq(
        '"',
        repeat(choice($._characters, $.escape, alias($._string_interpolation, $.interpolation))),
        token.immediate('"'),
      ),
    // Before comments, which may not begin in a string; and a parameter before both.
    _characters: (_) => token.immediate(prec(1, /[^"\\$\n]+|\$/)),
    escape: (_) => token.immediate(/\\(u\{[^}"\n]*\}|[^\n])/),
    _string_interpolation: ($) => seq(token.immediate(prec(2, "${")), $._interpolated),
    interpolation: ($) => seq("${", $._interpolated),
    _interpolated: ($) => seq(alias($._immediate_word, $.parameter), token.immediate("}")),

    word: (_) => /[A-Za-z][A-Za-z0-9_-]*/,
    _immediate_word: (_) => token.immediate(/[A-Za-z][A-Za-z0-9_-]*/),

    line_comment: (_) => token(seq("//", /[^\n]*/)),
    block_comment: (_) => token(seq("/*", /[^*]*\*+([^/*][^*]*\*+)*/, "/")),
  },
});
