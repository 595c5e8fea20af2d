"""A metric program that is run: items in, results out, each call in the sandbox.

Python programs are called per item, group or set, each time in a process that has never seen another. Scripts and images are run once for
all items of a slice. An error of a program makes its item fail, with a sentence. Where nothing isolates it, `NoSandbox` is raised and
nothing is run.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics.result import MetricResult
from evaluation.programs import files as program_files
from evaluation.programs import guest, results, sandbox
from evaluation.programs.document import MetricDocument
from evaluation.programs.results import Cause, WrongResult
from evaluation.programs.sandbox import Boxed, Calls, Limits, NoSandbox
from submissions.kinds import FAMILIES

FACTOR = 10  # times its declared effort that a program may take
SLOWEST = 3.0  # times its processor time that a call may take on the wall, on a busy machine
MIN_WALL = 5.0  # seconds
LONGEST_SLICE = 100  # calls of one launcher, or items of one command, of a quick program
SLICE_SECONDS = 200.0  # that a slice takes a slow one, as it declares, unless these are fewer items than the next
SHORTEST_SLICE = 12
STARTS = 20  # times in a slice that a launcher which ended is started again
MAX_MODULES = 2_000  # that are imported before the calls
MODULE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*")


@dataclass(frozen=True)
class Sample:
    """One item as a program gets it: its id and group, and both sides as read; the prediction is None where it is missing."""

    id: str
    group: str
    prediction: Any
    reference: Any
    unit_scale: float = 1.0


@dataclass(frozen=True)
class Budget:
    """The most that a program may take, whatever it declares: `memory` bytes, and `seconds` on the wall for a whole slice."""

    memory: int = 4 << 30
    seconds: float = 7200.0


@dataclass
class Program:
    """A program whose files are in `folder`. `boxed` says whether it runs in a sandbox: only one's own, on one's own machine, does not."""

    document: MetricDocument
    folder: Path
    budget: Budget = Budget()
    boxed: bool = True
    _box: Calls | None = field(default=None, repr=False)
    _loading: float = 0.0  # seconds that loading it takes a call
    _calls: int = 0  # of this launcher
    _starts: int = 0
    _broken: str = ""
    _owner: int = 0

    def one(self, pair: Any, **params: Any) -> MetricResult:
        """The result of a pair, as a function of a metric gives it: for tests that damage models one at a time."""
        prediction, reference = pair.given
        result = self.score_all([Sample("item", "item", prediction, reference, pair.unit_scale)], params)[0]
        if self.document.level == "item":
            return result
        partial = {"value": result.value, "status": str(result.status), "flags": list(result.flags), "parts": dict(result.parts)}
        return replace(result, value=None, partial=partial)

    def score_all(
        self, samples: Sequence[Sample], params: Mapping[str, Any], progress: Callable[[int], None] | None = None
    ) -> list[MetricResult]:
        """The result of each sample, in order. At level group or set each sample gets the result of its group, or of all. A missing item of
        level item is not asked about, and has no value."""
        given = {"seed": 0, **params}
        if "reference" not in self.document.needs and not (self.document.needs and FAMILIES[self.document.kind].images):
            samples = [replace(sample, reference=None) for sample in samples]
        end = time.monotonic() + self.budget.seconds
        if self.document.run == "python":
            return self._called(samples, given, end, progress)
        found = [results.stopped("It is missing.")] * len(samples)
        for places in self._slices(samples):
            for place, result in zip(places, self._commanded([samples[place] for place in places], given, end), strict=True):
                found[place] = result
        return found

    def again(self) -> Program:
        """A copy of the program, not started."""
        return Program(self.document, self.folder, self.budget, self.boxed)

    def close(self) -> None:
        """End the program's process."""
        if self._box is not None and self._owner == os.getpid():
            self._box.close()
        self._box = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def limits(self, items: int) -> Limits:
        """Bounds of a call with so many items."""
        seconds = FACTOR * self.document.effort.seconds * max(1, items)
        memory = min(FACTOR * self.document.effort.memory_mb << 20, self.budget.memory)
        return Limits(seconds, max(MIN_WALL, SLOWEST * seconds), memory)

    # --- Python

    def _called(
        self, samples: Sequence[Sample], params: Mapping[str, Any], end: float, progress: Callable[[int], None] | None
    ) -> list[MetricResult]:
        found: list[MetricResult] = [results.stopped("It is missing.")] * len(samples)
        level = self.document.level
        together: dict[Any, list[int]] = {}
        for place, sample in enumerate(samples):
            if level != "item" or sample.prediction is not None:
                together.setdefault(place if level == "item" else sample.group if level == "group" else "", []).append(place)
        done = 0
        for places in together.values():
            result = self._call([samples[place] for place in places], params, end)
            for place in places:
                found[place] = result
            done += len(places)
            if progress is not None:
                progress(done)
        return found

    def _call(self, samples: Sequence[Sample], params: Mapping[str, Any], end: float) -> MetricResult:
        limits = self.limits(len(samples))
        wall = min(limits.wall, end - time.monotonic())
        if wall <= 0:
            return results.stopped(
                f"The program did not reach this item: it took more than the {self.budget.seconds:.0f} s there are for a slice.", Cause.TIME
            )
        if refusal := self._started(limits):
            return results.failed(refusal, Cause.LOAD)
        described, data = encoded(samples, self.document.kind if self.document.as_files else "")
        order = {"items": described, "params": dict(params), "level": self.document.level}
        assert self._box is not None
        try:
            ended = self._box.call(order, data, limits.seconds + self._loading, wall + self._loading, guest.MAX_ANSWER)
        except TimeoutError:
            self.close()
            return results.stopped(self._too_slow(limits), Cause.TIME)
        if ended is None:
            self.close()
            return results.stopped("The program ended its process, answered in another form than agreed, or was killed for its memory.")
        return self._result(ended, limits)

    def _result(self, ended: sandbox.Ended, limits: Limits) -> MetricResult:
        found, end = {}, ended.end
        if ended.end == "ok":
            try:
                found = results.parsed(ended.answer)
            except WrongResult as error:
                return results.failed(str(error))
            if isinstance(found, dict) and "result" in found:
                return results.result_of(found["result"], self.document)
            end = str(found.get("end")) if isinstance(found, dict) else ""
        if end == "time":
            return results.stopped(self._too_slow(limits), Cause.TIME)
        if end == "memory":
            return results.stopped(f"The program needed more than the {limits.memory >> 20:,} MB it may use.", Cause.MEMORY)
        if end == "size":
            return results.stopped(f"The program answered with more than {guest.MAX_ANSWER:,} bytes.", Cause.SIZE)
        if isinstance(found, dict) and isinstance(found.get("error"), str):
            return results.failed(last_line(found["error"]), Cause.RAISED)
        return results.stopped("The program's process crashed, answered in another form than agreed, or was killed for its memory.")

    def _too_slow(self, limits: Limits) -> str:
        declared = self.document.effort.seconds
        return f"The program took longer than {limits.seconds:g} s, ten times the {declared:g} s an item that metric.yaml declares."

    def _started(self, limits: Limits) -> str:
        """Start the launcher unless it runs, and load the program once to see that it does; a sentence where it does not."""
        if self._broken:
            return self._broken
        if self._box is not None and self._owner == os.getpid() and self._box.process.poll() is None:
            self._calls += 1
            if self._calls <= longest_slice(self.document):
                return ""
            self.close()
            self._starts -= 1  # it has not ended by itself
        if self._starts >= STARTS:
            return f"The program ended its process {STARTS} times, and is not started again."
        self._starts += 1
        self._calls = 1
        self._owner = os.getpid()
        packages = [MODULES.get(name.lower(), name) for name in self.document.packages]
        # Imported before the first call, so that its time counts for none.
        modules = ["numpy", *packages]
        if self.boxed:
            binds = [(str(self.folder), guest.PROGRAM)]
            self._box = Boxed("python", self.document.entry, binds, limits, modules, self.document.device == "gpu")
        else:
            self._box = Unboxed(self.folder, self.document.entry, modules)
        found = self._loaded()
        # It says which parts of its packages it imports. Of those that are installed the launcher imports them too, which runs nothing of
        # the program, and then a call need not.
        parts = [one for one in found.get("modules", ()) if isinstance(one, str) and MODULE.fullmatch(one)]
        if "modules" in found and self._box.bring([one for one in parts if one.partition(".")[0] in modules][:MAX_MODULES]):
            start = time.monotonic()
            if "modules" in (found := self._loaded()):
                self._loading = time.monotonic() - start
                return ""
        self.close()
        why = last_line(found["error"]) if isinstance(found.get("error"), str) else "its process ended, or was not ready in time"
        self._broken = f"The program does not load: {why}"
        return self._broken

    def _loaded(self) -> dict[str, Any]:
        """The `modules` that are there after a call that loads the program and does nothing else, or its `error`."""
        assert self._box is not None
        try:
            ended = self._box.call({}, b"", sandbox.START_SECONDS, sandbox.START_SECONDS, guest.MAX_ANSWER)
            found = results.parsed(ended.answer) if ended is not None and ended.end == "ok" else None
        except (TimeoutError, WrongResult):
            found = None
        return found if isinstance(found, dict) else {}

    # --- scripts and images

    def _slices(self, samples: Sequence[Sample]) -> list[list[int]]:
        """Places of the samples that a command gets in one call: all at level set, otherwise so many that no group is split and no slice is
        too long."""
        level = self.document.level
        together: dict[Any, list[int]] = {}
        for place, sample in enumerate(samples):
            together.setdefault({"item": place, "group": sample.group, "set": ""}[level], []).append(place)
        found: list[list[int]] = []
        for places in together.values():
            if not found or len(found[-1]) + len(places) > longest_slice(self.document):
                found.append([])
            found[-1] += places
        return found

    def _commanded(self, samples: Sequence[Sample], params: Mapping[str, Any], end: float) -> list[MetricResult]:
        limits = self.limits(len(samples))
        limits = Limits(limits.seconds, max(0.1, min(limits.wall, end - time.monotonic())), limits.memory)
        with tempfile.TemporaryDirectory(prefix="plumbline-program-") as scratch:
            folder = Path(scratch)
            data = folder / "data"
            data.mkdir()
            write_data(data, samples, params, self.document.kind)
            binds = [(str(data / name), f"{guest.WORK}/{name}") for name in ("prediction", "reference", "params.json", "items.json")]
            if self.document.run == "image":
                (folder / "image").mkdir()
                answer = sandbox.run_image(self.document.image, self.document.entry, binds, limits, folder / "image")
            else:
                own = [(str(path), f"{guest.WORK}/{path.name}") for path in sorted(self.folder.iterdir())]
                binds += [*own, (str(self.folder), guest.PROGRAM)]
                if self.boxed:
                    answer = sandbox.run_script(binds, self.document.entry, limits, card=self.document.device == "gpu")
                else:
                    answer = run_unboxed(self.folder, data, self.document.entry, limits)
        sentence = self._script_problem(answer, limits)
        ids = [sample.id for sample in samples]
        if not sentence:
            try:
                found = results.of_file(answer.scores or "", self.document, ids)
                return [found[name] for name in ids]
            except WrongResult as error:
                sentence = str(error)
        cause = {"ok": Cause.ANSWER, "exit": Cause.EXIT, "time": Cause.TIME, "size": Cause.SIZE}.get(answer.end, Cause.ENDED)
        if answer.end not in ("ok", "exit"):
            return [results.stopped(sentence, cause)] * len(samples)
        if not answer.stderr.strip():
            return [results.failed(sentence, cause)] * len(samples)
        # The first item keeps all of the output, the others its last line, because there may be thousands.
        said = " ↵ ".join(line.strip() for line in answer.stderr.splitlines() if line.strip())
        first, others = (results.failed(f"{sentence} Its error output ends: {end}", cause) for end in (said, last_line(answer.stderr)))
        return [first, *[others] * (len(samples) - 1)]

    def _script_problem(self, answer: sandbox.Answer, limits: Limits) -> str:
        if answer.end == "time":
            return self._too_slow(limits)
        if answer.end == "exit":
            return f"The command ended with exit status {answer.exit}."
        if answer.end == "size":
            return f"The program wrote more than {sandbox.SCRATCH_BYTES >> 20} MB."
        if answer.end != "ok":
            return "The program's process crashed, or was killed for its memory."
        return f"output/scores.json {answer.problem}." if answer.problem else ""


def longest_slice(document: MetricDocument) -> int:
    """Number of calls after which a launcher is replaced, and of items that a command gets in one call (if it takes them one by one). It
    limits for how long a program can carry anything over from one item to another. The checks on arrival make more."""
    return max(SHORTEST_SLICE, min(LONGEST_SLICE, int(SLICE_SECONDS / document.effort.seconds)))


def last_line(text: str) -> str:
    """The last line that says something, of an error output or a traceback."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:400] if lines else "nothing was said"


MODULES = {"pillow": "PIL", "libigl": "igl", "fast-simplification": "fast_simplification", "scikit-image": "skimage", "pyyaml": "yaml"}


# --- items for programs


def encoded(samples: Sequence[Sample], files_of: str = "") -> tuple[list[dict[str, Any]], bytes]:
    """Samples as the first process inside reads them: a description of both sides of each, and the arrays, as one npz. Lengths are in
    metres; with `files_of` a kind, both sides are files of it, in their own unit."""
    arrays: dict[str, np.ndarray] = {}
    described = []
    for n, sample in enumerate(samples):
        kinds = {"prediction": sample.prediction, "reference": sample.reference}
        if not files_of:
            described.append({side: _side(f"{n}.{side}", item, sample, arrays) for side, item in kinds.items()})
            continue
        found: dict[str, Any] = {}
        for side, item in kinds.items():
            content = file_of(item, files_of)
            found[side] = None
            if content is not None:
                arrays[f"{n}.{side}.file"] = np.frombuffer(content, np.uint8)
                values = {"unit_scale": sample.unit_scale, "prompt": getattr(sample.reference, "prompt", "")}
                name = f"{n}/{side}/{sample.id}.{FAMILIES[files_of].exact}"
                found[side] = {"values": values, "arrays": [], "lists": {}, "file": name}
        described.append(found)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return described, buffer.getvalue()


def _side(prefix: str, item: Any, sample: Sample, arrays: dict[str, np.ndarray]) -> dict[str, Any] | None:
    if item is None:
        return None
    found: dict[str, Any] = {"values": {}, "arrays": [], "lists": {}}
    for name in ("vertices", "edges", "faces"):
        if hasattr(item, name):
            array = np.asarray(getattr(item, name), dtype=np.float64 if name == "vertices" else np.int64)
            arrays[f"{prefix}.{name}"] = array * sample.unit_scale if name == "vertices" else array
            found["arrays"].append(name)
    if found["arrays"]:
        return found
    # A render, or a view of the reference.
    image = getattr(item, "image", item)
    clean = getattr(item, "clean", None)
    found["values"] = {"prompt": getattr(item, "prompt", "") or getattr(sample.reference, "prompt", "") or ""}
    pixels = {"image": None if image is None else image.pixels(), "mask": item.mask_pixels() if hasattr(item, "mask_pixels") else None}
    for name, drawn in pixels.items():
        found["arrays"].append(name)
        if drawn is not None:
            arrays[f"{prefix}.{name}"] = drawn
    images = () if clean is None else clean.images
    found["lists"]["clean"] = len(images)
    for n, one in enumerate(images):
        arrays[f"{prefix}.clean.{n}"] = one.pixels()
    return found


def file_of(item: Any, kind: str) -> bytes | None:
    """An item as a file, in the form of its kind that keeps every number; of a reference's view its image. None where there is none."""
    family = FAMILIES[kind]
    item = getattr(item, "image", item) if family.images else item
    return None if item is None else family.write(item, family.exact)


def write_data(folder: Path, samples: Sequence[Sample], params: Mapping[str, Any], kind: str) -> None:
    """Write a command's folder: `prediction/` and `reference/` with a file for each item, in the form of its kind that keeps every number
    (wireframes as JSON, meshes as PLY, images as PNG), `params.json` and `items.json`."""
    family = FAMILIES[kind]
    names: dict[str, dict[str, str | None]] = {sample.id: {"prediction": None, "reference": None} for sample in samples}
    for side in ("prediction", "reference"):
        root = folder / side
        root.mkdir()
        for sample in samples:
            content = file_of(getattr(sample, side), kind)
            if content is None:
                continue
            path = root / f"{sample.id}.{family.exact}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            names[sample.id][side] = f"{side}/{sample.id}.{family.exact}"
    rows = [{"id": sample.id, "group": sample.group, "unit_scale": sample.unit_scale, **names[sample.id]} for sample in samples]
    (folder / "items.json").write_text(json.dumps({"items": rows}))
    (folder / "params.json").write_text(json.dumps(dict(params)))


# --- one's own program on one's own machine


class Unboxed(Calls):
    """Calls of a Python program without a sandbox, with the same orders and answers as in `Boxed`."""

    def __init__(self, folder: Path, entry: str, modules: Sequence[str]) -> None:
        place = str(sandbox.HERE.parents[1])
        search = os.pathsep.join([place, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        command = [*_with_environment(), f"PYTHONPATH={search}", sys.executable, "-P", "-B", "-m", sandbox.LAUNCHER]
        setup = {"boxed": False, "run": "python", "program": str(folder), "entry": entry, "modules": list(modules), "devices": []}
        self._start(command, None, setup)


def _with_environment() -> list[str]:
    """Beginning of a command line that sets this process's environment, and of the sandbox's the variables on which numbers may depend."""
    return ["env", *(f"{name}={value}" for name, value in sandbox.ENVIRONMENT.items() if name not in ("PATH", "HOME", "LANG"))]


def run_unboxed(program: Path, data: Path, entry: str, limits: Limits) -> sandbox.Answer:
    """Run a command without a sandbox, in a folder with its data and links to the program's files. Its `python` is this one, as inside."""
    for path in sorted(program.iterdir()):
        os.symlink(path.resolve(), data / path.name)
    (data / "output").mkdir()
    adapters = sandbox.HERE / "bin"
    command = shlex.split(entry)
    if (adapters / command[0]).exists():
        command[0] = str(adapters / command[0])
    search = f"PATH={os.pathsep.join([os.path.dirname(sys.executable), *os.get_exec_path()])}"
    try:
        done = subprocess.run([*_with_environment(), search, *command], cwd=data, capture_output=True, timeout=limits.wall)
    except subprocess.TimeoutExpired:
        return sandbox.Answer("time")
    except OSError as error:
        return sandbox.Answer("exit", f"{entry}: {error.strerror}", 127)
    stderr = done.stderr.decode("utf-8", "replace")[-guest.TAIL :]
    if done.returncode:
        return sandbox.Answer("exit", stderr, done.returncode)
    return sandbox.Answer.of(data / "output", stderr)


def load(folder: Path, budget: Budget = Budget(), boxed: bool = True) -> Program:
    """The program in a folder that was unpacked before. Raises ProgramError, or NoSandbox where nothing here isolates it."""
    document = program_files.document.read((folder / program_files.document.FILE).read_bytes())
    if boxed and (refusal := sandbox.refusal(document.run, document.device)):
        raise NoSandbox(refusal)
    return Program(document, folder, budget, boxed)
