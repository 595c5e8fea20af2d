"""README.md names nothing that is not there: commands, make targets, addresses, files, log-ins, words on pages."""

from __future__ import annotations

import re
import shlex
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

from evaluation.__main__ import main as evaluate
from leaderboard.demo import interiors, rooflines, solids
from leaderboard.demo.story import PASSWORD, PEOPLE
from leaderboard.demo.studies import STUDY
from leaderboard.exports.starter_kit import write_kit
from leaderboard.models import Study
from leaderboard.stats.__main__ import main as analyse_votes
from leaderboard.wording.reasons import sentence
from submissions.client import command as participants_client
from submissions.models import Challenge, Phase, User
from tests import ROOT
from tests.support.factories import MESH_METRICS, ChallengeFactory, PhaseFactory, TeamFactory, boxes, give_reference, join
from tests.support.leaderboard.reasons import few_raters
from tests.support.leaderboard.stats.ballots import simulated_votes
from tests.support.scenes import views

README = (ROOT / "README.md").read_text()
COMMANDS = [line.strip() for block in re.findall(r"```\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line.strip()]
PROSE = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
CODE = re.findall(r"`([^`\n]+)`", PROSE)
ADDRESSES = sorted({word for word in CODE if word.startswith("/")} | {"/" + it for it in re.findall(r"8000/(\S+)", "\n".join(COMMANDS))})
LINKS = sorted(set(re.findall(r"\]\(([^)\s]+)\)", PROSE) + re.findall(r'(?:src|srcset)="([^"]+)"', PROSE)))
MADE_BY_COMMANDS = ("var/", "my-challenge/")  # not in the repository


def after(start: str) -> list[list[str]]:
    """The arguments of each command that begins with these words."""
    return [shlex.split(line)[len(start.split()) :] for line in COMMANDS if line.startswith(start + " ")]


@pytest.fixture
def demo(phase) -> Phase:
    """A phase at the demo's address, with fewer houses and nobody's entries; and one at each of the demos of meshes and renders."""
    meshes = PhaseFactory(challenge=ChallengeFactory(slug=solids.SLUG, family="mesh"), slug=solids.PHASE)
    give_reference(meshes, boxes(), MESH_METRICS)
    renders = PhaseFactory(challenge=ChallengeFactory(slug=interiors.SLUG, family="render"), slug=interiors.PHASE)
    give_reference(renders, views(), [{"slug": "psnr", "key": "psnr", "is_primary": True}])
    Challenge.objects.filter(pk=phase.challenge_id).update(slug=rooflines.SLUG)
    Phase.objects.filter(pk=phase.pk).update(slug=rooflines.PHASE, title="Practice")
    return Phase.objects.select_related("challenge").get(pk=phase.pk)


@pytest.fixture
def kit_folder(demo, tmp_path, monkeypatch) -> Path:
    """The folder one is in after unzipping the starter kit."""
    with write_kit(demo) as kit, zipfile.ZipFile(kit) as package:
        package.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_is_one_that_is_checked_here():
    known = (
        "make ",
        "curl ",
        "python manage.py ",
        "python -m evaluation ",
        "python -m submissions.client ",
        "python -m leaderboard.stats ",
    )
    assert COMMANDS and [command for command in COMMANDS if not command.startswith(known)] == []


def test_every_make_target_and_variable_is_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    said = [shlex.split(word)[1:] for word in [*COMMANDS, *CODE] if word.startswith("make ")]
    assert ["run"] in said and ["test"] in said
    for words in said:
        for word in words:
            name, is_variable, _ = word.partition("=")
            assert re.search(rf"^{name} \?=" if is_variable else rf"^{name}:", makefile, re.MULTILINE), word


@pytest.mark.parametrize("words", after("python manage.py"), ids=" ".join)
def test_every_management_command_takes_what_it_is_given(words):
    name, *arguments = words
    load_command_class(get_commands()[name], name).create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.django_db
def test_the_participants_commands_check_and_send_the_kit(kit_folder, monkeypatch):
    checks = [words for words in after("python -m submissions.client") if words[0] == "check"]
    assert checks and [words for words in checks if participants_client.main(words) != 0] == []
    sent = {}
    monkeypatch.setenv("PLUMBLINE_TOKEN", "made-up")
    monkeypatch.setattr(participants_client, "_upload", lambda args: sent.update(vars(args)) or 0, raising=True)
    uploads = [words for words in after("python -m submissions.client") if words[0] == "upload"]
    assert uploads and [words for words in uploads if participants_client.main(words) != 0] == []
    assert (sent["challenge"], sent["phase"]) == (rooflines.SLUG, rooflines.PHASE)
    assert Path(sent["path"]).is_dir()


@pytest.mark.django_db
def test_the_commands_that_score_run_as_they_stand(kit_folder, capsys):
    commands = after("python -m evaluation")
    assert len(commands) >= 3
    for words in commands:
        assert evaluate(words) == 0, words
    assert "edge_f1" in capsys.readouterr().out


@pytest.mark.django_db
def test_the_commands_of_studies_run_as_they_stand(demo, tmp_path, monkeypatch, capsys):
    Study.import_votes(demo, None, simulated_votes(3, 2, 3), slug=STUDY, title="T", question="Q?", is_public=True)
    monkeypatch.chdir(tmp_path)
    commands = after("python manage.py study")
    assert [words[0] for words in commands] == ["export", "import"]
    for words in commands:
        call_command("study", *words)
    assert [*Study.objects.get(slug="again").votes()] == [replace(vote, study="again") for vote in Study.objects.get(slug=STUDY).votes()]
    (words,) = after("python -m leaderboard.stats")
    assert analyse_votes(words) == 0
    assert sentence(few_raters(3)) in capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_answers(client, demo, address):
    person = User.objects.create(username="root", is_staff=True, is_superuser=True)
    join(person, TeamFactory(challenge=demo.challenge), leader=True)
    client.force_login(person)
    # No worker runs beside this test, which is what /-/ready says.
    assert client.get(address).status_code == (503 if address == "/-/ready" else 200)


@pytest.mark.parametrize("link", LINKS)
def test_every_link_leads_to_a_file_of_the_repository(link):
    assert "://" not in link
    assert (ROOT / link).is_file()


def test_every_path_is_there():
    for word in CODE:
        if "/" in word and " " not in word and not word.startswith(("/", *MADE_BY_COMMANDS)):
            assert (ROOT / word).exists(), word


def test_every_log_in_and_entry_is_the_demos():
    people = {person.name for person in PEOPLE}
    assert PASSWORD in CODE
    assert {"ada", "olga", "root"} <= set(re.findall(r"\bas `([a-z]+)`", PROSE)) <= people
    assert {"gable-net v3", "sketch-0"} <= {entry.method for entry in rooflines.ENTRIES}


def test_every_word_to_click_stands_on_a_page():
    pages = "\n".join(path.read_text() for path in ROOT.glob("*/templates/**/*.html"))
    names = {"Practice", *(entry.method for entry in rooflines.ENTRIES)}
    words = set(re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", PROSE))
    assert {"Compare", "Cite"} <= words
    for word in words - names:
        assert re.search(rf">\s*{re.escape(word)}\s*<", pages), word


def test_the_pictures_are_small():
    for link in LINKS:
        if link.endswith(".png"):
            assert (ROOT / link).stat().st_size < 200_000, link
