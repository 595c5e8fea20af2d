"""A judge's scores: the worked figures, the published optimiser, frozen scores, and its agreement with people."""

import csv
import math

import numpy as np
import pytest
import torch
from scipy import special, stats

from leaderboard.stats import judges, preference, reliability
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.study import analyse
from leaderboard.stats.votes import canonical
from tests.support.leaderboard.stats.ballots import simulated_votes, vote


def judged_of(w, ties=()) -> list[Judged]:
    """Comparisons of one text each, with w[i][j] wins of method i over j and the ties (i, j, n); sides by turns."""
    rows = []
    for i, row in enumerate(w):
        for j, n in enumerate(row):
            rows += [Judged(f"p{k}", *((f"m{i}", f"m{j}", (-1,)) if k % 2 else (f"m{j}", f"m{i}", (1,)))) for k in range(n)]
    return rows + [Judged("p", f"m{i}", f"m{j}", (0,)) for i, j, n in ties for _ in range(n)]


def scores(found) -> dict[str, float]:
    return {row.method: row.elo for row in found.rows}


def adam(w, steps: int = 5_000) -> np.ndarray:
    """The published optimiser on the same loss: Adam, rate 0.1, from 1000, the last method moved to 1000 at the end."""
    w = torch.tensor(w, dtype=torch.float64)
    sigma = torch.full((len(w),), 1000.0, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([sigma], lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = (w * torch.log1p(10 ** ((sigma[None, :] - sigma[:, None]) / 400))).sum()
        loss.backward()
        optimiser.step()
    found = sigma.detach().numpy()
    return found - found[-1] + 1000


def test_the_worked_examples():
    found = scores(judges.elo(judged_of([[0, 3], [1, 0]]), "m1", 0))
    assert found["m0"] - 1000 == pytest.approx(190.8485, abs=1e-4) and found["m1"] == 1000
    found = scores(judges.elo(judged_of([[0, 3], [1, 0]], [(0, 1, 4)]), "m1", 0))
    assert found["m0"] - 1000 == pytest.approx(58.4512, abs=1e-4)  # 7 : 5, because a tie is a win of both
    found = scores(judges.elo(judged_of([[0, 4, 5], [2, 0, 3], [1, 2, 0]]), "m2", 0))
    assert [found[f"m{n}"] for n in range(3)] == pytest.approx([1243.2674584, 1097.9266455, 1000], abs=1e-4)


def test_the_published_optimiser_ends_at_the_same_scores():
    w = [[0, 4, 5], [2, 0, 3], [1, 2, 0]]
    found = scores(judges.elo(judged_of(w), "m2", 0))
    assert adam(w) == pytest.approx([found[f"m{n}"] for n in range(3)], abs=0.01)


def test_all_texts_of_a_comparison_count_whichever_side_a_method_stood_on():
    texts = [Judged("p", "x", "y", (-1, -1, 0)), Judged("q", "y", "x", (1, -1))]
    found = judges.elo(texts, "y", 0)
    (row, _) = found.rows
    assert (row.method, row.wins, row.ties, row.losses) == ("x", 3, 1, 1)
    assert found.answers == 5 and found.comparisons == 2
    assert row.elo - 1000 == pytest.approx(400 * math.log10(4 / 2))


def sided(*counts: tuple[int, int]) -> list[Judged]:
    """On each sample so many answers for the left and so many for the right side, and one undecided."""
    return [Judged(f"s{n}", "x", "y", (-1,) * left + (1,) * right + (0,)) for n, (left, right) in enumerate(counts)]


class TestLeftShare:
    def test_below_five_samples_with_a_decided_answer_there_is_no_figure(self):
        assert judges.left_share([]) is None and judges.left_share(sided((1, 1), (2, 0), (0, 1), (1, 0), (0, 0))) is None

    def test_by_hand(self):
        found = judges.left_share(sided((3, 1), (2, 2), (4, 0), (1, 3), (3, 1)))
        assert (found.value, found.n, found.samples) == (13 / 20, 20, 5)
        # sums of influences by sample (left - 13/20 of 4)/20: .02, -.03, .07, -.08, .02; variance 5/4 of their squares
        half = stats.t.ppf(0.975, 4) * np.sqrt(max(5 / 4 * 0.0130, 13 * 7 / 400 / 20)) / (13 * 7 / 400)
        assert [found.low, found.high] == pytest.approx(special.expit(special.logit(13 / 20) + np.array([-half, half])))

    def test_always_left_is_bounded_by_the_samples(self):
        found = judges.left_share(sided(*[(9, 0)] * 6))
        assert (found.value, found.high) == (1.0, 1.0) and found.low == pytest.approx(0.025 ** (1 / 6))

    def test_the_same_share_on_every_sample_is_no_certainty(self):
        found = judges.left_share(sided(*[(1, 1)] * 8))
        assert found.low < 0.5 < found.high and found.high - 0.5 == pytest.approx(0.5 - found.low)

    def test_the_right_side_is_its_mirror(self):
        left, right = (judges.left_share(sided(*pairs)) for pairs in ([(3, 1)] * 4 + [(1, 2)], [(1, 3)] * 4 + [(2, 1)]))
        assert [left.value, left.low, left.high] == pytest.approx([1 - right.value, 1 - right.high, 1 - right.low])

    def test_it_covers(self):
        rng = np.random.default_rng(3)
        true, hits = 0.6, 0
        for _ in range(400):
            own = rng.beta(6, 4, 12)
            left = rng.binomial(8, own)
            found = judges.left_share(sided(*[(int(k), 8 - int(k)) for k in left]))
            hits += found.low <= true <= found.high
        assert 0.92 <= hits / 400 <= 0.98


def test_a_method_that_never_lost_is_bounded_and_one_that_met_nobody_of_the_rest_has_no_score():
    found = judges.elo([*judged_of([[0, 5], [0, 0]]), Judged("p", "m8", "m9", (1,))], "m1", 200)
    by_name = {row.method: row for row in found.rows}
    assert by_name["m0"].regularised and by_name["m0"].elo - 1000 == pytest.approx(400 * math.log10(5.5 / 0.5))
    assert by_name["m8"].elo is None and by_name["m9"].elo is None
    assert [row.method for row in found.rows][:2] == ["m0", "m1"]
    assert judges.elo([], "m1").rows == [] and judges.elo([Judged("p", "a", "b", ())], "a").rows == []
    assert judges.elo(judged_of([[0, 3], [1, 0]]), "gone", 0).anchor == "m0"


def test_intervals_resample_comparisons_not_texts():
    rng = np.random.default_rng(0)
    single = [Judged(f"p{n}", "x", "y", (-1 if rng.random() < 0.65 else 1,)) for n in range(120)]
    tripled = [Judged(one.sample, one.left, one.right, one.verdicts * 3) for one in single]
    width = {}
    for name, rows in (("single", single), ("tripled", tripled)):
        row = next(row for row in judges.elo(rows, "y", 1000).rows if row.method == "x")
        assert row.low < row.elo < row.high
        width[name] = row.high - row.low
    assert width["tripled"] == pytest.approx(width["single"], rel=0.05)  # three texts of one comparison know no more than one
    p = 0.65
    assert width["single"] == pytest.approx(2 * 1.96 * 400 / math.log(10) / math.sqrt(120 * p * (1 - p)), rel=0.25)


def ends(row) -> tuple[float | None, float | None]:
    return row.low, row.high


def test_no_interval_is_a_point_where_every_draw_gives_one_score():
    for said in ([Judged("p", "x", "y", (-1, -1, 0))], [Judged(f"p{n}", "x", "y", (1, -1, 0)) for n in range(40)]):
        found = judges.elo(said, "y", 200)
        assert [ends(row) for row in found.rows] == [(None, None)] * 2 and [row for row in found.rows if row.elo is None] == []
    (row,) = judges.place([Judged("p", "new", "A", (-1, 1, 1))], "new", {"A": 1000.0}, 200).rows
    assert row.elo == pytest.approx(1000 + 400 * math.log10(1 / 2)) and ends(row) == (None, None)
    mixed = judges.elo([Judged(f"p{n}", "x", "y", (-1 if n % 3 else 1,)) for n in range(30)], "y", 200)
    x, y = sorted(mixed.rows, key=lambda one: one.method)
    assert x.low < x.elo < x.high and y.elo == 1000 and ends(y) == (None, None)  # the anchor stands where it stands


def test_which_part_of_comparisons_has_an_order_hangs_on_no_name():
    pairs = [("a", "b"), ("p", "q"), ("q", "r"), ("p", "r"), ("p", "q")]
    for names in ("abpqr", "yzpqr"):
        named = dict(zip("abpqr", names, strict=True))
        said = [Judged(f"s{n}", named[one], named[other], (-1, 1, -1)) for n, (one, other) in enumerate(pairs)]
        found = judges.elos(said, list(names))
        assert np.isnan(found[:2]).all() and found[2] > found[3] > found[4]
    assert np.isnan(judges.elos([], ["a"])).all()


def test_blocks_of_single_verdicts_resample_like_votes():
    votes = canonical(simulated_votes(4, 3, 3))
    rows = [Judged("", votes.methods[a], votes.methods[b], (v,)) for a, b, v in zip(votes.a, votes.b, votes.verdict, strict=True)]
    found = judges.blocks(rows, votes.methods)
    assert np.array_equal(judges.cells(found, 3), preference.cells(votes))
    ours, theirs = preference.resampled_blocks(found, 3, 400), preference.resampled(votes, 400)
    assert ours.mean(0) == pytest.approx(theirs.mean(0), rel=0.1, abs=0.5) and ours.std(0) == pytest.approx(theirs.std(0), rel=0.3, abs=0.3)


def test_a_new_method_is_placed_among_scores_that_stay():
    won, lost = (-1,), (1,)
    own = [Judged("p", "new", "A", won)] * 3 + [Judged("p", "A", "new", won), Judged("p", "new", "B", won)]
    own += [Judged("p", "new", "B", lost)] * 3
    found = judges.place(own, "new", {"A": 1000.0, "B": 1200.0})
    (row,) = found.rows
    assert row.elo == pytest.approx(1100) and row.placed and row.low < 1100 < row.high and found.comparisons == 8
    (lucky,) = judges.place([Judged("p", "new", "A", (-1,))] * 5, "new", {"A": 1000.0}, 0).rows
    assert lucky.regularised and lucky.elo == pytest.approx(1000 + 400 * math.log10(5.5 / 0.5))
    assert judges.place([Judged("p", "new", "gone", (-1,))], "new", {"A": 1000.0}, 0).rows[0].elo is None


def test_published_scores_are_reached_again_from_their_own_probabilities(data_folder):
    """Wins as often as the published scores say lead back to them, anchored at the published anchor."""
    with (data_folder.parent / "published" / "gpteval_config_elo.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = [row["method"] for row in rows]
    for criterion in list(rows[0])[1:7]:
        sigma = np.array([float(row[criterion]) for row in rows])
        p = 1 / (1 + 10 ** ((sigma[None, :] - sigma[:, None]) / 400))
        np.fill_diagonal(p, 0)
        counted = np.stack([1000 * p, np.zeros_like(p)], axis=-1)
        found, _ = preference.judge_elo(counted, names.index("dreamfusion"))
        assert found == pytest.approx(sigma, abs=1e-4)
    means = {row["method"]: np.mean([float(row[key]) for key in list(row)[1:6]]) for row in rows}
    assert max(means, key=means.__getitem__) == "mvdream" and means["mvdream"] == pytest.approx(1249.79, abs=0.005)
    assert [row for row in rows if means[row["method"]] != pytest.approx(float(row["mean_of_5"]), abs=1e-6)] == []


def test_published_agreement_has_the_resolution_of_13_methods(data_folder):
    """Kendall's tau of 13 methods without ties moves in steps of 2/78, and the means of the pair table are those of its columns."""
    folder = data_folder.parent / "published"
    with (folder / "gpteval_table1_kendall.csv").open(newline="") as stream:
        ours = {row["metric"]: row for row in csv.DictReader(stream)}["Ours"]
    assert float(ours["alignment"]) == round(64 / 78, 3) and float(ours["plausibility"]) == round(50 / 78, 3)
    with (folder / "gpteval_table2_pairwise.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            values = [float(row[key]) for key in list(row)[1:6]]
            assert np.mean(values) == pytest.approx(float(row["average"]), abs=0.0011), row["metric"]


# --- beside people


def test_probability_of_agreement_and_distance_as_worked_by_hand():
    found = reliability.probability(np.array([1, 0.5, 0, 0.75, np.nan]), np.array([1, 1 / 3, 0.5, 0, 1]))
    assert found.agreement == pytest.approx(0.5625) and found.l1 == pytest.approx(0.7083333) and found.n == 4
    assert reliability.probability(np.array([np.nan]), np.array([1.0])).agreement is None


def test_what_people_prefer_is_a_share():
    people = np.array([[-1.0, 1, np.nan], [0, 1, np.nan], [-1, -1, np.nan]])
    assert reliability.people_prefer(people)[:2] == pytest.approx([5 / 6, 1 / 3]) and math.isnan(reliability.people_prefer(people)[2])


def test_a_judges_verdict_on_a_question_is_what_most_of_its_answers_say():
    votes = canonical([vote("x", "y", "left", sample="p"), vote("x", "y", "left", sample="q"), vote("x", "z", "tie", sample="p")])
    asked = reliability.questions(votes.counted())
    said = [Judged("p", "y", "x", (1, 1, -1)), Judged("p", "x", "y", (0,)), Judged("p", "z", "x", (1, -1))]
    preferred = judges.preferred(asked, votes.samples, votes.methods, said)
    places = zip(asked.sample, asked.a, asked.b, strict=True)
    keys = [(votes.samples[h], votes.methods[a], votes.methods[b]) for h, a, b in places]
    by_question = dict(zip(keys, preferred, strict=True))
    assert by_question["p", "x", "y"] == pytest.approx(2.5 / 4) and by_question["p", "x", "z"] == 0.5
    assert math.isnan(by_question["q", "x", "y"])
    assert judges.verdict(np.array([2.5 / 4, 0.5, 0.1])).tolist() == [-1, 0, 1]


def test_judges_stand_in_tables_of_judges_only():
    rows = simulated_votes(6, 4, 5)
    votes = canonical(rows)
    echo = [Judged(row.sample, row.left, row.right, ({"left": -1, "right": 1, "tie": 0}[row.choice],)) for row in rows if row.rater == "r0"]
    contrary = [Judged(one.sample, one.left, one.right, tuple(-v for v in one.verdicts)) for one in echo]
    found = analyse(votes, models=[JudgeAnswers("echo", tuple(echo), facts={"cost": 1.5}), JudgeAnswers("contrary", tuple(contrary), True)])
    assert set(found.agreement.kinds) == {"person"}  # in no matrix of raters
    echo_row, contrary_row = found.judges
    assert echo_row.facts == {"cost": 1.5} and echo_row.order.krocc > 0.5 and contrary_row.order is None
    assert echo_row.pairs.value > 0.7 > 0.4 > contrary_row.pairs.value
    assert echo_row.probability.agreement > 0.6 > contrary_row.probability.agreement
    assert echo_row.probability.n == found.questions
    assert found.scales == analyse(votes).scales  # judges rank nothing of people's
