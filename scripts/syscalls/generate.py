#!/usr/bin/env python3
"""Writes policy-lang/src/syscall/{numbers,groups,arguments,constants}.rs from the data files beside this script.

    generate.py                   write the tables
    generate.py --check           exit 1 when the tables on disk are not what would be written
    generate.py --check-headers   exit 1 when a number or a constant disagrees with the installed kernel headers

Offline, standard library only, the same bytes on every machine. `--check-headers` needs gcc, linux-libc-dev and the C
library's headers; it compares what those headers know and ignores what is newer than they are.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TABLES = HERE.parent.parent / "policy-lang" / "src" / "syscall"
WIDTH = 110


def rows(name):
    """The data file's lines as lists of words; an indented line continues the one above."""
    found = []
    for line in (HERE / name).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        if line[0] == " ":
            found[-1].extend(words)
        else:
            found.append(words)
    return found


def in_order(names, file):
    if names != sorted(set(names)):
        sys.exit(f"{file}: names must be sorted and must not repeat")


def numbers():
    table = {}
    for name, x86_64, aarch64 in rows("numbers.txt"):
        table[name] = tuple(None if n == "-" else int(n) for n in (x86_64, aarch64))
    in_order(list(table), "numbers.txt")
    for column in (0, 1):
        known = [n[column] for n in table.values() if n[column] is not None]
        if len(known) != len(set(known)):
            sys.exit("numbers.txt: one number has two names")
    return table


def groups(known):
    table = {row[0].removesuffix(":"): row[1:] for row in rows("groups.txt")}
    in_order(list(table), "groups.txt")

    def expand(name, path):
        if name in path:
            sys.exit(f"groups.txt: {name} contains itself")
        members = set()
        for member in table[name]:
            if member.startswith("@"):
                members |= expand(member, path + [name])
            elif member in known:
                members.add(member)
            else:
                sys.exit(f"groups.txt: {name} lists {member}, which is not in numbers.txt")
        return members

    expanded = {name: sorted(expand(name, [])) for name in table}
    expanded["@known"] = sorted(known)
    return dict(sorted(expanded.items()))


def arguments(known):
    table = {}
    for name, *registers in rows("arguments.txt"):
        if name not in known:
            sys.exit(f"arguments.txt: {name} is not in numbers.txt")
        named = []
        for index, register in enumerate(registers):
            if register == "-":
                continue
            names, bits = register.split(":")
            for one in names.split("|"):
                if re.fullmatch(r"arg\d", one):
                    sys.exit(f"arguments.txt: {name}: {one} would hide the register of that name")
                named.append((one, index, bits))
        table[name] = named
    in_order(list(table), "arguments.txt")
    return table


def constants():
    table = {name: int(value, 0) for name, value in rows("constants.txt")}
    in_order(list(table), "constants.txt")
    return table


def wrapped(items, indent):
    """Items separated by commas in lines of at most WIDTH columns."""
    lines, line = [], ""
    for item in items:
        if line and len(indent) + len(line) + len(item) + 2 > WIDTH:
            lines.append(indent + line)
            line = ""
        line += (" " if line else "") + item + ","
    if line:
        lines.append(indent + line)
    return "\n".join(lines)


def head(what, source):
    return f"//! {what}\n//!\n//! Written by `scripts/syscalls/generate.py` from `{source}`. Change that and run it again.\n\n"


def written():
    calls = numbers()
    option = lambda n: "None" if n is None else f"Some({n})"
    entries = [f'("{name}", {option(x)}, {option(a)})' for name, (x, a) in calls.items()]
    out = {
        "numbers.rs": head("System call numbers.", "numbers.txt")
        + "/// Name, number on x86_64, number on aarch64; sorted by name.\n#[rustfmt::skip]\n"
        + "pub(super) static NUMBERS: &[(&str, Option<u32>, Option<u32>)] = &[\n"
        + wrapped(entries, "    ")
        + "\n];\n"
    }
    body = ""
    for name, members in groups(calls).items():
        if name == "@known":
            continue
        quoted = [f'"{m}"' for m in members]
        body += f'    ("{name}", &[\n{wrapped(quoted, "        ")}\n    ]),\n'
    out["groups.rs"] = (
        head("Groups of system calls, expanded.", "groups.txt")
        + "/// Name and members, both sorted. `@known` is not here: it is every call of the table of numbers.\n"
        + "#[rustfmt::skip]\npub(super) static GROUPS: &[(&str, &[&str])] = &[\n"
        + body
        + "];\n"
    )
    entries = []
    for name, named in arguments(calls).items():
        inner = ", ".join(f'("{one}", {index}, {bits})' for one, index, bits in named)
        entries.append(f'("{name}", &[{inner}])')
    out["arguments.rs"] = (
        head("Names and widths of arguments.", "arguments.txt")
        + "/// Name, register and bits.\npub(super) type Named = (&'static str, u8, u8);\n\n"
        + "/// Call, then each of its arguments that has a name; sorted by call.\n"
        + "#[rustfmt::skip]\npub(super) static ARGUMENTS: &[(&str, &[Named])] = &[\n"
        + wrapped(entries, "    ")
        + "\n];\n"
    )
    entries = [f'("{name}", {hex(value)})' for name, value in constants().items()]
    out["constants.rs"] = (
        head("Constants.", "constants.txt")
        + "/// Name and value, sorted by name.\n#[rustfmt::skip]\n"
        + "pub(super) static CONSTANTS: &[(&str, u64)] = &[\n"
        + wrapped(entries, "    ")
        + "\n];\n"
    )
    return out


HEADERS = """arpa/inet.h asm/prctl.h errno.h fcntl.h linux/close_range.h linux/falloc.h linux/fiemap.h linux/fs.h linux/futex.h
linux/if_packet.h linux/kcmp.h linux/membarrier.h linux/memfd.h linux/mempolicy.h linux/mman.h linux/netlink.h linux/prctl.h linux/random.h
linux/reboot.h linux/sched.h linux/seccomp.h netinet/in.h netinet/tcp.h sched.h signal.h sys/epoll.h sys/eventfd.h
sys/ioctl.h sys/inotify.h sys/mman.h sys/mount.h sys/personality.h sys/prctl.h sys/ptrace.h sys/resource.h sys/socket.h
sys/timerfd.h sys/wait.h time.h""".split()


def gcc(source, *options):
    command = ["gcc", "-w", "-x", "c", "-", *options]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False)


def header_numbers(source):
    macros = gcc(source, "-E", "-dM")
    if macros.returncode != 0:
        sys.exit(f"gcc: {macros.stderr}")
    defined = dict(re.findall(r"^#define (__NR\w+) (\S+)$", macros.stdout, re.M))
    found = {}
    for macro, value in defined.items():
        while value in defined:
            value = defined[value]
        if macro.startswith("__NR_") and value.isdigit():
            found[macro.removeprefix("__NR_")] = int(value)
    return found


def check_headers():
    wrong = []
    calls = numbers()
    generic = "".join(
        f"#define __ARCH_WANT_{flag}\n"
        for flag in ("RENAMEAT", "NEW_STAT", "SET_GET_RLIMIT", "TIME32_SYSCALLS", "SYS_CLONE3", "MEMFD_SECRET")
    )
    sources = {
        "x86_64": (0, "#include <asm/unistd_64.h>\n"),
        "aarch64": (1, generic + "#include <asm-generic/unistd.h>\n"),
    }
    # Bookkeeping of the generic header, not calls.
    not_calls = {"syscalls", "arch_specific_syscall"}
    for architecture, (column, source) in sources.items():
        highest = max(n[column] for n in calls.values() if n[column] is not None)
        for name, number in header_numbers(source).items():
            if name in not_calls or calls.get(name, (None, None))[column] == number:
                continue
            if name not in calls and number > highest:
                print(f"note: {name} ({number}) is newer than numbers.txt", file=sys.stderr)
            else:
                wrong.append(f"{architecture} {name}: the headers say {number}, numbers.txt {calls.get(name)}")
    prelude = "#define _GNU_SOURCE\n" + "".join(f"#include <{h}>\n" for h in HEADERS)
    body = "".join(
        f'#ifdef {n}\nif ((unsigned long long)({n}) != {v}ull) printf("{n} %llu\\n", (unsigned long long)({n}));\n#endif\n'
        for n, v in constants().items()
    )
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/check"
        built = gcc(f"{prelude}#include <stdio.h>\nint main(void) {{\n{body}}}\n", "-o", program)
        if built.returncode != 0:
            sys.exit(f"gcc: {built.stderr}")
        ran = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        wrong += [f"constant {line}: the headers say otherwise" for line in ran.splitlines()]
    if wrong:
        sys.exit("\n".join(wrong))


def main():
    arguments_given = sys.argv[1:]
    if arguments_given == ["--check-headers"]:
        check_headers()
        return
    stale = []
    for name, text in written().items():
        path = TABLES / name
        if arguments_given == ["--check"]:
            if not path.exists() or path.read_text() != text:
                stale.append(str(path))
        elif not arguments_given:
            TABLES.mkdir(exist_ok=True)
            path.write_text(text)
        else:
            sys.exit(__doc__)
    if stale:
        sys.exit("not what generate.py writes: " + ", ".join(stale))


main()
