"""The analysis of opinion scores: worked figures, scipy as a peer, the published table, the command."""

import csv
import json
import math
import re
import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from leaderboard.stats import screening
from leaderboard.stats.__main__ import main
from leaderboard.stats.correlation import by_scene, correlation
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.judges import elo as elo_of
from leaderboard.stats.mos_table import Rating, Ratings, canonical, write
from leaderboard.stats.published_means import Means, analyse_means
from leaderboard.stats.records import plain
from leaderboard.stats.states import Counted, Key, Reason, State
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.wording.reasons import sentence
from tests.support.leaderboard.reasons import few_entries, few_items

TRUTH = {"a": 4.5, "b": 3.5, "c": 2.5, "d": 1.5}


def scores(raters: int = 6, noise: float = 0.3, contrary: int = 0, samples=("barn", "house", "mill")) -> list[Rating]:
    """Raters who see the truth with some noise; the last `contrary` of them say the opposite."""
    rng = np.random.default_rng(4)
    return [
        Rating(
            f"r{k}",
            name,
            float(np.clip(round((6 - value if k >= raters - contrary else value) + rng.normal(0, noise), 2), 1, 5)),
            sample,
            "experts" if k % 2 else "others",
            "overall",
            "",
            4.0,
        )
        for k in range(raters)
        for sample in samples
        for name, value in TRUTH.items()
    ]


def metric(key: str, values, higher: bool = True, samples: int = 3) -> MetricScores:
    return MetricScores(key, np.tile(np.array(values, dtype=float), (samples, 1)), higher)


def test_means_and_their_t_intervals_are_scipys():
    rows = scores()
    found = analyse(canonical(rows))
    assert [row.method for row in found.scales] == ["a", "b", "c", "d"]
    for line in found.scales:
        own = [row.score for row in rows if row.entry == line.method]
        assert line.mos[0] == pytest.approx(np.mean(own)) and line.sd == pytest.approx(np.std(own, ddof=1)) and line.n == len(own) == 18
        assert line.normalised == pytest.approx((np.mean(own) - 1) / 4)
        here = [row.score for row in rows if row.entry == line.method and row.sample == "barn"]
        low, high = stats.t.interval(0.95, len(here) - 1, np.mean(here), stats.sem(here))
        barn = line.scenes["barn"]
        assert (barn.mean, barn.low, barn.high) == pytest.approx((np.mean(here), low, high)) and barn.n == 6
    assert (found.kind, found.of, found.ratings, found.n_raters) == ("opinions", "ratings", 72, 6)


def same(row: Rating, other: Rating) -> bool:
    """True if one rater gave both scores for one sample."""
    return (row.rater, row.sample) == (other.rater, other.sample)


def judge(noise: int = 4, **values) -> JudgeAnswers:
    """Prefers the better method, but in every so-manieth comparison the other one; once undecided."""
    said = []
    for sample in ("barn", "house", "mill"):
        for left, right in combinations("abcd", 2):
            verdict = 1 if len(said) % noise == noise - 1 else -1
            said.append(Judged(sample, left, right, (verdict, 0, verdict)))
    return JudgeAnswers("seer", (*said, Judged("elsewhere", "a", "z", (1,))), **values)


def test_a_judges_elo_is_held_against_means_and_its_win_rates_within_samples():
    rows, one = scores(), judge(facts={"requests": 18})
    (found,) = analyse(canonical(rows), models=[one]).judges
    elo = {row.method: row.elo for row in elo_of(one.judged, "a", resamples=0).rows}
    means = [np.mean([row.score for row in rows if row.entry == name]) for name in "abcd"]
    values = [elo[name] for name in "abcd"]
    assert found.left_share is None  # of four samples
    order = found.order
    peers = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    assert [getattr(order, name) for name in ("plcc", "srocc", "krocc")] == pytest.approx([peer(values, means)[0] for peer in peers])
    assert order.n == 4
    assert [
        name
        for name in ("plcc", "srocc", "krocc")
        if not getattr(order, f"{name}_ci")[0] <= getattr(order, name) <= getattr(order, f"{name}_ci")[1]
    ] == []
    assert set(found.groups) == {"experts", "others"} and found.facts == {"requests": 18}
    # Each person's verdict on a pair of one sample is a question that the judge answered too, three times.
    alike = []
    for it in one.judged[:-1]:
        said = np.sign(sum(it.verdicts))
        score = {(row.rater, row.entry): row.score for row in rows if row.sample == it.sample and row.group == "experts"}
        alike += [
            1 - abs(said - np.sign(score[rater, it.right] - score[rater, it.left])) / 2 for rater in sorted({rater for rater, _ in score})
        ]
    assert found.groups["experts"].value == pytest.approx(np.mean(alike)) and found.groups["experts"].n == len(alike) == 54
    assert found.decided.n == 108 - sum(row.score == other.score for row, other in combinations(rows, 2) if same(row, other))
    here = [one for one in judge().judged if one.sample == "barn"]
    won = {name: [] for name in "abcd"}
    for it in here:
        for verdict in it.verdicts:
            won[it.left].append((1 - verdict) / 2)
            won[it.right].append((1 + verdict) / 2)
    barn = [np.mean([row.score for row in rows if row.entry == name and row.sample == "barn"]) for name in "abcd"]
    assert found.scenes["barn"].srocc == pytest.approx(stats.spearmanr([np.mean(won[name]) for name in "abcd"], barn)[0])
    assert found.scenes_mean.n == 3


def test_a_judges_order_on_the_page_is_of_undamaged_entries_and_has_an_interval_from_eight_on():
    worth = dict(zip("abcdefghz", (4.4, 4.1, 3.9, 3.6, 3.4, 3.1, 2.9, 2.6, 1.0), strict=True))
    rows = [
        Rating(f"r{k}", name, value + 0.1 * k, sample) for k in range(6) for sample in ("barn", "house") for name, value in worth.items()
    ]
    # It sees that z is damaged, and beside that it has neighbours the wrong way round.
    better = dict(zip("badcfehgz", range(9), strict=True))
    said = [
        Judged(sample, one, other, (-1 if better[one] < better[other] else 1,) * 3 + (1, -1))
        for sample in ("barn", "house")
        for one, other in combinations(worth, 2)
    ]
    ratings = canonical(rows)
    (found,) = analyse(ratings, models=[JudgeAnswers("seer", tuple(said))], damaged={"z"}).judges
    assert found.rho.n == 8 and found.order.n == 9 and found.rho.value < found.order.srocc
    # The worked example of eight entries in which each two neighbours are turned.
    assert [found.rho.value, found.rho.low, found.rho.high] == pytest.approx([0.9047619, 0.4278916, 0.9875982], abs=1e-6)
    (few,) = analyse(ratings, models=[JudgeAnswers("seer", tuple(said))], damaged={"y", "z"}, left_out=["h"]).judges
    assert (few.rho.n, few.rho.low, few.rho.reason) == (7, None, few_entries(7))


def test_a_judge_for_display_only_has_no_order_and_one_left_out_entry_takes_no_part():
    rows = canonical(scores())
    (shown,) = analyse(rows, models=[judge(display_only=True)]).judges
    assert shown.order is None and shown.rho is None and shown.display_only and shown.scenes == {}
    assert analyse(rows, models=[judge()], left_out=["d"]).judges[0].order.n == 3
    assert analyse(rows).judges == []


def test_correlations_are_over_the_means_of_entries_and_within_samples():
    rows, rng = scores(), np.random.default_rng(1)
    values = rng.normal(size=(3, 4))
    found = analyse(canonical(rows), [MetricScores("m", values, higher_is_better=False)]).metric("m")

    def mos(name, keep=lambda row: True):
        return np.mean([row.score for row in rows if row.entry == name and keep(row)])

    overall = [mos(name) for name in "abcd"]
    assert found.order.srocc == pytest.approx(stats.spearmanr(-values.mean(0), overall)[0])
    assert found.order.krocc == pytest.approx(stats.kendalltau(-values.mean(0), overall)[0])
    within = []
    for n, sample in enumerate(("barn", "house", "mill")):
        here = [np.mean([row.score for row in rows if (row.entry, row.sample) == (name, sample)]) for name in "abcd"]
        within.append(stats.pearsonr(-values[n], here)[0])
    assert [found.scenes[name].plcc for name in ("barn", "house", "mill")] == pytest.approx(within)
    assert found.scenes_mean.plcc == pytest.approx(np.mean(within)) and found.scenes_mean.n == 3


def test_intervals_of_correlations_are_percentiles_of_a_plain_loop():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 9, 9).astype(float), rng.normal(size=9)
    found = correlation(x, y, resamples=300, seed=5)
    x, y = np.array(sorted(zip(x, y, strict=True))).T  # draws are of the values in order
    chosen = [np.repeat(np.arange(9), counts) for counts in np.random.default_rng(5).multinomial(9, np.full(9, 1 / 9), size=300)]
    loops = [[stats.pearsonr(x[c], y[c])[0], stats.spearmanr(x[c], y[c])[0], stats.kendalltau(x[c], y[c])[0]] for c in chosen]
    for ends, column in zip((found.plcc_ci, found.srocc_ci, found.krocc_ci), np.array(loops).T, strict=True):
        assert ends == pytest.approx(np.percentile(column, [2.5, 97.5]), abs=1e-12)
    assert correlation(x[:3], y[:3], resamples=300).srocc_ci is None  # three values say nothing
    assert correlation(x, y).srocc_ci is None


def test_the_mean_over_scenes_draws_scenes():
    up, down = ([1, 2, 3, 4], [1, 2, 3, 4]), ([1, 2, 3, 4], [4, 3, 2, 1])
    _, mean = by_scene({"s": up, "t": up, "u": down}, resamples=500)
    assert mean.srocc == pytest.approx(1 / 3) and mean.srocc_ci == pytest.approx((-1, 1))


def test_raters_who_go_against_the_others_are_left_out_where_asked():
    rows = canonical(scores(raters=7, contrary=1))
    kept, screened = analyse(rows), analyse(rows, screening="others", screened={"r6": ["others"]})
    assert kept.screened == [] and kept.counted == 84 and not kept.screening
    assert screened.screened == ["r6"] and screened.counted == 72
    assert screened.scales[0].mos[0] > kept.scales[0].mos[0]
    assert len(screened.agreement.names) == 6 and screened.unscreened.raters == 7
    line = next(row for row in screened.reliability.raters if row.rater == "r6")
    assert line.screened and line.agreement < -0.9 and line.seconds == 4.0


def test_where_the_rule_leaves_everybody_out_nothing_counts_and_the_reason_says_so():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analyse(canonical(scores(raters=2, contrary=1)), screened={"r0": ["others"], "r1": ["others"]}, damaged=set())
    assert found.screened == ["r0", "r1"] and found.counted == 0
    assert found.reason == found.all.reason == Reason(Key.ALL_SCREENED)
    assert {row.bias for row in found.reliability.raters} == {None}


def test_an_entry_left_out_keeps_its_mean_and_correlates_with_nothing():
    rows, wrong = canonical(scores()), metric("m", [0, 3, 2, 1])
    assert analyse(rows, [wrong]).metric("m").order.srocc < 0.5
    found = analyse(rows, [wrong], left_out=["a", "unheard of"])
    assert found.metric("m").order.srocc == pytest.approx(1) and found.metric("m").order.n == 3
    assert found.left_out == ["a"] and found.scales[0].method == "a" and found.scales[0].n == 18


def test_published_means_correlate_as_published(data_folder):
    with (data_folder.parent / "published" / "osim_table4_reevaluation.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    nothing = np.full(len(rows), math.nan)
    means = Means(tuple(row["method"] for row in rows), np.array([float(row["mos"]) for row in rows]), nothing, nothing, nothing, 23)
    metrics = [
        MetricScores(key, np.array([[float(row[key]) for row in rows]]), key != "lpips_alex")
        for key in ("psnr", "ssim", "lpips_alex", "clip_sim", "osim")
    ]
    found = analyse_means(means, metrics, left_out=["COLMAP"])
    rho = {line.key: line.order.srocc for line in found.metrics}
    expected = {"psnr": 0.6575, "ssim": 0.497, "lpips_alex": 0.662, "clip_sim": 0.739, "osim": 0.797}
    assert rho == pytest.approx(expected, abs=1e-3)
    for line in found.metrics:
        low, high = line.order.srocc_ci
        assert low < line.order.srocc < high and line.order.n == 11
    assert found.scales[0].method == "Mip-NeRF360" and found.scales[-1].mos == (1.71, None, None)
    json.dumps(plain(found), allow_nan=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "opinions.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(write(scores(raters=7, contrary=1)))
    return path


def test_the_command_knows_opinion_scores_by_their_columns(file, tmp_path, capsys):
    table = tmp_path / "scores.csv"
    lines = [f"{sample},{name},{value},{-value}" for sample in ("barn", "house", "mill") for name, value in TRUTH.items()]
    table.write_text("\n".join(["sample,method,psnr:higher,error:lower", *lines]))
    assert main([str(file), "--scores", str(table), "--screen", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["criteria"]["overall"]
    assert found["screened"] == ["r6"] and [line["rho"]["value"] for line in found["metrics"][:2]] == pytest.approx([1, 1])
    assert main([str(file), "--scores", str(table)]) == 0
    shown = capsys.readouterr().out
    assert [part for part in ("84 scores", "7 raters", "3 samples", "MOS") if part not in shown] == []
    assert [line.split(maxsplit=1)[1] for line in shown.splitlines() if line.startswith("psnr")] == [sentence(few_items(3))]


def test_entries_that_were_scored_together_are_not_said_to_be_scored_by_nobody():
    ratings, only, counts = canonical(scores()), Reason(Key.ONLY_DAMAGED), Reason(Key.NONE_COUNTS)
    assert analyse(ratings, damaged=set("bcd")).reason == analyse(ratings, damaged=set("abcd")).reason == only
    assert (
        analyse(ratings, damaged=set("bcd"), left_out="b").reason == analyse(ratings, damaged=set("abcd"), left_out="abcd").reason == counts
    )
    # Each rater scored another entry.
    alone = canonical([row for row in scores() if "abcd".index(row.entry) == int(row.rater[1:]) % 4])
    nobody = Reason(Key.NO_COMPARISONS)
    assert analyse(alone, damaged=set("bcd")).reason == analyse(alone, damaged=set(), left_out="b").reason == nobody


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("others", ": r6."),
        ("bt500", "Nobody had to be left out."),
        ("inconsistency", ": r6."),
    ],
)
def test_the_command_says_by_which_rule_raters_were_left_out(file, capsys, rule, said):
    assert main([str(file), "--screen", rule]) == 0
    (line,) = re.findall(r"^Left out is who .*$", capsys.readouterr().out, re.MULTILINE)
    assert screening.words(rule, screening.DEFAULTS[rule]) in line and line.endswith(said)
    assert main([str(file)]) == 0
    assert "eft out" not in capsys.readouterr().out


def test_an_entry_that_is_left_out_by_the_command_moves_no_figure_of_a_metric(tmp_path, capsys):
    """The metric puts the entry that people like least first by far, and the others in people's order."""
    names, samples = "abcdefghz", [f"s{n}" for n in range(6)]
    rows = [Rating(f"r{k}", name, 4.5 - 0.3 * n - 0.1 * k, sample) for k in range(6) for sample in samples for n, name in enumerate(names)]
    study, without, values = tmp_path / "study.csv", tmp_path / "without.csv", tmp_path / "values.csv"
    for file, chosen in ((study, rows), (without, [row for row in rows if row.entry != "z"])):
        with file.open("w", newline="") as stream:
            csv.writer(stream).writerows(write(chosen))
    lines = [f"{sample},{name},{99 if name == 'z' else (8 - n) ** 2}" for sample in samples for n, name in enumerate(names)]
    values.write_text("\n".join(["sample,method,m:higher", *lines]))

    def found(file, *more: str) -> dict:
        assert main([str(file), "--scores", str(values), "--json", *more]) == 0
        return json.loads(capsys.readouterr().out)["criteria"][""]

    whole, left, fewer = found(study), found(study, "--left-out", "z"), found(without)
    figures = ("decided", "auc_better_worse", "acc_eq", "spa", "rho", "tau", "r")
    assert whole["metrics"][0]["rho"]["value"] < 0.5 < left["metrics"][0]["rho"]["value"]
    assert [left["metrics"][0][name] for name in figures] == [fewer["metrics"][0][name] for name in figures]
    assert left["metrics"][0]["decided"]["value"] == 1.0 and left["all"]["metrics"][0]["decided"] == whole["metrics"][0]["decided"]
    assert left["left_out"] == ["z"] and [row["method"] for row in left["scales"]][-1] == "z"  # which keeps its mean


def test_what_the_command_cannot_do_with_opinion_scores_it_says(file, capsys):
    assert main([str(file), "--gold", "a:b"]) == 2
    assert "--gold means nothing" in capsys.readouterr().err
    assert main([str(file), "--criterion", "semantic"]) == 1
    assert "on 'semantic'" in capsys.readouterr().err


# --- across items


def worked() -> tuple[Ratings, list[MetricScores]]:
    """The worked example of published sets, as a study: six raters score five entries of six items."""
    i, e = np.mgrid[0:6, 0:5]
    t = (3 * i + 5 * e + i * e) % 7 + 1.5 * e
    rows = [
        Rating(f"r{r}", f"e{n}", float(min(5, 1 + (t[h, n] + (2 * r + 3 * h + n * (r + 1)) % 5) // 3.2)), f"i{h}")
        for r in range(6)
        for h in range(6)
        for n in range(5)
    ]
    tables = {"A": t + (2 * i + e) % 3, "B": t + 4 * (i % 2) + (i + 2 * e) % 4, "C": (7 * i + 3 * e) % 5.0}
    return canonical(rows), [MetricScores(key, x.astype(float)) for key, x in tables.items()]


def test_figures_across_items_are_those_of_published_sets():
    found = analyse(*worked())
    assert found.all is None
    figures = {key: found.metric(key).srocc for key in "ABC"}
    expected = {
        "A": (0.9383591, 0.869842, 0.971360, 0.1508652, 4.83970),
        "B": (0.6906657, 0.442303, 0.840644, 0.1452466, 4.96607),
        "C": (0.2298224, -0.362857, 0.690116, 0.2388667, 4.99599),
    }
    for key, one in figures.items():
        assert (one.value, one.low, one.high, one.se, one.df) == pytest.approx(expected[key], rel=1e-5)
        assert (one.n, one.items, one.raters, one.state) == (30, 6, 6, State.ROUGH)
    assert [figures[key].places for key in "ABC"] == [(1, 1), (2, 3), (2, 3)] and figures["A"].may_be_best
    assert [found.metric(key).decided.value for key in "ABC"] == pytest.approx([0.9111498, 0.9233449, 0.5783972], abs=1e-6)
    points = [row.srocc for row in found.metrics if row.reference_point]
    assert points[0].value is None and points[0].reason == Reason(Key.ALIKE) and points[1].low < 0 < points[1].high


def test_too_few_results_have_no_figure_across_items_and_ratings_of_damaged_entries_take_no_part():
    ratings, metrics = worked()
    found = analyse(ratings, metrics[:1], damaged={"e4"})
    few = found.metric("A").srocc
    assert few.n == 24 and few.low is not None
    assert found.all.metrics[0].srocc is None, "it is of entries alone"
    few = analyse(ratings, metrics[:1], damaged={"e3", "e4"}).metric("A").srocc
    assert (few.low, few.state, few.reason) == (None, State.TOO_FEW, Reason(Key.FEW, Counted.RESULTS, 24, 18))
    gap = [MetricScores("gap", np.where(np.arange(30).reshape(6, 5) == 7, np.nan, metrics[0].values)), metrics[1]]
    found = analyse(ratings, gap)
    assert found.metric("gap").srocc.n == 29 and found.metric("gap").srocc.places is None


# --- places


def test_places_of_mean_scores_follow_the_rule_of_abilities():
    """Against an implementation of the rule by loops, on scores that some raters gave to some entries alone."""
    rng = np.random.default_rng(7)
    base = {"a": 3.9, "b": 3.5, "c": 3.4, "d": 2.2, "e": 2.1}
    rows = [
        Rating(f"r{k}", name, float(np.clip(round(value + taste + rng.normal(0, 0.8)), 1, 5)), f"s{h}")
        for k, taste in enumerate(rng.normal(0, 0.3, 9))
        for h in range(7)
        for name, value in base.items()
        if rng.random() < 0.8
    ]
    ratings = canonical(rows)
    found = analyse(ratings)
    names, score = list(base), ratings.score
    of = [ratings.method == ratings.methods.index(name) for name in names]
    theta = np.array([score[own].mean() for own in of])
    u = np.array([np.where(own, (score - mean) / own.sum(), 0.0) for own, mean in zip(of, theta, strict=True)])
    u -= u.mean(axis=0)

    def parts(first, second):
        """The three covariances of two influences, over raters, samples and cells."""
        cells = ratings.rater * 7 + ratings.sample
        made = []
        for place in (ratings.rater, ratings.sample, cells):
            groups = sorted(set(place.tolist()))
            one, other = (np.array([values[place == g].sum() for g in groups]) for values in (first, second))
            g = len(groups)
            made.append(g / (g - 1) * float(((one - one.mean()) * (other - other.mean())).sum()))
        return made

    def variance(values):
        r, s, c = parts(values, values)
        return c + max(0, r - c) + max(0, s - c)

    def df(values):
        r, s, c = parts(values, values)
        n = len(set((ratings.rater * 7 + ratings.sample).tolist()))
        return max(1, variance(values) ** 2 / ((r > c) * r**2 / 8 + (s > c) * s**2 / 6 + c**2 / (n - 1)))

    m = len(names)
    scale = np.array([[(lambda r, s, c: r + s - c)(*parts(u[i], u[j])) for j in range(m)] for i in range(m)])
    values, vectors = np.linalg.eigh(scale)
    root = vectors * np.sqrt(np.maximum(values, 0))
    root *= np.sqrt(np.array([variance(row) for row in u]) / (root**2).sum(axis=1))[:, None]
    own = np.median([df(row) for row in u])
    draws = np.random.default_rng(3)
    z = draws.standard_normal((20_000, m)) @ root.T / np.sqrt(draws.chisquare(own, 20_000) / own)[:, None]
    for i, name in enumerate(names):
        apart = np.sqrt(((root - root[i]) ** 2).sum(axis=1))
        rivals = [j for j in range(m) if j != i]
        bar = np.quantile(np.max([np.abs(z[:, j] - z[:, i]) / apart[j] for j in rivals], axis=0), 0.95)
        t = {j: (theta[j] - theta[i]) / np.sqrt(variance(u[j] - u[i])) for j in rivals}
        assert min(abs(abs(value) - bar) for value in t.values()) > 0.05, "other draws would not change a place"
        low, high = 1 + sum(value > bar for value in t.values()), m - sum(value < -bar for value in t.values())
        row = next(line for line in found.scales if line.method == name)
        assert row.rank == (low, high) and row.may_be_first is bool(low == 1)
    assert found.enough.first == "a" and found.first_place.entry == "a" and set(found.enough.open) <= {"b", "c"}
    for rival in found.first_place.others:
        gap = u[0] - u[names.index(rival.entry)]
        t = (theta[0] - theta[names.index(rival.entry)]) / np.sqrt(variance(gap))
        assert rival.p == pytest.approx(2 * stats.t.sf(abs(t), df(gap)), rel=1e-9)
