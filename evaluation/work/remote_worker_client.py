"""A worker that only calls out: it claims parts of a challenge from its server, scores them in the limited child, brings the results. PURE.

    plumbline worker --server https://HOST --token-file FILE [--queue gpu] [--drain] [--max-minutes N]

The token may also be in the environment as PLUMBLINE_WORKER_TOKEN, and the file's name as PLUMBLINE_WORKER_TOKEN_FILE. It needs Linux:
the child is limited by the kernel.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import re
import shutil
import signal
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from evaluation import library_versions
from evaluation.metrics import prepared, registry
from evaluation.metrics.column import Column, require_computed
from evaluation.metrics.registry import OtherDefinition
from evaluation.networks import graphics_card, weights
from evaluation.programs import files as program_files
from evaluation.programs import sandbox
from evaluation.programs.document import RUNS, MetricDocument, ProgramError
from evaluation.work.child import SCORED
from evaluation.work.limited import PROGRAM_SHARE, JobFailed, LeaseLost, Limits, Sandbox, folder_in
from submissions.client.command import minutes
from submissions.client.transfer import PATIENCE_SECONDS, RefusedByServer, Server, ServerError, Trouble
from submissions.formats.file_digest import file_digest

OK, USAGE, REFUSED, TROUBLE, STOPPED = 0, 2, 3, 4, 143
EXIT_CODES = """exit codes:
  0    done: no part is left (--drain), or the time is over (--max-minutes)
  2    the command was not understood, or there is no token that it can use
  3    the server refused: the token is revoked, has expired or is for another queue; or this machine can compute no part
  4    the server cannot be reached or has trouble, even after --patience
  143  stopped; its part was given back"""
ASK_SECONDS = 30.0  # in which a claim, a heartbeat or a goodbye must be answered
CARD_SECONDS = 60  # from one test of a graphics card in trouble to the next, and of the processor, in which a card must answer
KEEP_BYTES = 8 << 30  # of inputs kept between parts
HEX = re.compile(r"[0-9a-f]{64}")
MAX_WITHOUT = 100  # parts that a claim may name as those this worker cannot do
T = TypeVar("T")


class Stopped(BaseException):
    """Somebody asked this worker to stop."""


class Ending:
    """State of a request to end this process (SIGTERM). It ends immediately, but not while it asks for a part: a part that was handed out
    and never begun would wait for its lease to end."""

    def __init__(self) -> None:
        self.asked = self.held = False

    def ask(self, *_: object) -> None:
        self.asked = True
        if not self.held:
            raise Stopped

    def hold(self) -> None:
        self.held = True

    def release(self) -> None:
        self.held = False
        if self.asked:
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Sleep for some seconds; end at once on a request to stop."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.asked:
                raise Stopped
            time.sleep(min(0.5, left))


class Missing(Exception):
    """This worker cannot do a part that another may: a sentence."""


class Useless(Exception):
    """This worker can do nothing that it is given: a sentence."""


@dataclass
class Lease:
    """A part that this worker has, kept alive by a thread of its own while it is done."""

    server: Server
    part: Mapping[str, Any]
    folder: Path
    lost: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=lambda: time.monotonic())
    progressed: tuple[int, float] = (0, 0.0)  # items done, and when the last of them was

    def __enter__(self) -> Lease:
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._thread.join(ASK_SECONDS)

    def alive(self) -> bool:
        """Return whether the part is still this worker's. Raises `JobFailed` a little before the server would end the lease for slowness. A
        worker that says so has failed, as with any other limit; a silent one counts as lost."""
        done, now = self.done, time.monotonic()
        if done > self.progressed[0] or not self.progressed[1]:
            self.progressed = done, now if done else self.began
        spare, whole = self.part["heartbeat_seconds"], self.part["seconds"] * self.part["patience"]
        item = self.part["item_seconds"] + (0.0 if done else self.part["begin_seconds"])
        for began, seconds, what in ((self.began, whole, "It"), (self.progressed[1], item, "One item")):
            if now - began > seconds - spare:
                raise JobFailed("time", f"{what} took longer than {seconds:.0f} s on the clock.", round(seconds))
        return not self.lost.is_set()

    @property
    def done(self) -> int:
        try:
            said = (self.folder / SCORED).read_bytes()[:9]
        except OSError:
            return 0
        return int(said) if said.isdigit() else 0

    def _beat(self) -> None:
        while not self.ended.wait(self.part["heartbeat_seconds"]):
            body = {"fence": self.part["fence"], "done": min(self.done, len(self.part["item_ids"]))}
            try:
                answer = self.server.once(f"api/v1/worker/parts/{self.part['id']}/beat", body, ASK_SECONDS)
            except Trouble:
                continue  # the lease may outlive a short outage; a result that comes too late is refused
            if answer.status_code in (401, 403, 404, 409):
                self.lost.set()
                return


class Worker:
    """One worker of a server. `folder` keeps inputs, weights and prepared references between parts. `cards` are the graphics cards it may
    use, as in CUDA_VISIBLE_DEVICES; by default all."""

    def __init__(
        self, server: Server, queues: Sequence[str], folder: Path, name: str, say: Callable[[str], None], cards: str | None = None
    ) -> None:
        self.server, self.queues, self.folder, self.name, self.say = server, list(queues), folder, name, say
        self.without: list[int] = []  # parts that it could not do
        self.ending = Ending()
        self.parts = self.in_vain = 0  # done; given up since one was done
        self.card_trouble, self._card_tried = "", float("-inf")  # why its graphics card cannot be used, and when that was tried last
        self.cards = cards
        self._limits = Limits(3 << 30, 600, 5.0, folder / "weights", cards)
        self._sandbox = Sandbox(lambda: self._limits)
        for inner in ("inputs", "prepared", "programs", "weights"):
            (folder / inner).mkdir(parents=True, exist_ok=True)
        weights.use_cache(folder / "weights")

    def introduce(self) -> None:
        """Log which server and challenge this worker is connected to. Raises `Useless` if its token allows none of its queues, and
        `ServerError`."""
        about = self.server.get("api/v1/worker")
        queues = [queue for queue in self.queues if queue in about["queues"]]
        if not queues:
            given = " ".join(f"--queue {queue}" for queue in about["queues"])
            asked, right = " and ".join(self.queues), " and ".join(about["queues"])
            raise Useless(f"The token “{about['name']}” is for the queue {right}, not {asked}; give {given}, or another token.")
        place = f"{str(self.server.url).rstrip('/')}, challenge “{about['title']}” ({about['challenge']})"
        self.say(f"Connected to {place}, by the token “{about['name']}”, for the queue {' and '.join(queues)}.")
        if others := _other_versions(about):
            self.say(others)
        if not about["trusted"]:
            self.say(
                "A result of this token differed from another worker's: the token gets no parts until the difference is "
                "settled on the console's page Workers."
            )

    def run(self, drain: bool = False, seconds: float = float("inf")) -> int:
        """Do parts until nothing waits (`drain`), until `seconds` have passed and the part under way is done, or for ever. Raises
        `Useless` once it has given up as many in a row as it may name: it would be given the first of them again, without end."""
        end, has_said = time.monotonic() + seconds, False
        self._until(end, self.introduce)
        while True:
            self.ending.hold()
            part, wait = self._until(end, self.claim)
            if part is not None:
                has_said = False
                self.do(part)
            else:
                self.ending.release()
            if part is None and drain:
                self.say(f"{self._until(end, self.why_none)}; {_parts(self.parts)} done.")
                return OK
            if time.monotonic() >= end:
                self.say(f"The time is over; {_parts(self.parts)} done.")
                return OK
            if part is None:
                if not has_said:
                    self.say(f"{self._until(end, self.why_none)}; asking again every few seconds.")
                    has_said = True
                self.ending.pause(min(wait, max(0.0, end - time.monotonic())))

    def _until(self, end: float, ask: Callable[[], T]) -> T:
        """Answer of `ask`, for which a server in trouble is waited for until `end` at most."""
        patience = self.server.patience
        self.server.patience = min(patience, max(0.0, end - time.monotonic()))
        try:
            return ask()
        finally:
            self.server.patience = patience

    def claim(self) -> tuple[dict[str, Any] | None, float]:
        """A part, or the seconds after which to ask again. Raises `ServerError` where the server refuses, or does not answer for long."""
        queues = [queue for queue in self.queues if queue != "gpu" or self._card_is_usable()]
        if not queues:
            return None, max(0.0, self._card_tried + CARD_SECONDS - time.monotonic())
        body: dict[str, Any] = {"queues": queues, "worker": self.name, "without": self.without[-MAX_WITHOUT:]}
        body |= {"machine": _machine(), "capabilities": _capabilities(), "sandboxes": _sandboxes()}
        response = self.server.request("POST", "api/v1/worker/claim", json=body)
        if response.status_code == 204:
            asked = response.headers.get("retry-after", "")
            return None, float(asked) if asked.isdigit() else 15.0
        return response.json(), 0.0

    def _card_is_usable(self) -> bool:
        """True if the graphics card could be computed on when it was last tried; one in trouble is tried again after a minute."""
        if self._card_tried == float("-inf") or (self.card_trouble and time.monotonic() - self._card_tried >= CARD_SECONDS):
            self._try_card()
        return not self.card_trouble

    def _try_card(self) -> bool:
        """Try the card in a job of its own. Without torch it cannot be tried, and is none for networks: parts that have some say so."""
        before = self.card_trouble
        try:
            with folder_in(self.folder / "jobs") as folder:
                self._sandbox.run(folder, {"kind": "card", "card": True}, lambda: True, CARD_SECONDS, 1.0)
            self.card_trouble = ""
        except JobFailed as error:
            self.card_trouble = "" if error.is_missing_here else error.sentence
        self._card_tried = time.monotonic()
        if self.card_trouble and self.card_trouble != before:
            self.say(f"{self.card_trouble} No part for graphics cards is taken; the card is tried again every minute.")
        elif before and not self.card_trouble:
            self.say("The graphics card can be computed on again.")
        return not self.card_trouble

    def why_none(self) -> str:
        """Reason why the server gave no part."""
        if self.card_trouble and self.queues == ["gpu"]:
            return self.card_trouble.removesuffix(".")
        about = self.server.get("api/v1/worker")
        if others := _other_versions(about):
            return others.removesuffix(".")
        if about.get("waits_until"):
            return f"The token gets no part before {about['waits_until']}, because workers of it held parts and brought no result"
        if about.get("held", 0) >= about.get("at_once", 1) > 0:
            return f"The token's workers have as many parts as its organizer allows at a time ({about['at_once']})"
        return "Nothing waits"

    def do(self, part: Mapping[str, Any]) -> None:
        """Score a part and bring its result; an obstacle is reported to the server, which gives the part to others."""
        try:
            self.ending.release()
            with folder_in(self.folder / "jobs") as folder, Lease(self.server, part, folder) as lease:
                found = self._scored(part, folder, lease)
                found["environment"] = _environment()
                self.server.post(f"api/v1/worker/parts/{part['id']}/result", {"fence": part["fence"], "results": found})
                self.parts, self.in_vain = self.parts + 1, 0
                size = f"{len(part['item_ids'])} items, {len(part['columns'])} columns"
                self.say(f"Part {part['id']}: {size}, {found['core_seconds']:.1f} s of a core.")
        except Missing as error:
            self._give_up(part, "missing", str(error))
        except JobFailed as error:
            of_card = error.is_of_card or (error.end == "accelerator" and part["device"] == "gpu" and not self._try_card())
            if error.is_of_card:
                self.card_trouble, self._card_tried = error.sentence, time.monotonic()
            kind = "missing" if error.is_missing_here else "stopped" if of_card or error.end in ("killed", "room") else "failed"
            self._give_up(part, kind, error.sentence if error.is_missing_here else f"{error.sentence} {error.detail}")
        except LeaseLost:
            self.say(f"Part {part['id']} is somebody else's now.")
        except RefusedByServer as error:
            self.say(f"The result of part {part['id']} was refused: {error}")
            if error.status == 422:
                self._give_up(part, "failed", str(error))
        except BaseException:
            self._sandbox.stop()
            self._give_up(part, "stopped", "The worker was stopped.")
            raise

    def stop(self) -> None:
        self._sandbox.stop()

    def _scored(self, part: Mapping[str, Any], folder: Path, lease: Lease) -> dict[str, Any]:
        programs = [self._program(described, part["family"]) for described in part["programs"]]
        specs = [MetricDocument.from_dict(one["document"]).spec(one["scope"], one["contents"]) for one in programs]
        try:
            with registry.with_programs(specs):
                require_computed(map(Column.of, part["columns"]))
        except (OtherDefinition, KeyError) as error:
            raise Missing(f"{error} Install the server's own package again.") from None
        self._limits = Limits(part["memory"], part["seconds"], min(1.0, part["heartbeat_seconds"]), self.folder / "weights", self.cards)
        for file in part["weights"]:
            self._weights(file)
        paths = {name: self._input(described) for name, described in part["inputs"].items()}
        job = {
            "kind": "score",
            "family": part["family"],
            "artifact": str(paths["artifact"]),
            "reference": str(paths["reference"]),
            "item_ids": part["item_ids"],
            "groups": dict(zip(part["item_ids"], part["groups"], strict=True)),
            "unit_scale": part["unit_scale"],
            "requests": part["columns"],
            "programs": programs,
            "program_seconds": PROGRAM_SHARE * part["seconds"] * part["patience"],
            "card": part["device"] == "gpu",
        }
        job["prepared"] = str(self._prepared(part, job, folder, lease) or "")
        found = self._sandbox.run(folder, job, lease.alive, part["seconds"], part["patience"])
        if not lease.alive():
            raise LeaseLost
        return {name: found[name] for name in ("scores", "seconds", "fits", "core_seconds", "gpu_seconds")}

    def _program(self, described: Mapping[str, Any], family: str) -> dict[str, Any]:
        """Description, for the limited process, of a metric program of the part, whose files are kept by their digest."""
        try:
            found = program_files.read(self._input(described), "program.zip").of_kind(family)
        except ProgramError as error:
            raise Missing(f"A metric program cannot be run here. {error}") from None
        if found.digest != described["contents"]:
            raise Missing("The server sent other files of a metric program than it names.")
        place = self.folder / "programs" / found.digest
        if not place.exists():
            fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix="new-"))
            found.unpack(fresh)
            fresh.chmod(0o755)
            try:
                fresh.rename(place)
            except OSError:  # another worker of this folder was quicker
                shutil.rmtree(fresh, ignore_errors=True)
        return {"scope": described["scope"], "contents": found.digest, "document": found.document.to_dict(), "folder": str(place)}

    def _prepared(self, part: Mapping[str, Any], job: Mapping[str, Any], folder: Path, lease: Lease) -> Path | None:
        """File of the metrics' data on the reference's side. A job that sees nothing of an entry makes it, and it is kept for the next one.
        Programs prepare their data themselves."""
        columns = [column for column in part["columns"] if "/" not in column["key"]]
        if not columns:
            return None
        job = {**job, "requests": columns}
        fingerprints = [column["fingerprint"] for column in columns]
        name = prepared.digest(part["family"], part["inputs"]["reference"]["sha256"], part["unit_scale"], fingerprints, part["item_ids"])
        path = self.folder / "prepared" / name
        if not path.exists():
            wanted = {key: job[key] for key in ("family", "reference", "item_ids", "unit_scale", "requests", "card")}
            try:
                self._sandbox.run(folder, {"kind": "prepare", **wanted}, lease.alive, part["seconds"], part["patience"])
                (folder / "prepared").replace(path)
            except JobFailed as error:
                if error.is_missing_here or error.end in ("killed", "room", "card", "accelerator"):
                    raise
                path.write_bytes(prepared.pack({}))  # it is scored without, with the same values
        os.utime(path)
        return path

    def _input(self, described: Mapping[str, Any]) -> Path:
        """A file that the part needs, by its digest."""
        if not HEX.fullmatch(described["sha256"]):
            raise Missing("The server describes a file without its sha256.")
        path = self.folder / "inputs" / described["sha256"]
        if not path.exists() or path.stat().st_size != described["size"]:
            self._make_room(described["size"])
            self.server.download(described["url"], path, described["size"], described["sha256"])
        os.utime(path)
        return path

    def _make_room(self, size: int) -> None:
        """Remove what was not used for longest."""
        kept = sorted(
            (path for inner in ("inputs", "prepared") for path in (self.folder / inner).iterdir()), key=lambda it: it.stat().st_mtime
        )
        total = size + sum(path.stat().st_size for path in kept)
        while kept and total > KEEP_BYTES:
            oldest = kept.pop(0)
            total -= oldest.stat().st_size
            oldest.unlink(missing_ok=True)

    def _weights(self, described: Mapping[str, Any]) -> None:
        """A file of weights and what lies beside it, below this worker's folder of weights and nowhere else."""
        root = (self.folder / "weights").resolve()
        path, note = ((root / described[name]).resolve() for name in ("path", "note_path"))
        if not all(one.is_relative_to(root) for one in (path, note)) or not HEX.fullmatch(described["sha256"]):
            raise Missing("The server names weights outside the folder of weights.")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or file_digest(path) != described["sha256"]:
            self.server.download(described["url"], path, described["size"], described["sha256"])
        if not note.exists() or note.read_text() != described["note"]:
            note.write_text(described["note"])

    def _give_up(self, part: Mapping[str, Any], kind: str, reason: str) -> None:
        self.say(f"Part {part['id']} is left to others: {reason}")
        if kind != "stopped":
            self.without.append(part["id"])
        try:
            said = reason.encode("utf-8", "replace").decode().replace("\0", "")[:2000]
            body = {"fence": part["fence"], "kind": kind, "reason": said}
            self.server.once(f"api/v1/worker/parts/{part['id']}/giveup", body, ASK_SECONDS)
        except ServerError as error:
            self.say(f"This could not be reported ({error}); the part is given to others when its lease runs out.")
        if kind != "stopped":
            self.in_vain += 1
            if self.in_vain >= MAX_WITHOUT:
                raise Useless(f"None of the last {self.in_vain} parts could be done here, so this worker ends. The last: {reason}")


def _parts(n: int) -> str:
    return f"{n} part{'' if n == 1 else 's'}"


def _other_versions(about: Mapping[str, Any]) -> str:
    """Reason why this worker's versions of libraries get it no part; empty where they are the server's, or others are allowed."""
    others = {} if about.get("other_versions") else library_versions.differences(library_versions.here(), about.get("versions", {}))
    if not others:
        return ""
    words = ", ".join(f"{name} {own} for {wanted}" for name, (own, wanted) in others.items())
    return (
        f"This worker gets no part, because it has other versions than the server: {words}. Install the package with [worker], or have "
        "an organizer allow the token other versions."
    )


def _machine() -> str:
    """Name and boot: two workers on one machine are not lost on two."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}".strip()


def _environment() -> dict[str, str]:
    found = {"python": platform.python_version(), "machine": platform.machine()}
    with suppress(PackageNotFoundError):
        found["plumbline"] = version("plumbline")
    return found | library_versions.here()


def _sandboxes() -> list[str]:
    """Kinds of metric programs that can be isolated here, as `MetricDocument.sandbox` names them."""
    cards = [name for name in ("python", "script") if not sandbox.missing(name, "gpu")]
    return [*(name for name in RUNS if not sandbox.missing(name)), *(f"{name} with a card" for name in cards)]


def _capabilities() -> dict[str, Any]:
    """Description of this worker that organizers are shown."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {**_environment(), "cores": os.cpu_count() or 1, "memory_gb": round(memory / (1 << 30), 1), "card": graphics_card.may_be_there()}


class BadToken(Exception):
    """There is no token that can be used: a sentence."""


def _token(options: argparse.Namespace, environment: Mapping[str, str]) -> str:
    """The worker's token: of the command, of a file, of the environment. Raises `BadToken`."""
    given = options.token or (not options.token_file and environment.get("PLUMBLINE_WORKER_TOKEN", ""))
    path = options.token_file or environment.get("PLUMBLINE_WORKER_TOKEN_FILE", "")
    if given or not path:
        if given:
            return str(given)
        raise BadToken(
            "A worker's token is needed: an organizer makes one in the console; give it by --token-file or as PLUMBLINE_WORKER_TOKEN."
        )
    path = Path(path).expanduser()
    try:
        with path.open() as stream:
            if os.fstat(stream.fileno()).st_mode & (stat.S_IRGRP | stat.S_IROTH):
                raise BadToken(
                    f"{path} can be read by others on this machine, and whoever has the token sees what it sees: chmod 600 {path}"
                )
            words = stream.read(4096).split()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise BadToken(f"{path} cannot be read ({reason}); name the file that holds the worker's token and nothing else.") from None
    if len(words) != 1:
        raise BadToken(f"{path} holds {len(words)} words; a worker's token is one, and nothing else is to stand in the file.")
    return words[0]


def main(arguments: Sequence[str] | None = None, environment: Mapping[str, str] = MappingProxyType({})) -> int:
    """Run the command and return its exit code; of `environment` PLUMBLINE_WORKER_TOKEN, PLUMBLINE_WORKER_TOKEN_FILE and
    CUDA_VISIBLE_DEVICES are read."""
    options = _parser().parse_args(arguments)
    try:
        token = _token(options, environment)
        server = Server(options.server, token, patience=60 * options.patience, say=lambda sentence: _say(sentence))
    except (BadToken, ValueError) as error:
        return _end(str(error), USAGE)
    for library in registry.LIBRARIES:  # without which the limited process does not start
        if importlib.util.find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)
    name = options.name or f"{socket.gethostname()}:{os.getpid()}"
    cards = environment.get("CUDA_VISIBLE_DEVICES")
    worker = Worker(server, options.queue or ["cpu"], options.folder.expanduser(), name, _say, cards)
    server.pause = worker.ending.pause
    signal.signal(signal.SIGTERM, worker.ending.ask)
    try:
        with server:
            return worker.run(options.drain, 60 * options.max_minutes if options.max_minutes is not None else float("inf"))
    except (RefusedByServer, Useless) as error:
        return _end(str(error), REFUSED)
    except ServerError as error:
        return _end(str(error), TROUBLE)
    except (Stopped, KeyboardInterrupt):
        return _end("Stopped.", STOPPED)
    finally:
        worker.stop()


def _say(sentence: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {sentence}", file=sys.stderr, flush=True)


def _end(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plumbline worker",
        description="Score a server's waiting entries on this machine; it only makes outgoing connections.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--server", required=True, metavar="URL", help="address of the server")
    token = parser.add_mutually_exclusive_group()
    token.add_argument("--token", default="", help="a worker's token; on a command line others on the machine can read it")
    token.add_argument(
        "--token-file", default="", metavar="FILE", help="file that holds the token, readable by you alone; or PLUMBLINE_WORKER_TOKEN"
    )
    parser.add_argument(
        "--queue", action="append", choices=("cpu", "gpu"), help=("queue of the parts to do; may be given twice; default: cpu")
    )
    parser.add_argument("--drain", action="store_true", help="end when no part is available")
    parser.add_argument("--max-minutes", type=minutes, metavar="N", help="begin no part after so many minutes")
    parser.add_argument(
        "--patience",
        type=minutes,
        default=PATIENCE_SECONDS / 60,
        metavar="MINUTES",
        help="minutes to wait for a server that does not answer",
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("~/.cache/plumbline/worker"), help="where inputs and weights are kept; %(default)s"
    )
    parser.add_argument(
        "--name", default="", help="the worker's name on the server, which gives each name one part at a time; default: host and process"
    )
    return parser
