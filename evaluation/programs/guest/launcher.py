"""The first process of a sandbox: for each call it makes a new process that has never seen an item.

It imports the declared packages once. It never runs anything of the program, and never reads an order. For each call it gets the
descriptors of the order and of the answer, and passes them on. A call has two processes in namespaces of their own. The first builds the
file system, then watches time and ends the call; with it the kernel ends everything that the call started. The second gives up all
rights, loads the program, and only then reads its order.

Messages come and go on a socket, one JSON object each. `{"modules"}` asks to import, and the answer is `{"end": "ok"}`. The bytes of CALL
come with two descriptors, and the answer says how the call ended: `{"end": "ok" | "time" | "crash", "signal"}`. The first message is the
setup of all calls. An order is a file: a line with `seconds` of the processor and `wall` seconds, a line for the call, and its data.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import logging
import math
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import Any

from evaluation.programs.guest import MAX_MESSAGE, OUTPUT, PROGRAM, WORK, isolation, python, script
from evaluation.programs.guest.processor_time import ProcessorTime

CALL = b"call"
CALLED, TIME, CRASH = 0, 3, 64  # exit status of a call's first process; CRASH and above with the signal added
POLL = 0.05  # seconds between two looks at what a call uses
ORDER, ANSWER = 3, 4  # descriptors of a call
DESCRIPTORS = 64  # more than this process ever has


def main() -> None:
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    sys.path.remove(os.environ["PYTHONPATH"].partition(os.pathsep)[0])  # where this code is, which no program imports
    os.environ["PYTHONPATH"] = os.environ["PYTHONPATH"].partition(os.pathsep)[2]
    isolation.set_dumpable(False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # or a call could interrupt the process that watches it
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    message, given, _, _ = socket.recv_fds(control, MAX_MESSAGE, 1)
    setup = json.loads(message)
    usage = given[0] if given else None
    setup["masked"] = isolation.masked_processes(bool(setup["devices"]))
    bring(setup["modules"])
    while message:
        message, given, _, _ = socket.recv_fds(control, MAX_MESSAGE, 2)
        if message == CALL:
            ended = call(setup, control, usage, *given)
        elif message:
            ended = bring(json.loads(message)["modules"])
        if message:
            control.send(json.dumps(ended).encode())


def bring(modules: list[str]) -> dict[str, Any]:
    """Import packages of the service, so that calls need not."""
    for name in modules:
        with contextlib.suppress(BaseException):  # the call that imports it meets the same
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    return {"end": "ok"}


def call(setup: dict, control: socket.socket, usage: int | None, order: int, answer: int) -> dict[str, Any]:
    """One call in processes of its own, and how it ended."""
    first = isolation.fork_apart() if setup["boxed"] else os.fork()
    if first == 0:
        status = CRASH
        try:
            control.close()
            status = watch_call(setup, usage, order, answer)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    os.close(order)
    os.close(answer)
    status = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    if status in (CALLED, TIME):
        return {"end": "ok" if status == CALLED else "time"}
    return {"end": "crash", "signal": status - CRASH if status > CRASH else 0}


def watch_call(setup: dict, usage: int | None, order: int, answer: int) -> int:
    """In the first process of a call: prepare its place, start the second and watch it. Return the exit status that says how it ended."""
    line = os.pread(order, 4096, 0).partition(b"\n")[0]
    os.lseek(order, len(line) + 1, os.SEEK_SET)
    limits = json.loads(line)
    seconds = max(1, math.ceil(limits["seconds"]))
    if setup["boxed"]:
        isolation.enter_new_root(setup["layout"], setup["scratch_bytes"], setup["masked"])
        isolation.hide_mounts()
    scratch = "/tmp/items" if setup["boxed"] else tempfile.mkdtemp()  # noqa: S108
    second = os.fork()
    if second == 0:
        try:
            begin_call(setup, seconds, order, answer)
            run_call(setup, scratch)
        finally:
            os._exit(1)
    os.close(order)
    os.close(answer)
    try:
        return watch(second, seconds, limits["wall"], ProcessorTime(usage, setup["boxed"]))
    finally:
        if not setup["boxed"]:  # without a box everything ends with this process
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(second, signal.SIGKILL)
            shutil.rmtree(scratch, ignore_errors=True)


def watch(second: int, seconds: float, wall: float, used: ProcessorTime) -> int:
    """Wait for a call's second process; TIME as soon as all processes of the call together have used more than they may."""
    end = time.monotonic() + wall
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] != second:
                    continue
                if os.WIFSIGNALED(ended[1]):
                    number = os.WTERMSIG(ended[1])
                    return TIME if number == signal.SIGXCPU else CRASH + number
                return CALLED if ended[1] == 0 else CRASH
        if time.monotonic() > end or used.seconds() > seconds or used.running > wall:
            return TIME
        signal.sigtimedwait({signal.SIGCHLD}, POLL)


def begin_call(setup: dict, seconds: int, order: int, answer: int) -> None:
    """In the second process of a call: keep its two descriptors alone, and give up all rights."""
    os.setsid()
    # Beyond all others first, for one may have the number of the other.
    order, answer = os.dup2(order, DESCRIPTORS - 2), os.dup2(answer, DESCRIPTORS - 1)
    os.dup2(order, ORDER, inheritable=False)
    os.dup2(answer, ANSWER, inheritable=False)
    os.closerange(ANSWER + 1, DESCRIPTORS)
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for standard in (0, 1, 2) if setup["boxed"] else (0,):
        os.dup2(nothing, standard)
    if not setup["boxed"]:
        os.dup2(2, 1)
    os.close(nothing)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    isolation.limit_processor(seconds)
    logging._startTime = time.time()  # type: ignore[attr-defined]  # else it tells how long the launcher has been there
    if setup["boxed"]:
        os.chdir(WORK if setup["run"] == "script" else "/tmp")  # noqa: S108
        isolation.limit_self(setup["limits"])
        isolation.restrict_files(("/",), ("/tmp", "/dev/shm", OUTPUT), ("/dev/null", *setup["devices"]))  # noqa: S108
        isolation.drop_capabilities()
        isolation.set_dumpable(True)
        isolation.restrict_calls(bytes.fromhex(setup["filter"]))
    for name in [name for name in sys.modules if name.partition(".")[0] == "evaluation"]:
        del sys.modules[name]  # a program may have modules of these names


def run_call(setup: dict, scratch: str) -> None:
    """In the second process of a call, without rights: carry out the order, write the answer, and end. Never returns."""
    code = 1
    try:
        if setup["run"] == "python":
            answer = python.answer(setup.get("program", PROGRAM), setup["entry"], ORDER, scratch)
        elif setup["run"] == "script":
            answer = script.answer(setup["entry"], ORDER)
        else:
            answer = python.read(ORDER)[0]["nonce"].encode()  # to try whether calls can be made
        view = memoryview(answer)
        while view:
            view = view[os.write(ANSWER, view) :]
        code = 0
    except BrokenPipeError:
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
