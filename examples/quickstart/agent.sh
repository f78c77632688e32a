#!/usr/bin/env bash
# Plays the agent: does its work, then tries what it was not given. Takes the port it may connect to.
port="${1:-8080}"

# What is tried, then a command that succeeds when it could be done.
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

try "write notes.txt in the workspace" write notes.txt "three findings"
try "read it back" grep -q findings notes.txt
try "read the list of accounts" test -r /etc/passwd
try "connect to 127.0.0.1:$port" connect 127.0.0.1 "$port"

try "read /etc/hosts" cat /etc/hosts
try "read /etc/shadow" cat /etc/shadow
try "write /etc/motd" write /etc/motd "hello"
try "write outside the workspace" write /var/tmp/notes.txt "hello"
try "connect to 127.0.0.1:22" connect 127.0.0.1 22
try "connect to 10.0.0.1:443" connect 10.0.0.1 443
try "see the caller's environment" printenv REMIT_EXAMPLE_SECRET
