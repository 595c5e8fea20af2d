"""The table of people with a judge, on a study's page."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
from django.template.loader import render_to_string

from leaderboard.boards.people import lines_of
from leaderboard.records.study import Summary
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import canonical
from leaderboard.studies.judge.shown import TogetherRow
from leaderboard.wording.agreement import trained
from leaderboard.wording.reasons import sentence
from leaderboard.wording.worded import told
from tests.support.leaderboard.stats.ballots import simulated_votes


def test_people_alone_stand_there_with_an_interval_or_the_reason_why_not_and_a_trained_metric_with_its_mark():
    """A judge that says what most people say, a metric that is the same everywhere, and one that has learnt from these answers."""
    rows = simulated_votes(samples=6, noise=0.8)
    picked = sorted({(row.sample, *sorted((row.left, row.right))) for row in rows})
    judge = JudgeAnswers("judge", tuple(Judged(sample, a, b, (-1,)) for sample, a, b in picked))
    votes = canonical(rows)
    values = np.tile(np.arange(6.0, 0.0, -1.0), (len(votes.samples), 1))
    metrics = [MetricScores("flat", 0 * values), MetricScores("learnt", values + np.eye(6), trained="these")]
    summary = Summary.read(told(analyse(votes, metrics, models=[judge], damaged=())))
    lines = {line.key: line for line in lines_of(summary)}
    together = [TogetherRow(lines[one.key], one) for one in summary.judges[0].with_people]
    assert [row.it.key for row in together] == ["flat", "learnt"] and summary.judges[0].gate.passed
    shown = {"name": "Judge", "agreement": summary.judges[0], "line": None, "together": together, "entry_pairs": [], "display_only": True}
    one = SimpleNamespace(**shown, took=SimpleNamespace(n_answered=1), cost="0")
    place = SimpleNamespace(viewer=SimpleNamespace(organizes=False))
    context = {"judges": [one], "found": summary, "judges_beside": True, "place": place, "tolerated": 0.1}
    page = render_to_string("leaderboard/parts/judges.html", context)
    table = page.partition('aria-label="People with a judge"')[2].partition("</table>")[0]
    flat, learnt = (" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in table.split("<tr>")[2:])
    n = lines["learnt"].figure.n
    assert "None" not in table and flat.startswith(f"flat 50 no interval, n {n}")
    assert f'title="{sentence(Reason(Key.ALIKE))}"' in table
    low, high = lines["learnt"].low, lines["learnt"].high
    assert learnt.startswith(f"learnt {trained(lines['learnt'])} {lines['learnt'].percent} [{low}, {high}], n {n}")
