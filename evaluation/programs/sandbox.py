"""The sandbox ladder: what isolates a metric program here, and how it is started.

Python programs and scripts run in bubblewrap, images in podman with the runsc runtime, or in apptainer on clusters that have it.
A rung counts only after it has started something here; where none does, a program is refused and never run.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import shutil
import signal
import site
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.programs import cgroup, guest, seccomp
from evaluation.programs.cgroup import Cgroup

START_SECONDS = 120.0  # in which a program must have loaded its modules
PROCESSES = 64  # of one program, threads counted
OPEN_FILES = 256
SCRATCH_BYTES = 256 << 20  # of /tmp, of /dev/shm and of the output, each
FILE_BYTES = 128 << 20
LIBRARIES = 6 << 30  # addresses that libraries map beside the memory that a program fills
CARD_ADDRESSES = 1 << 46  # that the driver of a graphics card may reserve
GROUP_MEMORY = 512 << 20  # of a group beside that of its largest process: the interpreter itself, and what lies in /tmp
GRACE = 10.0  # seconds that the process inside has to say itself that time is over
NOBODY = 65534
ENVIRONMENT = {
    "PATH": "/plumbline/bin:/plumbline/interpreter:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}


class NoSandbox(RuntimeError):
    """Nothing here isolates a program of this kind, in one sentence that says what is missing."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one call: `seconds` of the processor, `wall` seconds on the wall, `memory` bytes."""

    seconds: float
    wall: float
    memory: int

    def of_kernel(self, card: bool = False) -> dict[str, int]:
        """Limits that the first process inside sets for itself and all it starts; with a `card`, addresses for its driver."""
        addresses = CARD_ADDRESSES if card else self.memory + LIBRARIES
        limits = {"memory": self.memory, "addresses": addresses, "file_bytes": FILE_BYTES}
        return {**limits, "processes": PROCESSES, "files": OPEN_FILES}


@dataclass(frozen=True)
class Answer:
    """Outcome of a command: its end ("ok", "exit", "time", "crash", "size"), the last lines of its error output, and the text of its
    scores, or the fault of the file that should hold them."""

    end: str
    stderr: str = ""
    exit: int = 0
    scores: str | None = None
    problem: str = ""


# --- bubblewrap


def card_devices() -> list[str]:
    """The files of the operating system that a program with a graphics card reaches: those of NVIDIA's driver."""
    return sorted(str(path) for path in Path("/dev").glob("nvidia*"))


def bubblewrap_arguments(binds: Sequence[tuple[str, str]], work: bool = False, card: bool = False) -> list[str]:
    """Arguments of bubblewrap but the command: namespaces, no capabilities, and a root that holds the system's and the interpreter's
    libraries, the program and its data, all read-only, beside two folders of bounded size that go with it. `binds` are (here, inside). With
    `work` there is the folder of a script's output, with `card` the files of graphics cards."""
    prefix, libraries = sys.base_prefix, _site_packages()
    roots = [prefix] if not Path(prefix).is_relative_to("/usr") else []
    arguments = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    arguments += ["--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox", "--die-with-parent", "--new-session"]
    arguments += ["--cap-drop", "ALL", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        arguments += ["--setenv", name, value]
    arguments += ["--setenv", "PYTHONPATH", ":".join(libraries)]
    arguments += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    for shared in ("/etc/ld.so.cache", "/etc/alternatives"):
        arguments += ["--ro-bind-try", shared, shared]
    # Before the libraries, which may lie below it, as on a cluster whose scratch it is.
    arguments += ["--size", str(SCRATCH_BYTES), "--tmpfs", "/tmp"]  # noqa: S108
    for folder in [*roots, *(one for one in libraries if not any(Path(one).is_relative_to(root) for root in (*roots, "/usr")))]:
        arguments += ["--ro-bind", folder, folder]
    arguments += ["--proc", "/proc", "--tmpfs", "/dev"]
    for device in ("null", "zero", "random", "urandom"):
        arguments += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for device in card_devices() if card else ():
        arguments += ["--dev-bind", device, device]
    arguments += ["--symlink", "/proc/self/fd", "/dev/fd"]
    for folder in ("/dev/shm", *([f"{guest.WORK}/output"] if work else [])):  # noqa: S108
        arguments += ["--size", str(SCRATCH_BYTES), "--tmpfs", folder]
    arguments += ["--ro-bind", str(Path(guest.__file__)), "/plumbline/guest.py"]
    arguments += ["--ro-bind", str(Path(guest.__file__).parent / "bin"), "/plumbline/bin"]
    for name in ("python", "python3"):
        arguments += ["--symlink", os.path.realpath(sys.executable), f"/plumbline/interpreter/{name}"]
    arguments += ["--symlink", "/tmp/app", "/app"]  # noqa: S108
    for here, inside in binds:
        arguments += ["--ro-bind", here, inside]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", guest.WORK if work else "/tmp"]  # noqa: S108
    return arguments


def _site_packages() -> list[str]:
    """The folders of this interpreter's installed packages."""
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return [one for one in dict.fromkeys(found) if os.path.isdir(one)]


class Boxed:
    """A process in bubblewrap, with pipes to the first process inside, and what bounds it. Close it when done."""

    def __init__(self, binds: Sequence[tuple[str, str]], limits: Limits, work: bool = False, card: bool = False) -> None:
        if refusal := bubblewrap_refusal():
            raise NoSandbox(refusal)
        self._group: Cgroup | None = None
        arguments = bubblewrap_arguments(binds, work, card)
        with contextlib.ExitStack() as files:
            given = [files.enter_context(_file_of(data)) for data in ("\0".join(arguments).encode() + b"\0", seccomp.program())]
            argv, filtered = (file.fileno() for file in given)
            # The interpreter inside has the packages of this one and nothing else of its environment.
            start = f"import sys, runpy; sys.path += {_site_packages()!r}; runpy.run_path('/plumbline/guest.py', run_name='__main__')"
            command = ["bwrap", "--args", str(argv), "--seccomp", str(filtered), "--", os.path.realpath(sys.executable)]
            command += ["-I", "-B", "-c", start]
            if cgroup.kind():
                with contextlib.suppress(OSError):
                    self._group = Cgroup(limits.memory + GROUP_MEMORY, PROCESSES + 4)
            if self._group is None and os.geteuid() == 0:
                raise NoSandbox(ROOT_NEEDS)
            if self._group is not None:  # a shell joins the group before anything of the program is there
                joined = " && ".join(f"echo $$ > {shlex.quote(file)}" for file in self._group.files)
                command = ["/bin/sh", "-c", f'{joined} && exec "$@"', "sh", *command]
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin"},
                pass_fds=(argv, filtered),
                start_new_session=True,
                bufsize=0,
            )
        self._left = b""

    def send(self, header: Mapping[str, Any], data: bytes = b"") -> None:
        """One order. BrokenPipeError where the process inside has ended."""
        assert self.process.stdin is not None
        view = memoryview(json.dumps(header).encode() + b"\n" + data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def receive(self, deadline: float, most: int) -> bytes | None:
        """The next answer's bytes; None where the process has ended, or answers otherwise than agreed. TimeoutError after `deadline`."""
        head = self._until(b"\n", 20, deadline)
        if head is None or not head.isdigit() or int(head) > most:
            return None
        while len(self._left) < int(head):
            if not self._more(deadline):
                return None
        data, self._left = self._left[: int(head)], self._left[int(head) :]
        return data

    def _until(self, end: bytes, most: int, deadline: float) -> bytes | None:
        while end not in self._left[:most]:
            if len(self._left) >= most or not self._more(deadline):
                return None
        head, _, self._left = self._left.partition(end)
        return head

    def _more(self, deadline: float) -> bool:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        piece = os.read(self.process.stdout.fileno(), 1 << 20)
        self._left += piece
        return bool(piece)

    def close(self) -> None:
        """Kill everything inside: the kernel ends a namespace's processes with its first one."""
        process = self.process
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        if self._group is not None:
            self._group.remove()

    def __enter__(self) -> Boxed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _file_of(data: bytes):
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        yield file


ROOT_NEEDS = (
    "the service runs as root, whose processes only a control group counts, and none can be made here; run it as another user, or with "
    "control groups that can be written"
)


@cache
def bubblewrap_refusal() -> str:
    """Reason why bubblewrap does not isolate programs here; empty where it does, which was tried."""
    if shutil.which("bwrap", path="/usr/bin:/bin") is None:
        return "bwrap is not installed; install the package bubblewrap"
    try:
        seccomp.program()
    except seccomp.SeccompMissing as error:
        return str(error)
    if os.geteuid() == 0 and cgroup.kind() != "memory and processes":
        return ROOT_NEEDS
    with contextlib.ExitStack() as files:
        given = files.enter_context(_file_of("\0".join(bubblewrap_arguments(())).encode() + b"\0"))
        filtered = files.enter_context(_file_of(seccomp.program()))
        command = ["bwrap", "--args", str(given.fileno()), "--seccomp", str(filtered.fileno()), "--", "/usr/bin/true"]
        try:
            tried = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=30,
                env={"PATH": "/usr/bin:/bin"},
                pass_fds=(given.fileno(), filtered.fileno()),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bwrap does not start here ({error})"
    if tried.returncode:
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"bwrap does not start here ({said[-1][:200] if said else tried.returncode}); allow user namespaces to the service's user"
    return ""


def run_script(binds: Sequence[tuple[str, str]], entry: str, limits: Limits, card: bool = False) -> Answer:
    """Run a script's command in bubblewrap, with `binds` below /work."""
    with Boxed(binds, limits, work=True, card=card) as box:
        setup = {"run": "script", "entry": entry, "seconds": limits.seconds, "wall": limits.wall, "limits": limits.of_kernel(card)}
        setup["devices"] = card_devices() if card else []
        try:
            box.send(setup)
            data = box.receive(time.monotonic() + limits.wall + GRACE, guest.MAX_FILE_ANSWER * 2)
        except TimeoutError:
            return Answer("time")
        except BrokenPipeError:
            data = None
    try:
        found = json.loads(data) if data else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("end") not in ("ok", "exit", "time"):
        return Answer("crash")
    texts = {name: str(found.get(name) or "") for name in ("stderr", "problem")}
    code, scores = found.get("exit"), found.get("scores")
    return Answer(
        found["end"],
        texts["stderr"][-guest.TAIL :],
        code if isinstance(code, int) else 0,
        scores if isinstance(scores, str) else None,
        texts["problem"][:200],
    )


# --- images: podman with runsc, or apptainer


def podman_arguments(
    image: str, command: Sequence[str], binds: Sequence[tuple[str, str]], output: str, limits: Limits, name: str
) -> list[str]:
    """The command that runs an image under podman with the runsc runtime: no network, no capability, a root that cannot be written."""
    runtime = shutil.which("runsc") or "/usr/bin/runsc"
    arguments = ["podman", "--log-level=error", "--cgroup-manager", "cgroupfs", "--runtime", runtime, "--runtime-flag", "network=none"]
    if cgroup.kind() != "memory and processes":
        arguments += ["--runtime-flag", "ignore-cgroups"]
    arguments += [
        "run",
        "--rm",
        "--name",
        name,
        "--pull",
        "never",
        "--network",
        "none",
        "--ipc",
        "private",
        "--uts",
        "private",
        "--log-driver=none",
    ]
    arguments += ["--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
    arguments += ["--user", f"{NOBODY}:{NOBODY}", "--env-host=false", "--hostname", "sandbox", "--workdir", guest.WORK]
    if cgroup.kind():
        memory = str(limits.memory + GROUP_MEMORY)
        arguments += ["--memory", memory, "--memory-swap", memory, "--pids-limit", str(4 * PROCESSES)]
    arguments += ["--ulimit", f"nofile={OPEN_FILES}:{OPEN_FILES}", "--ulimit", f"fsize={FILE_BYTES}:{FILE_BYTES}", "--ulimit", "core=0:0"]
    seconds = max(1, round(limits.seconds))
    arguments += ["--ulimit", f"cpu={seconds}:{seconds}", "--ulimit", f"nproc={PROCESSES}:{PROCESSES}"]
    for variable in ("LANG", "PYTHONHASHSEED", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        arguments += ["--env", f"{variable}={ENVIRONMENT[variable]}"]
    arguments += ["--tmpfs", f"/tmp:rw,size={SCRATCH_BYTES},mode=1777"]  # noqa: S108
    for here, inside in binds:
        arguments += ["--volume", f"{here}:{inside}:ro"]
    return [*arguments, "--volume", f"{output}:{guest.WORK}/output:rw", "--entrypoint", command[0], image, *command[1:]]


def apptainer_arguments(image: str, command: Sequence[str], binds: Sequence[tuple[str, str]], output: str, limits: Limits) -> list[str]:
    """The command that runs an image under apptainer, on clusters that have it: contained, no network, nothing of the environment."""
    arguments = ["apptainer", "exec", "--containall", "--cleanenv", "--no-home", "--no-privs", "--net", "--network", "none"]
    arguments += ["--memory", str(limits.memory + GROUP_MEMORY), "--pids-limit", str(4 * PROCESSES), "--pwd", guest.WORK]
    for here, inside in binds:
        arguments += ["--bind", f"{here}:{inside}:ro"]
    return [*arguments, "--bind", f"{output}:{guest.WORK}/output:rw", f"docker://{image}", *command]


@cache
def podman_refusal() -> str:
    """Reason why podman with runsc does not run images here; empty where it does, which was tried with an image of nothing but a folder."""
    for name, package in (("podman", "podman"), ("runsc", "runsc")):
        if shutil.which(name) is None:
            return f"{name} is not installed; install the package {package}"
    try:
        tried, known = (
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            for command in (
                [shutil.which("runsc") or "", "--network=none", "--ignore-cgroups", "do", "/bin/true"],
                ["podman", "--log-level=error", "info", "--format", "{{.Host.OS}}"],
            )
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"runsc does not start here ({error})"
    for name, done in (("runsc", tried), ("podman", known)):
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            return f"{name} does not start here ({said[-1][:200] if said else done.returncode})"
    return ""


def image_refusal(image: str) -> str:
    """Reason why this image cannot be run here: podman does not work, or the image was not brought."""
    if refusal := podman_refusal():
        return refusal
    there = subprocess.run(["podman", "--log-level=error", "image", "exists", image], capture_output=True, timeout=60)
    return "" if there.returncode == 0 else f"the image {image} is not on this worker; an operator brings it with `podman pull {image}`"


def run_image(image: str, entry: str, binds: Sequence[tuple[str, str]], limits: Limits, folder: Path) -> Answer:
    """Run the command in an image, with `binds` below /work. `folder` is an empty one, which takes the output."""
    if refusal := image_refusal(image):
        raise NoSandbox(refusal)
    output = folder / "output"
    output.mkdir()
    # The user inside is nobody, and the folder above is closed to others.
    os.chmod(output, 0o777)  # noqa: S103
    name = f"plumbline-{os.getpid()}-{time.monotonic_ns()}"
    process = subprocess.Popen(
        podman_arguments(image, shlex.split(entry), binds, str(output), limits, name),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd=folder,  # podman's monitor leaves a file there where memory ran out
    )
    tail = bytearray()

    def read() -> None:
        assert process.stderr is not None
        while piece := os.read(process.stderr.fileno(), 65536):
            tail[:] = (tail + piece)[-4 * guest.TAIL :]

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    deadline, ended = time.monotonic() + limits.wall, "time"
    try:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                ended = "ok"
                break
            if _bytes_below(output) > SCRATCH_BYTES:
                ended = "size"
                break
            time.sleep(0.05)
    finally:
        subprocess.run(["podman", "--log-level=error", "rm", "--force", "--time", "0", "--ignore", name], capture_output=True, timeout=60)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(5)
    stderr = bytes(tail).decode("utf-8", "replace")[-guest.TAIL :]
    if ended != "ok":
        return Answer(ended, stderr)
    if process.returncode:
        return Answer("time" if process.returncode == 128 + signal.SIGXCPU else "exit", stderr, process.returncode)
    return scores_in(output, stderr)


def scores_in(output: Path, stderr: str = "") -> Answer:
    """The scores in a folder that a program wrote: a plain file of bearable size, or what is wrong with it. No link is followed."""
    try:
        place = os.open(output / "scores.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return Answer("ok", stderr, problem="is not there" if error.errno == 2 else "is a symbolic link, or cannot be opened")
    with os.fdopen(place, "rb") as file:
        found = os.fstat(place)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            return Answer("ok", stderr, problem="is not a plain file")
        if found.st_size > guest.MAX_FILE_ANSWER:
            return Answer("ok", stderr, problem=f"has {found.st_size:,} bytes; at most {guest.MAX_FILE_ANSWER:,} are taken")
        return Answer("ok", stderr, scores=file.read(guest.MAX_FILE_ANSWER).decode("utf-8", "replace"))


def _bytes_below(folder: Path) -> int:
    """About how many bytes the files of a folder take, and a block for each name."""
    total = 0
    for where, folders, files in os.walk(folder):
        total += 4096 * len(folders)
        for name in files:
            with contextlib.suppress(OSError):
                total += max(4096, os.lstat(os.path.join(where, name)).st_size)
    return total


# --- the ladder


@dataclass(frozen=True)
class Rung:
    """One way to isolate a program: what it runs, and why it does not here; empty where it does."""

    name: str
    runs: str
    refusal: str


def rungs() -> tuple[Rung, ...]:
    """All there are, each tried on this machine."""
    if shutil.which("apptainer") is None:
        apptainer = "apptainer is not installed"
    else:
        apptainer = "apptainer is here, and its command line is known, but it has not been tried by this service: images are left to podman"
    return (
        Rung("bubblewrap", "Python programs and scripts", bubblewrap_refusal()),
        Rung("podman with runsc", "images", podman_refusal()),
        Rung("apptainer", "images", apptainer),
    )


def missing(run: str, device: str = "cpu") -> str:
    """Fault that keeps a program of this kind (python, script, image) from being run here, and what to install; empty where it is run."""
    found = podman_refusal() if run == "image" else bubblewrap_refusal()
    if found or device == "cpu":
        return found
    if run == "image":
        return "images are given no graphics card; use run: python or run: script"
    return "" if card_devices() else "there is no graphics card of NVIDIA (/dev/nvidia0); start a worker of the queue gpu where one is"


def try_for(run: str) -> None:
    """Try what isolates programs of this kind, for this process and those forked from it; what is found wanting is tried anew."""
    tried = podman_refusal if run == "image" else bubblewrap_refusal
    if tried():
        tried.cache_clear()


def refusal(run: str, device: str = "cpu") -> str:
    """Reason why a program of this kind is not run here, in one sentence; empty where it is."""
    found = missing(run, device)
    what = ("images" if run == "image" else "metric programs") + (" with a graphics card" if device == "gpu" else "")
    return f"This machine has no sandbox for {what}, so none is run: {found}." if found else ""
