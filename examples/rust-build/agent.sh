#!/usr/bin/env bash
# Plays a build: compiles, tests and runs a crate without a network, then tries more.
try() {
    local what="$1" reason
    shift
    if reason="$("$@" 2>&1)"; then
        echo "done     $what"
    else
        echo "refused  $what: $(printf '%s' "${reason##*: }" | tail -n 1)"
    fi
}
write() { echo "$2" >"$1"; }
connect() { : <>"/dev/tcp/$1/$2"; }

cargo build --offline --jobs 1 2>&1 | grep -o 'refused: .*' | sed 's/^refused: /refused  change a source from the build script: /'
try "build" cargo build --offline --jobs 1
try "test" cargo test --offline --jobs 1
try "run what was built" ./target/debug/answer
try "change a source" write src/main.rs "fn main() {}"
try "start a program from /tmp" bash -c 'cp target/debug/answer /tmp/answer && /tmp/answer'
try "ask a registry" connect 127.0.0.1 443
