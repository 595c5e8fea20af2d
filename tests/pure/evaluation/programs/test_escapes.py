"""Programs that try to leave the sandbox, in every rung that starts on this machine: none gets out, and none harms what is outside.

Bubblewrap holds a Python function and a script alike: all attempts are made as a function, and a few as a script. To start a container
takes longest, so all that only ask for something are made in one, each in a process of its own, and of those that end their container or
fill it a few. At night each is made alone in every form (tests/nightly/evaluation/programs).
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from evaluation.metrics.result import Status
from evaluation.programs import program as program_module
from evaluation.programs import sandbox
from evaluation.programs.program import Budget, Program, Sample, load
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.conftest import need
from tests.support.evaluation.escapes import attempts, image
from tests.support.evaluation.escapes.attempts import ATTEMPTS

FOLDER = Path(attempts.__file__).parent
SECRET = "the reference of another phase"
# What an attempt comes to where the sandbox ends it, instead of a value of 0.
ENDED = (
    "took longer than",
    "ended its process",
    "crashed",
    "MB it may use",
    "not JSON",
    "No space left",
    "exit status",
    "leaves this item out",
    "is not there",
    "answered with more than",
    "MemoryError",
    "does not load",
    "Resource temporarily unavailable",
    "wrote more than",
)
AS_A_SCRIPT = (
    "the_secret_by_its_path",
    "loopback",
    "another_interpreter",
    "raising_limits",
    "processes",
    "a_full_disk",
    "deaf",
    "left_behind",
)
# What follows are bombs, which end what they run in or fill it.
ASKING = tuple(name for name in list(ATTEMPTS)[: list(ATTEMPTS).index("processes")] if not name.startswith("killing"))
ALONE_IN_AN_IMAGE = ("killing_the_parent", "killing_everybody", "processes", "shared_memory", "many_full_files", "deaf")
# These come to nothing but their limit, of which a second and a half is as good as six.
ENDLESS = ("asleep", "deaf", "endless", "files_of_others", "left_behind")
ITEM = Sample("item", "item", *[Wireframe(np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[0, 1]]))] * 2)


@pytest.fixture(scope="module")
def outside(tmp_path_factory) -> Iterator[dict[str, Any]]:
    """Things that a program must not reach, and where they are."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret.txt").write_text(SECRET)
    (folder / "secret.txt").chmod(0o666)
    folder.chmod(0o777)
    os.environ["PLUMBLINE_TEST_SECRET"] = SECRET
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)", "pytest", SECRET])
    abstract = f"plumbline-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as file, socket.socket(socket.AF_UNIX) as name:
        file.bind(str(folder / "socket"))
        file.listen()
        name.bind(f"\0{abstract}")
        name.listen()
        yield {
            "secret": SECRET,
            "secret_file": str(folder / "secret.txt"),
            "service": str(Path(sandbox.__file__)),
            "host": socket.gethostname(),
            "home": str(Path.home()),
            "pid": bystander.pid,
            "port": server.getsockname()[1],
            "socket_file": str(folder / "socket"),
            "abstract": abstract,
            "own_kernel": False,
        }
    del os.environ["PLUMBLINE_TEST_SECRET"]
    assert bystander.poll() is None  # nothing has killed it
    assert (folder / "secret.txt").read_text() == SECRET
    bystander.kill()
    bystander.wait()


@pytest.fixture(scope="module")
def python_program() -> Iterator[Program]:
    need("sandbox")
    with load(FOLDER, Budget(memory=400 << 20)) as program:
        yield program


def held(program: Program, attempt: str, given: dict[str, Any]) -> str:
    """Assert that an attempt got nowhere; how it ended."""
    program._starts = 0
    with ExitStack() as shorter:
        if attempt in ENDLESS:
            effort = replace(program.document.effort, seconds=0.05)
            shorter.enter_context(mock.patch.object(program, "document", replace(program.document, effort=effort)))
            shorter.enter_context(mock.patch.object(program_module, "MIN_WALL", 1.0))
        (result,) = program.score_all([ITEM], {**given, "attempt": attempt})
    if result.status == Status.FAILED:
        sentence = result.flags[0]
        assert any(words in sentence for words in ENDED), sentence
        return sentence
    assert result.value == 0.0, f"{attempt} got out of the sandbox"
    return "refused"


def harmless(program: Program, given: dict[str, Any]) -> None:
    """Assert that the next item is scored as if nothing had been."""
    assert held(program, "the_environment", given) == "refused"


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_python_program_stays_inside(attempt, python_program, outside):
    held(python_program, attempt, outside)
    harmless(python_program, outside)


@pytest.mark.parametrize("attempt", AS_A_SCRIPT)
def test_a_script_stays_inside(attempt, outside):
    script_holds(attempt, outside)


def script_holds(attempt: str, given: dict[str, Any]) -> None:
    need("sandbox")
    program = load(FOLDER, Budget(memory=400 << 20))
    program.document = replace(program.document, run="script", entry="python attempts.py")
    held(program, attempt, given)


@pytest.fixture(scope="session")
def python_image(tmp_path_factory) -> str:
    """An image with the system's Python and the attempts, made of the machine's own packages."""
    if refusal := sandbox.podman_refusal():
        pytest.skip(f"images are not run on this machine: {refusal}")
    return image.make(tmp_path_factory.mktemp("image"), FOLDER / "attempts.py")


@pytest.mark.parametrize("attempt", ALONE_IN_AN_IMAGE)
def test_an_image_stays_inside(attempt, python_image, outside):
    image_holds(attempt, python_image, outside)


def image_of(name: str) -> Program:
    program = load(FOLDER, Budget(memory=400 << 20), boxed=False)
    program.document = replace(program.document, run="image", image=name, entry="/usr/bin/python3 /attempts.py")
    return program


def image_holds(attempt: str, name: str, given: dict[str, Any]) -> None:
    held(image_of(name), attempt, {**given, "own_kernel": True})


def test_an_image_gets_nothing_that_it_asks_for(python_image, outside):
    samples = [replace(ITEM, id=attempt) for attempt in ASKING]
    found = image_of(python_image).score_all(samples, {**outside, "own_kernel": True, "attempts": ASKING})
    assert {sample.id: (result.status, result.value) for sample, result in zip(samples, found, strict=True)} == dict.fromkeys(
        ASKING, (Status.OK, 0.0)
    )


def test_what_tries_nothing_forbidden_is_scored_in_every_rung(python_program, outside, request):
    given = {**outside, "attempt": "the_environment"}
    script, container = (load(FOLDER, boxed=False) for _ in range(2))
    script.boxed, script.document = True, replace(script.document, run="script", entry="python attempts.py")
    programs = [python_program, script]
    if not sandbox.podman_refusal():
        name = request.getfixturevalue("python_image")
        container.document = replace(container.document, run="image", image=name, entry="/usr/bin/python3 /attempts.py")
        programs.append(container)
    for program in programs:
        (result,) = program.score_all([ITEM], given)
        assert (result.status, result.value) == (Status.OK, 0.0)


OUT_WITHOUT_A_SANDBOX = (
    "the_secret_by_its_path",
    "the_service_code",
    "the_environment",
    "signalling_others",
    "loopback",
    "listening",
    "a_socket_file",
    "an_abstract_socket",
    "another_interpreter",
)


@pytest.mark.parametrize("attempt", OUT_WITHOUT_A_SANDBOX)
def test_without_a_sandbox_the_attempts_get_out(attempt, outside):
    with load(FOLDER, boxed=False) as program:
        (result,) = program.score_all([ITEM], {**outside, "attempt": attempt})
    assert result.value == 1.0


def test_without_a_sandbox_those_made_together_get_out_too(outside):
    program = load(FOLDER, boxed=False)
    program.document = replace(program.document, run="script", entry="python attempts.py")
    samples = [replace(ITEM, id=attempt) for attempt in OUT_WITHOUT_A_SANDBOX]
    found = program.score_all(samples, {**outside, "attempts": OUT_WITHOUT_A_SANDBOX})
    assert [result.value for result in found] == [1.0] * len(samples)


def test_forty_attempts_are_made_in_bubblewrap_and_in_images():
    assert len(ATTEMPTS) >= 40 and len({*ASKING, *ALONE_IN_AN_IMAGE}) >= 40 and set(AS_A_SCRIPT) < set(ATTEMPTS)
