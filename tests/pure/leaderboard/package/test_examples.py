"""The examples of the page “In Python”, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas
import pytest

import leaderboard.package as plumbline
from tests import ROOT
from tests.pure.leaderboard.package.test_human_studies import SCORES, VALUES
from tests.pure.leaderboard.package.test_results import written

PAGE = (ROOT / "leaderboard" / "docs" / "python.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
OF_A_SERVER = [text for text in EXAMPLES if "plumbline.Site(" in text]


def runnable(text: str) -> str:
    """An example with the package as it is imported here."""
    return re.sub(r"^(import .*)\bplumbline$", rf"\g<1>{plumbline.__name__} as plumbline", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """All files that the examples name."""
    found = tmp_path_factory.mktemp("examples")
    written(found / "ref", 0.0, 0)
    written(found / "pred", 0.1, 0)
    written(found / "other", 0.4, 50)
    metrics = ["hss", {"edge_f1": {"tau_edge": 0.25}}]
    for name, place in (("ours", "pred"), ("theirs", "other")):
        plumbline.evaluate(found / place, found / "ref", metrics).save(found / f"{name}.json")
    SCORES.to_csv(found / "scores.csv", index=False)
    VALUES.to_csv(found / "values.csv", index=False)
    return found


def test_there_are_ten_of_at_most_ten_lines():
    assert len(EXAMPLES) == 10 and max(text.count("\n") for text in EXAMPLES) <= 10
    assert len(OF_A_SERVER) == 1  # which tests/service/leaderboard/test_package.py runs


@pytest.mark.parametrize("text", [text for text in EXAMPLES if text not in OF_A_SERVER])
def test_each_runs(text, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    exec(compile(runnable(text), "example", "exec"), {})
    assert capsys.readouterr().out or (folder / "chart.pdf").stat().st_size > 1000


def test_functions_that_the_page_names_are_there():
    for name in re.findall(r"`plumbline\.(\w+)", PAGE):
        assert hasattr(plumbline, name)
    named = re.search(r"(`chamfer`, .*?) and more", PAGE)
    assert named and set(re.findall(r"`(\w+)`", named[1])) <= set(plumbline.NAMES)


def test_the_first_value_is_the_one_of_the_file(folder):
    value = plumbline.hss(folder / "pred" / "house_01.json", folder / "ref" / "house_01.json")
    table = plumbline.read(folder / "ours.json").to_frame().set_index("item")
    assert float(value) == table.loc["house_01", "hss"] and isinstance(table, pandas.DataFrame) and np.isfinite(float(value))
