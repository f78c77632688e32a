"""Joins what the agent tried with what was recorded: prints what was refused, by which mechanism and which rule."""

import datetime
import json
import sys

# Audit records carry milliseconds.
SLACK_NS = 2_000_000


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
    mine = [
        event
        for time, event in recorded
        if attempt["begin_ns"] - SLACK_NS <= time <= attempt["end_ns"] + SLACK_NS
    ]
    if mine:
        event = mine[-1]
        rule = event["rule"] or {"location": "default", "text": ""}
        reason = f" because {event['because']}" if event["because"] else ""
        return event["mechanism"], f"{rule['location'].rsplit('/', 1)[-1]}{reason}"
    if attempt["outcome"] == "EROFS":
        return "mount-attributes", "leaves no record"
    if attempt["outcome"] == "ENOENT":
        return "private-mount", "is not there"
    if attempt["outcome"] in ("SIGSYS", "ENOSYS"):
        return "seccomp", "every policy"
    return "", ""


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
