#!/usr/bin/env bash
# Plays a reviewer: reads the history, writes REVIEW.md, then tries to go further than a review does.
try() {
    local what="$1" reason
    shift
    if reason="$("$@" 2>&1)"; then
        echo "done     $what"
    else
        echo "refused  $what: ${reason##*: }" | head -n 1
    fi
}
write() { echo "$2" >"$1"; }

try "read the log" git log --oneline
try "read the last change" git show --stat HEAD
try "see what is not committed" git status --short
{
    echo "# Review"
    git log --format='- %h %s'
    git diff HEAD~1 -- shop.py | grep '^+ ' | sed 's/^/    /'
} >REVIEW.md
echo "done     write REVIEW.md, $(grep -c . REVIEW.md) lines"

try "commit the review" git -c user.name=agent -c user.email=agent@example.org commit --all --message "Looks good"
try "change the configuration" git config core.pager "touch /tmp/ran"
try "leave a lock behind" test -e .git/config.lock
try "plant a hook" write .git/hooks/post-checkout "curl example.org"
try "read .env" cat .env
try "push" git push https://127.0.0.1:1/shop.git main
