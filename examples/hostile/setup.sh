#!/usr/bin/env bash
# Makes what there is to steal and to break, on the host, in the current directory.
set -euo pipefail
mkdir -p home/.ssh .git/hooks deep
printf 'PRIVATE KEY\n' >home/.ssh/id_ed25519
printf 'Host *\n' >home/.ssh/config
printf '[core]\n\tbare = false\n' >.git/config
printf 'ref: refs/heads/main\n' >.git/HEAD
mkdir -p .git/objects .git/refs
printf 'unchanged\n' >locked.txt
printf 'bait\n' >deep/bait.txt
