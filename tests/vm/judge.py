#!/usr/bin/env python3
"""judge.py TRACE ALLOWED…: finds calls in an strace record that change something outside the allowed directories.

Ends with 1 and lists them if there are any. Paths are judged as strace -y prints them; what cannot be parsed is guilty.
"""
import os
import re
import sys

WRITING = re.compile(r"\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND)\b")
OPENS = {"open", "openat", "openat2", "creat"}
CHANGES = {"unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat", "link",
           "linkat", "symlink", "symlinkat", "truncate", "chmod", "fchmodat", "chown", "fchownat", "lchown", "utimensat", "setxattr"}
NEVER = {"mount", "umount2", "init_module", "finit_module", "delete_module"}
# Loopback, the local socket; netlink would load modules by side effect.
FAMILIES = ("AF_INET", "AF_INET6", "AF_UNIX")
# Asking a terminal, and making a descriptor non-blocking or close-on-exec.
REQUESTS = ("TCGETS", "TIOCGWINSZ", "FIONBIO", "FIOCLEX", "FIONREAD")
CALL = re.compile(r"^\d+ +(\w+)\((.*)$")
PATHS = re.compile(r'(?:(AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')


def places(arguments):
    """Absolute paths a call names."""
    for _, base, path in PATHS.findall(arguments):
        yield os.path.normpath(os.path.join(base or "/", path))


def guilty(call, arguments, allowed):
    inside = lambda path: path == "/dev/null" or any(path == root or path.startswith(root + "/") for root in allowed)
    if call in NEVER:
        return True
    if call == "socket":
        return not arguments.startswith(FAMILIES)
    if call == "ioctl":
        return not any(f", {request}" in arguments for request in REQUESTS)
    writes = call in CHANGES or call == "creat" or (call in OPENS and WRITING.search(arguments))
    if not writes:
        return False
    named = list(places(arguments))
    return not named or not all(map(inside, named))


def main():
    trace, allowed = sys.argv[1], sys.argv[2:]
    calls, found = 0, []
    for line in open(trace, encoding="utf-8", errors="replace"):
        parsed = CALL.match(line)
        if not parsed or parsed[1] == "execve":
            continue
        calls += 1
        if guilty(parsed[1], parsed[2], allowed):
            found.append(line.rstrip())
    print(f"{os.path.basename(trace)}: {calls} calls, {len(found)} outside {' '.join(allowed)}")
    print("\n".join(found[:20]), end="\n" if found else "")
    sys.exit(bool(found) or calls == 0)


main()
