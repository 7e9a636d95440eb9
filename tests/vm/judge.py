#!/usr/bin/env python3
"""judge.py TRACE ALLOWED…: finds calls in an strace record that change something outside the allowed directories.

Ends with 1 and lists them if there are any, or if nothing is on record. Paths are judged as strace -y prints them; a call
that cannot be judged is guilty. --calls prints what strace has to record; --self-test judges made-up calls.
"""
import os
import re
import sys

WRITING = re.compile(r"\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b")
OPENS = {"open", "openat", "openat2", "creat"}
CHANGES = {"unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat", "link",
           "linkat", "symlink", "symlinkat", "truncate", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "lchown",
           "utime", "utimes", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr"}
# Whatever the path: mounts, modules, name spaces, other processes' memory, the machine's clock and name, and the ways round
# a record of calls.
NEVER = {"mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "pivot_root", "init_module", "finit_module",
         "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "setns", "unshare", "ptrace",
         "process_vm_writev", "settimeofday", "clock_settime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm",
         "bpf", "io_uring_setup", "open_by_handle_at", "quotactl", "acct"}
# Serving and the local socket; netlink would load modules by side effect.
FAMILIES = ("AF_INET,", "AF_INET6,", "AF_UNIX,")
# Asking a terminal, and how a descriptor behaves.
REQUESTS = {"TCGETS", "TCGETS2", "TIOCGWINSZ", "FIONBIO", "FIOCLEX", "FIONREAD"}
RECORDED = OPENS | CHANGES | NEVER | {"socket", "bind", "ioctl"}

CALL = re.compile(r"^\d+ +(\w+)\((.*)$")
# A path, with the directory it starts from if one is named; or a descriptor that stands alone.
PATHS = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
DESCRIPTOR = re.compile(r"^\d+<(/[^>]*)>")


def places(arguments):
    """Absolute paths a call names, its result left aside."""
    arguments = arguments.rsplit(") = ", 1)[0]
    named = [os.path.normpath(os.path.join(base or "/", path)) for base, path in PATHS.findall(arguments)]
    descriptor = DESCRIPTOR.match(arguments)
    return named or ([descriptor[1]] if descriptor else [])


def is_inside(path, allowed):
    return path == "/dev/null" or any(path == root or path.startswith(root + "/") for root in allowed)


def is_guilty(call, arguments, allowed):
    if call in NEVER:
        return True
    if call == "socket":
        return not arguments.startswith(FAMILIES)
    if call == "ioctl":
        request = re.match(r"[^,]*, (\w+)", arguments)
        return not request or request[1] not in REQUESTS
    if call == "bind":
        if "sa_family=AF_UNIX" not in arguments:
            return not re.search(r"sa_family=AF_INET6?\b", arguments)
    elif not (call in CHANGES or call == "creat" or (call in OPENS and WRITING.search(arguments))):
        return False
    named = places(arguments)
    return not named or not all(is_inside(path, allowed) for path in named)


def judge(lines, allowed):
    """How many calls there are, and the guilty ones."""
    calls, found = 0, []
    for line in lines:
        parsed = CALL.match(line)
        if parsed and parsed[1] in RECORDED:
            calls += 1
            if is_guilty(parsed[1], parsed[2], allowed):
                found.append(line.rstrip())
    return calls, found


INNOCENT = r'''
7  openat(AT_FDCWD</>, "/sys/class/net", O_RDONLY|O_CLOEXEC|O_DIRECTORY) = 5</sys/class/net>
7  openat(5</sys/class/net>, "eth0/mtu", O_RDONLY|O_CLOEXEC <unfinished ...>
7  openat(AT_FDCWD</>, "/run/rw/lock", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 6</run/rw/lock>
7  openat(AT_FDCWD</>, "/dev/null", O_RDWR|O_CLOEXEC) = 6</dev/null<char 1:3>>
7  rename("/run/rw/a", "/run/rw/b") = 0
7  fchmod(6</run/rw/lock>, 0660) = 0
7  socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 9<TCP:[1]>
7  bind(9<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
7  bind(10<UNIX-STREAM:[2]>, {sa_family=AF_UNIX, sun_path="/run/rw/api.sock.7"}, 23) = 0
7  ioctl(3<pipe:[4]>, FIONBIO, [1]) = 0
'''
GUILTY = r'''
7  openat(AT_FDCWD</>, "/run/rw/../x", O_WRONLY|O_CREAT, 0666) = 6</run/x>
7  openat(AT_FDCWD</>, "/run/rwx", O_RDWR) = 6</run/rwx>
7  openat(5</sys/class/net>, "eth0/mtu", O_WRONLY <unfinished ...>
7  openat2(5</sys>, "power/control", {flags=O_RDWR|O_CLOEXEC, resolve=RESOLVE_BENEATH}, 24) = 6</sys/power/control>
7  open("/etc/x", O_RDONLY|O_CREAT, 0600) = 6</etc/x>
7  rename("/run/rw/a", "/etc/b") = 0
7  mkdir("/var/log/rw", 0777) = 0
7  fchmod(6</etc/passwd>, 0660) = 0
7  socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_RDMA) = 9<NETLINK:[1]>
7  bind(10<UNIX-STREAM:[2]>, {sa_family=AF_UNIX, sun_path="/tmp/api.sock"}, 16) = 0
7  ioctl(3<UDP:[4]>, SIOCETHTOOL, 0x7ffd) = 0
7  finit_module(3</lib/x.ko>, "", 0) = 0
7  io_uring_setup(8, {flags=0}) = 3<anon_inode:[io_uring]>
7  unlinkat(5<unknown, "x", 0) = 0
'''


def self_test():
    allowed = ["/run/rw"]
    innocent = judge(INNOCENT.strip().splitlines(), allowed)
    assert innocent == (10, []), innocent
    for line in GUILTY.strip().splitlines():
        assert judge([line], allowed) == (1, [line]), line
    print("the judge tells its made-up calls apart")


def main():
    if sys.argv[1] == "--calls":
        print(",".join("?" + call for call in sorted(RECORDED)))
        return
    if sys.argv[1] == "--self-test":
        self_test()
        return
    trace, allowed = sys.argv[1], sys.argv[2:]
    with open(trace, encoding="utf-8", errors="replace") as lines:
        calls, found = judge(lines, allowed)
    print(f"{os.path.basename(trace)}: {calls} calls, {len(found)} outside {' '.join(allowed)}")
    print("\n".join(found[:20]), end="\n" if found else "")
    sys.exit(bool(found) or calls == 0)


main()
