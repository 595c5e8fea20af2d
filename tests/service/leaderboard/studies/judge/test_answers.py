"""Answers of judges, as a file that reads as votes."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from leaderboard.stats.__main__ import main
from leaderboard.stats.votes import COLUMNS, parse
from leaderboard.studies.judge.answers import MORE, judges_of, runs_of, table
from leaderboard.studies.judge.instructions import KEYS, instruction, wireframe_instruction
from tests.support.factories import gables, perturbed
from tests.support.leaderboard.studies.judge.studies import QUALITY, answered, entry, study_of, study_of_objects

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(phase):
    phase.batches.all().delete()
    return study_of_objects(phase)


def written(runs) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(table(runs))
    return stream.getvalue()


def lines_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_command_line_computes_the_judges_elo_of_the_file(study, tmp_path, capsys):
    run = answered(study)
    file = tmp_path / "answers.csv"
    call_command("study", "export", f"{study.phase.challenge.slug}/{study.phase.slug}", study.slug, str(file), "--judges")
    assert "18 comparisons" in capsys.readouterr().out
    assert main([str(file), "--anchor", "onyx", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["criteria"]
    assert set(found) == set(KEYS) == set(run.result["criteria"])
    for key, analysis in found.items():
        ours = {row["method"]: row["elo"] for row in run.result["criteria"][key]["rows"]}
        theirs = {row["method"]: row["judge_elo"][0] for row in analysis["scales"]}
        assert theirs == pytest.approx(ours, abs=1e-6) and ours["ruby"] > ours["coal"]
        assert analysis["counted"] == analysis["votes"] == run.result["criteria"][key]["answers"] == 18 * 3 - 4


@pytest.mark.parametrize(
    ("plan", "key", "alike"), [("first", "k", False), ("informative", "k", False), ("balanced", "k", True), ("first", None, True)]
)
def test_a_judge_is_drawn_as_people_are_unless_their_answers_chose_their_pairs(study, plan, key, alike):
    answered(study)
    study.plan, study.key = plan, key  # answers that were brought from elsewhere have no plan of this service
    assert [one.drawn_alike for one in judges_of(study, "overall")] == [alike]


def test_every_line_says_who_what_it_took_and_how_it_was_asked(study):
    run = answered(study)
    lines = lines_of(written([run]))
    assert tuple(lines[0]) == (*COLUMNS, *MORE)
    assert len(lines) == run.n_planned * 3 * 6 - 4 * 6
    one = [line for line in lines if line["comparison"] == "1"]
    assert {line["rater"] for line in one} == {f"{run.rater.name}, text {n}" for n in (1, 2, 3)}
    assert {line["judge"] for line in lines} == {run.rater.name} and {line["run"] for line in lines} == {str(run.pk)}
    assert [line["criterion"] for line in one[:6]] == list(KEYS) and {line["choice"] for line in one[12:]} == {"tie"}
    answer = run.answers.select_related("left", "right").get(number=1)
    assert (one[0]["left"], one[0]["right"], one[0]["sample"]) == (answer.left.label, answer.right.label, answer.sample)
    assert one[0]["choice"] == ("left" if QUALITY[answer.left.label] > QUALITY[answer.right.label] else "right")
    row = run.questions[answer.row]
    assert one[0]["shown"].startswith(f"{row.views} view")
    assert one[0]["instruction"] == instruction(row, one[0]["prompt"]) and one[1]["instruction"] == ""
    prompts = {"0": "a red chair", "1": "an owl on a branch", "2": "a boat"}
    assert [line for line in lines if line["prompt"] != prompts[line["sample"]]] == []
    for name in ("requests", "tokens_in", "tokens_out", "cost"):  # they add up to what the run took
        assert sum(float(line[name] or 0) for line in lines) == pytest.approx(float(getattr(run, name)))
    assert sum(float(line["seconds"]) for line in lines) == pytest.approx(3.6 * 18, abs=0.1)


def test_each_text_on_a_question_has_its_own_place_in_each_run(study):
    both = [answered(study, plan="both-ways", seed=1), answered(study, plan="both-ways", seed=2), answered(study, "other")]
    lines = lines_of(written(runs_of(study)))
    assert {line["run"] for line in lines} == {str(run.pk) for run in both}
    seen = [(line["rater"], line["sample"], line["criterion"], *sorted((line["left"], line["right"]))) for line in lines]
    assert len(seen) == len(set(seen))
    assert len(parse(io.StringIO(written(runs_of(study)), newline=""), "answers.csv")) == len(seen)
    assert any(line["swapped"] == "1" for line in lines) and {line["judge"] for line in lines} == {run.rater.name for run in both}
    day = f"{timezone.now():%Y-%m-%d} · prompts v1"
    names = [f"seer-1 · both-ways · {day}", f"seer-1 · both-ways · {day} · no. 2", f"other · one-view · {day}"]
    assert [run.rater.name for run in both] == names, "each run is a judge of its own"


def test_what_is_gone_leaves_the_answers(study):
    run = answered(study)
    study.phase.batches.all().delete()  # and with it the reference in force: nobody knows the texts any more
    lines = lines_of(written([run]))
    assert len(lines) == 18 * 18 - 24 and {line["prompt"] + line["instruction"] for line in lines} == {""}


def test_a_wireframe_judge_has_one_criterion_and_no_text_to_match(phase, monkeypatch):
    monkeypatch.setitem(QUALITY, "near", 2)
    monkeypatch.setitem(QUALITY, "far", 1)
    monkeypatch.setitem(QUALITY, "onyx", 0)
    rows = {name: entry(phase, name, perturbed(gables(), scale)) for name, scale in (("near", 0.01), ("far", 1.0), ("onyx", 2.0))}
    lines = lines_of(written([answered(study_of(phase, rows), plan="wireframe")]))
    assert {line["criterion"] for line in lines} == {"overall"} and len({line["shown"] for line in lines}) == 1
    assert lines[0]["instruction"] == wireframe_instruction() and {line["prompt"] for line in lines} == {""}


def test_organizers_fetch_it_from_both_pages_and_others_do_not(study, client, people):
    run = answered(study)
    place = [study.phase.challenge.slug, study.phase.slug, study.slug]
    public = reverse("study", args=place)
    files = [reverse("study_judges", args=place), reverse("console_judge_answers", args=[*place, run.pk])]
    assert client.get(files[0]).status_code == 404 and "judges.csv" not in client.get(public).content.decode()
    client.force_login(people.organizer)
    assert files[0] in client.get(public).content.decode()
    assert files[1] in client.get(reverse("console_judge", args=[*place, run.pk])).content.decode()
    sent = [client.get(file) for file in files]
    assert [it["Content-Disposition"] for it in sent] == [
        'attachment; filename="judged-judges.csv"',
        f'attachment; filename="judged-judge-{run.pk}.csv"',
    ]
    assert {b"".join(it.streaming_content).decode("utf-8-sig") for it in sent} == {written([run])}


def test_a_folder_takes_no_judges(study, tmp_path):
    place = f"{study.phase.challenge.slug}/{study.phase.slug}"
    with pytest.raises(CommandError, match="give --judges a file"):
        call_command("study", "export", place, study.slug, "--folder", str(tmp_path / "x"), "--judges")
