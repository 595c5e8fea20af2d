"""Records of sets: the specification's worked example, sets computed by an implementation written apart, and what may change nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.evidence.tables import Criterion, EvidenceTables, PublishedMetric, RatersAre, Scores
from leaderboard.stats.evidence.analysis import record_of
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.evidence.record import AcrossState, CriterionFigures, EvidenceRecord
from leaderboard.stats.records import plain
from leaderboard.stats.states import Counted, Key, Reason, State
from tests.support.leaderboard.stats import made_evidence, plain_evidence
from tests.support.leaderboard.stats.published_sets import FACTS, SETS, example, means_of, stimuli_of, tables_of

# The figures of EVIDENCE, section 10: value, low, high, n; se and df where it prints them.
PRINTED = {
    "decided": {
        "A": (0.9111498, 0.707886, 0.977476, 287, 0.0453195, 4.95895),
        "B": (0.9233449, 0.763800, 0.978199, 287, 0.0367165, 5.24366),
        "C": (0.5783972, 0.378316, 0.755673, 287, 0.0770082, 4.97718),
    },
    "decided_between": {
        "A": (0.9027778, 0.715307, 0.971685, 180),
        "B": (0.9388889, 0.719657, 0.989242, 180),
        "C": (0.5166667, 0.270832, 0.754691, 180),
    },
    "concordance": {
        "A": (0.8684211, 0.534511, 0.974316, 57),
        "B": (0.9122807, 0.625965, 0.984763, 57),
        "C": (0.5614035, 0.372397, 0.734128, 57),
    },
    "concordance_between": {
        "A": (0.8676471, 0.560092, 0.971226, 34),
        "B": (0.9705882, 0.686679, 0.997992, 34),
        "C": (0.5, 0.254740, 0.745260, 34),
    },
    "srocc": {
        "A": (0.9383591, 0.869842, 0.971360, 30, 0.1508652, 4.83970),
        "B": (0.6906657, 0.442303, 0.840644, 30, 0.1452466, 4.96607),
        "C": (0.2298224, -0.362857, 0.690116, 30, 0.2388667, 4.99599),
    },
}


@pytest.fixture(scope="module")
def worked() -> CriterionFigures:
    return record_of(example(), FACTS).criteria["quality"]


@pytest.mark.parametrize("name", PRINTED)
def test_the_worked_example_is_what_the_specification_prints(worked, name):
    for key, expected in PRINTED[name].items():
        figure = getattr(worked.metrics[key], name)
        assert [figure.value, figure.low, figure.high, figure.n] == pytest.approx(expected[:4], abs=1e-6), key
        assert figure.state == State.ROUGH and figure.reason is None, "six raters and six groups make a rough interval"
        if len(expected) > 4:
            assert figure.se == pytest.approx(expected[4], abs=1e-6) and figure.df == pytest.approx(expected[5], abs=1e-5)


def test_the_worked_examples_curves_places_and_tests(worked):
    assert [worked.metrics[key].plcc.value for key in "ABC"] == pytest.approx([0.94381, 0.75163, 0.30487], abs=1e-5)
    assert [worked.metrics[key].srocc.places for key in "ABC"] == [(1, 1), (2, 3), (2, 3)]
    assert [worked.metrics[key].srocc.may_be_best for key in "ABC"] == [True, False, False]
    assert worked.metrics["A"].decided.value < worked.metrics["B"].decided.value, "within items B is above A, across items A is"
    apart = worked.differences["srocc"][0]
    assert (apart.first, apart.second) == ("A", "B")
    assert [apart.value, apart.se, apart.p] == pytest.approx([0.8749083, 0.1853310, 0.0055577], abs=1e-6)
    assert worked.metrics["C"].across_state == AcrossState.AT_CHANCE and worked.metrics["A"].across_state is None


def test_the_worked_examples_columns_are_not_people_unless_the_publication_says_so():
    said = record_of(example(RatersAre.PERSONS), FACTS).criteria["quality"]
    assert said.basis == Basis.PERSONS and said.raters == 6 and not said.check.people
    assert said.check.p_across == pytest.approx(0.952, abs=0.02) and said.check.p_inside == pytest.approx(0.73, abs=0.05)
    only_columns = record_of(example(RatersAre.COLUMNS), FACTS).criteria["quality"]
    assert only_columns.basis == Basis.SCORES and only_columns.raters is None and only_columns.within is None
    for key, se in zip("ABC", (0.1508652, 0.1452466, 0.2388667), strict=True):
        line = only_columns.metrics[key]
        assert line.decided is None and line.decided_split is None, "without persons there are no answers of a person"
        assert line.srocc.se == pytest.approx(se, abs=1e-6) and line.srocc.df == 5 and line.srocc.raters is None
        assert line.concordance == said.metrics[key].concordance


def test_all_of_the_worked_example(worked, data_folder):
    """The file beside the specification has every figure with all its digits."""
    path = data_folder.parent / "evidence-example.json"
    if not path.is_file():
        pytest.skip("evidence-example.json is not beside the folder of test data")
    expected, groups_only = json.loads(path.read_text()), record_of(example(RatersAre.COLUMNS), FACTS).criteria["quality"]
    names = ("decided", "decided_between", "concordance", "concordance_between", "concordance_clear", "srocc", "plcc")
    tables = [(name, name, worked) for name in names]
    tables += [(f"{name}_groups_only", name, groups_only) for name in ("srocc", "plcc")]
    compared = 0
    for key, name, found in tables:
        near = 1e-4 if name == "plcc" else 1e-6  # what comes from leaving out of a search, but its value
        for metric, one in expected[key].items():
            figure = getattr(found.metrics[metric], name)
            assert figure.value == pytest.approx(one["value"], abs=1e-6)
            ours = {"low": figure.low, "high": figure.high, "n": figure.n, "groups": figure.groups, "raters": figure.raters}
            ours |= {"se": figure.se, "se_z": figure.se, "df": figure.df, "n_eff": figure.n_eff, "coverage": figure.coverage}
            for what, value in one.items():
                if what in ours and value is not None:
                    assert ours[what] == pytest.approx(value, abs=near), (key, metric, what)
                    compared += 1
    assert compared > 180
    for metric, one in expected["entries"].items():
        for name, correlation in one.items():
            figure = getattr(worked.metrics[metric], name)
            assert figure.value == pytest.approx(correlation["value"], abs=1e-6) and figure.low is None
            assert figure.reason == Reason(Key.FEW_FOR_CORRELATION_INTERVAL, Counted.ENTRIES, 8, 5) and figure.state == State.NO_INTERVAL
        assert worked.metrics[metric].efficiency == pytest.approx(1)
    within, across = expected["ceiling_within"], expected["ceiling_across"]
    two = within["two_people"]
    assert [worked.within.another_rater.value, worked.within.another_rater.low, worked.within.another_rater.high] == pytest.approx(
        [two["value"], two["low"], two["high"]], abs=1e-6
    )
    for name in ("leave_one_out", "low", "likely", "high", "n"):
        assert getattr(worked.within, name) == pytest.approx(within[name], abs=1e-6)
    assert [worked.across.srocc, worked.across.plcc] == pytest.approx([across["srocc"], across["plcc"]], abs=0.02)
    assert worked.across.one == pytest.approx(across["one"], abs=1e-6)


# --- an implementation written apart


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("persons", [True, False])
def test_figures_within_and_across_are_those_of_another_implementation(seed, persons):
    rng = np.random.default_rng(seed)
    scores = made_evidence.scores(rng)
    means, metrics = plain_evidence.means_of(scores), made_evidence.metrics(rng, plain_evidence.means_of(scores))
    raters_are = RatersAre.PERSONS if persons else RatersAre.ANONYMOUS
    found = record_of(made_evidence.tables(scores, metrics, raters_are), FACTS).criteria["quality"]
    between = [row for row in means if row[2] not in ("entry 0", "entry 1")]
    for key, metric in metrics.items():
        line = found.metrics[key]

        def same(figure, expected, what, near=1e-6, key=key):
            assert [figure.value, figure.low, figure.high, figure.se, figure.df] == pytest.approx(expected, abs=near, rel=near), (key, what)

        if persons:
            same(line.decided, plain_evidence.share(plain_evidence.own_comparisons(scores, metric), True), "decided")
        same(line.concordance, plain_evidence.share(plain_evidence.mean_comparisons(means, metric), False), "concordance")
        parts = plain_evidence.mean_comparisons(means, metric, clear=True)
        same(line.concordance_clear, plain_evidence.share(parts, False), "clear")
        own = scores if persons else None
        same(line.srocc, plain_evidence.across(means, own, metric, plain_evidence.rank_correlation), "srocc")
        assert line.missing == len(means) - len(metric) and line.srocc.n == len(metric)
    # Between families nothing is left of pairs of the ladder.
    ladder = [row for row in means if row[2] in ("entry 0", "entry 1")]
    whole = len(plain_evidence.mean_comparisons(means, metrics["sharp"]))
    left = found.metrics["sharp"].concordance_between.n
    assert whole - left == len(plain_evidence.mean_comparisons(ladder, metrics["sharp"])) and between


def test_the_curve_is_that_of_another_implementation():
    rng = np.random.default_rng(5)
    scores = made_evidence.scores(rng, groups=5, raters=5)
    means = plain_evidence.means_of(scores)
    metrics = made_evidence.metrics(rng, means)
    found = record_of(made_evidence.tables(scores, metrics), FACTS).criteria["quality"]
    for key in ("sharp", "coarse"):
        figure = found.metrics[key].plcc
        expected = plain_evidence.across(means, scores, metrics[key], plain_evidence.Curve())
        assert figure.value == pytest.approx(expected[0], abs=1e-6)
        assert [figure.low, figure.high, figure.se] == pytest.approx(expected[1:4], abs=1e-4)


# --- what changes nothing


def shown(record: EvidenceRecord) -> dict[str, object]:
    found = plain(record.criteria["quality"])
    return found | {"metrics": {key: value for key, value in found["metrics"].items() if key != "coin"}}


def alike(one: object, other: object, where: str = "") -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            alike(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), where
        for n, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            alike(mine, theirs, f"{where}.{n}")
    else:
        near = 0.02 if ".across." in where or "check" in where else 1e-7
        assert one == (pytest.approx(other, abs=near, rel=1e-6) if isinstance(other, float) else other), where


@pytest.fixture(scope="module")
def some() -> EvidenceTables:
    rng = np.random.default_rng(7)
    scores = made_evidence.scores(rng)
    return made_evidence.tables(scores, made_evidence.metrics(rng, plain_evidence.means_of(scores)))


@pytest.fixture(scope="module")
def of_some(some) -> EvidenceRecord:
    return record_of(some, FACTS)


def reordered(tables: EvidenceTables, order: np.ndarray) -> EvidenceTables:
    """The same set with its stimuli in another order, items and entries numbered anew by first appearance."""
    of = tables.stimuli
    stimuli = stimuli_of(
        [of.items[n] for n in of.item[order]],
        [of.entries[n] for n in of.entry[order]],
        [of.groups[n] for n in of.group[order]],
        {of.entries[n]: of.families[of.family_of[n]] for n in range(len(of.entries))},
    )
    new = np.empty(len(order), dtype=np.int64)
    new[order] = np.arange(len(order))
    criterion = tables.criteria[0]
    scores = replace(criterion.scores, stimulus=new[criterion.scores.stimulus])
    return replace(tables, stimuli=stimuli, criteria=(Criterion("quality", scores=scores),), values=tables.values[order])


def test_the_order_of_stimuli_and_of_scores_changes_nothing(some, of_some):
    rng = np.random.default_rng(1)
    turned = reordered(some, rng.permutation(len(some.stimuli)))
    scores = turned.criteria[0].scores
    order, number = rng.permutation(len(scores)), rng.permutation(scores.n_raters)
    mixed = Scores(
        scores.stimulus[order],
        number[scores.rater[order]],
        scores.score[order],
        scores.sessions,
        scores.session_of[np.argsort(number)],
        scores.number_of[np.argsort(number)],
    )
    turned = replace(turned, criteria=(Criterion("quality", scores=mixed),))
    alike(shown(record_of(turned, FACTS)), shown(of_some))


def test_the_unit_and_the_direction_of_a_metric_change_nothing(some, of_some):
    whole = shown(of_some)
    alike(shown(record_of(replace(some, values=1000 * some.values - 7), FACTS)), whole)
    turned = tuple(replace(metric, higher_is_better=False) for metric in some.metrics)
    found = shown(record_of(replace(some, metrics=turned, values=-some.values), FACTS))
    for line in found["metrics"].values():
        line["higher_is_better"] = True
    alike(found, whole)


def test_the_direction_and_the_unit_of_the_scale_change_nothing(some, of_some):
    scores = some.criteria[0].scores
    turned = replace(some, better_is_higher=False, criteria=(Criterion("quality", scores=replace(scores, score=60 - 10 * scores.score)),))
    one, other = shown(of_some), shown(record_of(turned, FACTS))
    one["check"].pop("stable_bias_sd"), other["check"].pop("stable_bias_sd")  # the only one in the unit of the scale
    alike(other, one)


def test_what_knows_nothing_is_in_every_table_without_a_place(of_some):
    found = of_some.criteria["quality"].metrics
    constant, coin = found["constant"], found["coin"]
    assert constant.reference_point and coin.reference_point and list(found)[-2:] == ["constant", "coin"]
    assert constant.decided.value == 0.5 and constant.decided.low is None and constant.decided.state == State.ALIKE
    assert constant.srocc.value is None and constant.srocc.state == State.ALIKE
    assert coin.decided.low < 0.5 < coin.decided.high and coin.srocc.low < 0 < coin.srocc.high
    assert [
        (line, name)
        for line in (constant, coin)
        for name in ("decided", "srocc", "plcc", "concordance")
        if getattr(line, name).places is not None
    ] == []


def test_a_metric_with_gaps_has_figures_and_no_place(some, of_some):
    found = of_some.criteria["quality"]
    assert found.compared == ("sharp", "coarse") and found.metrics["short"].missing == 4
    assert found.metrics["short"].srocc.low is not None and found.metrics["short"].srocc.places is None
    assert found.metrics["short"].decided.coverage < 1 and found.metrics["short"].decided.places is None
    assert found.metrics["sharp"].decided.places is not None
    only = record_of(replace(some, compare=("sharp",)), FACTS).criteria["quality"]
    assert only.compared == ("sharp",) and only.metrics["coarse"].srocc.places is None


def test_a_size_is_what_metrics_are_held_against(some):
    sized = replace(some, metrics=(*some.metrics, PublishedMetric("bytes", "", True, True)))
    rng = np.random.default_rng(2)
    sized = replace(sized, values=np.column_stack([some.values, rng.normal(size=len(some.stimuli))]))
    found = record_of(sized, FACTS).criteria["quality"].metrics
    assert found["size"].column == "bytes" and found["size"].reference_point and found["size"].srocc.places is None
    assert found["sharp"].srocc.above_size and found["sharp"].srocc.size_p <= 0.05
    assert found["sharp"].decided.above_size and found["size"].decided.above_size is None and found["short"].srocc.above_size is None


def test_names_that_two_columns_share_and_names_of_reference_points_are_told_apart(some):
    columns = [("one", "lpips", False), ("two", "lpips", False), ("coin", "", False), ("bytes", "bytes", True), ("points", "points", True)]
    metrics = tuple(PublishedMetric(column, name, True, reference) for column, name, reference in columns)
    rng = np.random.default_rng(0)
    found = record_of(replace(some, metrics=metrics, values=rng.normal(size=(len(some.stimuli), 5))), FACTS).criteria["quality"]
    assert list(found.metrics) == ["one", "two", "coin as published", "size", "points", "constant", "coin"]
    assert found.compared == ("one", "two", "coin as published") and found.metrics["one"].name == found.metrics["two"].name == "lpips"


# --- less than all


def test_means_alone_have_no_answers_no_bound_and_groups_as_their_only_clusters():
    rng = np.random.default_rng(3)
    scores = made_evidence.scores(rng)
    metrics = made_evidence.metrics(rng, plain_evidence.means_of(scores))
    with_errors = record_of(made_evidence.tables(scores, metrics, as_means=True), FACTS).criteria["quality"]
    anonymous = record_of(made_evidence.tables(scores, metrics, RatersAre.ANONYMOUS), FACTS).criteria["quality"]
    assert with_errors.basis == Basis.ERRORS and with_errors.across.one is None
    for key in metrics:
        for name in ("concordance", "concordance_between", "concordance_clear", "srocc", "plcc", "rho"):
            alike(plain(getattr(with_errors.metrics[key], name)), plain(getattr(anonymous.metrics[key], name)), f"{key}.{name}")
    tables = made_evidence.tables(scores, metrics, as_means=True)
    means = tables.criteria[0].means
    alone = replace(tables, criteria=(Criterion("quality", means=means_of(means.mean)),))
    found = record_of(alone, FACTS).criteria["quality"]
    assert found.basis == Basis.MEANS and found.across is None and found.metrics["sharp"].concordance_clear is None
    assert found.metrics["sharp"].srocc == with_errors.metrics["sharp"].srocc


def test_a_set_without_metrics_has_its_entries_means():
    stimuli = stimuli_of([f"item {i}" for i in range(6) for _ in "abc"], list("abc") * 6)
    mean = np.array([i + {"a": 3.0, "b": 1.0, "c": 2.0}[e] + 0.1 * ((i * k) % 4) for i in range(6) for k, e in enumerate("abc")])
    tables = tables_of("means", "pictures", stimuli, [Criterion("quality", means=means_of(mean))], [], (0, 10))
    found = record_of(tables, FACTS).criteria["quality"]
    assert [row.entry for row in found.entries] == ["a", "c", "b"] and {row.block for row in found.entries} == {1}
    for row in found.entries:
        own = mean["abc".index(row.entry) :: 3]
        half = 2.570582 * own.std(ddof=1) / np.sqrt(6)  # a complete table: the plain mean over items, t of five degrees of freedom
        ends = [row.mean.value, row.mean.low, row.mean.high]
        assert ends == pytest.approx([own.mean(), own.mean() - half, own.mean() + half], abs=1e-6)
    turned = record_of(replace(tables, better_is_higher=False), FACTS).criteria["quality"].entries
    assert [row.entry for row in turned] == ["b", "c", "a"]
    assert turned[0].mean.value == pytest.approx(mean[1::3].mean()) and turned[0].mean.low < turned[0].mean.value < turned[0].mean.high


def test_too_few_raters_groups_or_stimuli_leave_a_value_and_the_reason():
    rng = np.random.default_rng(4)
    scores = made_evidence.scores(rng, groups=4, per_group=2, raters=4)
    metrics = made_evidence.metrics(rng, plain_evidence.means_of(scores))
    line = record_of(made_evidence.tables(scores, metrics), FACTS).criteria["quality"].metrics["sharp"]
    assert line.decided.value is not None and line.decided.low is None and not line.decided.shown
    assert line.decided.state == State.TOO_FEW and line.decided.reason == Reason(Key.FEW, Counted.RATERS, 5, 4)
    assert line.concordance.reason == Reason(Key.FEW, Counted.GROUPS, 5, 4) and line.decided.places is None
    small = made_evidence.scores(rng, groups=5, per_group=1, entries=4, raters=6, missing=0)
    metrics = made_evidence.metrics(rng, plain_evidence.means_of(small))
    line = record_of(made_evidence.tables(small, metrics), FACTS).criteria["quality"].metrics["sharp"]
    assert line.srocc.reason == Reason(Key.FEW, Counted.RESULTS, 24, 20) and line.srocc.value is not None and not line.srocc.shown
    assert line.plcc.reason == line.srocc.reason and line.plcc.value is not None and line.concordance.low is not None


def test_a_criterion_that_nobody_answered_on_has_no_figures():
    whole = example()
    empty = Criterion("other", means=means_of(np.full(len(whole.stimuli), np.nan)))
    found = record_of(replace(whole, criteria=(*whole.criteria, empty)), FACTS).criteria["other"]
    assert found.stimuli == 0 and found.beside_leading is None and found.entries == ()
    line = found.metrics["A"]
    assert line.concordance.state == State.UNDECIDED and line.srocc.state == State.NOT_APPLICABLE and line.rho.state == State.NOT_APPLICABLE


def test_one_criterion_is_held_against_the_leading_one():
    whole = example()
    table = whole.criteria[0].scores.by_rater(len(whole.stimuli)).mean(axis=0)
    worse = np.where(np.arange(len(table)) % 5 == 0, -table, table)
    tables = replace(
        whole, criteria=(*whole.criteria, Criterion("same", means=means_of(table)), Criterion("turned", means=means_of(worse)))
    )
    found = record_of(tables, FACTS).criteria
    assert found["quality"].beside_leading is None and found["same"].beside_leading.value == 1
    assert found["turned"].beside_leading.value < 1


# --- the published sets, where they are


@pytest.fixture(scope="module")
def published(data_folder):
    folder = data_folder / "evidence"
    if not folder.is_dir():
        pytest.skip("the folder of test data holds no published sets")
    tables = {name: read(folder) for name, read in SETS.items() if name != "gsc"}  # whose record test_published_sets.py makes
    # The largest: what is asserted of it below, in a third of the time of all.
    faces = tables["geo-metric"]
    asked = [n for n, metric in enumerate(faces.metrics) if metric.name in {"metro", "msdm2", "rms"}]
    criteria = tuple(one for one in faces.criteria if one.name != "far_flipped")
    faces = replace(faces, metrics=tuple(faces.metrics[n] for n in asked), values=faces.values[:, asked], criteria=criteria)
    return {name: record_of(of, FACTS) for name, of in (tables | {"geo-metric": faces}).items()}


def shares(record: EvidenceRecord, name: str, criterion: str = "") -> dict[str, tuple[int, ...]]:
    """The figures of each metric in whole percent, with their interval."""
    lines = (record.criteria[criterion] if criterion else record.leading).metrics
    found = {key: getattr(line, name) for key, line in lines.items()}
    return {key: tuple(round(100 * end) for end in (one.value, one.low, one.high)) for key, one in found.items() if one.low is not None}


def test_videos_of_nerfs(published):
    found = published["nerf-qa"].leading
    assert (found.basis, found.raters, found.groups, found.answers) == (Basis.PERSONS, 80, 8, 2015)
    assert found.check.stable_bias_sd == pytest.approx(0.57, abs=0.005)
    assert shares(published["nerf-qa"], "srocc")["dists"] == (85, 71, 93) and shares(published["nerf-qa"], "srocc")["ssimq"] == (
        34,
        -13,
        69,
    )
    best = {key for key in found.compared if found.metrics[key].srocc.may_be_best}
    assert best == {"vif", "lpips(alex)", "pieapp", "dists", "topiq-fr"}
    assert [key for key in found.compared if found.metrics[key].decided.places != (1, 17)] == []
    assert found.metrics["dists"].rho.reason.key is Key.LITTLE_IN_COMMON and not found.metrics["dists"].rho.shown
    assert found.metrics["dists"].efficiency == pytest.approx(2 / 3)


def test_columns_that_are_no_people(published):
    found = published["basics"].leading
    assert found.basis == Basis.SCORES and found.raters is None and found.answers == 17788
    assert found.check.p_across <= 0.02 and found.check.p_inside > 0.1 and found.check.stable_bias_sd == pytest.approx(0.05, abs=0.005)
    assert shares(published["basics"], "concordance")["pcqm"] == (86, 83, 89) and shares(published["basics"], "srocc")["pcqm"] == (
        71,
        54,
        83,
    )


def test_point_clouds_without_their_references(published):
    found = published["icip2020"].leading
    assert found.basis == Basis.ERRORS and found.stimuli == 90
    assert shares(published["icip2020"], "concordance")["d1_mse"] == (92, 89, 94)
    assert shares(published["icip2020"], "concordance_between")["size"] == (72, 67, 77)
    assert shares(published["icip2020"], "srocc")["d1_psnr"] == (88, 58, 97)
    assert not found.metrics["d2_psnr"].concordance.may_be_best and found.metrics["d2_mse"].concordance.may_be_best


def test_meshes_seen_from_near_and_far(published):
    near, far = (shares(published["geo-metric"], "concordance", name) for name in ("close_normal", "far_normal"))
    assert near["msdm2"] == (65, 64, 67) and far["rms"] == (63, 61, 65) and near["metro"] == (54, 53, 56)
    lines = published["geo-metric"].criteria["close_flipped"].metrics
    assert round(100 * lines["metro"].concordance_between.value) == 46 and lines["metro"].across_state == AcrossState.AT_CHANCE


def test_generators_without_metrics(published):
    rows = {row.entry: row.mean for row in published["mate-3d"].leading.entries}
    ends = {name: tuple(round(end, 2) for end in (one.value, one.low, one.high)) for name, one in rows.items()}
    assert ends["one2345++"] == (6.71, 6.51, 6.90) and ends["sjc"] == (3.01, 2.80, 3.22)
    beside = published["mate-3d"].criteria["geometry"].beside_leading
    assert tuple(round(100 * end) for end in (beside.value, beside.low, beside.high)) == (94, 94, 95)
