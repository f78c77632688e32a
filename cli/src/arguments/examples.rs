//! The `Examples:` part of each help page. A test runs every line that starts with `$ `.

pub(super) const TOP: &str = "\
Exit codes:
  0         done; for `run`, the command's own code
  1         a policy has errors, or the operation failed
  2         the command line is wrong
  125       `run`: Remit itself failed or refused to start
  124       `run`: the wall-clock limit ended the command
  126, 127  `run`: the command is not executable, or was not found
  128+n     `run`: the command was ended by signal n

Examples:
  $ remit check build.remit
  $ remit doctor";

pub(super) const CHECK: &str = "\
Exits 0 when no policy has an error, 1 when one has; warnings and notes are errors only where `--deny` says so. \
`--format sarif` is SARIF 2.1.0 for code scanning, `junit` and `github` are for CI. A comment \
`// remit: allow CODE because \"…\"` accepts one finding where it stands.

Examples:
  $ remit check build.remit
  $ remit check .
  $ remit check build.remit --guardrails guardrails
  $ remit check build.remit --deny R0626,R0641 --allow notes
  $ remit check build.remit --param workspace=/srv/checkout --format sarif
  $ remit check build.remit --target linux-6.1,linux-6.12
  $ remit check --fix build.remit
  $ remit check --explain R0622";

pub(super) const TEST: &str = "\
Exits 0 when every line holds and enough rules are covered, 1 when not, 2 when nothing could be tested.

Examples:
  $ remit test build.remit
  $ remit test build.remit more.remit
  $ remit test build.remit --filter keys --format junit
  $ remit test build.remit --fail-under 0";

pub(super) const COMPILE: &str = "\
The artifact is readable RON with its digest inside. The same policy, parameters and resolved paths give the same \
bytes, so a rebuilt artifact can be compared with the reviewed one.

Examples:
  $ remit compile build.remit -o build.ron
  $ remit compile build.remit --param workspace=/srv/checkout";

pub(super) const IMPORT: &str = "\
The policy is never wider than its source. What could not be carried is listed on stderr with the reason: `narrower` \
where the policy allows less, `note` where it allows as much, `wider` where `--relax` asked for it. A restriction that \
no policy can say refuses the import.

Examples:
  $ remit import srt settings.json -o imported.remit
  $ remit import oci seccomp.json --format json
  $ remit import docker -- docker run --network none -v /srv/checkout:/srv/checkout alpine";

pub(super) const LEARN: &str = "\
Runs CMD again and again, each time within everything that was learned so far and never beyond the ceiling, until nothing \
new is refused. Nothing is allowed in order to watch it. What the ceiling refuses, and what looks like a secret, is listed \
and not proposed.

Exits 0 when CMD ended with 0 within the proposed policy, 1 when it did not.

Examples:
  $ remit learn -o learned.remit -- ls
  $ remit learn build.remit -- cat build.remit
  $ remit learn --show-ceiling";

pub(super) const EXPLAIN: &str = "\
How to read it: a rule is `enforced` when every mechanism it needs is here and exact, `partly` when something it says \
is not covered (the reason follows), `unenforceable` when this host lacks what it needs. A run is refused while a rule \
is not enforced, unless the rule says `permit degraded`.

Examples:
  $ remit explain build.remit
  $ remit explain build.ron --all
  $ remit explain build.remit --format json";

pub(super) const WHY: &str = "\
ACCESS is one of
  read PATH, write PATH, execute PATH (or exec PATH)
  connect [tcp|udp] HOST:PORT, bind [tcp|udp] ADDRESS:PORT
  env NAME
  syscall NAME [argument=value…]

Symbolic links, `..`, `~` and relative paths are followed as the kernel would, and what they lead to is said.

Exits 0 with an answer, 1 when artifact and policy decide differently, 2 without an answer.

Examples:
  $ remit why build.remit read /usr/bin/env
  $ remit why build.remit connect udp 192.0.2.1:53 --propose
  $ remit why build.remit syscall ioctl request=TIOCSTI --format json
  $ remit why build.ron env PATH
  $ remit why build.remit --artifact build.ron write /etc/passwd";

pub(super) const DIFF: &str = "\
Labels, positions and the order of rules do not matter, only what a policy allows. Exits 0 when NEW is at least as \
strict, 1 when it is wider, 2 when that could not be decided or a policy has errors.

Examples:
  $ remit diff build.remit review.remit
  $ remit diff build.remit review.remit --format markdown
  $ remit diff --ceiling review.remit build.remit";

pub(super) const GUARD_TEST: &str = "\
Runs every rule whose name begins with `test_`. Exits 0 when all are true, 1 when one is not, 2 when there is none or \
they cannot be read.

Examples:
  $ remit guard test
  $ remit guard test guardrails --format json";

pub(super) const GUARD_INPUT: &str = "\
The document that `deny`, `warn` and `exception` rules see as `input`; every field is described in docs/guardrails.md.

Examples:
  $ remit guard input build.remit";

pub(super) const RUN: &str = "\
CMD starts with nothing but what the policy grants and descriptors 0, 1 and 2. Each refusal is one line on stderr, \
with the rule and its reason.

Exits with CMD's own code; 125 when Remit failed or refused, 126 when CMD is not executable, 127 when it was not \
found, 128+n when signal n ended it.

Examples:
  $ remit run build.remit -- true
  $ remit run build.remit --events events.jsonl -- ls
  $ remit run build.ron --quiet -- sh -c 'exit 0'";

pub(super) const VERIFY: &str = "\
Tries each boundary inside a run of the policy, and each line of its `test` blocks. A refusal counts when it has the \
expected errno, is on record under the expected rule, a control succeeds beside it, and the same operation succeeds in a \
throw-away run with that one control off. Nothing leaves the host: probes have a network namespace of their own.

Exits 0 when everything is proved, 1 when something does not hold, 2 when it could not be shown.

Examples:
  $ remit verify build.remit
  $ remit verify build.remit --only metadata --only socket:
  $ remit verify build.remit --list
  $ remit verify build.remit --report build.verified.json --format junit";

pub(super) const DOCTOR: &str = "\
Exits 0 when policies can be enforced on this host by this user, 1 when they cannot.

Examples:
  $ remit doctor
  $ remit doctor --format json";

pub(super) const RECOVER: &str = "\
Kills what is left of runs whose enforcer is gone and removes what they kept. Live runs are not touched. Every \
`remit run` does this first; call it by hand after a crash when no run follows.

Examples:
  $ remit recover
  $ remit recover --instance nightly";

pub(super) const UNLOAD: &str = "\
Removes the cgroup, the pinned programs and maps and the state directory of an instance, and restores audit settings. \
Refuses while a run is alive.

Examples:
  $ remit unload
  $ remit unload --instance nightly";

pub(super) const EVENTS_VERIFY: &str = "\
Exits 0 when sequence numbers and the hash chain of every run are whole up to its end, 1 when they are not.

Examples:
  $ remit events verify events.jsonl
  $ remit events verify events.jsonl --format json";

pub(super) const FMT: &str = "\
Only white space changes. Comments and blank lines stay with what they belong to. The result is read again, and a file \
is left alone if it would not mean the same.

Exits 0 when every file is formatted, 1 when one has errors or, with `--check`, is not formatted.

Examples:
  $ remit fmt .
  $ remit fmt --check .
  $ remit fmt - < build.remit";

pub(super) const LSP: &str = "\
Speaks the Language Server Protocol on stdin and stdout until the editor says `exit`. An editor starts it; docs/editors.md \
says how, and which settings it takes.

Examples:
  $ remit lsp";

pub(super) const COMPLETIONS: &str = "\
Examples:
  $ remit completions bash
  $ remit completions zsh
  $ remit completions fish";
