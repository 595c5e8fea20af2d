"""A database of before is migrated by the code of now, and says the same of its boards, digests and votes.

Whatever a stored state said must be said still, in all numbers up to the last digits that another processor may round
otherwise; more may be said. Ranking the same rows again may not move anybody, though how sure a ranking is may be said by a newer rule.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from tests.support.databases import stored
from tests.support.databases.empty import empty_database

pytestmark = pytest.mark.django_db  # so that the cluster profile migrates its PostgreSQL too
FORMAT_2, FORMAT_3 = (import_module(f"leaderboard.migrations.{name}_of_rankings") for name in ("0042_format_2", "0046_format_3"))
# Of a ranking made again: what goes by the rule of intervals, brackets and rank intervals, or by the digits of a page.
CERTAINTY = {"ci_low", "ci_high", "rank_low", "rank_high", "group", "scale", "decimals", "can_tell", "rank_resamples", "people"}
# The one board with columns on weights that are retired by now: these rank no more, and the order is made without them.
WITHOUT_RETIRED = re.compile(r"/boards/rooms/practice/again/\w+/(overall/|metrics/\d+/(in_ranking|rank)\b)")
# Entries that share a rank have the mean of those ranks in the rule of mean ranks; of the one board with such, two.
MID_RANKS = re.compile(r"/boards/rooflines/practice/again/\w+/overall/(value/[78]: 1\.[48]|ranks/[78]/)")
# Captions are written when they are asked for, in the words of now, and count votes without pairs; names, numbers and dates stay.
REWORDED = re.compile(
    r".*/caption/(challenge: '(.*) \(made-up data\)' was said before, '\2 \(simulated data\)' now$"
    r"|people: '(.*) \(made up\), ([\d,]+) answers on [\d,]+ pairs (.*)' was said before, '\3 \(simulated\), \4 votes \5' now$)"
)
# What a ranking is called where it is quoted: its digest of today, also at its address of before.
QUOTED = re.compile(r"/boards/[\w/-]+/(shown/\d+|kept/\w+/(csv/\d+/snapshot|json/caption/\w+)): ")
STATES = sorted(path.parent for path in Path(stored.__file__).parent.glob("*/said.json.gz"))


@dataclass
class Before:
    """A database of before, in a home of its own, on this profile's engine."""

    folder: Path
    home: Path
    env: dict[str, str]

    def run(self, *command: str) -> None:
        run = subprocess.run([sys.executable, *command], cwd=settings.BASE_DIR, env=self.env, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module", params=STATES, ids=lambda path: path.name)
def before(request, tmp_path_factory) -> Iterator[Before]:
    home = tmp_path_factory.mktemp("before")
    with empty_database(home) as env:
        if url := env.get("PLUMBLINE_DATABASE_URL"):
            stored.load_postgres(request.param, url)
        else:
            stored.load_sqlite(request.param, home / "plumbline.sqlite3")
        yield Before(request.param, home, env)


@pytest.fixture(scope="module")
def told(before) -> dict[str, Any]:
    """Answers of today's code about a database of before, once it has migrated it."""
    answer = before.home / "told.json"
    before.run("-m", "tests.support.databases.stored", "tell", str(answer))
    return json.loads(answer.read_text())


def test_boards_digests_and_votes_stay_as_they_were(before, told):
    old, new = renamed(stored.stored_said(before.folder)), told["said"]
    assert old["boards"] and old["votes"]
    found = [change for change in changes(old, new) if "/again/" not in change or CERTAINTY.isdisjoint(re.split("[/: ]", change))]
    accepted = (WITHOUT_RETIRED, MID_RANKS, REWORDED, QUOTED)
    assert [change for change in found if not any(known.match(change) for known in accepted)] == []
    for board in new["boards"].values():
        assert [(digest, snapshot) for digest, snapshot in board["kept"].items() if snapshot["computed"] != digest] == []
        assert board["shown"], "the page names the ranking that it shows"


def test_columns_on_retired_weights_keep_their_values_and_rank_no_more(before, told):
    old, new = (said["boards"]["rooms/practice"]["again"]["public"] for said in (stored.stored_said(before.folder), told["said"]))
    retired = [metric for metric in new["metrics"] if metric.get("acceptance_test", {}).get("state") == "retired"]
    assert {metric["key"] for metric in retired} == {"lpips_plumbline_small", "osim", "puzzlesim"}
    values = {metric["slug"]: metric["value"] for metric in old["metrics"]}
    for metric in retired:
        assert same(metric["value"], values[metric["slug"]]) and set(metric["rank"]) == {None} and not metric["in_ranking"]
    assert new["overall"]["metrics"] == ["psnr", "ssim"] and new["overall"]["rank"]


def test_the_version_of_each_of_its_values_is_known(told):
    """Whatever version the metric has by now, and though that code kept the fingerprint alone: else nobody could say that a board
    is outdated, or keep newer values out of its columns."""
    found = told["versions"]
    assert sum(map(len, found.values())) > 20
    assert not [(batch, slug) for batch, columns in found.items() for slug, version in columns.items() if version is None]


def test_its_tables_are_those_of_a_fresh_database(told):
    fresh = {repr(line) for line in stored.schema_of(connection)}
    assert fresh ^ set(told["schema"]) == set()


def test_the_migrations_make_what_the_models_say():
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


def renamed(said: dict[str, Any]) -> dict[str, Any]:
    """Answers of before under the names of now."""
    for board in said["boards"].values():
        for audience, content in board["again"].items():
            board["again"][audience] = {name: each for name, each in FORMAT_3.ranking(FORMAT_2.ranking(content)).items() if name in content}
    for votes in said["votes"].values():
        votes["analyses"] = {name: FORMAT_2.analysis(content) for name, content in votes["analyses"].items()}
    return said


def changes(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Answers of before that differ now, or are gone."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            yield from changes(value, new[name], f"{place}/{name}") if name in new else [f"{place}/{name} is gone"]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for n, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changes(one, other, f"{place}/{n}")
    elif not same(old, new):
        yield f"{place}: {old!r} was said before, {new!r} now"


def same(old: Any, new: Any) -> bool:
    if old == new:
        return True
    try:
        return type(old) is type(new) and math.isclose(float(old), float(new), rel_tol=1e-9, abs_tol=1e-12)
    except (TypeError, ValueError):
        return False
