"""Attempts to leave the sandbox, each a function that returns True where it got out.

It is the file of a metric program: as a Python function, as a script and as the command of an image. What was hidden outside comes in
the parameters: the text of a secret, where it lies, a port and two sockets that listen, and the ids of processes.
"""
# ruff: noqa: SIM115

import contextlib
import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
MB = 1 << 20


def refused(number, *arguments):
    """True if the kernel refuses the system call; anything it grants is an escape."""
    return libc.syscall(number, *arguments) < 0


def readable(path):
    try:
        with open(path, "rb") as file:
            file.read(10)
        return True
    except OSError:
        return False


def writable(path):
    try:
        with open(path, "ab") as file:
            file.write(b"x")
        return True
    except OSError:
        return False


def all_processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


# --- files


def the_secret_by_its_path(given):
    return readable(given["secret_file"])


def the_secret_by_climbing(given):
    return readable("../" * 40 + given["secret_file"])


def the_secret_by_a_link(given):
    os.symlink(given["secret_file"], "/tmp/link")
    return readable("/tmp/link")


def the_folder_of_the_secret(given):
    return os.path.exists(os.path.dirname(given["secret_file"]))


def the_service_code(given):
    return os.path.exists(given["service"])


def accounts(given):
    try:
        return b"home" in open("/etc/shadow", "rb").read() or given["host"] in open("/etc/hostname").read()
    except OSError:
        return False


def homes(given):
    found = []
    for folder in ("/home", "/root", "/var/lib", "/run", "/srv"):
        with contextlib.suppress(OSError):
            found += [os.path.join(folder, name) for name in os.listdir(folder)]
    found = [path for path in found if os.path.isfile(path) and path != "/run/.containerenv"]
    return any(readable(path) for path in found) or os.path.exists(given["home"] + "/.ssh")


def writing_the_program(given):
    return writable(__file__) or writable("/program/attempts.py") or writable("/work/metric.yaml")


def writing_the_system(given):
    return any(writable(path) for path in ("/usr/escape", "/escape", "/lib/escape", "/etc/ld.so.preload", "/dev/escape"))


def writing_packages(given):
    return any(writable(os.path.join(path, "sitecustomize.py")) for path in sys.path if path and os.path.isdir(path) and "/tmp" not in path)


def writing_the_data(given):
    return writable("/work/params.json") or writable("/work/prediction/item.json")


def host_devices(given):
    own = ("/dev/fuse", "/dev/tty1") if given["own_kernel"] else ()
    paths = ("/dev/vda", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/mem", "/dev/tty1", "/dev/nvidia0")
    return any(os.path.exists(path) for path in paths if path not in own)


def making_a_device(given):
    try:
        os.mknod("/tmp/null", 0o20666, os.makedev(1, 3))
        return readable("/tmp/null") and not given["own_kernel"]
    except OSError:
        return False


def making_a_disk(given):
    try:
        os.mknod("/tmp/disk", 0o60666, os.makedev(254, 0))
        return readable("/tmp/disk")
    except OSError:
        return False


def changing_a_device(given):
    """Its file is the machine's, and its owner may be the user of the service."""
    try:
        os.chmod("/dev/null", 0o666)
        os.utime("/dev/null")
        return not given["own_kernel"]
    except OSError:
        return False


def files_in_memory(given):
    """Ask which files lie in the machine's memory, which tells what an earlier call has read."""
    with open("/usr/bin/env", "rb") as file:
        held = ctypes.create_string_buffer(16)
        place = (ctypes.c_void_p * 2)(ctypes.addressof(held), 16)
        waits_not = 8  # RWF_NOWAIT of preadv2
        read = not refused(327, file.fileno(), place, 1, 0, 0, waits_not)
    return (read or not refused(27, ctypes.c_void_p(ctypes.addressof(held) & ~4095), 1, held)) and not given["own_kernel"]


def system_settings(given):
    return any(
        writable(path) for path in ("/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/sys/power/state")
    )


def control_groups(given):
    with contextlib.suppress(OSError):
        for name in os.listdir("/sys/fs/cgroup"):
            if writable(f"/sys/fs/cgroup/{name}/cgroup.procs"):
                return True
    return False


def mounting(given):
    return libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0


def mounting_proc(given):
    os.makedirs("/tmp/proc", exist_ok=True)
    return libc.mount(b"proc", b"/tmp/proc", b"proc", 0, None) == 0 and str(given["pid"]) in os.listdir("/tmp/proc")


def binding_the_root(given):
    os.makedirs("/tmp/root", exist_ok=True)
    return libc.mount(b"/", b"/tmp/root", None, 4096, None) == 0 and readable("/tmp/root" + given["secret_file"])


def unmounting(given):
    libc.umount2(b"/tmp", 2)
    libc.umount2(b"/proc", 2)
    return readable(given["secret_file"])


def another_root(given):
    try:
        os.chroot("/proc/1/root")
        return readable(given["secret_file"])
    except OSError:
        return False


def roots_of_others(given):
    return any(readable(f"/proc/{pid}/root{given['secret_file']}") for pid in all_processes())


def files_of_others(given):
    for pid in all_processes():
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                if given["secret"] in open(f"/proc/{pid}/fd/{name}", "rb").read(100).decode("latin-1"):
                    return True
    return False


def handles_of_files(given):
    handle = (ctypes.c_byte * 136)()
    ctypes.cast(handle, ctypes.POINTER(ctypes.c_uint))[0] = 8
    return not refused(304, -100, handle, os.O_RDONLY)


def a_hard_link(given):
    try:
        os.link(given["secret_file"], "/tmp/hard")
        return True
    except OSError:
        return False


# --- other processes and the environment


def the_environment(given):
    return any(given["secret"] in value for value in os.environ.values())


def environments_of_others(given):
    for pid in all_processes():
        with contextlib.suppress(OSError):
            if given["secret"].encode() in open(f"/proc/{pid}/environ", "rb").read():
                return True
    return False


def command_lines(given):
    for pid in all_processes():
        with contextlib.suppress(OSError):
            text = open(f"/proc/{pid}/cmdline", "rb").read().decode("latin-1")
            if given["secret"] in text or "pytest" in text:
                return True
    return False


def seeing_others(given):
    return len(all_processes()) > 30


def signalling_others(given):
    try:
        os.kill(given["pid"], 0)
    except OSError:
        return False
    return "pytest" in open(f"/proc/{given['pid']}/cmdline").read()


def killing_the_parent(given):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.2)
    return False  # the test asks whether it lives


def killing_everybody(given):
    os.kill(-1, signal.SIGKILL)
    time.sleep(0.2)
    return False


def tracing(given):
    return libc.ptrace(16, 1, 0, 0) == 0


def being_traced(given):
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.ptrace(0, 0, 0, 0) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0 and not given["own_kernel"]


def reading_memory(given):
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    return not refused(310, 1, local, 1, local, 1, 0)


def writing_memory(given):
    try:
        with open("/proc/1/mem", "r+b"):
            return True
    except OSError:
        return False


# --- the network


def loopback(given):
    try:
        socket.create_connection(("127.0.0.1", given["port"]), timeout=2)
        return True
    except OSError:
        return False


def listening(given):
    try:
        server = socket.socket()
        server.bind(("0.0.0.0", 0))
        server.listen()
        return not given["own_kernel"]
    except OSError:
        return False


def the_internet(given):
    try:
        socket.create_connection(("1.1.1.1", 53), timeout=2)
        return True
    except OSError:
        return False


def datagrams(given):
    try:
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)) > 0
    except OSError:
        return False


def names_of_hosts(given):
    try:
        return bool(socket.getaddrinfo("example.org", 80))
    except OSError:
        return False


def a_socket_file(given):
    try:
        socket.socket(socket.AF_UNIX).connect(given["socket_file"])
        return True
    except OSError:
        return False


def an_abstract_socket(given):
    try:
        socket.socket(socket.AF_UNIX).connect("\0" + given["abstract"])
        return True
    except OSError:
        return False


def raw_packets(given):
    for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW), (40, socket.SOCK_STREAM)):
        with contextlib.suppress(OSError):
            socket.socket(family, kind)
            return not given["own_kernel"]
    return False


def interfaces(given):
    with contextlib.suppress(OSError):
        return any(name not in ("lo",) for _, name in socket.if_nameindex())
    return False


# --- more rights


def being_root(given):
    try:
        os.setuid(0)
        return True
    except OSError:
        return os.getuid() == 0


def capabilities(given):
    text = open("/proc/self/status").read()
    found = [line.split()[1] for line in text.splitlines() if line.startswith("Cap")]
    return any(int(one, 16) for one in found)


def a_namespace(given):
    return not refused(272, 0x10000000) and not given["own_kernel"]


def a_namespace_by_clone(given):
    return libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) > 0 and not given["own_kernel"]


def a_namespace_of_others(given):
    try:
        return libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0) == 0
    except OSError:
        return False


def numbers_of_namespaces(given):
    """A later one has a larger number."""
    with open("/proc/self/ns/mnt") as file:
        number = ctypes.c_uint64()
        return libc.ioctl(file.fileno(), ctypes.c_ulong(0x8008B705), ctypes.byref(number)) == 0 and not given["own_kernel"]


def typing_into_a_terminal(given):
    """The kernel looks at 32 bits of the request."""
    with open("/dev/null") as file:
        ctypes.set_errno(0)
        libc.ioctl(file.fileno(), ctypes.c_ulong(0x1_0000_5412), b"x")
    return ctypes.get_errno() != errno.EPERM and not given["own_kernel"]


def programs_of_the_kernel(given):
    return not refused(321, 0, (ctypes.c_byte * 120)(), 120)


def watching_the_kernel(given):
    return not refused(298, (ctypes.c_byte * 120)(), 0, -1, -1, 0)


def keys(given):
    return not refused(250, 0, -3, 0) and not given["own_kernel"]


def faults_of_pages(given):
    return not refused(323, 0)


def rings(given):
    return not refused(425, 8, (ctypes.c_byte * 120)()) and not given["own_kernel"]


def modules(given):
    return not refused(313, 0, b"", 0)


def another_kernel(given):
    return not refused(246, 0, 0, 0, 0)


def the_clock(given):
    try:
        time.clock_settime(time.CLOCK_REALTIME, 0)
        return True
    except OSError:
        return False


def the_name_of_the_machine(given):
    try:
        socket.sethostname("escaped")
        return True
    except OSError:
        return False


def raising_limits(given):
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
        return True
    except (OSError, ValueError):
        return False


# --- bombs: what grows without end has an end; each returns True where it went further than anything may


def processes(given):
    children = []
    try:
        while len(children) < 2000:
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
    return len(children) > 300


def processes_that_multiply(given):
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            os.fork()
    if os.getppid() != 0:
        os._exit(0)
    return False


def threads(given):
    started = 0
    stop = threading.Event()
    with contextlib.suppress(RuntimeError, MemoryError):
        while started < 3000:
            threading.Thread(target=stop.wait, daemon=True).start()
            started += 1
    stop.set()
    return started > 600


def memory(given):
    held = []
    for _ in range(64):
        held.append(bytearray(256 * MB))
    return len(held) > 40


def shared_memory(given):
    import mmap

    held = []
    for _ in range(64):
        one = mmap.mmap(-1, 256 * MB)
        for place in range(0, 256 * MB, 4096):
            one[place] = 1
        held.append(one)
    return len(held) > 40


def memory_without_a_file(given):
    try:
        file = os.memfd_create("bomb")
        for _ in range(16 * 1024):
            os.write(file, bytes(MB))
        return True
    except OSError:
        return False


def memory_of_system_v(given):
    found = libc.shmget(0, ctypes.c_size_t(8 << 30), 0o1600)
    return found >= 0 and not given["own_kernel"]


def a_full_disk(given):
    with open("/tmp/full", "wb") as file:
        for _ in range(2048):
            file.write(bytes(MB))
    return True


def many_full_files(given):
    for n in range(4096):
        with open(f"/tmp/full{n}", "wb") as file:
            file.write(bytes(MB))
    return True


def full_shared_memory(given):
    for n in range(64):
        with open(f"/dev/shm/full{n}", "wb") as file:
            file.write(bytes(32 * MB))
    return True


def many_open_files(given):
    held = []
    try:
        while len(held) < 5000:
            held.append(open("/dev/null"))
    except OSError:
        return False
    return True


def deep_folders(given):
    os.chdir("/tmp")
    for _ in range(3000):
        os.mkdir("deep")
        os.chdir("deep")
    return False


def endless(given):
    while True:
        pass


def asleep(given):
    time.sleep(3600)
    return True


def deaf(given):
    for number in range(1, 65):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def left_behind(given):
    """A process that goes on after the answer."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3, 64):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            time.sleep(60)
        os._exit(0)
    return False


def flood(given):
    for _ in range(200):
        os.write(1, b"x" * 65536)
        os.write(2, b"y" * 65536)
    return False


def a_false_answer(given):
    """Answers for other items, into whatever is open."""
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, b'12\n{"result":1}\n' * 3)
    return False


def another_interpreter(given):
    done = subprocess.run([sys.executable, "-c", f"print(open({given['secret_file']!r}).read())"], capture_output=True)
    return given["secret"].encode() in done.stdout


ATTEMPTS = {
    name: found
    for name, found in list(globals().items())
    if callable(found)
    and getattr(found, "__module__", "") == __name__
    and getattr(found, "__code__", None) is not None
    and found.__code__.co_varnames[:1] == ("given",)
}


def score(prediction, reference, params):
    try:
        return 1.0 if ATTEMPTS[params["attempt"]](params) else 0.0
    except (OSError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno not in (
            errno.EPERM,
            errno.EACCES,
            errno.ENOSPC,
            errno.EROFS,
            errno.ENOENT,
            errno.EFBIG,
            errno.ENOMEM,
            errno.EAGAIN,
            errno.ENAMETOOLONG,
            errno.EMFILE,
            errno.ENOSYS,
            errno.EXDEV,
            errno.ESRCH,  # nobody else is there
        ):
            raise
        return 0.0


def alone(attempt, params):
    """The value of an attempt in a process of its own, so that what it does to itself is not in the way of the next one."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = int(score(None, None, {**params, "attempt": attempt}))
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if status not in (0, 1 << 8):
        raise SystemExit(f"{attempt} ended with status {status}")
    return float(status != 0)


def main():
    with open("params.json") as file:
        params = json.load(file)
    if "attempts" in params:
        values = {attempt: alone(attempt, params) for attempt in params["attempts"]}
    else:
        values = {"item": score(None, None, params)}
    with open("output/scores.json", "w") as file:
        json.dump({"items": {name: {"value": value} for name, value in values.items()}}, file)


if __name__ == "__main__":
    main()
