"""A call of a script: run its command in the folder of its data, and pass on the file that it wrote."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import shlex
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

from evaluation.programs.guest import MAX_FILE_ANSWER, OUTPUT, TAIL, WORK


def answer(command: str, place: int) -> bytes:
    """The answer to the order that lies in the descriptor `place`: its nonce, then as JSON what `run` finds."""
    with os.fdopen(place, "rb") as file:
        order = json.loads(file.readline())
    return order["nonce"].encode() + json.dumps(run(command)).encode()


def run(command: str) -> dict[str, Any]:
    """Run the command; how it ended (ok, exit, time), the end of its error output, and its scores as text."""
    try:
        process = subprocess.Popen(shlex.split(command), cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError as error:
        return {"end": "exit", "exit": 127, "stderr": f"{command}: {error.strerror}"}
    assert process.stderr is not None
    tail, ended = bytearray(), os.pidfd_open(process.pid)
    while True:
        ready, _, _ = select.select([process.stderr, ended], [], [])
        piece = os.read(process.stderr.fileno(), 65536) if process.stderr in ready else b""
        tail = (tail + piece)[-4 * TAIL :]
        if not piece:  # all was read; what it has left behind may hold the pipe open
            break
    status = process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)
    stderr = bytes(tail).decode("utf-8", "replace")[-TAIL:]
    if status == -signal.SIGXCPU:
        return {"end": "time", "stderr": stderr}
    if status != 0:
        return {"end": "exit", "exit": status, "stderr": stderr}
    return {"end": "ok", "stderr": stderr, **scores_in(OUTPUT)}


def scores_in(folder: str | Path) -> dict[str, str]:
    """The text of scores.json in a folder that a program wrote, as `scores`. Where it is no plain file of bearable size, what is wrong with
    it, as `problem`. No link is followed."""
    try:
        place = os.open(os.path.join(folder, "scores.json"), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        said = {errno.ENOENT: "is not there", errno.ELOOP: "is a symbolic link"}
        return {"problem": said.get(error.errno or 0, "cannot be opened")}
    try:
        found = os.fstat(place)
        if stat.S_ISDIR(found.st_mode):
            return {"problem": "is a folder"}
        if not stat.S_ISREG(found.st_mode):
            return {"problem": "is not a plain file"}
        if found.st_nlink > 1:
            return {"problem": "is a hard link"}
        if found.st_size > MAX_FILE_ANSWER:
            return {"problem": f"has {found.st_size:,} bytes; at most {MAX_FILE_ANSWER:,} are taken"}
        with os.fdopen(os.dup(place), "rb") as file:
            return {"scores": file.read(MAX_FILE_ANSWER).decode("utf-8", "replace")}
    finally:
        os.close(place)
