"""The limited process in which hostile bytes are parsed and scored.

`python -m evaluation.work.child [FOLDER OF FETCHED WEIGHTS]` loads the libraries once, then forks one process per job. A job starts
in milliseconds, lives under its own memory, time and file limits, and leaves nothing behind in
the next one. It has no Django, no database and no credentials. Its parent gives it an empty
environment and a folder with copies of its files.

Protocol, one JSON object a line. In: `{"folder", "memory", "seconds", "wall", "networks", "programs"}`. `memory` is in bytes, `seconds` is
processor time and `wall` elapsed time. `networks` says whether the job needs torch, which is loaded before the first such job and stays
loaded. `programs` are the kinds of organizers' programs that it runs; their sandbox is tested before the first. Out: `{"end": "time" |
"crash" | "killed" | ...}` or one of ENDS. The answer is in the folder: `result.json`, or `error.txt` with the traceback. `error.txt` holds
one sentence instead if weights are missing or damaged, if this code computes a column differently from its batch, or if a job with `card`
finds no usable graphics card.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import logging
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from evaluation import reference_warnings as warnings
from evaluation.images import paint, views
from evaluation.images.names import file_name
from evaluation.metrics import prepared, registry, scoring
from evaluation.metrics.column import Column, require_computed
from evaluation.metrics.registry import OtherDefinition
from evaluation.metrics.scoring import MetricRequest
from evaluation.metrics.shared import TOGETHER
from evaluation.networks import device_use, graphics_card, weights
from evaluation.networks.device_use import CardTrouble
from evaluation.networks.weights import WeightsError
from evaluation.programs import sandbox, seccomp
from evaluation.programs.guest import isolation
from evaluation.properties.slices import measure_slice
from evaluation.properties.suite import Progress
from evaluation.rendering import objects
from evaluation.work.parent_death import end_with
from submissions.formats.box_alignment import Box, label
from submissions.formats.errors import FormatError, Remarks
from submissions.formats.inputs import of_files, write_table
from submissions.formats.render.page_picture import rewritten
from submissions.formats.spreadsheet import SheetError, read_sheet
from submissions.kinds import FAMILIES
from submissions.manifest import Manifest
from submissions.validation import validate as check

PACKAGE = registry.__name__.partition(".metrics.")[0]  # this code lies below another name in the package of participants
NOTES = "notes.json"  # the file in a job's folder with what it warned of, where it did
SCORED = "scored"  # the file in a scoring job's folder with how many items are done
PROGRAM_ROOM = 8 << 30  # bytes of addresses
LARGEST_FILE = 4 << 30  # bytes a job may write in one file
IDLE_NICE = 10  # of jobs that nobody waits for: a process that works gets nine times as much of a core


def validate(folder: Path, job: dict) -> dict:
    """Read and check an upload; leaves the parsed items in `artifact` if it is acceptable."""
    manifest = Manifest.from_dict(job["manifest"])
    verdict = check(folder / job["archive"], manifest)
    if verdict.accepted:
        manifest.kind.save(verdict.items, folder / "artifact")
    return {
        "accepted": verdict.accepted,
        "problems": [str(problem) for problem in verdict.problems],
        "n_problems": verdict.n_problems,
        "missing": list(verdict.missing),
        "warnings": list(verdict.warnings),
        "to_confirm": list(verdict.to_confirm),
        "hold": verdict.hold,
        "faults": [dataclasses.asdict(fault) for fault in verdict.faults],
    }


def score(folder: Path, job: dict) -> dict:
    """Score some items of an entry. Returns, by slug, `scores` (SampleScores as plain JSON), `seconds` and `devices`. Also returns how
    each sent item `fits` its reference, whether the prepared side of the reference was `unreadable`, and the peak memory of the
    graphics card, `card_bytes`. A file in the folder counts the items that are done."""
    wanted, family = job["item_ids"], FAMILIES[job["family"]]
    references = family.load(Path(job["reference"]), wanted)
    predictions = family.load(Path(job["artifact"]), wanted)
    requests = _requests(job)
    seconds: dict[str, float] = {}
    devices: dict[str, set[str]] = {}

    def progress(done: int, _: int) -> None:
        (folder / SCORED).write_text(str(done))

    known, unreadable = prepared.read(Path(job["prepared"])) if job.get("prepared") else ({}, False)
    scored = scoring.score_items(
        predictions,
        references,
        requests,
        unit_scale=job["unit_scale"],
        item_ids=wanted,
        progress=progress,
        clock=seconds,
        prepared=known,
        groups=job.get("groups"),
        devices=devices,
    )
    fits = {}  # of the items that have an extent on both sides
    for item in () if family.images else wanted:
        boxes = [Box.of(side[item].vertices) if item in side else None for side in (predictions, references)]
        if boxes[0] is not None and boxes[1] is not None:
            fits[item] = label(boxes[0], boxes[1])
    on_card = {slug for slug, on in devices.items() if on - {"cpu"}}
    torch = sys.modules.get("torch")  # loaded only where a network runs
    return {
        "scores": {slug: samples.to_dict() for slug, samples in scored.items()},
        "seconds": seconds,
        "fits": fits,
        "unreadable": unreadable,
        "core_seconds": time.process_time(),  # of this process, which does this job alone
        "gpu_seconds": sum(spent for name, spent in seconds.items() if on_card.intersection(name.split(TOGETHER))),
        "devices": {slug: sorted(on) for slug, on in devices.items()},
        "card_bytes": int(torch.cuda.max_memory_allocated()) if torch is not None and torch.cuda.is_initialized() else 0,
    }


def _requests(job: dict) -> list[MetricRequest]:
    """The job's columns. This process may have been started later than its parent, from other code, so it asks itself whether it computes
    what the batch has: a value must never have the fingerprint of another definition."""
    columns = [Column.of(one) for one in job["requests"]]
    require_computed(columns)
    return [MetricRequest(one.slug, one.key, one.params, one.version) for one in columns]


def prepare(folder: Path, job: dict) -> dict:
    """Compute the reference's side of some items, with nothing of an entry; leaves it in `prepared`."""
    references = FAMILIES[job["family"]].load(Path(job["reference"]), job["item_ids"])
    requests = _requests(job)
    found = prepared.prepare(references, requests, job["unit_scale"], job["item_ids"])
    (folder / "prepared").write_bytes(prepared.pack(found))
    return {"items": len(found)}


def reference(folder: Path, job: dict) -> dict:
    """Read an organizer's reference, or draw it of meshes (which are only read, unless the job `draws`); leaves its items in `artifact`,
    or gives the faults; and the remarks of the readers."""
    family, remarks = FAMILIES[job["family"]], Remarks()
    try:
        if not job.get("drawing"):
            items = family.load_folder(Path(job["file"]), remarks=remarks, **job["reading"])
        elif job["draws"]:
            items = objects.load(Path(job["file"]), objects.Drawing(**job["drawing"]), remarks=remarks, **job["reading"])
        else:
            objects.read(Path(job["file"]), **job["reading"])
            return {"faults": [], "remarks": []}
    except FormatError as error:
        return {"faults": [str(fault) for fault in error.all()], "remarks": []}
    family.save(items, folder / "artifact")
    return {"faults": [], "remarks": remarks.sentences()}


def reference_warnings(folder: Path, job: dict) -> dict:
    """Warnings about the reference that was read into `artifact`, for these columns, looked for during so many seconds."""
    items = FAMILIES[job["family"]].load(folder / "artifact")
    return {"warnings": warnings.of(job["family"], items, job["columns"], job["seconds"])}


def inputs(folder: Path, job: dict) -> dict:
    """Read an organizer's inputs and return the `table` of their boxes, or the faults; see `submissions.formats.inputs`."""
    try:
        found = of_files(folder / job["file"], job["item_ids"])
    except FormatError as error:
        return {"faults": [str(fault) for fault in error.all()], "table": "", "n": 0}
    return {"faults": [], "table": write_table(found), "n": len(found)}


def sheet(folder: Path, job: dict) -> dict:
    """Read a sheet of a spreadsheet, and return its `rows` of texts, or the `fault`; see `submissions.formats.spreadsheet`."""
    try:
        return {"rows": read_sheet(Path(job["file"]), job["sheet"]), "fault": ""}
    except SheetError as error:
        return {"rows": [], "fault": str(error)}


def picture(folder: Path, job: dict) -> dict:
    """Decode an organizer's `picture` for pages and leave it `rewritten`, or return the `fault`."""
    try:
        (folder / "rewritten").write_bytes(rewritten((folder / "picture").read_bytes(), job["name"]))
    except FormatError as error:
        return {"fault": str(error)}
    return {"fault": ""}


def pictures(folder: Path, job: dict) -> dict:
    """Pictures of some views of an entry, at least one, as many as there is time for; leaves them in the folder."""
    wanted, family = job["item_ids"], FAMILIES[job["family"]]
    references = family.load(Path(job["reference"]), wanted)
    predictions = family.load(Path(job["artifact"]), wanted)
    known = prepared.read(Path(job["prepared"]))[0] if job["prepared"] else {}
    made = views.make(folder, predictions, references, wanted, job["columns"], job["unit_scale"], job["seconds"], known)
    return {"made": made}


def suite(folder: Path, job: dict) -> dict:
    """A slice of a run of a suite of tests, see `evaluation.properties.suite.Progress`: of an acceptance test where the job names a
    reference, else of sanity tests.

    An acceptance test does some subjects of one scene, at least one, as many as there is time for; meanwhile the folder has how many
    scores there are. The metric's data on the scene are left in `prepared`, unless the job brings them from an earlier slice.
    Where the job asks for `pictures`, it makes those of the scene's first subject instead, and leaves them in the folder.
    """
    (request,) = _requests(job)
    spec, params = registry.get(request.key), dict(request.params)
    progress = Progress(**job["progress"])
    if "reference" not in job:
        return dataclasses.asdict(measure_slice(request.key, params, progress, job["seconds"]))
    from evaluation.properties.gate import acceptance_test

    references = FAMILIES[job["family"]].load(Path(job["reference"]), job["item_ids"])
    subjects = acceptance_test.subjects_of(spec, params, references, job["scene"])
    if job["pictures"]:
        made = []
        for number, (name, pixels) in enumerate(acceptance_test.pictures_of(spec, params, references, subjects[0])):
            (folder / file_name(number, "acceptance_test")).write_bytes(paint.webp(pixels, paint.SMALL))
            made.append([name, *paint.sized(pixels.shape[1], pixels.shape[0], paint.SMALL)])
        return {"pictures": made}
    known, unreadable = prepared.read(Path(job["prepared"])) if job["prepared"] else ({}, True)
    if unreadable:
        known = acceptance_test.prepare(spec, params, references, subjects, job["unit_scale"])
        (folder / "prepared").write_bytes(prepared.pack(known))

    def advance(done: int) -> None:
        (folder / SCORED).write_text(str(done))

    found = acceptance_test.measure_slice(
        spec, params, references, job["scene"], job["scenes_left"], job["unit_scale"], progress, job["seconds"], advance, known
    )
    return dataclasses.asdict(found)


def check_program(folder: Path, job: dict) -> dict:
    """A slice of one check of a new program, see `evaluation.programs.program_checks`: what it `found`, None while calls are left, and the
    answers of the `calls` so far."""
    # Programs are declared in YAML, which a machine that only checks its graphics card cannot read.
    from evaluation.programs import program_checks
    from evaluation.programs.slices import Paused

    (order,) = job["programs"]
    references = FAMILIES[job["family"]].load(Path(job["reference"]), job["item_ids"]) if job["reference"] else None
    samples = program_checks.samples_of(job["family"], references, job["unit_scale"])
    key = f"{order['scope']}/{order['document']['key']}"
    program, params = cast(Any, registry.get(key).program), registry.resolve_params(key, {})
    try:
        if job["check"] == "run":
            found = program_checks.first_run(program, samples, params)
        else:
            found = program_checks.determinism(program.again, samples, params)
    except Paused:
        return {"found": None, "calls": program.kept}
    return {"found": found.to_dict(), "calls": program.kept}


def program_values(folder: Path, job: dict) -> dict:
    """Values of a metric program on some items of an entry: the items of at least one call, and as many as there is time for. `scores`
    (SampleScores as plain JSON) has the items that were done, in their order."""
    from evaluation.programs.slices import Paused  # needs YAML, as in `check_program`

    family, groups = FAMILIES[job["family"]], job["groups"]
    (request,) = requests = _requests(job)
    program = cast(Any, registry.get(request.key).program)
    together: dict[str, list[str]] = {}  # items that one call must see together
    for item in job["item_ids"]:
        together.setdefault({"item": item, "group": groups[item], "set": ""}[program.document.level], []).append(item)
    left, size, scores = list(together.values()), 1, []
    with contextlib.suppress(Paused):
        while left and size:
            wanted = [item for unit in left[:size] for item in unit]
            # No more than is asked about: to read an entry may take longer than a slice.
            predictions, references = (family.load(Path(job[side]), wanted) for side in ("artifact", "reference"))
            scale = job["unit_scale"]
            found = scoring.score_items(predictions, references, requests, unit_scale=scale, item_ids=wanted, groups=groups)
            scores.append(found[request.slug].to_dict())
            left = left[size:]
            if program.document.run != "python":  # a command is started for each call
                size = program.slice.size_after(size)
    return {"scores": scores}


def try_card(folder: Path, job: dict) -> dict:
    """Try the graphics card: its `name`, and how many bytes of its memory are `free`. Raises CardTrouble where it cannot be computed on."""
    import torch

    from evaluation.networks import inference

    device = inference.best_device()
    if filled := inference.filled_by_others():
        raise CardTrouble(filled)
    numbers = torch.arange(4096.0).view(64, 64) / 4096
    with inference.exact(device):
        found = (numbers.to(device) @ numbers.to(device)).cpu()
    if not torch.allclose(found, numbers @ numbers, rtol=1e-4):
        raise CardTrouble("The graphics card gives a wrong product of two matrices.")
    return {"name": torch.cuda.get_device_name(), "free": torch.cuda.mem_get_info()[0]}


@contextlib.contextmanager
def programs_of(job: dict, memory: int) -> Iterator[None]:
    """Know the organizers' programs that the job brings, and end what they started. OtherDefinition where nothing here isolates them."""
    if not job.get("programs"):
        yield
        return
    # They need YAML, as in `check_program`.
    from evaluation.programs.document import MetricDocument
    from evaluation.programs.program import Budget, Program
    from evaluation.programs.slices import Slice, SlicedProgram

    specs = []
    with contextlib.ExitStack() as running:
        for order in job["programs"]:
            document = MetricDocument.from_dict(order["document"])
            if sentence := sandbox.refusal(document.run, document.device):
                raise OtherDefinition(sentence)
            program = running.enter_context(Program(document, Path(order["folder"]), Budget(memory, job.get("program_seconds", 600.0))))
            if "slice" in job:
                program = cast("Program", SlicedProgram(program, Slice(job["slice"]), job.get("calls")))
            specs.append(document.spec(order["scope"], order["contents"], program))
        running.enter_context(registry.with_programs(specs))
        try:
            yield
        except sandbox.NoSandbox as error:
            raise OtherDefinition(str(error)) from None


JOBS = {
    "validate": validate,
    "prepare": prepare,
    "score": score,
    "reference": reference,
    "reference_warnings": reference_warnings,
    "inputs": inputs,
    "sheet": sheet,
    "picture": picture,
    "pictures": pictures,
    "suite": suite,
    "program": check_program,
    "program_values": program_values,
    "card": try_card,
}
SAID = {WeightsError: 4, OtherDefinition: 6, CardTrouble: 8}  # exit codes of errors that say themselves what to do
ENDS = {0: "ok", 3: "memory", 4: "weights", 5: "room", 6: "definition", 7: "library", 8: "card", 9: "accelerator"}  # by exit code
PARSING = ("validate", "reference", "inputs", "sheet", "picture")  # on bytes as somebody sent them
COMPUTE = ("prepare", "score", "suite", "card")  # on what was read and found well formed before


def uses_networks(job: dict) -> bool:
    """Return whether a network runs in this job; a metric that this code has not runs none, because the job is refused."""
    if job["kind"] == "card":
        return True
    columns = job["columns"]["maps"].values() if job["kind"] == "pictures" else job.get("requests", ())
    return any(registry.runs_networks(column.get("key", ""), column.get("params", {})) for column in columns)


def memory_limit(kind: str) -> int:
    """Resource limit that bounds a job's memory. It limits all addresses, except in a scoring job that may use a graphics card. There it
    limits allocations, because a card's driver reserves more addresses than the machine has memory."""
    return resource.RLIMIT_DATA if kind in COMPUTE and graphics_card.may_be_there() else resource.RLIMIT_AS


def confine(folder: Path, given: Path | None) -> None:
    """Limit this process, which reads hostile bytes, to its job's folder, the folder of the `given` path, and the code. It can reach no
    other file, process or network if the kernel has Landlock and libseccomp is installed. Namespaces are left out: bubblewrap starts a new
    program, and loading the libraries again takes seconds while a fork takes milliseconds."""
    code = [path for path in (*sys.path, sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/etc") if os.path.isdir(path)]
    tempfile.tempdir = str(folder)
    readable = [] if given is None else [str(given if given.is_dir() else given.parent)]
    isolation.restrict_files((*code, *readable), (str(folder),), ("/dev/null",))
    with contextlib.suppress(seccomp.SeccompMissing, OSError):
        isolation.restrict_calls(seccomp.program())


def run_job(folder: Path, memory: int, seconds: int, parent: int, spare: tuple[int, int] = (0, 0)) -> None:
    """In the process forked by `parent`: limit it, do the job, write the answer. Never returns.

    `spare` is what its parent holds of addresses and of data that this job has no use for: a job must not have less memory
    because of others that came before it.
    """
    end_with(parent)
    # Only the parent may use the pipes of orders and answers. The parent's reader would take output of a job for an answer. A job may also
    # start podman, which makes an inherited input pipe non-blocking; the parent would then see the end of its orders.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    code = 1
    notes: list[str] = []
    note_warnings(notes)
    try:
        job = json.loads((folder / "job.json").read_text())
        limit = memory_limit(job["kind"])
        own = memory
        memory += spare[0] if limit == resource.RLIMIT_AS else spare[1]
        # A program sets bounds of its own inside its sandbox: this process's limits must not keep it from them.
        resource.setrlimit(limit, (memory, memory + 2 * PROGRAM_ROOM if job.get("programs") else memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if job.get("idle"):
            os.nice(IDLE_NICE)
        os.chdir(folder)
        if job["kind"] in PARSING:
            confine(folder, Path(job["file"]) if job["kind"] in ("reference", "sheet") else None)
        if job.get("card"):
            device_use.require_card()
        with programs_of(job, own):
            result = JOBS[job["kind"]](folder, job)
        (folder / "result.json").write_text(json.dumps(result, allow_nan=False))
        code = 0
    except MemoryError:
        code = 3
    except tuple(SAID) as error:
        (folder / "error.txt").write_text(str(error))
        code = next(code for kind, code in SAID.items() if isinstance(error, kind))
    except ModuleNotFoundError as error:  # of a library: no fault of the entry, and another machine may have it
        is_library = (error.name or "").partition(".")[0] != __name__.partition(".")[0]
        said = f"{error.name} is not installed on this machine, which this work needs."
        (folder / "error.txt").write_text(said if is_library else traceback.format_exc(limit=20))
        code = 7 if is_library else 1
    except BaseException as error:
        inference = sys.modules.get(f"{PACKAGE}.networks.inference")
        if os.statvfs(folder).f_bavail == 0:  # libraries hide the error number behind errors of their own
            code = 5
        elif inference is not None and inference.is_of_card(error):
            code = 9
        (folder / "error.txt").write_text(traceback.format_exc(limit=20))
    finally:
        if notes:
            (folder / NOTES).write_text(json.dumps(notes))
        os._exit(code)


def note_warnings(notes: list[str]) -> Callable[[], None]:
    """Let `notes` gain what this process warns of, which its parent then logs: here nobody reads it. Returns what ends that."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: notes.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger(PACKAGE)
    logger.addHandler(handler)
    return lambda: logger.removeHandler(handler)


def wait_for(pid: int, seconds: float) -> str:
    """Wait for the job; kill it when its time is over or the parent has gone away."""
    deadline = time.monotonic() + seconds
    exited = os.pidfd_open(pid)
    try:
        while True:
            ready, _, _ = select.select([exited, sys.stdin.buffer], [], [], max(0.0, deadline - time.monotonic()))
            if exited in ready:
                break
            os.kill(pid, signal.SIGKILL)  # out of time, or nobody waits for the answer any more
            os.waitpid(pid, 0)
            if ready:
                sys.exit(0)
            return "time"
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(exited)
    if os.WIFSIGNALED(status):
        # No limit of its own kills a job outright: that was an operator, or a machine without memory.
        return {int(signal.SIGXCPU): "time", int(signal.SIGKILL): "killed"}.get(os.WTERMSIG(status), "crash")
    return ENDS.get(os.WEXITSTATUS(status), "error")


def preload() -> None:
    """Import what jobs use, once, before the first fork."""
    readers = (family.readers for family in FAMILIES.values())
    for name in readers:
        importlib.import_module(name)
    for name in registry.LIBRARIES:
        with contextlib.suppress(ModuleNotFoundError):  # a job that needs it says so, and is left to others
            importlib.import_module(name)
    with contextlib.suppress(seccomp.SeccompMissing):
        seccomp.program()  # compiled once, for the jobs forked from here
    gc.freeze()


def load_networks() -> tuple[int, int]:
    """Import what networks run on, and return how many bytes that added to the addresses and to the data of this process.

    None of it starts a thread or touches a graphics card, for neither would live on in the jobs forked from here.
    """
    before = _mapped()
    with contextlib.suppress(Exception):  # the job meets the same error, and can say so
        from evaluation.networks import inference, load  # noqa: F401

        with inference.exact():  # loads as much again
            pass
    gc.freeze()
    after = _mapped()
    return after[0] - before[0], after[1] - before[1]


def _mapped() -> tuple[int, int]:
    """Bytes of all addresses of this process and of its data: what RLIMIT_AS and RLIMIT_DATA bound."""
    pages = Path("/proc/self/statm").read_text().split()
    return int(pages[0]) * resource.getpagesize(), int(pages[5]) * resource.getpagesize()


def end_if_alone(*_: object) -> None:
    """Before the first order comes: end if the parent has, for then its end of the pipe is closed."""
    if select.select([sys.stdin.buffer], [], [], 0)[0]:
        os._exit(0)


def main() -> None:
    if sys.argv[1:]:
        weights.use_cache(Path(sys.argv[1]))
    signal.signal(signal.SIGALRM, end_if_alone)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)  # loading takes seconds, in which nothing is read
    preload()
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({"end": "ready"}), flush=True)
    networks: tuple[int, int] | None = None
    while line := sys.stdin.buffer.readline():
        order = json.loads(line)
        needed = order.get("networks", False)  # not said by a worker of older code, which may have started this one
        if needed and networks is None:
            networks = load_networks()
        spare = (0, 0) if needed or networks is None else networks
        for run in order.get("programs", ()):
            sandbox.try_for(run)
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            run_job(Path(order["folder"]), order["memory"], order["seconds"], parent, spare)
        print(json.dumps({"end": wait_for(pid, order["wall"])}), flush=True)


if __name__ == "__main__":
    main()
