"""The kernel's means to separate a process from others: namespaces, a root file system, capabilities, Landlock, system calls and limits."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
from collections.abc import Iterable, Sequence

from evaluation.programs.guest import ROOM

# With the second the interpreter's lock is held during a call, as a fork needs it.
LIBC, FORKING = ctypes.CDLL(None, use_errno=True), ctypes.PyDLL(None, use_errno=True)

# linux/sched.h and linux/mount.h
NEW_MOUNTS, NEW_MESSAGES, NEW_PROCESSES = 0x00020000, 0x08000000, 0x20000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DETACH = 2
NUMBER = 9  # of the first process of every call, as the launcher sees it
CLONE3 = 435

# linux/prctl.h
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_DROP_BOUNDING, PR_NO_NEW_PRIVILEGES, PR_AMBIENT = 4, 22, 24, 38, 47

# linux/landlock.h: what of files may be handled, by version of the interface; and what is only read.
LANDLOCK_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
LANDLOCK_READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, read a folder
LANDLOCK_WRITE_FILE = 1 << 1
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446

KEPT = ("self", "thread-self", "cpuinfo", "meminfo")  # of /proc, beside the processes
KEPT_FOR_CARDS = ("devices", "driver", "sys")  # which the driver of a graphics card may read


def _done(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def fork_apart() -> int:
    """Fork into namespaces of processes, mounts and messages of its own, and return as os.fork does. The child has the same process number
    each time, so nothing here counts calls. Needs CAP_SYS_ADMIN and Linux 5.5."""
    numbers = (ctypes.c_int * 2)(1, NUMBER)
    # flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup
    flags = NEW_PROCESSES | NEW_MOUNTS | NEW_MESSAGES
    arguments = struct.pack("11Q", flags, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(numbers), 2, 0)
    return _done(FORKING.syscall(CLONE3, arguments, ctypes.c_size_t(len(arguments))), "clone3 with namespaces and a chosen process number")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    given = [text.encode() or None for text in (source, target, kind)]
    _done(LIBC.mount(*given, ctypes.c_ulong(flags), options.encode() or None), f"mount {target}")


def _make(path: str, is_folder: bool) -> None:
    if is_folder:
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o444))


def masked_processes(card: bool) -> list[tuple[str, bool]]:
    """Entries of /proc that a call finds empty, and whether they are folders. A call sees its own processes, the processor and the
    memory. The other entries describe the machine or count what it does."""
    kept = KEPT + KEPT_FOR_CARDS if card else KEPT
    return [(one.name, one.is_dir()) for one in os.scandir("/proc") if not (one.name.isdigit() or one.is_symlink() or one.name in kept)]


def enter_new_root(layout: Iterable[Sequence[str]], size: int, masked: Iterable[tuple[str, bool]]) -> None:
    """Build the root file system of one call from the launcher's, and enter it. `layout` has steps: ("bind", path), ("device", path),
    ("link", target, path) and ("scratch", path), an empty folder of `size` bytes. /proc has the call's own processes; what is `masked`
    of it is empty."""
    os.umask(0o022)
    _mount("", "/", "", RECURSIVE | PRIVATE)
    _mount("none", ROOM, "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=4m")
    for kind, *given in layout:
        path = given[-1]
        inside = ROOM + path
        if kind == "link":
            os.makedirs(os.path.dirname(inside), exist_ok=True)
            os.symlink(given[0], inside)
        elif kind == "scratch":
            _make(inside, True)
            _mount("none", inside, "tmpfs", NO_SUID | NO_DEVICES, f"mode=755,size={size}")
        else:
            _make(inside, os.path.isdir(path))
            _mount(path, inside, "", BIND | RECURSIVE)
            # A device on a read-only mount can be written to, and its owner cannot change its mode or times.
            flags = NO_SUID | NO_EXEC if kind == "device" else NO_SUID | NO_DEVICES
            _mount("", inside, "", REMOUNT | BIND | READ_ONLY | flags)
    processes, nothing = ROOM + "/proc", ROOM + "/dev/null"
    _make(processes, True)
    _mount("proc", processes, "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    for name, is_folder in masked:
        if is_folder:
            _mount("none", f"{processes}/{name}", "tmpfs", READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC, "mode=555,size=4k")
        else:
            _mount(nothing, f"{processes}/{name}", "", BIND)
    _mount("", ROOM, "", REMOUNT | BIND | READ_ONLY | NO_SUID | NO_DEVICES)
    os.chdir(ROOM)
    _done(LIBC.pivot_root(b".", b"."), "pivot_root")
    _done(LIBC.umount2(b".", DETACH), "umount of the old root")
    os.chdir("/")


def hide_mounts() -> int:
    """Leave the mount namespace but keep its root. Then /proc/PID/mounts and the like, which name paths and devices of the machine, are
    empty for this process and those it starts. Return a descriptor that keeps the file system alive, to be held as long as it is used."""
    kept = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    _done(LIBC.unshare(NEW_MOUNTS), "unshare")
    os.fchdir(root)
    os.chroot(".")
    os.close(root)
    return kept


def set_dumpable(dumpable: bool) -> None:
    """Let other processes of the same user look at this one's memory and descriptors, or not."""
    LIBC.prctl(PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability, for good."""
    LIBC.prctl(PR_AMBIENT, 4, 0, 0, 0)
    for number in range(64):
        LIBC.prctl(PR_DROP_BOUNDING, number, 0, 0, 0)
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)  # version 3
    _done(LIBC.capset(header, nothing), "capset")


def limit_self(limits: dict) -> None:
    """Bounds that the kernel keeps, for this process and each it starts."""
    memory = limits["memory"]
    for what, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_AS, limits["addresses"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, limits["files"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def limit_processor(seconds: int) -> None:
    """Bound the processor time of this process and of each it starts, one by one."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = seconds + 1 if hard == resource.RLIM_INFINITY else min(seconds + 1, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, most), most))


def landlock_version() -> int:
    """Version of the kernel's Landlock; 0 where there is none."""
    return max(0, LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def restrict_files(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> bool:
    """Landlock, where the kernel has it: files below `readable` may be read and run, those below `writable` and `devices` written too, no
    others; no TCP, no abstract sockets and signals to others. False where the kernel has none."""
    version = landlock_version()
    if version < 1:
        return False
    handled = LANDLOCK_FILES.get(version, (1 << 15) - 1)
    net = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0
    attributes = struct.pack("QQQ", handled, net, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = LIBC.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    whole = handled & ~(1 << 6 | 1 << 11)  # no devices are made
    rules = [(path, LANDLOCK_READ) for path in readable] + [(path, whole) for path in writable]
    for path, allowed in [*rules, *((path, LANDLOCK_WRITE_FILE | 1 << 2) for path in devices)]:
        with contextlib.suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH)
            LIBC.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed & handled, place), 0)
            os.close(place)
    LIBC.prctl(PR_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = LIBC.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return done


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def restrict_calls(instructions: bytes) -> None:
    """Hold this process and all that it starts to a filter of system calls, for good. OSError where the kernel does not take it."""
    held = ctypes.create_string_buffer(instructions, len(instructions))
    wanted = _Filter(len(instructions) // 8, ctypes.addressof(held))
    LIBC.prctl(PR_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _done(LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.byref(wanted), 0, 0), "the filter of system calls")
