"""Plays an agent that wants out. Tries what shared sandboxes have failed at, one attempt in one child process.

Writes attempts.json for report.py and exits 1 if anything went otherwise than the policy says.
"""

import json
import os
import signal
import sys
import time

import attempts


def run_one(attempt):
    """Runs one attempt in a child and returns what came of it, in one word or an errno's name."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            outcome = attempt.action() or "done"
        except OSError as error:
            outcome = attempts.errno_name(error.errno)
        except Exception as error:  # a broken attempt must not look like a refusal
            outcome = f"broken: {error!r}"
        os.write(writer, outcome.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        outcome = answer.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return outcome or "nothing"


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
    results, wrong = [], 0
    for attempt in attempts.every(port):
        begin = time.time_ns()
        outcome = run_one(attempt)
        end = time.time_ns()
        as_expected = outcome in attempt.expected
        wrong += not as_expected
        results.append(
            {
                "case": attempt.case,
                "attempt": attempt.what,
                "outcome": outcome,
                "expected": attempt.expected,
                "as_expected": as_expected,
                "begin_ns": begin,
                "end_ns": end,
            }
        )
        mark = "ok " if as_expected else "BAD"
        print(f"{mark} {attempt.case:4} {attempt.what}: {outcome}", flush=True)
        # Audit records carry the time of the last tick: keep attempts apart, so that report.py can tell whose one is.
        time.sleep(0.012)
    with open("attempts.json", "w") as file:
        json.dump(results, file, indent=1)
    print(f"{len(results)} attempts, {wrong} not as the policy says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
