; Later patterns are more specific.

[
  "include" "group" "policy" "test" "summary" "within" "use" "param" "of" "require" "unlock"
  "filesystem" "network" "credentials" "process" "workspace" "audit"
  "scratch" "hide" "pass" "set" "broker" "for" "as" "from" "ttl" "identity" "limit" "syscall" "where" "and"
  "mode" "keep" "record" "env" "is" "by"
] @keyword

(because "because" @keyword)
(label "label" @keyword)
(if_present) @keyword.modifier
(permit_degraded) @keyword.modifier

(effect ["allow" "ask"] @function.builtin)
(effect ["deny" "forbid"] @exception)

[(access) (verb) (protocol) (recorded) (outcome) (domain)] @constant.builtin
["bearer" "basic" "header" "file" "dynamic" "user" "ephemeral" "in-place" "none" "review" "all"] @constant.builtin

(type) @type.builtin
(resource) @property
(requirement (word) @property)
(unlocked) @property
(parameter) @variable.parameter
(group_path) @module
(syscall_group) @module
(constant) @constant
(condition argument: (word) @variable)
(condition argument: (underscored) @variable)

(string) @string
(escape) @string.escape
(interpolation ["${" "}"] @punctuation.special)
(quantity) @number

["{" "}"] @punctuation.bracket
["," ":"] @punctuation.delimiter
["=" "&" "|" ">="] @operator
(comparison) @operator

[(line_comment) (block_comment)] @comment
