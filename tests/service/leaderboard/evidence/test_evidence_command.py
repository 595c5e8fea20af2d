"""`manage.py evidence` against a server on this machine: licence, digests, cuts, hostile files, and what is left behind."""

from __future__ import annotations

import functools
import hashlib
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import ResultTable
from evaluation.networks import fetching
from leaderboard.checks import check_settings
from leaderboard.evidence import store
from leaderboard.models import AnswerSet, Study
from submissions.formats.errors import FormatError
from submissions.models import Challenge, Submission
from tests.support.evaluation import publisher
from tests.support.factories import ChallengeFactory
from tests.support.leaderboard.evidence.published import FOLDERS
from tests.support.leaderboard.evidence.small_set import HEAD, MANIFEST, ROWS, TABLE, changed
from tests.support.leaderboard.evidence.workbooks import bomb, workbook

pytestmark = pytest.mark.django_db
LICENCE = "Use it, and say whose it is.\n"


def evidence(*words: str) -> str:
    out = StringIO()
    call_command("evidence", *words, stdout=out)
    return out.getvalue()


@pytest.fixture
def home(settings, tmp_path) -> Path:
    """The folder of evidence, which is not there yet."""
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    return settings.EVIDENCE_DIR


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server of this folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def published(home, tmp_path) -> Iterator[str]:
    """The address of a small set with a licence, whose manifest the operator wrote."""
    folder = tmp_path / "published"
    folder.mkdir()
    own(home, folder / "Results.csv", TABLE.encode())
    (folder / "LICENSE").write_text(LICENCE)
    with serving(folder) as address:
        yield address


def own(home: Path, file: Path, data: bytes, more: str = "") -> None:
    """Publish this file, and write a manifest that pins it beside a licence."""
    file.write_bytes(data)
    licence = f"\n  - {{id: licence, path: LICENSE, sha256: {hashlib.sha256(LICENCE.encode()).hexdigest()}, bytes: {len(LICENCE)}}}"
    changes = [
        (
            f"data/Results.csv, sha256: {'0' * 64}, bytes: 10",
            f"{file.name}, sha256: {hashlib.sha256(data).hexdigest()}, bytes: {len(data)}{more}",
        ),
        ("}\njudgements", f"}}{licence}\njudgements"),
        ("{stated: none}", "{stated: MIT, file: LICENSE}"),
    ]
    (home / "small").mkdir(parents=True, exist_ok=True)
    (home / "small" / "evidence.yaml").write_text(changed(MANIFEST, changes))


class TestLicence:
    def test_is_shown_with_its_text_and_a_script_repeats_its_name(self, home, published):
        with pytest.raises(CommandError, match='Accept the licence with --accept "MIT", or run this in a terminal'):
            evidence("fetch", "small", "--from", published)
        with pytest.raises(CommandError, match=r'“yes” is another licence\. Repeat the one that is stated: --accept "MIT"'):
            evidence("fetch", "small", "--from", published, "--accept", "yes")
        assert not (home / "small" / "raw" / "Results.csv").exists()
        said = evidence("fetch", "small", "--from", published, "--accept", "MIT")
        for words in ("A small set", "Authors: A. Author.", "commit " + "ab" * 20, "Licence: MIT.", LICENCE.strip(), "sha256 "):
            assert words in said
        assert store.accepted(store.find("small"))

    @pytest.mark.parametrize(("answer", "fetched"), [("yes", True), ("Y", True), ("no", False), ("", False), ("MIT", False)])
    def test_in_a_terminal_one_is_asked(self, home, published, monkeypatch, answer, fetched):
        asked: list[str] = []
        monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())
        monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)
        if fetched:
            evidence("fetch", "small", "--from", published)
        else:
            with pytest.raises(CommandError, match="Nothing was fetched"):
                evidence("fetch", "small", "--from", published)
        (asked_once,) = asked
        assert "MIT" in asked_once and f"{len(TABLE) + len(LICENCE)} bytes" in asked_once
        assert (home / "small" / "raw" / "Results.csv").exists() == fetched

    def test_a_licence_that_is_stated_otherwise_is_asked_again(self, home, published):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        manifest = home / "small" / "evidence.yaml"
        manifest.write_text(manifest.read_text().replace("stated: MIT", "stated: CC BY-NC 4.0"))
        with pytest.raises(CommandError, match=r'--accept "CC BY-NC 4\.0"'):
            evidence("verify", "small", "--from", published)

    def test_no_licence_means_all_rights(self, home):
        assert "Licence: none stated." in evidence("show", "gsc") and "all rights" in evidence("show", "gsc")


class TestFetch:
    def test_files_and_tables_are_their_owners_alone(self, home, published):
        said = evidence("fetch", "small", "--from", published, "--accept", "MIT")
        counts = ("2 of 2 files", "6 stimuli", "4 entries", "3 families", "2 items", "2 groups", "2 metrics", "17 scores", "3 raters")
        assert [count for count in counts if count not in said] == []
        tables = home / "small" / "tables"
        assert f"{tables}." in said and {path.name for path in tables.iterdir()} >= {"judgements.csv", "values.csv", "labels.csv"}
        for folder in (home, home / "small"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (home / "small" / "tables" / "judgements.csv").read_text().count("\n") == 18

    def test_a_folder_that_others_could_enter_is_closed(self, home, published):
        home.chmod(0o755)
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        assert stat.S_IMODE(home.stat().st_mode) == 0o700

    def test_another_file_is_refused_and_nothing_is_imported(self, home, published, tmp_path):
        other = TABLE.replace("20.5", "20.6").encode()
        (tmp_path / "published" / "Results.csv").write_bytes(other)
        digests = [hashlib.sha256(other).hexdigest(), hashlib.sha256(TABLE.encode()).hexdigest()]
        with pytest.raises(CommandError) as refused:
            evidence("fetch", "small", "--from", published, "--accept", "MIT")
        assert re.findall("[0-9a-f]{64}", str(refused.value)) == digests and str(refused.value).startswith("Results.csv ")
        assert not (home / "small" / "tables").exists() and not (home / "small" / "raw" / "Results.csv").exists()

    def test_a_server_that_sends_more_than_the_file_is_cut_off(self, home, published, tmp_path):
        (tmp_path / "published" / "Results.csv").write_bytes(TABLE.encode() * 1000)
        with pytest.raises(CommandError, match=rf"it is longer than {len(TABLE)} bytes\. Nothing was imported"):
            evidence("fetch", "small", "--from", published, "--accept", "MIT")
        assert sum(path.stat().st_size for path in (home / "small" / "raw").iterdir()) < 1000

    def test_it_goes_on_where_a_run_before_was_cut(self, home, tmp_path, monkeypatch):
        data = (TABLE + "".join(f"s{n},1,{c},R,1,2,3,{n},0.5\n" for n in range(10_000) for c in "ab")).encode()
        monkeypatch.setattr(fetching, "ATTEMPTS", 1)
        with publisher.published(data) as server:
            own(home, tmp_path / "Results.csv", data, more=f", url: {server.url}")
            manifest = home / "small" / "evidence.yaml"
            manifest.write_text(manifest.read_text().replace("{stated: MIT, file: LICENSE}", "{stated: none}"))
            text = manifest.read_text()
            start = text.index("  - {id: licence")
            manifest.write_text(text[:start] + text[text.index("judgements:") :])
            server.cut_after = [200_000]
            with pytest.raises(CommandError, match=r"0\.2 MB of it are kept; run the same command again to continue"):
                evidence("fetch", "small", "--accept", "none stated")
            server.asked.clear()
            assert "20,006 stimuli" in evidence("fetch", "small", "--accept", "none stated")
            assert [asked["Range"] for asked in server.asked] == ["bytes=200000-"]

    def test_what_is_here_is_not_fetched_again(self, home, published, tmp_path):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        (tmp_path / "published" / "Results.csv").unlink()
        assert "6 stimuli" in evidence("fetch", "small") and "2 of 2 files" in evidence("verify", "small")

    def test_from_a_folder(self, home, published, tmp_path):
        assert "6 stimuli" in evidence("fetch", "small", "--from", str(tmp_path / "published"), "--accept", "MIT")

    def test_a_wrong_table_is_said_and_leaves_no_tables(self, home, published, tmp_path):
        own(home, tmp_path / "published" / "Results.csv", TABLE.replace("R01,1,2,", "R01,9,2,").encode())
        with pytest.raises(CommandError, match=r"Results\.csv, row 2, Subject_1: 9 lies outside 1 to 5") as refused:
            evidence("fetch", "small", "--from", published, "--accept", "MIT")
        assert str(refused.value).endswith("Nothing was imported.") and not (home / "small" / "tables").exists()


class TestVerify:
    def test_a_changed_digit_is_found(self, home, published):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        file = home / "small" / "raw" / "Results.csv"
        file.write_text(TABLE.replace("25.5", "25.6"))
        with pytest.raises(CommandError, match=r"Results\.csv is not the file of the catalogue: its SHA-256 is"):
            evidence("verify", "small")

    def test_it_fetches_what_is_not_here_and_says_that_there_is_no_record(self, home, published):
        said = evidence("verify", "small", "--from", published, "--accept", "MIT")
        assert "6 stimuli" in said and "no record of small" in said
        assert not (home / "small" / "tables").exists()

    def test_figures_are_compared_with_the_record_and_a_changed_digit_is_shown(self, home, published):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        file = home / "small" / "record.toml"
        assert f"The record is {file}." in evidence("record", "small")
        evidence("verify", "small")
        text = file.read_text()
        file.write_text(text.replace("stimuli = 5\n", "stimuli = 6\n"))
        with pytest.raises(CommandError) as refused:
            evidence("verify", "small")
        first, row = str(refused.value).splitlines()
        assert first.startswith("1 figure differs ")
        assert row.partition(":")[0].strip() == "criteria.quality.stimuli" and re.findall(r"\d", row) == ["6", "5"]
        file.write_text("evidence = 99\n")
        with pytest.raises(CommandError, match=r"record\.toml has the format 99"):
            evidence("verify", "small")

    def test_a_record_holds_no_answer_and_no_value(self, home, published):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        evidence("record", "small")
        text = (home / "small" / "record.toml").read_text()
        for value in ("20.5", "25.5", "Subject", "bicycle path 1"):
            assert value not in text
        assert "figures are here" in evidence("list").partition("small: ")[2].splitlines()[1]


def test_forget_deletes_the_answers_and_keeps_the_operators_manifest(home, published):
    evidence("fetch", "small", "--from", published, "--accept", "MIT")
    evidence("forget", "small")
    assert [path.name for path in (home / "small").iterdir()] == ["evidence.yaml"]
    evidence("forget", "small")  # nothing is there any more
    assert [path.name for path in (home / "small").iterdir()] == ["evidence.yaml"]
    with pytest.raises(CommandError, match="is no name of a set"):
        evidence("forget", "../small")


def test_list_needs_no_network_and_says_what_is_here(home, published, monkeypatch):
    evidence("fetch", "small", "--from", published, "--accept", "MIT")
    monkeypatch.setattr("httpx.Client", None)
    said = evidence("list")
    assert "small: A small set\n" in said and "data here" in said.partition("small: ")[2].splitlines()[1]
    assert "gsc: " in said and "data not here" in said.partition("gsc: ")[2].splitlines()[1]
    assert "\ngscomp-qa: " in said, "also what was not tried here"
    (home / "small" / "evidence.yaml").write_text("evidence: 1\n")
    assert "small: its manifest" in evidence("list")


def test_an_unknown_set_and_a_faulty_manifest_are_one_sentence_each(home):
    with pytest.raises(CommandError, match="There is no set gcs; there are: basics, "):
        evidence("show", "gcs")
    (home / "mine").mkdir(parents=True)
    (home / "mine" / "evidence.yaml").write_text(
        MANIFEST.replace("name: small", "name: mine").replace("commit: " + "ab" * 20, "commit: main")
    )
    with pytest.raises(CommandError, match=r"evidence\.yaml: line 5: source.commit: .* A branch changes"):
        evidence("show", "mine")


class TestLimitedProcess:
    """Spreadsheets are read where uploads are."""

    def test_a_sheet_comes_back_as_texts(self, home, tmp_path):
        path = workbook(tmp_path / "Results.xlsx", [HEAD.split(","), *(row.split(",") for row in ROWS)])
        assert store.read_sheet(path, "Sheet1") == [HEAD.split(","), *(row.split(",") for row in ROWS)]

    def test_a_bomb_is_one_sentence(self, home, tmp_path):
        with pytest.raises(FormatError) as refused:
            store.read_sheet(bomb(tmp_path / "bomb.xlsx"), "")
        assert "268 MB" in str(refused.value) and "\n" not in str(refused.value)

    def test_a_file_that_needs_too_much_is_one_sentence(self, home, tmp_path, settings):
        settings.CHILD_MEMORY_MB = 1
        path = workbook(tmp_path / "a.xlsx", [["x" * 1000] * 1000] * 40)
        with pytest.raises(FormatError, match=r"a\.xlsx: could not be read\. .* Save the sheet as CSV") as refused:
            store.read_sheet(path, "")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("place", "said"),
    [("leaderboard/evidence", "the repository"), ("HOME/files/evidence", "a folder whose files this service sends")],
)
def test_answers_never_lie_where_they_could_be_committed_or_sent(settings, place, said):
    assert not [problem for problem in check_settings(None) if problem.id == "plumbline.E013"]
    folder = settings.HOME / place.removeprefix("HOME/") if place.startswith("HOME/") else settings.BASE_DIR / place
    settings.EVIDENCE_DIR = folder
    (problem,) = [problem for problem in check_settings(None) if problem.id == "plumbline.E013"]
    assert said in problem.msg and "PLUMBLINE_EVIDENCE_DIR" in problem.hint


@pytest.mark.parametrize("name", FOLDERS)
def test_a_set_of_the_catalogue_comes_from_a_server(home, data_folder, name):
    root = data_folder / "evidence"
    if not root.is_dir():
        pytest.skip("PLUMBLINE_DATA has no folder evidence with the published sets")
    licence = store.find(name).licence.name
    with serving(root) as address:
        said = evidence("fetch", name, "--from", f"{address}/{FOLDERS[name]}", "--accept", licence)
    n = len(store.find(name).files)
    assert f"{n} of {n} files" in said
    assert (home / name / "tables" / "judgements.csv").is_file()
    evidence("forget", name)
    assert not (home / name).exists()


class TestApply:
    def test_a_set_that_is_here_becomes_a_private_challenge_with_its_study(self, home, published, admin_client):
        with pytest.raises(CommandError, match=r"Results\.csv is not here; run `manage\.py evidence fetch small`\."):
            evidence("apply", "small")
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        assert "--show figures" in evidence("apply", "small")
        challenge = Challenge.objects.get()
        assert (challenge.slug, challenge.title, challenge.visibility, challenge.tags) == ("small", "A small set", "private", ["published"])
        assert challenge.licence == "MIT"
        page = admin_client.get("/challenges/small/").content.decode()
        assert challenge.summary in page and 'href="/challenges/small/main/people/"' in page
        study = Study.objects.get()
        assert study.phase.challenge == challenge and study.source == "A. Author"
        assert Submission.objects.count() == 3

    def test_again_nothing_changes_and_it_is_opened_on_demand(self, home, published):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        evidence("apply", "small")
        given = Challenge.objects.get().description
        Challenge.objects.update(summary="Seen by us.", description="")
        evidence("apply", "small", "--show", "figures")
        assert Challenge.objects.get().description == given != ""
        opened = list(Challenge.objects.values())
        evidence("apply", "small")
        assert list(Challenge.objects.values()) == opened and opened[0]["visibility"] == "public"
        assert Challenge.objects.get().summary == "Seen by us." and Study.objects.count() == 1 and ResultTable.objects.count() == 1

    def test_another_challenge_of_the_name_stays_as_it_is(self, home, published):
        ChallengeFactory(slug="small")
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        for words in (("apply", "small"), ("forget", "small", "--challenge")):
            with pytest.raises(CommandError, match="a challenge small here that was not made of the published set; it stays as it is"):
                evidence(*words)
        assert Challenge.objects.count() == 1

    def test_forgetting_the_files_leaves_the_challenge_unless_it_is_named(self, home, published):
        evidence("fetch", "small", "--from", published, "--accept", "MIT")
        evidence("apply", "small")
        evidence("forget", "small")
        assert Challenge.objects.count() == 1 and not (home / "small" / "raw").exists()
        evidence("forget", "small", "--challenge")
        assert not Challenge.objects.exists() and not Study.objects.exists() and not AnswerSet.objects.exists()
        assert "no challenge of small" in evidence("forget", "small", "--challenge")


def test_the_record_of_an_own_set_has_a_page_and_is_in_the_api(home, published, client, settings):
    evidence("fetch", "small", "--from", published, "--accept", "MIT")
    assert client.get("/evidence/small/").status_code == 404 and "no figures; data here" in evidence("list")
    evidence("record", "small")
    assert "figures are here; data here" in evidence("list")
    page = client.get("/evidence/small/").content.decode()
    assert "A small set" in page and "evidence verify small" in page
    assert client.get("/api/v1/evidence/small/").json()["title"] == "A small set"
    assert "small" in [one["name"] for one in client.get("/api/v1/evidence/").json()]
    assert 'href="/evidence/small/"' in client.get("/evidence/").content.decode()
    settings.EVIDENCE_RECORDS = ["gsc"]
    assert client.get("/evidence/small/").status_code == 404
    settings.EVIDENCE_RECORDS = []
    record = home / "small" / "record.toml"
    record.write_text(record.read_text().replace("evidence = ", "evidence = 9"))
    assert client.get("/evidence/small/").status_code == 404 and client.get("/").status_code == 200
    assert "record.toml has the format 92" in evidence("list")
