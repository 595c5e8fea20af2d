import dataclasses
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from submissions.client import transfer
from submissions.client.command import main
from submissions.formats.wireframe.wireframe_files import Wireframe, write_obj
from submissions.manifest import Input, Item, Manifest
from submissions.validation import validate
from tests import ROOT
from tests.support.submissions.small_server import TOKEN, SmallServer, serving

MANIFEST = Manifest(
    challenge="rooflines",
    phase="final",
    family="wireframe",
    items=tuple(Item(f"house_{n:02}", f"house_{n:02}") for n in range(4)),
    formats=("obj", "json"),
    missing="reject",
    unit="m",
    unit_scale=1.0,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallServer]:
    monkeypatch.setenv("PLUMBLINE_TOKEN", TOKEN)
    with serving(SmallServer(MANIFEST.to_dict())) as small:
        yield small


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """A folder with a good entry."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "entry"
    folder.mkdir()
    for item in MANIFEST.items:
        edges = (rng.integers(0, 40, (60, 1)) + np.array([0, 7])) % 40
        (folder / f"{item.id}.obj").write_bytes(write_obj(Wireframe(rng.normal(size=(40, 3)), edges)))
    return folder


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    (tmp_path / "manifest.json").write_bytes(MANIFEST.to_json())
    return str(tmp_path / "manifest.json")


def run(*arguments: object, pauses: list[float] | None = None) -> int:
    return main([str(argument) for argument in arguments], (pauses if pauses is not None else []).append)


def upload(server: SmallServer, path: Path, *more: str, pauses: list[float] | None = None) -> int:
    place = ("--server", server.url, "--challenge", "rooflines", "--phase", "final")
    return run("upload", path, *place, "--method", "Plane sweep", *more, pauses=pauses)


SENTENCE = "A sentence of the server."

# --- check


def test_check_works_offline_without_an_account(entry: Path, manifest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", entry, "--manifest", manifest) == 0
    _, said = capsys.readouterr().out.splitlines()
    assert said.startswith("Acceptable: 4 of 4 ")


def test_what_does_not_fit_its_input_is_asked_about_before_it_is_sent(
    server: SmallServer, entry: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = Input((5e5, 5e6, 0.0), (5e5 + 10, 5e6 + 10, 9.0))
    far = dataclasses.replace(MANIFEST, items=tuple(dataclasses.replace(item, input=given) for item in MANIFEST.items))
    (tmp_path / "far.json").write_bytes(far.to_json())
    assert run("check", entry, "--manifest", str(tmp_path / "far.json")) == 1
    question, said = capsys.readouterr().out.splitlines()
    assert "house_00" in question and "--as-is" in said and "4 of 4 " in said
    assert run("check", entry, "--manifest", str(tmp_path / "far.json"), "--as-is") == 0
    server.manifest = far.to_dict()
    assert upload(server, entry) == 1 and not server.entries
    assert "add --as-is" in capsys.readouterr().err
    assert upload(server, entry, "--as-is") == 0 and server.entries[1]["as_it_is"] is True


def test_check_says_what_the_server_would_say(entry: Path, manifest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (entry / "house_01.obj").write_text("v 0 0 0\nl 1 90\n")
    (entry / "house_02.obj").unlink()
    (entry / "hause_02.obj").write_text("v 0 0 0\n")
    assert run("check", entry, "--manifest", manifest) == 1
    with zipfile.ZipFile(tmp_path / "same.zip", "w") as archive:
        for path in entry.iterdir():
            archive.write(path, path.name)
    verdict = validate(tmp_path / "same.zip", MANIFEST)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [str(problem) for problem in verdict.problems]
    assert "3 problems: 2 of 4 " in lines[-1]


@pytest.mark.parametrize(
    "form", ["/challenges/rooflines/final/", "/challenges/rooflines/phases/final", "/api/v1/challenges/rooflines/phases/final/manifest"]
)
def test_check_takes_the_address_of_a_phase(server: SmallServer, entry: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLUMBLINE_TOKEN")
    assert run("check", entry, "--phase", server.url + form) == 0
    assert server.asked == ["GET /api/v1/challenges/rooflines/phases/final/manifest"]


def test_check_takes_the_names_of_a_phase(server: SmallServer, entry: Path) -> None:
    assert run("check", entry, "--server", server.url, "--challenge", "rooflines", "--phase", "final") == 0


def test_a_folder_with_a_link_is_refused_before_it_is_packed(entry: Path, manifest: str, capsys: pytest.CaptureFixture[str]) -> None:
    (entry / "house_05.obj").symlink_to("/etc/passwd")
    assert run("check", entry, "--manifest", manifest) == 1
    assert "house_05.obj: " in capsys.readouterr().err


def test_a_link_out_of_the_folder_is_asked_about_and_one_within_it_is_followed(
    server: SmallServer, entry: Path, manifest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (entry / ".git").mkdir()
    (entry / ".git" / "config").write_text("token = secret")
    (entry / "house_00.obj").rename(entry / ".git" / "blob")
    (entry / "house_00.obj").symlink_to(".git/blob")
    assert run("check", entry, "--manifest", manifest) == 0
    private = tmp_path / "private.obj"
    (entry / "house_01.obj").rename(private)
    (entry / "house_01.obj").symlink_to(private)
    capsys.readouterr()
    for command in (lambda: run("check", entry, "--manifest", manifest), lambda: upload(server, entry)):
        assert command() == 2
        printed = capsys.readouterr()
        assert printed.out.startswith("house_01.obj ") and str(private) in printed.out and "--follow-links" in printed.err
    assert not server.entries
    assert run("check", entry, "--manifest", manifest, "--follow-links") == 0
    assert upload(server, entry, "--follow-links") == 0
    (tmp_path / "sent.zip").write_bytes(server.content(*server.entries))
    with zipfile.ZipFile(tmp_path / "sent.zip") as archive:
        assert sorted(archive.namelist()) == [f"house_{n:02}.obj" for n in range(4)]
        assert archive.read("house_01.obj") == private.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check", "nowhere.zip", "--manifest", "MANIFEST"], "nowhere.zip does not exist"),
        (["check", "MANIFEST"], "Give --manifest FILE"),
        (["check", "MANIFEST", "--manifest", "nowhere.json"], "nowhere.json cannot be read"),
        (["check", "MANIFEST", "--phase", "final"], "final is not the address of a phase"),
        (["status", "7", "--server", "https://plumbline.test"], "A token is needed"),
        (["status", "7", "--server", "plumbline.test", "--token", "x"], "is not the address of a server"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_two(
    arguments: list[str], sentence: str, manifest: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLUMBLINE_TOKEN", raising=False)
    assert run(*[manifest if word == "MANIFEST" else word for word in arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_unknown_commands_end_with_code_two() -> None:
    for arguments in (["send"], ["upload", "x.zip"], []):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2


def test_the_client_starts_without_django(entry: Path, manifest: str) -> None:
    program = (
        "import sys; from submissions.client.command import main; code = main(sys.argv[1:]); "
        "assert not {'django', 'celery', 'torch', 'pandas'} & set(sys.modules); sys.exit(code)"
    )
    command = [sys.executable, "-c", program, "check", str(entry), "--manifest", manifest]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


# --- upload


@pytest.mark.parametrize("kind", ["chunks", "multipart"])
def test_a_folder_arrives_whole(server: SmallServer, entry: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    server.kind = kind
    assert (
        upload(server, entry, "--description", "Sweeps.", "--paper", "https://p.test", "--code", "https://c.test", "--parameters", "38M")
        == 0
    )
    sent = server.entries[1]
    assert sent["status"] == "received" and sent["file_name"] == "entry.zip" and len(server.parts) > 5
    assert (sent["method_name"], sent["description"]) == ("Plane sweep", "Sweeps.")
    assert (sent["paper_url"], sent["code_url"], sent["parameters"]) == ("https://p.test", "https://c.test", "38M")
    assert "licence" not in sent, "what was not given is not sent"
    (entry.parent / "arrived.zip").write_bytes(server.content(1))
    assert validate(entry.parent / "arrived.zip", MANIFEST).accepted
    assert "#11 (id 1)" in capsys.readouterr().out


def test_the_same_folder_is_the_same_bytes_on_another_day(server: SmallServer, entry: Path) -> None:
    upload(server, entry)
    for path in entry.iterdir():
        os.utime(path, (1, 1))
        path.chmod(0o600)
    upload(server, entry)
    assert server.content(1) == server.content(2)


def test_a_bad_entry_is_not_sent(server: SmallServer, entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (entry / "house_00.obj").unlink()
    assert upload(server, entry) == 1
    assert not server.entries
    assert "house_00: is missing" in capsys.readouterr().out


def test_a_bad_entry_is_sent_where_checking_is_skipped(server: SmallServer, entry: Path) -> None:
    (entry / "house_00.obj").unlink()
    assert upload(server, entry, "--no-check") == 0
    assert server.entries[1]["status"] == "received"


@pytest.mark.parametrize("kind", ["chunks", "multipart"])
def test_an_interrupted_upload_goes_on_where_it_stopped(
    server: SmallServer, entry: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.kind = kind
    server.fail(r"PUT .*/3\b", "drop", times=6)
    assert upload(server, entry, "--patience", "0.5") == 4
    assert sorted(server.parts) == [(1, 1), (1, 2)]
    assert server.paused == {1}, "it holds no place meanwhile"
    server.asked.clear()
    assert upload(server, entry) == 0
    assert len(server.entries) == 1 and server.entries[1]["status"] == "received"
    assert not [line for line in server.asked if line.startswith("PUT") and ("/1?" in line or line.endswith(("/1", "/2")))]
    assert "2,000 of 6,015 bytes" in capsys.readouterr().err
    assert not server.paused


def test_going_on_with_other_words_changes_the_words(server: SmallServer, entry: Path) -> None:
    server.fail("PUT .*/1$", "drop")
    upload(server, entry, "--patience", "0", "--description", "First.")
    assert upload(server, entry, "--description", "Second.") == 0
    assert (len(server.entries), server.entries[1]["description"]) == (1, "Second.")


def test_an_open_upload_to_another_phase_is_left_alone(server: SmallServer, entry: Path) -> None:
    server.fail("PUT .*/1$", "drop")
    upload(server, entry, "--patience", "0")
    server.entries[1]["phase"] = "warm-up"
    assert upload(server, entry) == 0
    assert [e["status"] for e in server.entries.values()] == ["uploading", "received"]


@pytest.mark.parametrize("step", ["GET .*manifest", "GET .*uploading", "POST .*submissions$", r"PUT .*/2\b", "POST .*complete"])
@pytest.mark.parametrize("fault", ["drop", "deaf", (503, {}, "Busy."), (500, {}, "Oops.")])
def test_passing_trouble_at_any_step_is_ridden_out(server: SmallServer, entry: Path, step: str, fault: object) -> None:
    pauses: list[float] = []
    server.fail(step, fault, times=2)
    assert upload(server, entry, pauses=pauses) == 0
    assert len(server.entries) == 1 and server.entries[1]["status"] == "received"
    expected = 1 if fault == "deaf" and "POST" in step else 2
    assert len(pauses) == expected
    assert [(n, pause) for n, pause in enumerate(pauses) if not 0.7 * 2**n < pause < 1.3 * 2**n] == []


@pytest.mark.parametrize("step", ["GET .*manifest", "POST .*submissions$", r"PUT .*/2\b", "POST .*complete"])
def test_an_outage_of_minutes_is_waited_for_and_said(
    server: SmallServer, entry: Path, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pauses: list[float] = []
    server.fail(step, "drop", times=24)  # 1 + 2 + 4 + 8 s and then 15 each: some five minutes
    assert upload(server, entry, pauses=pauses) == 0
    assert 200 < sum(pauses) < 420 and max(pauses) <= 20
    assert len(server.entries) == 1 and server.entries[1]["status"] == "received"
    said = [line for line in capsys.readouterr().err.splitlines() if "Trying again in" in line]
    assert len(said) == 24
    assert said[0].startswith(f"{server.url} ") and "10 minutes" in said[0]


@pytest.mark.parametrize(("more", "seconds"), [((), 600), (("--patience", "2"), 120), (("--patience", "0"), 0)])
def test_no_outage_is_waited_for_longer_than_one_has_patience(
    server: SmallServer, entry: Path, more: tuple[str, ...], seconds: float, capsys: pytest.CaptureFixture[str]
) -> None:
    pauses: list[float] = []
    server.fail("POST .*complete", "drop", times=1000)
    assert upload(server, entry, *more, pauses=pauses) == 4
    assert max(0, seconds - 20) <= sum(pauses) <= seconds
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"{server.url} cannot be reached" in said and "Check the address" not in said, "it has answered"


def test_the_patience_is_a_number_of_minutes(entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in ("soon", "-1", "inf", "nan"):
        with pytest.raises(SystemExit) as ended:
            run("status", 1, "--server", "https://plumbline.test", "--patience", given)
        assert ended.value.code == 2 and "--patience" in capsys.readouterr().err


def test_an_upload_that_is_stopped_by_hand_leaves_its_place(server: SmallServer, entry: Path) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    server.fail(r"PUT .*/2\b", "drop")
    place = ("--server", server.url, "--challenge", "rooflines", "--phase", "final", "--method", "m")
    assert main(["upload", str(entry), *place], stop) == 130
    assert server.paused == {1} and server.entries[1]["status"] == "uploading"
    assert upload(server, entry) == 0
    assert not server.paused and len(server.entries) == 1


@pytest.mark.parametrize("kind", ["chunks", "multipart"])
def test_an_upload_says_that_it_goes_on_while_a_part_is_on_its_way(
    server: SmallServer, entry: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "HEARD_SECONDS", 0.0)
    server.kind, server.part_size = kind, 10**6  # all in one part
    server.fail(r"POST .*/1/resume", (503, {}, "Busy."))  # is no reason to stop
    assert upload(server, entry) == 0
    (part,) = (n for n, line in enumerate(server.asked) if line.startswith("PUT "))
    assert "POST /api/v1/submissions/1/resume" in server.asked[:part], "the server sees a part when it is whole"


def test_an_upload_whose_place_was_taken_stops_with_the_servers_sentence(
    server: SmallServer, entry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(transfer, "HEARD_SECONDS", 0.0)
    server.fail(r"POST .*/1/resume", (409, {}, SENTENCE))
    assert upload(server, entry) == 3
    assert SENTENCE in capsys.readouterr().err and server.entries[1]["status"] == "uploading"


def test_signed_addresses_that_ran_out_are_asked_for_again(server: SmallServer, entry: Path) -> None:
    server.kind = "multipart"
    original = server.store

    def store(path: str, *rest: object) -> tuple[int, object]:
        if path.endswith("/4") and server.generation == 0:
            server.generation = 1
        return original(path, *rest)  # type: ignore[arg-type]

    server.store = store  # type: ignore[method-assign,assignment]
    assert upload(server, entry) == 0
    assert server.entries[1]["status"] == "received"


def test_a_short_limit_is_waited_for_as_long_as_the_server_asks(server: SmallServer, entry: Path) -> None:
    pauses: list[float] = []
    server.fail("PUT .*/1$", (429, {"Retry-After": "7"}, "Too fast."))
    assert upload(server, entry, pauses=pauses) == 0
    assert pauses == [7.0]


@pytest.mark.parametrize("headers", [{"Retry-After": "40000"}, {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, {}])
def test_a_days_limit_is_a_refusal_with_the_servers_sentence(
    server: SmallServer, entry: Path, headers: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    pauses: list[float] = []
    server.fail("POST .*submissions$", (429, headers, SENTENCE))
    assert upload(server, entry, pauses=pauses) == 3
    assert capsys.readouterr().err.endswith(f"{SENTENCE}\n")
    assert not pauses


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
def test_a_refusal_is_the_servers_sentence_and_code_three(
    server: SmallServer, entry: Path, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    server.fail("POST .*submissions$", (status, {}, SENTENCE))
    assert upload(server, entry) == 3
    assert SENTENCE in capsys.readouterr().err


def test_a_wrong_token_is_told(server: SmallServer, entry: Path) -> None:
    assert upload(server, entry, "--token", "wrong") == 3 and not server.entries


def test_a_server_that_is_not_there_is_code_four(entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--server", "http://127.0.0.1:9", "--challenge", "c", "--phase", "p", "--method", "m", "--token", "t")
    assert run("upload", entry, *place, "--patience", "1") == 4
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("http://127.0.0.1:9 ") and "Check the address." in first


def test_the_token_is_sent_to_nobody_else(server: SmallServer, entry: Path) -> None:
    with serving(SmallServer(MANIFEST.to_dict())) as other:
        original = server.offer
        server.offer = lambda *args: {**original(*args), "url": f"{other.url}/api/v1/submissions/1/parts"}  # type: ignore[method-assign]
        assert upload(server, entry) == 4
        assert other.asked == []


def test_a_manifest_of_another_kind_is_told(server: SmallServer, entry: Path) -> None:
    server.manifest = {**server.manifest, "family": "hologram"}
    assert upload(server, entry) == 4 and not server.entries


# --- follow

QUEUED = {"status": "received", "queue_position": 3, "sentence": "The entry waits for a worker."}
SCORING = {"status": "scoring", "queue_position": None, "progress": {"done": 3, "total": 8}, "sentence": "3 of 8 parts are scored."}
SCORED = {
    "status": "scored",
    "progress": {"done": 8, "total": 8},
    "sentence": "Scored.",
    "scores": {"corner_f1": {"title": "Corner F1", "value": 0.8125, "ci": [0.75, 0.875], "higher_is_better": True}, "hss": None},
    "rank": 2,
}
REJECTED = {"status": "rejected", "sentence": "It was rejected.", "problems": ["house_01.obj: line 2: edge names vertex 90, there are 1"]}


def test_without_waiting_the_receipt_is_told_once(server: SmallServer, entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert upload(server, entry) == 0
    assert capsys.readouterr().out.lower().count("received") == 1


def test_waiting_follows_an_entry_to_its_scores(server: SmallServer, entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.states = [QUEUED, SCORING, SCORED]
    pauses: list[float] = []
    assert upload(server, entry, "--wait", pauses=pauses) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4] == "Entry #11: Scored."
    assert " ".join(lines[-3].split()).startswith("Corner F1 0.8125 [0.75, 0.875] ")
    assert lines[-2].split() == ["hss", "unranked"] and "Rank 2 " in lines[-1]
    assert len(pauses) == 3


@pytest.mark.parametrize(("end", "code"), [(SCORED, 0), (REJECTED, 1), ({"status": "failed"}, 1), ({"status": "cancelled"}, 1)])
def test_the_exit_code_says_how_an_entry_ended(server: SmallServer, entry: Path, end: dict[str, object], code: int) -> None:
    server.states = [end]
    assert upload(server, entry, "--wait") == code
    assert run("status", 1, "--server", server.url) == code


def test_status_says_where_an_entry_stands(server: SmallServer, entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    upload(server, entry)
    server.states = [QUEUED, SCORING, REJECTED]
    capsys.readouterr()
    assert [run("status", 1, "--server", server.url) for _ in range(3)] == [0, 0, 1]
    text = capsys.readouterr().out
    assert text.startswith(f"Entry #11: {QUEUED['sentence']}\nNumber 3 ")
    assert "| 3/8 parts\n" in text
    assert text.endswith(f"{REJECTED['sentence']}\n{REJECTED['problems'][0]}\n")


def test_an_entry_of_others_is_a_refusal(server: SmallServer) -> None:
    assert run("status", 99, "--server", server.url) == 3


def test_a_manifest_from_the_server_reads_the_same_as_the_downloaded_file(manifest: str) -> None:
    assert json.loads(Path(manifest).read_bytes()) == MANIFEST.to_dict()
