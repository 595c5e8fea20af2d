"""One study, twice: by the command on its files, and in the service. Pages, JSON and the API say the same numbers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.models import Study
from leaderboard.stats import mos_table, votes
from leaderboard.stats.__main__ import main
from leaderboard.studies.analysis import analyse_due, metric_scores
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.scored_houses import NAMES, comparisons, items, scored_houses, scores

pytestmark = pytest.mark.django_db
ABOUT = {"slug": "people", "title": "Which is closer?", "question": "Which of the two is closer to the house?", "is_public": True}
SAME = (
    "scales",
    "ceiling",
    "model",
    "fragile",
    "metric_pairs",
    "entry_pairs",
    "enough",
    "forecast",
    "answers",
    "decided_answers",
    "reason",
    "why",
    "samples",
)
SIZES = ("size", "reference only")
OF_THE_SERVICE = ("above_size", "over_size", "size_p", "metric", "title", "fingerprint")


@pytest.fixture
def scored(challenge, people, django_capture_on_commit_callbacks):
    """A phase of six houses and three scored entries, the first of them best."""
    return scored_houses(challenge, people)


def in_the_service(client, phase) -> tuple[dict[str, Any], dict[str, Any]]:
    """The study's analysis on its page's JSON, and by the API."""
    assert analyse_due() == 1
    place = f"{phase.challenge.slug}/{phase.slug}/people/people"
    page = client.get(f"/challenges/{place}/analysis.json").json()["criteria"][""]
    told = client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/people").json()["analyses"][""]
    return page, told


def by_the_command(folder: Path, rows, study: Study, capsys) -> dict[str, Any]:
    """Output of the command for the same answers and for the values that the service has."""
    samples = items(study.phase)
    metrics = metric_scores(study, study.batch, samples, NAMES)
    with (folder / "study.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    with (folder / "scores.csv").open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["sample", "method", *(f"{one.key}:{'higher' if one.higher_is_better else 'lower'}" for one in metrics)])
        for h, item in enumerate(samples):
            out.writerows([item, name, *(repr(float(one.values[h, n])) for one in metrics)] for n, name in enumerate(NAMES))
    with (folder / "labels.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["method", "label"], *([name, "team"] for name in NAMES)])
    given = [str(folder / "study.csv"), "--scores", str(folder / "scores.csv"), "--labels", str(folder / "labels.csv"), "--json"]
    assert main(given) == 0
    return json.loads(capsys.readouterr().out)["criteria"][""]


def within(ours: Any, theirs: Any, at: str = "") -> None:
    """All that the command says, the service says as well."""
    if isinstance(ours, dict):
        for key in ours:
            assert key in theirs, f"{at}.{key}"
            within(ours[key], theirs[key], f"{at}.{key}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), at
        for n, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            within(one, other, f"{at}[{n}]")
    else:
        assert theirs == (pytest.approx(ours, abs=1e-9) if isinstance(ours, float) else ours), at


def unsized(summary: dict[str, Any]) -> dict[str, Any]:
    """Without what is said of sizes and of the metrics themselves: a file holds no material whose size could be known, and no titles."""

    def known(row: Any) -> Any:
        return {name: known(value) for name, value in row.items() if name not in OF_THE_SERVICE} if isinstance(row, dict) else row

    rows = [known(row) for row in summary["metrics"] if row["key"] not in SIZES]
    return {name: summary[name] for name in SAME if name in summary} | {"metrics": rows}


def check(command: dict[str, Any], service: dict[str, Any]) -> None:
    within(unsized(command), unsized(service))
    within(unsized(command["all"]), unsized(service["all"]), "all")


def test_a_study_of_pairs(scored, client, tmp_path, capsys):
    rows = comparisons(scored)
    rows.append(vote(NAMES[0], NAMES[1], "right", "r0", items(scored)[0], repeat_of="1"))
    study = Study.import_votes(scored, None, rows, **ABOUT)
    page, told = in_the_service(client, scored)
    command = by_the_command(tmp_path, votes.write(study.votes()), study, capsys)
    assert command["metrics"][0]["decided"]["low"] is not None and command["counted"] == len(rows) - 1
    check(command, page)
    check(command, told)


def test_a_study_of_opinion_scores(scored, client, tmp_path, capsys):
    study = Study.import_ratings(scored, None, scores(scored), **ABOUT)
    page, told = in_the_service(client, scored)
    command = by_the_command(tmp_path, mos_table.write(study.ratings()), study, capsys)
    assert command["scales"][0]["mos"][1] is not None
    for service in (page, told):
        check(command, service)
        # How strict each rater is organizers alone are told.
        assert [line for line in service["reliability"]["raters"] if not line["bias"] is line["inconsistency"] is None] == []
    for ours, theirs in zip(command["raters"], study.analyses.get().summary.reliability.raters, strict=True):
        within({"bias": ours["bias"], "inconsistency": ours["inconsistency"]}, vars(theirs))
