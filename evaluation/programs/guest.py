"""The first process inside the sandbox: it limits itself, then runs the metric program and passes on what it answers.

It is started as a file of its own, by the interpreter alone: of this service nothing is there. Orders come on stdin, answers go to the
file descriptor that was stdout: a line with the number of bytes, then JSON. Nothing of it is believed: whoever started the sandbox
holds the time, the number of bytes and every value against the contract once more.

A Python program is loaded once, then each call runs in a process forked for it, with its own processor time, and whatever it
started is killed when it has answered: one item cannot see or change another, and no order of items matters.
"""

import contextlib
import ctypes
import errno
import inspect
import io
import json
import math
import os
import random
import resource
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import types
from typing import Any

TAIL = 2_000  # characters of an error that are passed on
MAX_ANSWER = 1_000_000  # bytes of one call's answer
MAX_FILE_ANSWER = 16_000_000  # bytes of a script's output/scores.json
WORK = "/work"
OUTPUT = f"{WORK}/output/scores.json"
PROGRAM = "/program"

# linux/landlock.h: what of files may be handled, by version of the interface; and what is only read.
LANDLOCK_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
LANDLOCK_READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, read a folder
LANDLOCK_WRITE_FILE = 1 << 1
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446


def main() -> None:
    channel = os.dup(1)
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    orders = os.fdopen(os.dup(0), "rb")
    os.dup2(nothing, 0)
    setup = json.loads(orders.readline())
    limit_self(setup["limits"])
    landlocked = restrict_files(("/",), ("/tmp", "/dev/shm", f"{WORK}/output"), ("/dev/null", *setup.get("devices", ())))  # noqa: S108
    if setup["run"] == "python":
        serve(setup, orders, channel, landlocked)
    else:
        send(channel, json.dumps(run_command(setup)).encode())


def unboxed(folder: str) -> None:
    """Serve one's own Python program on one's own machine, without limits or sandbox."""
    global PROGRAM
    PROGRAM = folder
    channel = os.dup(1)
    os.dup2(2, 1)
    orders = os.fdopen(os.dup(0), "rb")
    serve(json.loads(orders.readline()), orders, channel, 0, alone=False)


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


def restrict_files(readable: Any, writable: Any, devices: Any) -> int:
    """Landlock, where the kernel has it: files below `readable` may be read and run, those below `writable` and `devices` written too, no
    others; no TCP, no abstract sockets and signals to others. Return the version of the kernel's interface, 0 where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return 0
    handled = LANDLOCK_FILES.get(version, (1 << 15) - 1)
    net = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0
    attributes = struct.pack("QQQ", handled, net, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return 0
    whole = handled & ~(1 << 6 | 1 << 11)  # no devices are made
    rules = [(path, LANDLOCK_READ) for path in readable] + [(path, whole) for path in writable]
    for path, allowed in [*rules, *((path, LANDLOCK_WRITE_FILE | 1 << 2) for path in devices)]:
        with contextlib.suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH)
            libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed & handled, place), 0)
            os.close(place)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    done = libc.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return version if done else 0


def send(channel: int, data: bytes) -> None:
    view = memoryview(f"{len(data)}\n".encode() + data)
    while view:
        view = view[os.write(channel, view) :]


# --- Python programs


def serve(setup: dict, orders: Any, channel: int, landlocked: int, alone: bool = True) -> None:
    """Answer orders until they end. `alone` says that all other processes are the program's, to be killed after each call."""
    try:
        program = load(setup)
    except BaseException:
        send(channel, json.dumps({"error": traceback.format_exc(limit=5)[-TAIL:]}).encode())
        return
    send(channel, json.dumps({"ready": True, "landlock": landlocked}).encode())
    while line := orders.readline():
        order = json.loads(line)
        data = orders.read(order["bytes"])
        send(channel, call(program, order, data, (channel, orders.fileno()), alone))


def load(setup: dict) -> Any:
    """The module of the entry, and its functions (score, prepare or None)."""
    import importlib.util

    sys.path[:0] = [PROGRAM]
    for name in setup["preload"]:
        with contextlib.suppress(ImportError):
            __import__(name)
    seed_all(0)
    file, _, function = setup["entry"].partition(":")
    spec = importlib.util.spec_from_file_location("metric_program", f"{PROGRAM}/{file}")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["metric_program"] = module
    spec.loader.exec_module(module)
    score = getattr(module, function, None)
    if not callable(score):
        raise AttributeError(f"{file} has no function {function}")
    prepare = getattr(module, "prepare", None)
    return score, prepare if callable(prepare) else None


def call(program: Any, order: dict, data: bytes, closed: tuple, alone: bool) -> bytes:
    """One call in a process of its own: its answer as JSON, or how it ended."""
    import numpy  # noqa: F401

    reading, writing = os.pipe()
    files = tempfile.mkdtemp()
    child = os.fork()
    if child == 0:
        for descriptor in (reading, *closed):
            os.close(descriptor)
        answer_in_child(program, order, data, writing, files)
    os.close(writing)
    answer, ended = collect(reading, time.monotonic() + order["wall"])
    os.close(reading)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if alone:
        end_others()
    shutil.rmtree(files, ignore_errors=True)
    if len(answer) > MAX_ANSWER:
        return json.dumps({"end": "size"}).encode()
    if ended == "time" or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return json.dumps({"end": "time"}).encode()
    if answer:
        return answer
    return json.dumps({"end": "crash", "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}).encode()


def collect(reading: int, deadline: float) -> tuple[bytes, str]:
    """All that comes until the end, at most one byte more than an answer may have, and why it ended."""
    found = bytearray()
    while len(found) <= MAX_ANSWER:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return bytes(found), "time"
        piece = os.read(reading, 65536)
        if not piece:
            return bytes(found), "end"
        found += piece
    return bytes(found), "size"


def end_others() -> None:
    """Kill whatever a call has left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def answer_in_child(program: Any, order: dict, data: bytes, writing: int, files: str) -> None:
    code = 0
    try:
        seconds = max(1, math.ceil(order["seconds"]))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        answer = json.dumps({"result": result_of(program, order, data, files)}, default=plain).encode()
    except MemoryError:
        answer = b'{"end": "memory"}'
    except RecursionError:
        answer = json.dumps({"error": "RecursionError: it returned values nested too deep, or called itself too often"}).encode()
    except BaseException:
        answer = json.dumps({"error": traceback.format_exc(limit=8)[-TAIL:]}).encode()
    try:
        view = memoryview(answer)
        while view:
            view = view[os.write(writing, view) :]
    except OSError as error:
        code = 0 if error.errno == errno.EPIPE else 1
    finally:
        os._exit(code)


def result_of(program: Any, order: dict, data: bytes, files: str) -> Any:
    import numpy as np

    score, prepare = program
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    params = order["params"]
    predictions = [item_of(f"{n}.prediction", one["prediction"], arrays, files) for n, one in enumerate(order["items"])]
    references = [item_of(f"{n}.reference", one["reference"], arrays, files) for n, one in enumerate(order["items"])]
    extra = []
    seed_all(params.get("seed", 0))
    if prepare is not None:
        prepared = [None if one is None else prepare(one, params) for one in references]
        if takes_prepared(score):
            extra = [prepared if order["level"] != "item" else prepared[0]]
        else:
            for one, found in zip(references, prepared, strict=True):
                if one is not None:
                    one.prepared = found
    seed_all(params.get("seed", 0))
    if order["level"] == "item":
        return score(predictions[0], references[0], params, *extra)
    return score(predictions, references, params, *extra)


def takes_prepared(score: Any) -> bool:
    """True if the function has a fourth parameter, which is what `prepare` returned."""
    try:
        known = inspect.signature(score).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in known) >= 4


def item_of(prefix: str, described: Any, arrays: dict, files: str) -> Any:
    """One side of an item as the program sees it, its file below the folder `files` where it wants one; None where there is none."""
    if described is None:
        return None
    item = types.SimpleNamespace(**described["values"])
    for name in described["arrays"]:
        array = arrays.get(f"{prefix}.{name}")
        setattr(item, name, array)
    for name, count in described["lists"].items():
        setattr(item, name, [arrays[f"{prefix}.{name}.{n}"] for n in range(count)])
    if "file" in described:
        item.path = os.path.join(files, described["file"])
        os.makedirs(os.path.dirname(item.path))
        with open(item.path, "wb") as file:
            file.write(arrays[f"{prefix}.file"].tobytes())
    return item


def seed_all(seed: int) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)


def plain(value: Any) -> Any:
    """Numbers of numpy and torch as plain ones; everything else is refused."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        found = value.item()
        if isinstance(found, (int, float)):
            return found
    raise TypeError(f"it returned a {type(value).__name__}, where a number or a dict of numbers is wanted")


# --- scripts


def run_command(setup: dict) -> dict:
    """Run the command in the folder of its data; how it ended, the end of its error output, and its scores as text."""
    seconds = max(1, math.ceil(setup["seconds"]))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    try:
        process = subprocess.Popen(
            shlex.split(setup["entry"]), cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited
        )
    except OSError as error:
        return {"end": "exit", "exit": 127, "stderr": f"{setup['entry']}: {error.strerror}"}
    assert process.stderr is not None
    tail, ended = bytearray(), "end"
    deadline = time.monotonic() + setup["wall"]
    while True:
        ready, _, _ = select.select([process.stderr], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            ended = "time"
            break
        piece = os.read(process.stderr.fileno(), 65536)
        if not piece:
            break
        tail = (tail + piece)[-4 * TAIL :]
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))
    ended = "time" if process.poll() is None else ended
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    status = process.wait()
    end_others()
    stderr = bytes(tail).decode("utf-8", "replace")[-TAIL:]
    if ended == "time" or status == -signal.SIGXCPU:
        return {"end": "time", "stderr": stderr}
    if status != 0:
        return {"end": "exit", "exit": status, "stderr": stderr}
    return {"end": "ok", "stderr": stderr, **scores()}


def scores() -> dict:
    """The text of the results, where they are a plain file of bearable size."""
    try:
        place = os.open(OUTPUT, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return {"problem": "is a symbolic link" if error.errno == errno.ELOOP else "is not there"}
    import stat

    with os.fdopen(place, "rb") as file:
        found = os.fstat(place)
        if not stat.S_ISREG(found.st_mode):
            return {"problem": "is not a plain file"}
        if found.st_nlink > 1:
            return {"problem": "is a hard link"}
        if found.st_size > MAX_FILE_ANSWER:
            return {"problem": f"has {found.st_size:,} bytes; at most {MAX_FILE_ANSWER:,} are taken"}
        data = file.read(MAX_FILE_ANSWER + 1)
    return {"scores": data.decode("utf-8", "replace")}


if __name__ == "__main__":
    main()
