"""Joins what the agent tried with what was recorded: prints what was refused, by which mechanism and which rule."""

import datetime
import json
import sys

# Audit records carry the time of the last tick, in whole milliseconds: up to this much too early.
EARLY_NS = 11_000_000

# What refuses without a record, by what the program was told. See docs/events.md.
UNRECORDED = {
    "EROFS": ("mount-attributes", "a read-only mount"),
    "EBUSY": ("mount-attributes", "a mount point stays where it is"),
    "ENOENT": ("private-mount", "it is not there"),
    "EACCES": ("", "file permissions or a noexec mount, before a rule was asked"),
    "EPERM": ("credentials", "the run has no capability"),
    "SIGSYS": ("seccomp", "every policy"),
    "ENOSYS": ("seccomp", "every policy"),
    "EPROTONOSUPPORT": ("", "this kernel has no such protocol"),
}


def nanoseconds(text):
    moment, fraction = text.rstrip("Z").split(".")
    parsed = datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc)
    return int(parsed.timestamp()) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9])


def refusals(path):
    with open(path) as file:
        for line in file:
            event = json.loads(line)
            if event["effect"] in ("deny", "forbid"):
                yield nanoseconds(event["time"]), event


def who(attempt, recorded):
    mine = [event for time, event in recorded if attempt["begin_ns"] - EARLY_NS <= time <= attempt["end_ns"]]
    if attempt["outcome"] == "done":
        return "", "granted"
    if mine:
        event = mine[-1]
        place = event["rule"]["location"].rsplit("/", 1)[-1]
        reason = f", because {event['because']}" if event["because"] else ""
        return event["mechanism"], f"{place}{reason}"
    return UNRECORDED.get(attempt["outcome"], ("", ""))


def main(attempts_path, events_path):
    with open(attempts_path) as file:
        attempts = json.load(file)
    recorded = list(refusals(events_path))
    rows = [("case", "tried", "outcome", "by", "rule")]
    for attempt in attempts:
        rows.append((attempt["case"], attempt["attempt"], attempt["outcome"], *who(attempt, recorded)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + "  " + row[4])


if __name__ == "__main__":
    main(*sys.argv[1:3])
