"""The sandbox ladder: what isolates a metric program here, and how it is started.

Python programs and scripts run in bubblewrap, images in podman with the runsc runtime.
A rung counts only after it has started something here; where none does, a program is refused and never run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import select
import shlex
import shutil
import signal
import site
import socket
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
from typing import Any, Self

from evaluation.programs import cgroup, guest, seccomp
from evaluation.programs.cgroup import Cgroup
from evaluation.programs.guest import launcher, script

START_SECONDS = 120.0  # in which a program must have loaded its modules
PROCESSES = 64  # of one program, threads counted
OPEN_FILES = 256
SCRATCH_BYTES = 256 << 20  # of /tmp, of /dev/shm and of the output, each
FILE_BYTES = 128 << 20
LIBRARIES = 6 << 30  # addresses that libraries map beside the memory that a program fills
CARD_ADDRESSES = 1 << 46  # that the driver of a graphics card may reserve
GROUP_MEMORY = 512 << 20  # of a group beside that of its largest process: the interpreter itself, and what lies in /tmp
CONTAINER_SECONDS = 5.0  # of the processor that a container takes to begin and to end
GRACE = 10.0  # seconds that the process inside has to say itself that time is over
NOBODY = 65534
HERE = Path(__file__).parent
LAUNCHER = launcher.__name__
INTERPRETER = "/plumbline/interpreter"
ENVIRONMENT = {
    "PATH": f"/plumbline/bin:{INTERPRETER}:/usr/bin:/bin",
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
    """No sandbox here isolates a program of this kind; one sentence says what is missing."""


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

    @classmethod
    def of(cls, output: Path, stderr: str) -> Answer:
        """The outcome of a command that ended well and wrote to the folder `output`."""
        found = script.scores_in(output)
        return cls("ok", stderr, scores=found.get("scores"), problem=found.get("problem", ""))


# --- bubblewrap


def card_devices() -> list[str]:
    """The files of the operating system that a program with a graphics card reaches: those of NVIDIA's driver."""
    return sorted(str(path) for path in Path("/dev").glob("nvidia*"))


def layout(binds: Sequence[tuple[str, str]], work: bool = False, card: bool = False) -> list[tuple[str, ...]]:
    """The root file system of a program, in steps: ("bind", here, inside), read-only; ("device", path); ("link", target, inside); and
    ("scratch", inside), a folder of bounded size to write to. It holds the system's and the interpreter's libraries and `binds`, which are
    (here, inside). With `work` there is the folder of a script's output, with `card` the files of graphics cards."""
    prefix, libraries = sys.base_prefix, _site_packages()
    roots = [prefix] if not Path(prefix).is_relative_to("/usr") else []
    steps: list[tuple[str, ...]] = [("bind", "/usr", "/usr")]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            steps.append(("link", os.readlink(path), str(path)))
        elif path.is_dir():
            steps.append(("bind", str(path), str(path)))
    steps += [("bind", shared, shared) for shared in ("/etc/ld.so.cache", "/etc/alternatives") if os.path.exists(shared)]
    # Before the libraries, which may lie below it, as on a cluster whose scratch it is.
    steps.append(("scratch", "/tmp"))  # noqa: S108
    libraries = [one for one in libraries if not any(Path(one).is_relative_to(root) for root in (*roots, "/usr"))]
    steps += [("bind", folder, folder) for folder in (*roots, *libraries)]
    devices = [f"/dev/{name}" for name in ("null", "zero", "random", "urandom")]
    steps += [("device", device) for device in (*devices, *(card_devices() if card else ()))]
    steps += [("link", "/proc/self/fd", "/dev/fd"), ("scratch", "/dev/shm")]  # noqa: S108
    if work:
        steps.append(("scratch", guest.OUTPUT))
    steps.append(("bind", str(HERE / "bin"), "/plumbline/bin"))
    steps += [("link", os.path.realpath(sys.executable), f"{INTERPRETER}/{name}") for name in ("python", "python3")]
    steps.append(("link", "/tmp/app", "/app"))  # noqa: S108
    return [*steps, *(("bind", here, inside) for here, inside in binds)]


def bubblewrap_arguments(steps: Sequence[tuple[str, ...]]) -> list[str]:
    """Arguments of bubblewrap but the command, for the launcher: namespaces, no network, a root of these `steps`, and of capabilities those
    with which it makes the processes of the calls, which have none."""
    arguments = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    arguments += ["--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox", "--die-with-parent", "--new-session"]
    arguments += ["--cap-drop", "ALL"]
    for capability in ("SYS_ADMIN", "SYS_CHROOT", "SETPCAP"):
        arguments += ["--cap-add", f"CAP_{capability}"]
    arguments += ["--clearenv"]
    for name, value in ENVIRONMENT.items():
        arguments += ["--setenv", name, value]
    arguments += ["--setenv", "PYTHONPATH", ":".join(["/plumbline", *_site_packages()])]
    arguments += ["--proc", "/proc", "--tmpfs", "/dev", "--dir", guest.ROOM]
    for kind, *given in steps:
        match kind:
            case "bind":
                arguments += ["--ro-bind", *given]
            case "device":
                arguments += ["--dev-bind", *given, *given]
            case "link":
                arguments += ["--symlink", *given]
            case "scratch":
                arguments += ["--size", str(SCRATCH_BYTES), "--tmpfs", *given]
    return [
        *arguments,
        "--ro-bind",
        str(HERE / "guest"),
        "/plumbline/evaluation/programs/guest",
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/",
    ]


def _site_packages() -> list[str]:
    """The folders of this interpreter's installed packages."""
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return [one for one in dict.fromkeys(found) if os.path.isdir(one)]


@dataclass(frozen=True)
class Ended:
    """End of a call ("ok", "time", "crash", "size"), and its answer if it went well: JSON of the program, which is not to be believed."""

    end: str
    answer: bytes = b""


class Calls:
    """A launcher, which makes a process for each call, and the messages to it. Close it when done."""

    process: subprocess.Popen[bytes]
    _group: Cgroup | None = None

    def _start(
        self, command: Sequence[str], environment: Mapping[str, str] | None, setup: Mapping[str, Any], descriptors: Sequence[int] = ()
    ) -> None:
        """Start the launcher by a command that runs LAUNCHER, and have it read its setup."""
        self._control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (`close` ends it)
        with inside:
            self.process = subprocess.Popen(
                command,
                stdin=inside.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=environment,
                pass_fds=descriptors,
                start_new_session=True,
            )
        usage = self._group.usage if self._group is not None else None
        with contextlib.ExitStack() as files:
            given = [] if usage is None else [files.enter_context(usage.open("rb")).fileno()]
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                socket.send_fds(self._control, [json.dumps(setup).encode()], given)

    def bring(self, modules: Sequence[str]) -> bool:
        """Have the launcher import modules of installed packages, so that calls need not; False where it has ended."""
        try:
            self._control.send(json.dumps({"modules": modules}).encode())
            return self._said(time.monotonic() + START_SECONDS) is not None
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            return False

    def call(self, order: Mapping[str, Any], data: bytes, seconds: float, wall: float, most: int) -> Ended | None:
        """Have a new process do an order, within `seconds` of the processor for all that it starts and `wall` seconds. Its answer has at
        most so many bytes. None where the launcher has ended. TimeoutError where it does not keep the time."""
        deadline = time.monotonic() + wall + GRACE
        nonce = secrets.token_hex(16)
        place = os.memfd_create("order", os.MFD_ALLOW_SEALING)
        with os.fdopen(place, "wb", closefd=False) as file:
            for line in ({"seconds": seconds, "wall": wall}, {**order, "nonce": nonce}):
                file.write(json.dumps(line).encode() + b"\n")
            file.write(data)
        os.lseek(place, 0, os.SEEK_SET)
        fcntl.fcntl(place, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        reading, writing = os.pipe()
        try:
            try:
                socket.send_fds(self._control, [launcher.CALL], [place, writing])
            finally:
                os.close(place)
                os.close(writing)
            data = _until_end(reading, deadline, most)
        except (BrokenPipeError, ConnectionResetError):
            return None
        finally:
            os.close(reading)
        ended = self._said(deadline)
        if ended is None:
            return None
        if len(data) > most:
            return Ended("size")
        if ended["end"] != "ok":
            return Ended(ended["end"])
        # An answer is the call's own: another call's answer, or one written ahead, has another nonce.
        found, answer = data[: len(nonce)], data[len(nonce) :]
        return Ended("ok", answer) if found == nonce.encode() else Ended("crash")

    def _said(self, deadline: float) -> dict[str, Any] | None:
        """The launcher's next message; None where it has ended. TimeoutError after `deadline`."""
        if not select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError
        try:
            message = self._control.recv(guest.MAX_MESSAGE)
        except ConnectionResetError:
            return None
        return json.loads(message) if message else None

    def last_error(self) -> str:
        """The last line that the launcher, or what started it, has written to its error output."""
        self._errors.seek(0)
        lines = self._errors.read()[-guest.TAIL :].decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def close(self) -> None:
        """Kill everything inside: the kernel ends a namespace's processes with its first one."""
        process = self.process
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        self._control.close()
        self._errors.close()
        if self._group is not None:
            self._group.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Boxed(Calls):
    """Calls in bubblewrap. `run` is "python", "script", or "nothing" to try it; `entry` and `binds` are the program's."""

    def __init__(
        self,
        run: str,
        entry: str,
        binds: Sequence[tuple[str, str]],
        limits: Limits,
        modules: Sequence[str] = (),
        card: bool = False,
    ) -> None:
        if run != "nothing" and (refusal := bubblewrap_refusal()):
            raise NoSandbox(refusal)
        steps = layout(binds, run == "script", card)
        setup = {
            "boxed": True,
            "run": run,
            "entry": entry,
            "modules": list(modules),
            "limits": limits.of_kernel(card),
            "layout": [(kind, given[-1]) if kind == "bind" else (kind, *given) for kind, *given in steps],
            "scratch_bytes": SCRATCH_BYTES,
            "devices": card_devices() if card else [],
            "filter": seccomp.program().hex(),
        }
        with contextlib.ExitStack() as files:
            argv = files.enter_context(_file_of("\0".join(bubblewrap_arguments(steps)).encode() + b"\0")).fileno()
            # Nothing in this line is of this machine, for the process of a call has it too.
            command = ["bwrap", "--args", str(argv), "--", f"{INTERPRETER}/python", "-P", "-s", "-B", "-m", LAUNCHER]
            if cgroup.kind().version:
                with contextlib.suppress(OSError):
                    self._group = Cgroup(limits.memory + GROUP_MEMORY, PROCESSES + 4)
            if self._group is None and os.geteuid() == 0:
                raise NoSandbox(ROOT_NEEDS)
            if self._group is not None:  # a shell joins the group before anything of the program is there
                joined = " && ".join(f"echo $$ > {shlex.quote(file)}" for file in self._group.files)
                command = ["/bin/sh", "-c", f'{joined} && exec "$@"', "sh", *command]
            self._start(command, {"PATH": "/usr/bin:/bin"}, setup, [argv])


def _until_end(reading: int, deadline: float, most: int) -> bytes:
    """All that comes until the end, at most one byte more than it may have. TimeoutError after `deadline`."""
    found = bytearray()
    while len(found) <= most:
        if not select.select([reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError
        piece = os.read(reading, min(1 << 20, most + 1 - len(found)))
        if not piece:
            break
        found += piece
    return bytes(found)


@contextlib.contextmanager
def _file_of(data: bytes):
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        yield file


ROOT_NEEDS = (
    "the service runs as root, so only a control group can limit the number of its processes, and none can be made here; run it as another "
    "user, or with writable control groups"
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
    if os.geteuid() == 0 and not cgroup.kind().processes:
        return ROOT_NEEDS
    try:
        with Boxed("nothing", "", (), Limits(5.0, 30.0, 64 << 20)) as box:
            tried = box.call({}, b"", 5.0, 30.0, guest.MAX_ANSWER)
            said = box.last_error()
    except (OSError, NoSandbox) as error:
        return f"bwrap does not start here ({error})"
    if tried is None:
        return f"bwrap does not start here ({said or 'it said nothing'}); allow user namespaces to the service's user"
    if tried.end != "ok":
        return f"no call can be separated from others here ({said or tried.end}); that needs Linux 5.5, and a /proc that can be mounted"
    return ""


@cache
def limits_here() -> str:
    """Sentence on the limits of a program in bubblewrap on this machine."""
    landlock = launcher.isolation.landlock_version()
    found, files = cgroup.kind(), f"Landlock (version {landlock})" if landlock else "no Landlock"
    if not found.version:
        return (
            f"limits: of each process by itself; at most {PROCESSES} processes, whose processor time is added up every "
            f"{launcher.POLL:g} s; {files}"
        )
    counted = ["memory", *(["processes"] if found.processes else []), *(["processor time"] if found.processor_time else [])]
    user = " of root" if os.geteuid() == 0 else ""
    return f"limits: a control group{user} (version {found.version}) of {', '.join(counted)}, and of each process by itself; {files}"


def run_script(binds: Sequence[tuple[str, str]], entry: str, limits: Limits, card: bool = False) -> Answer:
    """Run a script's command in bubblewrap, with `binds` below /work."""
    with Boxed("script", entry, binds, limits, card=card) as box:
        try:
            ended = box.call({}, b"", limits.seconds, limits.wall, guest.MAX_FILE_ANSWER * 2)
        except TimeoutError:
            return Answer("time")
    if ended is None or ended.end != "ok":
        return Answer("crash" if ended is None else ended.end)
    try:
        found = json.loads(ended.answer)
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


# --- images: podman with runsc


def podman_arguments(
    image: str, command: Sequence[str], binds: Sequence[tuple[str, str]], output: str, limits: Limits, name: str
) -> list[str]:
    """The command that runs an image under podman with the runsc runtime: no network, no capability, a root that cannot be written."""
    runtime = shutil.which("runsc") or "/usr/bin/runsc"
    arguments = ["podman", "--log-level=error", "--cgroup-manager", "cgroupfs", "--runtime", runtime, "--runtime-flag", "network=none"]
    if not cgroup.kind().processes:
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
    if cgroup.kind().version:
        memory = str(limits.memory + GROUP_MEMORY)
        arguments += ["--cgroup-parent", f"/{name}"]
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
    group = cgroup.Parent(name)
    deadline, ended = time.monotonic() + limits.wall, "time"
    try:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                ended = "ok"
                break
            if _bytes_below(output) > SCRATCH_BYTES:
                ended = "size"
                break
            if group.seconds() > limits.seconds + CONTAINER_SECONDS:
                break
            time.sleep(0.05)
    finally:
        subprocess.run(["podman", "--log-level=error", "rm", "--force", "--time", "0", "--ignore", name], capture_output=True, timeout=60)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(5)
        group.remove()
    stderr = bytes(tail).decode("utf-8", "replace")[-guest.TAIL :]
    if ended != "ok":
        return Answer(ended, stderr)
    if process.returncode:
        return Answer("time" if process.returncode == 128 + signal.SIGXCPU else "exit", stderr, process.returncode)
    return Answer.of(output, stderr)


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
    """One way to isolate a program: what it runs, why it does not work here (empty if it does), and the limits of a program there."""

    name: str
    runs: str
    refusal: str
    limits: str = ""


def rungs() -> tuple[Rung, ...]:
    """All there are, each tried on this machine."""
    return (
        Rung("bubblewrap", "Python programs and scripts", bubblewrap_refusal(), limits_here()),
        Rung("podman with runsc", "images", podman_refusal()),
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
    """Try the sandbox for programs of this kind, for this process and those forked from it; a failed one is tried again."""
    tried = podman_refusal if run == "image" else bubblewrap_refusal
    if tried():
        tried.cache_clear()


def refusal(run: str, device: str = "cpu") -> str:
    """Reason why a program of this kind is not run here, in one sentence; empty where it is."""
    found = missing(run, device)
    what = ("images" if run == "image" else "metric programs") + (" with a graphics card" if device == "gpu" else "")
    return f"This machine has no sandbox for {what}, so none is run: {found}." if found else ""
