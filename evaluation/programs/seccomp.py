"""The system calls that a metric program may make, as a filter for the kernel, compiled by libseccomp for the machine it runs on."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
import struct
import sys
import tempfile
from functools import cache

# Everything else gets "operation not permitted". Left out on purpose: sockets, other namespaces, mounts, tracing, keys, modules,
# io_uring, memfds, shared memory and message queues of System V, handles of files, devices, the clock, users. Also what tells or changes
# which files lie in the machine's memory (mincore, readahead, fadvise, reads that do not wait): one call could leave a mark for the next.
_CALLS = """
    access alarm arch_prctl brk capget chdir chmod clock_getres clock_gettime clock_nanosleep close
    close_range copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait
    epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2
    fallocate fchdir fchmod fchmodat fcntl fdatasync flock fork fstat fstatfs fsync
    ftruncate futex futex_waitv getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups
    getitimer getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit
    getrusage getsid gettid gettimeofday getuid getxattr kill lgetxattr link linkat listxattr lseek
    lstat madvise membarrier mkdir mkdirat mlock mmap mprotect mremap msync munlock
    munmap nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2
    poll ppoll prctl pread64 preadv prlimit64 pselect6 pwrite64 pwritev read
    readlink readlinkat readv recvfrom recvmsg rename renameat renameat2 restart_syscall
    rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_setaffinity sched_yield select sendfile sendmsg sendto
    set_robust_list set_tid_address setitimer setpgid setpriority setrlimit setsid shutdown sigaltstack
    splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee tgkill time timer_create
    timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime
    times tkill truncate umask uname unlink unlinkat utime utimensat utimes vfork wait4 waitid
    write writev landlock_create_ruleset landlock_add_rule landlock_restrict_self getsockopt getsockname
    getpeername
"""
ALLOWED = tuple(_CALLS.split())
UNKNOWN = ("clone3",)  # the C library asks for an older call where the kernel has not this one
NAMESPACES = 0x7E020080  # every CLONE_NEW* of linux/sched.h
AF_UNIX = 1
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # put characters into a terminal's input
OF_NAMESPACES = 0xB7  # the second byte of requests that number namespaces (linux/nsfs.h): a later one has a larger number

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_MASKED_EQ, _EQ = 7, 4
_LOAD, _AND, _JUMP_EQ, _RETURN = 0x20, 0x54, 0x15, 0x06  # of the kernel's filters
# Places of the call and of the low half of its second argument in struct seccomp_data.
_CALL, _SECOND = 0, 24 if sys.byteorder == "little" else 28


class SeccompMissing(RuntimeError):
    """The library that compiles filters is not on this machine."""


class _Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def _refused_requests(ioctl: int) -> bytes:
    """The beginning of a filter, which refuses some requests of ioctl. The kernel takes the low 32 bits of a request, and libseccomp would
    compare 64."""
    instructions = [
        (_LOAD, 0, 0, _CALL),
        (_JUMP_EQ, 0, 6, ioctl),  # else on to what follows
        (_LOAD, 0, 0, _SECOND),
        (_JUMP_EQ, 3, 0, TIOCSTI),
        (_JUMP_EQ, 2, 0, TIOCLINUX),
        (_AND, 0, 0, 0xFF00),
        (_JUMP_EQ, 0, 1, OF_NAMESPACES << 8),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
    ]
    return b"".join(struct.pack("HBBI", *one) for one in instructions)


@cache
def program() -> bytes:
    """The filter as the kernel takes it. Raises SeccompMissing."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise SeccompMissing("libseccomp.so.2 is not here; install libseccomp2") from None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
    library.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    library.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    context = library.seccomp_init(_ERRNO | errno.EPERM)

    def rule(action: int, name: str, *compared: tuple[int, int, int, int]) -> None:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == -1:  # of a kernel newer than the library
            return
        array = (_Compare * max(1, len(compared)))(*(_Compare(*one) for one in compared))
        if library.seccomp_rule_add_array(context, action, number, len(compared), array) not in (0, -errno.EDOM):
            raise RuntimeError(f"the filter takes no rule for {name}")

    try:
        for name in ALLOWED:
            rule(_ALLOW, name)
        for name in UNKNOWN:
            rule(_ERRNO | errno.ENOSYS, name)
        rule(_ALLOW, "clone", (0, _MASKED_EQ, NAMESPACES, 0))
        rule(_ALLOW, "socketpair", (0, _EQ, AF_UNIX, 0))
        rule(_ALLOW, "ioctl")
        with tempfile.TemporaryFile() as file:
            if library.seccomp_export_bpf(context, file.fileno()) != 0:
                raise RuntimeError("the filter could not be written")
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            return _refused_requests(library.seccomp_syscall_resolve_name(b"ioctl")) + file.read()
    finally:
        library.seccomp_release(context)
