"""One row for each kind of entry in each app, and no other place that asks for a kind by its name."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from evaluation import kinds as evaluated
from leaderboard import kinds as displayed
from submissions.kinds import FAMILIES
from tests import ROOT
from tests.support.source_tree import nodes

ROOMS = ("submissions", "evaluation", "leaderboard")
CONSTANTS = {name for name, value in vars(importlib.import_module("submissions.kinds")).items() if value in FAMILIES.values()}
IN_TEMPLATE = re.compile(rf"""(==|!=|\bin\b)\s*['"]({"|".join(FAMILIES)})['"]""")


def names_a_kind(node: ast.expr | None) -> bool:
    """A kind's name as a text, the key of its row, or a display of such."""
    if isinstance(node, ast.Constant):
        return node.value in FAMILIES
    if isinstance(node, ast.Attribute):
        return node.attr == "key" and isinstance(node.value, ast.Name) and node.value.id in CONSTANTS
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and any(map(names_a_kind, node.elts))


def asked(tree: Iterable[ast.AST]) -> Iterator[int]:
    """The lines that ask for a kind by its name: comparisons, keys of dictionaries, subscripts and cases."""
    for node in tree:
        if isinstance(node, ast.Compare):
            found = any(map(names_a_kind, (node.left, *node.comparators)))
        elif isinstance(node, ast.Dict):
            found = any(map(names_a_kind, node.keys))
        elif isinstance(node, ast.Subscript):
            found = isinstance(node.slice, ast.Constant) and node.slice.value in FAMILIES
        else:
            found = isinstance(node, ast.MatchValue) and names_a_kind(node.value)
        if found:
            yield node.value.lineno if isinstance(node, ast.MatchValue) else node.lineno


def sources(suffixes: tuple[str, ...]) -> Iterator[Path]:
    """The sources that belong to no kind: the rows themselves and each kind's own folders aside."""
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            parts = path.relative_to(ROOT).parts
            own = {"migrations", "static", *FAMILIES} & set(parts[:-1]) or parts == (room, "kinds.py")
            if path.suffix in suffixes and not own:
                yield path


def test_no_other_place_asks_for_a_kind_by_its_name():
    found = [f"{path.relative_to(ROOT)}:{line}" for path in sources((".py",)) for line in asked(nodes(path))]
    assert found == []


def test_no_template_asks_for_a_kind_by_its_name():
    templates = [path for path in sources((".html", ".md", ".txt")) if "templates" in path.parts]
    assert len(templates) > 50
    assert [str(path) for path in templates if IN_TEMPLATE.search(path.read_text())] == []


@pytest.mark.parametrize(
    "code",
    [
        "family == 'mesh'",
        "family in ('render', 'x')",
        "kind.key != MESH.key",
        "{'wireframe': 1}",
        "FAMILIES['render']",
        "match family:\n    case 'mesh':\n        pass",
    ],
)
def test_every_way_to_ask_is_seen(code):
    assert list(asked(ast.walk(ast.parse(code))))


def test_every_kind_has_a_row_in_each_app_in_one_order():
    assert list(FAMILIES) == list(evaluated.KINDS) == list(displayed.KINDS)


def test_what_the_rows_name_is_there():
    for kind in evaluated.KINDS.values():
        assert kind.pair_type.of and importlib.import_module(kind.trials).all_trials
        assert not kind.weaknesses or importlib.import_module(kind.weaknesses)
        for dotted in filter(None, (kind.simulated.models, kind.warnings)):
            assert callable(evaluated._loaded(dotted))
    for kind in displayed.KINDS.values():
        assert bool(kind.viewer) == bool(kind.item_template) == bool(kind.compare_template) != FAMILIES[kind.key].images
        for template in filter(None, (kind.item_template, kind.compare_template)):
            assert (ROOT / "leaderboard" / "templates" / template).is_file()
        assert {"closer", "visual_quality", "objectness", "semantic", "structural"} == set(kind.criteria)
