"""The package of participants: made once, served under its own address, named by kits and pages; and its frames."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from pathlib import Path

import httpx
import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from leaderboard import package
from leaderboard.boards import snapshots
from leaderboard.evidence import by_hand
from leaderboard.evidence.by_hand import ByHand
from leaderboard.evidence.reading import no_sheet
from leaderboard.exports import wheel
from leaderboard.exports.starter_kit import write_kit
from leaderboard.models import AnswerSet, Study
from leaderboard.studies import answer_sets
from leaderboard.studies.analysis import analyse_due
from leaderboard.wording.reasons import sentence
from submissions.client.transfer import ServerError
from submissions.models import ApiToken
from tests.pure.leaderboard.package.test_examples import OF_A_SERVER, runnable
from tests.support.leaderboard.reasons import few_items
from tests.support.leaderboard.scores import houses
from tests.support.leaderboard.stats.ballots import simulated_votes, vote

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder that this code's wheel was made into."""
    from django.test import override_settings

    folder = tmp_path_factory.mktemp("package")
    with override_settings(PACKAGE=folder):
        call_command("package", stdout=io.StringIO())
    return folder


@pytest.fixture
def served(settings, made) -> str:
    """The name of the wheel that the server has."""
    settings.PACKAGE = made
    return wheel.current()


def test_it_is_made_once(settings, made, monkeypatch):
    settings.PACKAGE = made
    before = wheel.current()
    monkeypatch.setattr(wheel.subprocess, "run", lambda *a, **k: pytest.fail("made again of the same sources"))
    assert wheel.make() == before and wheel.NAME.fullmatch(before)


def test_what_the_builder_says_is_said_in_full(settings, tmp_path, monkeypatch):
    settings.PACKAGE, settings.BASE_DIR = tmp_path / "package", tmp_path
    monkeypatch.setattr(wheel, "_sources", lambda: "other")
    with pytest.raises(wheel.CannotBuild, match="could not be made: "):
        wheel.make()
    assert wheel.current() == "" and wheel.address() == ""


def test_every_server_serves_its_own(client, served, made):
    response = client.get(reverse("package", args=[served]))
    assert b"".join(response.streaming_content) == (made / served).read_bytes() and "immutable" in response["Cache-Control"]
    for name in ("current", "plumbline-9.9-py3-none-any.whl", "..%2Fcurrent", served.replace("0", "1", 1)):
        assert client.get(f"/client/{name}").status_code == 404


def test_kits_and_pages_name_it_by_address(client, phase, people, served, settings):
    address = f"{settings.SITE_URL}/client/{served}"
    with write_kit(phase) as kit, zipfile.ZipFile(kit) as files:
        texts = {name.split("/", 1)[1]: files.read(name).decode() for name in files.namelist() if name.count("/") == 1}
    assert f'"plumbline[score] @ {address}"' in texts["README.md"]
    action = yaml.safe_load(texts["github-action.yml"])
    runs = [step["run"] for step in action["jobs"]["entry"]["steps"] if "run" in step]
    assert runs[0] == f'python -m pip install "{address}"' and "plumbline upload" in runs[2] and "gh pr comment" in runs[3]
    assert "${{ secrets.PLUMBLINE_TOKEN }}" in texts["github-action.yml"]
    assert "`notebook.ipynb`" in texts["README.md"] and "`github-action.yml`" in texts["README.md"]
    notebook = json.loads(texts["notebook.ipynb"])
    assert notebook["nbformat"] == 4 and address in notebook["cells"][1]["source"]
    client.force_login(people.owner)
    for page in (reverse("upload", args=[phase.challenge.slug, phase.slug]), "/docs/client/"):
        assert f"http://testserver/client/{served}" in client.get(page).content.decode()


def test_a_kit_names_notebook_and_action_only_where_it_has_them(phase, settings, tmp_path):
    settings.PACKAGE = tmp_path / "package"  # none was made
    with write_kit(phase) as kit, zipfile.ZipFile(kit) as files:
        texts = {name.split("/", 1)[1]: files.read(name).decode() for name in files.namelist() if name.count("/") == 1}
    assert set(texts) == {"README.md", "manifest.json"} and "python -m submissions.client" in texts["README.md"]
    assert "notebook.ipynb" not in texts["README.md"] and "github-action.yml" not in texts["README.md"]


def test_a_kit_with_networks_installs_what_they_need(phase, served):
    phase.manifest_data["metrics"].append({"slug": "clip", "key": "clip_sim", "params": {}})
    with write_kit(phase) as kit, zipfile.ZipFile(kit) as files:
        texts = {name.split("/", 1)[1]: files.read(name).decode() for name in files.namelist() if name.count("/") == 1}
    assert '"plumbline[networks] @ ' in texts["README.md"] and "Without `[networks]`" in texts["README.md"]
    assert "plumbline[networks,frames] @ " in json.loads(texts["notebook.ipynb"])["cells"][1]["source"]


def test_the_notebooks_cells_run(phase, people, served, tmp_path, monkeypatch):
    with write_kit(phase) as kit, zipfile.ZipFile(kit) as files:
        files.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    monkeypatch.chdir(folder)
    cells = [cell["source"] for cell in json.loads((folder / "notebook.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(cell for cell in cells[1:3]).replace("import plumbline", "from leaderboard import package as plumbline")
    names: dict = {}
    exec(compile(ast.parse(code), "notebook", "exec"), names)
    assert names["verdict"].accepted
    ast.parse("\n".join(cells[1:]))


# --- frames ------------------------------------------------------------------------------------


@pytest.fixture
def site():
    """A site whose requests reach the application in this process, by the token that is given."""

    def answer(request: httpx.Request) -> httpx.Response:
        headers = {"authorization": request.headers["authorization"]} if "authorization" in request.headers else {}
        found = Client().generic(request.method, request.url.raw_path.decode(), headers=headers)
        return httpx.Response(found.status_code, headers=dict(found.headers), content=found.content)

    def at(token: str = "") -> package.Site:
        found = package.Site("http://testserver", token)
        found._server.patience = 0.0
        found._server._http = httpx.Client(transport=httpx.MockTransport(answer))
        return found

    return at


def test_a_board_is_a_frame_of_its_values_and_intervals(phase, scored, people, site):
    best, worst = scored(0.05, method_name="Best"), scored(0.4, seed=1, team=people.other_team, method_name="Worst")
    snapshots.make(phase, "public")
    board = site().board(phase.challenge.slug, phase.slug)
    assert list(board["name"]) == ["Best", "Worst"] and list(board["rank"]) == [1, 2]
    slug = next(iter(board.attrs["columns"]))
    values = {score.evaluation.submission_id: score.value for score in _scores(best, worst) if score.slug == slug}
    assert dict(zip(board["id"], board[slug], strict=True)) == values
    fingerprints = {column.slug: column.fingerprint for column in phase.manifest.metrics}
    assert board.attrs["columns"][slug]["fingerprint"] == fingerprints[slug]
    assert board.attrs["columns"][slug]["higher_is_better"] in (True, False) and set(board[f"{slug}_n"]) == {4}
    assert site().board(phase.challenge.slug, phase.slug, board.attrs["digest"]).equals(board)


def test_own_entries_and_their_items_need_a_token(phase, scored, people, site):
    entry = scored(0.05, method_name="Mine")
    _, key = ApiToken.make(people.owner, "frames")
    mine = site(key).entries(phase.challenge.slug)
    assert list(mine["id"]) == [entry.pk]
    slug = next(score.slug for score in _scores(entry))
    items = site(key).items(entry.pk, slug)
    assert len(items) == 4 and {"item", "group", "value", "status"} <= set(items)
    with pytest.raises(Exception, match=r"log in|token|Log in"):
        site().entries()


def test_a_study_is_a_frame_of_its_metrics(phase, site):
    study = Study.import_votes(phase, None, simulated_votes(6, 3, 4), slug="roofs", title="Roofs", question="Which?", is_public=True)
    studies = site().studies(phase.challenge.slug, phase.slug)
    assert list(studies["slug"]) == ["roofs"]
    frame = site().study(phase.challenge.slug, phase.slug, study.slug)
    assert frame.attrs["title"] == "Roofs"


def test_a_study_of_a_set_is_a_frame_of_its_two_figures(phase, site, tmp_path):
    rows = [(i, e, r, (3 * i + e + r) % 5 + 1) for i in range(6) for e in range(5) for r in range(6)]
    text = "item,entry,rater,score\n" + "".join(f"i{i},e{e},r{r},{score}\n" for i, e, r, score in rows)
    values = "item,entry,psnr-y:higher\n" + "".join(f"i{i},e{e},{(3 * i + e) % 5}\n" for i in range(6) for e in range(5))
    (tmp_path / "scores.csv").write_text(text)
    (tmp_path / "values.csv").write_text(values)
    said = ByHand("small", "S", tmp_path / "scores.csv", tmp_path / "values.csv", raters="persons", because="p. 2", published="2026-11-28")
    study = answer_sets.bring(phase, None, *by_hand.read(said, no_sheet), slug="set", title="Set", question="?", is_public=True)
    assert answer_sets.analyse_due() == 1
    table = site().study(phase.challenge.slug, phase.slug, "set").set_index("metric")
    figures = AnswerSet.objects.get(study=study).record.criteria["quality"].metrics["psnr-y"]
    assert list(table.index) == ["psnr-y", "constant", "coin"] and list(table["reference_point"]) == [False, True, True]
    row = table.loc["psnr-y"]
    assert (row["decided"], row["decided_low"], row["decided_n"]) == (figures.decided.value, figures.decided.low, figures.decided.n)
    assert (row["srocc"], row["srocc_high"]) == (figures.srocc.value, figures.srocc.high)
    assert table.attrs["criterion"] == "quality" and table.attrs["analysis"]["stimuli"] == 30


def test_a_server_with_other_names_is_refused_in_a_sentence():
    earlier = httpx.MockTransport(
        lambda request: httpx.Response(200, json={"analyses": {}, "record": None, "title": "Roofs", "made_up": True})
    )
    site = package.Site("http://testserver")
    site._server._http = httpx.Client(transport=earlier)
    with pytest.raises(ServerError, match="has no 'simulated': this package is of another version"):
        site.study("roofs", "practice", "roofs")


def test_a_study_of_too_few_items_says_so_beside_each_figure(phase, people, site):
    names = ("Best", "Worst")
    for n, name in enumerate(names):
        houses(phase, people.team, 4, 0.1 + 0.4 * n, n, method_name=name)
    votes = [vote(*names, "left", f"r{k}", item) for k in range(6) for item in ("house_01", "house_02")]
    study = Study.import_votes(phase, None, votes, slug="roofs", title="Roofs", question="Which?", is_public=True)
    analyse_due()
    frame = site().study(phase.challenge.slug, phase.slug, study.slug).set_index("metric")
    shown = frame.loc["corner_f1"]
    assert shown["n"] == 12 and shown["low"] is None and shown["why"] == sentence(few_items(2), "item")


def _scores(*entries):
    from evaluation.models import Score

    return Score.objects.filter(evaluation__submission__in=entries).select_related("evaluation")


def test_the_pages_example_of_a_server_runs(phase, scored, people, site, capsys, monkeypatch):
    (text,) = OF_A_SERVER
    scored(0.05, method_name="Best")
    snapshots.make(phase, "public")
    Study.import_votes(phase, None, simulated_votes(6, 3, 4), slug="roofs", title="Roofs", question="Which?", is_public=True)
    code = runnable(text).replace("rooflines", phase.challenge.slug).replace("practice", phase.slug)
    made = site()
    monkeypatch.setattr(package, "Site", lambda url: made)
    exec(compile(code, "example", "exec"), {})
    assert "Best" in capsys.readouterr().out
