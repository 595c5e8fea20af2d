import ast
import math

import pytest

from evaluation.metrics.result import FLAGS, MetricResult, Status
from tests import ROOT


def test_a_result_holds_value_status_flags_and_parts():
    result = MetricResult(0.5, Status.OK, ("capped",), {"tp": 2.0})
    assert (result.value, result.status, result.flags, dict(result.parts)) == (0.5, "ok", ("capped",), {"tp": 2.0})


def test_a_value_may_be_null():
    assert MetricResult(None, Status.NO_OBJECT).value is None


def test_flags_are_of_the_list_or_what_a_program_says():
    assert MetricResult(1.0, flags=("resized", "note: its word")).flags[0] == "resized"
    with pytest.raises(ValueError, match="'reszied' is not among the flags"):
        MetricResult(1.0, flags=("reszied",))


def test_every_flag_that_a_metric_is_written_to_give_is_in_the_list():
    given = set()
    for path in (ROOT / "evaluation/metrics").rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        for call in (call for call in calls if ast.unparse(call.func) in ("MetricResult", "replace")):
            for flags in [*call.args[2:3], *(word.value for word in call.keywords if word.arg == "flags")]:
                given |= {part.value for part in ast.walk(flags) if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    assert "no_edge_score" in given and given <= FLAGS


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_neither_value_nor_parts_are_ever_infinite_or_not_a_number(number):
    with pytest.raises(ValueError, match="value must be finite"):
        MetricResult(number)
    with pytest.raises(ValueError, match="distance_sum must be finite"):
        MetricResult(0.0, parts={"distance_sum": number})


def test_statuses_are_the_eight_of_the_specification_and_one_of_metric_programs():
    assert [str(status) for status in Status] == [
        "ok",
        "empty_pred",
        "missing_pred",
        "invalid_pred",
        "no_object",
        "empty_mask",
        "size_mismatch",
        "not_applicable",
        "failed",
    ]
