"""Slices of a program's calls. The promise: no slice lasts longer than it may, unless one call does so by itself, and however the calls are
cut, what is found is the same."""

from __future__ import annotations

import contextlib
import itertools
from types import SimpleNamespace

import pytest

from evaluation.metrics.result import MetricResult
from evaluation.programs import program_checks
from evaluation.programs.program import Budget, Sample, longest_slice
from evaluation.programs.slices import Paused, Slice, SlicedProgram, from_json, to_json

SECONDS = 4.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed:
    """A program on a simulated clock: a call on an item takes as long as `takes` says, or until its budget is used up. Its first call
    takes a second longer."""

    def __init__(self, clock: Clock, takes: dict[str, float], level: str = "item", run: str = "python") -> None:
        self.clock, self.takes, self.started = clock, takes, False
        self.document = SimpleNamespace(level=level, run=run, tolerance=1e-6, higher_is_better=True, effort=SimpleNamespace(seconds=20.0))
        self.budget = Budget(seconds=1000.0)
        self.asked: list[list[str]] = []

    def score_all(self, samples, params, progress=None):
        self.asked.append([one.id for one in samples])
        self.clock.now += 0.0 if self.started else 1.0
        self.started = True
        needed = sum(self.takes[one.id] for one in samples)
        self.clock.now += min(needed, self.budget.seconds)
        return [MetricResult(float(len(one.id)), parts={"seconds": self.takes[one.id]}) for one in samples]

    def again(self):
        made = Timed(self.clock, self.takes, self.document.level, self.document.run)
        made.asked = self.asked
        return made

    def close(self) -> None:
        self.started = False


def samples(takes) -> list[Sample]:
    return [Sample(name, name.partition("/")[0], "it", "it") for name in takes]


def in_slices(takes, killed=(), **about):
    """Score all samples a slice after the other, those of the numbers `killed` for nothing; the results, and the seconds of each slice."""
    clock, kept, lengths = Clock(), [], []
    for number in itertools.count():
        start, mine = clock.now, [list(one) for one in kept]
        program = SlicedProgram(Timed(clock, takes, **about), Slice(SECONDS, clock), mine)
        try:
            found = program.score_all(samples(takes), {})
        except Paused:
            found = None
        lengths.append(clock.now - start)
        if number in killed:
            continue
        if found is not None:
            return found, lengths
        kept = mine


QUICK = {f"a/{n:02d}": 0.3 for n in range(40)}


@pytest.mark.parametrize("killed", [(), (1,), (0, 1, 2), (3,)])
def test_a_slice_of_quick_items_ends_in_time_and_the_next_goes_on(killed):
    found, lengths = in_slices(QUICK, killed)
    whole = Timed(Clock(), QUICK).score_all(samples(QUICK), {})
    assert found == whole
    assert max(lengths) <= SECONDS and len(lengths) > len(killed) + 3


@pytest.mark.parametrize("slow", [0, 1, 17, 39])
def test_an_item_that_takes_longer_by_itself_has_a_slice_of_its_own(slow):
    takes = QUICK | {f"a/{slow:02d}": 10.0}
    found, lengths = in_slices(takes)
    assert found == Timed(Clock(), takes).score_all(samples(takes), {})
    assert sorted(lengths)[-1] == pytest.approx(11.0) and sorted(lengths)[-2] <= SECONDS


def test_every_slice_gets_on_though_each_item_is_slow():
    takes = {f"a/{n}": 10.0 for n in range(5)}
    assert in_slices(takes)[1] == [pytest.approx(11.0)] * 5


def test_what_sees_a_group_or_all_at_once_still_does():
    takes = {f"{group}/{n}": 1.0 for group in "abc" for n in range(3)}
    clock = Clock()
    program = Timed(clock, takes, "group")
    with pytest.raises(Paused):
        SlicedProgram(program, Slice(SECONDS, clock)).score_all(samples(takes), {})
    assert program.asked == [["a/0", "a/1", "a/2"]]
    for about in ({"level": "set"}, {"run": "script"}):
        program = Timed(clock, takes, **about)
        SlicedProgram(program, Slice(SECONDS, clock)).score_all(samples(takes), {})
        assert program.asked == [list(takes)]


def test_a_command_is_given_more_items_while_there_is_time():
    clock = Clock()
    work = Slice(SECONDS, clock)
    sizes, size = [], 1

    def run(left):
        clock.now += 0.2 + 0.05 * size  # to start, and for each item
        return []

    with contextlib.suppress(Paused):
        while size:
            work.call(run)
            sizes.append(size)
            size = work.size_after(size)
    assert sizes[:5] == [1, 2, 4, 8, 16] and sum(sizes) > 50 and clock.now <= SECONDS


def test_a_check_finds_the_same_in_slices_of_one_call_with_copies_of_the_program():
    takes = {"a": 0.5, "b": 0.5}
    rows = [(against, one) for against in (program_checks.SAME, program_checks.DAMAGED) for one in samples(takes)]
    kept: list = []
    for number in itertools.count():
        clock = Clock()
        program = SlicedProgram(Timed(clock, takes), Slice(0.0, clock), kept)
        try:
            whole = program_checks.determinism(program.again, rows, {})
            break
        except Paused:
            assert len(kept) == number + 1
    calls = longest_slice(Timed(clock, takes).document) + 3  # the next multiple of three
    assert calls == 15 and whole.passed
    # Then three slices of one, and both items, against themselves and damaged, in another order.
    assert len(kept) == number + 1 == calls + 3 + 4


def test_what_is_kept_is_plain_and_exact():
    result = MetricResult(0.1 + 0.2, flags=("capped",), parts={"x": 1 / 3}, partial={"value": None})
    assert from_json(to_json(result)) == result
