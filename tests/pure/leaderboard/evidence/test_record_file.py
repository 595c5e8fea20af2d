"""Records as files: read back as they were written, wrong ones refused, and what differs between two."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from leaderboard.evidence.record_file import RecordError, as_plain, differences, of_plain, of_toml, to_toml
from leaderboard.stats.evidence.analysis import record_of
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.evidence.record import EvidenceRecord, Licence, SourceFile
from leaderboard.stats.evidence.reproduction import PrintedLine, Reproduction, Statistic
from tests.support.leaderboard.stats.published_sets import FACTS, example


@pytest.fixture(scope="module")
def record() -> EvidenceRecord:
    facts = replace(
        FACTS,
        title='A "set" of\nvideos – née',
        files=(SourceFile("data/a.csv", "ab" * 32, 12),),
        licence=Licence("none", note="Ask first."),
        overlaps=("other",),
    )
    line = PrintedLine(Statistic.SRCC, "DISTS", "BT-500", 0.8615, 4, True, 0.86149, {"Scene": ("chair", "mic")})
    return record_of(example(), facts, Reproduction(144, 144, (line,)), made="2026-11-28")


def test_a_record_is_read_back_as_it_was_written(record):
    text = to_toml(record)
    again = of_toml(text)
    assert to_toml(again) == text and of_plain(json.loads(json.dumps(as_plain(record)))) == again
    assert again.title == record.title and again.files == record.files and again.reproduction == record.reproduction
    criterion = again.criteria["quality"]
    assert criterion.basis is Basis.PERSONS and criterion.metrics["A"].srocc.places == (1, 1)
    assert criterion.metrics["A"].srocc.value == round(record.criteria["quality"].metrics["A"].srocc.value, 6)
    assert criterion.metrics["C"].rho.reason == record.criteria["quality"].metrics["C"].rho.reason
    assert list(again.criteria["quality"].metrics) == list(record.criteria["quality"].metrics)


def test_a_figure_has_one_line_and_no_more_than_six_digits(record):
    lines = to_toml(record).splitlines()
    assert "[criteria.quality.metrics.A]" in lines
    (line,) = [one for one in lines if one.startswith("srocc = {value = 0.938359,")]
    assert "may_be_best = true" in line and "reason" not in line


def test_it_holds_no_single_answer_and_no_value_of_a_stimulus(record):
    text = to_toml(record)
    assert "item 3" not in text.replace(str(record.groups), "").split("[criteria")[1], "groups are named once, above"
    assert [n for n in range(5) if f"entry {n}" in text] == [], "the set has metrics, so it has no list of entries"

    def longest(value: object) -> int:
        inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        return max([len(value) if isinstance(value, list) else 0, *map(longest, inner)])

    assert longest(as_plain(record)) == 6 < len(example().stimuli), "no list is as long as that of the stimuli"


def test_wrong_files_are_refused_in_a_sentence(record):
    with pytest.raises(RecordError, match="gsc is no TOML"):
        of_toml("a = = 1", "gsc")
    with pytest.raises(RecordError, match="has the format 1; 2 is read here"):
        of_toml(to_toml(record).replace("evidence = 2", "evidence = 1"))
    with pytest.raises(RecordError, match=r"criteria\.quality\.basis"):
        of_toml(to_toml(record).replace('basis = "persons"', 'basis = "people"'))
    with pytest.raises(RecordError, match="Field required"):
        of_toml(to_toml(record).replace("title = ", "titel = "))


def test_what_differs_is_named_with_both_numbers(record):
    file = of_toml(to_toml(record))
    assert differences(record, file) == [] == differences(replace(record, made="2027-01-01"), file)
    lines = file.criteria["quality"].metrics
    changed = lines | {"B": replace(lines["B"], srocc=replace(lines["B"].srocc, value=0.690676))}
    found = differences(replace(file, criteria={"quality": replace(file.criteria["quality"], metrics=changed)}), file)
    assert [(name, round(abs(one - other), 6)) for name, one, other in found] == [("criteria.quality.metrics.B.srocc.value", 1e-5)]
    bound = replace(file.criteria["quality"].across, srocc=file.criteria["quality"].across.srocc - 0.015)
    assert differences(replace(file, criteria={"quality": replace(file.criteria["quality"], across=bound)}), file) == [], "draws: .02"
    assert differences(replace(file, licence=Licence("MIT")), file)[0][:2] == ("licence.stated", "MIT")
    assert differences(replace(file, statistics=2), file) == [("statistics", 2, 1)]
