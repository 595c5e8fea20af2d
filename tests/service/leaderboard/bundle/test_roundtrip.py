"""Export is the lossless inverse of apply: for any texts and numbers, and for real roofs."""

from __future__ import annotations

import string
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.bundle.apply import apply
from leaderboard.bundle.definition import ChallengeDef, MetricDef, NewsDef, PageDef, PhaseDef, ReferenceDef
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.state import read
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder
from submissions.models import Challenge
from tests.service.leaderboard.bundle.test_apply import same_folders
from tests.support.examples import examples
from tests.support.leaderboard.bundle.folders import write_bundle

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=80)
TITLE = TEXT.filter(bool)
MOMENT = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
LIMIT = st.none() | st.integers(0, 2**31 - 1)
SLUG = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=20).filter(
    lambda s: s not in {"rules", "data", "files", "join", "access", "team", "news"}
)
FLOAT = st.floats(1e-300, 1e300)
COORDINATE = st.floats(-1e7, 1e7)


@st.composite
def references(draw) -> ReferenceDef:
    items = {}
    for name in draw(st.lists(SLUG, min_size=1, max_size=3, unique=True)):
        vertices = np.array(draw(st.lists(st.tuples(COORDINATE, COORDINATE, COORDINATE), min_size=2, max_size=4)))
        vertices[0, 0], vertices[1, 0] = -1e7, 1e7  # an edge with a length
        score = np.array([draw(st.floats(0, 1))]) if draw(st.booleans()) else None
        items[name] = Wireframe(vertices, np.array([[0, 1]]), score)
    grouped = [name for name in sorted(items) if draw(st.booleans())]
    return ReferenceDef("", tuple(sorted(items)), tuple((name, f"g {name}") for name in grouped), draw(TEXT), lambda: items)


@st.composite
def phases(draw, slug: str) -> PhaseDef:
    opens = draw(MOMENT)
    later = st.none() | MOMENT.filter(lambda at: at > opens)
    params = draw(st.fixed_dictionaries({}, optional={"tau": FLOAT, "merge_tol": st.none() | FLOAT, "drop_isolated": st.booleans()}))
    metrics = (
        MetricDef("corner_f1", "corner_f1", draw(TEXT), params, draw(st.floats(0, 1e9)), draw(st.booleans()), draw(st.booleans())),
        MetricDef("ecd@2", "ecd_chamfer", "", {"one_sided": draw(st.sampled_from(["off", "gt2pred"]))}, 1.0, False, True),
    )
    if not metrics[0].is_primary:
        metrics = (metrics[0], replace(metrics[1], is_primary=True))
    plain = {
        "time_zone": draw(st.sampled_from(["UTC", "Europe/Prague", "Australia/Lord_Howe"])),
        "board": draw(st.sampled_from(["live", "frozen"])),
        "entries": draw(st.sampled_from(["all", "latest", "best", "chosen"])),
        "ranking": draw(st.sampled_from(["primary", "mean_rank", "borda", "weighted"])),
        "reference_access": draw(st.sampled_from(["hidden", "participants", "public"])),
        "missing": draw(st.sampled_from(["reject", "worst"])),
        "unit": draw(st.text("mc²é", min_size=1, max_size=16)),
        "size_factor": draw(st.integers(1, 32_767)),
        "max_archive_bytes": draw(st.integers(1, 2**63 - 1)),
        "unit_scale": draw(FLOAT),
    }
    limits = {name: draw(LIMIT) for name in ("limit_per_day", "limit_total", "limit_at_once")}
    flags = {name: draw(st.booleans()) for name in ("withhold_scores", "withhold_items")}
    moments = {"opens_at": opens, "closes_at": draw(later), "board_at": draw(MOMENT)}
    texts = {"title": draw(TITLE), "description": draw(TEXT)}
    return PhaseDef(slug=slug, parent=None, metrics=metrics, reference=draw(references()), **texts, **moments, **limits, **flags, **plain)


@st.composite
def challenges(draw) -> ChallengeDef:
    slugs = draw(st.lists(SLUG, max_size=2, unique=True))
    news = draw(st.lists(st.builds(NewsDef, title=TITLE, body=TEXT, published_at=MOMENT), max_size=2, unique_by=lambda n: n.published_at))
    names = draw(st.lists(SLUG, max_size=2, unique=True))
    pages = tuple(PageDef(name, draw(TITLE)[:40], draw(TEXT)) for name in names)
    made = [draw(phases(slug)) for slug in slugs]
    if len(made) == 2 and draw(st.booleans()):
        made[1] = replace(made[1], parent=made[0].slug)
    return ChallengeDef(
        slug=draw(SLUG),
        title=draw(TITLE),
        summary=draw(TEXT),
        description=draw(TEXT),
        rules=draw(TEXT),
        rules_version=draw(st.text("v1.0", min_size=1, max_size=20)),
        family="wireframe",
        visibility=draw(st.sampled_from(["draft", "private", "public"])),
        admitted_emails=("ann@example.org",) if draw(st.booleans()) else (),
        needs_approval=draw(st.booleans()),
        team_size=draw(st.none() | st.integers(1, 32_767)),
        merge_until=draw(st.none() | MOMENT),
        item_noun=draw(st.sampled_from(["item", "house", "front view"])),
        unit_noun=draw(st.sampled_from(["group", "scene"])),
        tags=draw(st.sampled_from([(), ("roofs",), ("indoor", "3d-2")])),
        licence=draw(st.sampled_from(["", "CC-BY-4.0", "https://example.org/licence"])),
        contact=draw(st.sampled_from(["", "roofs@example.org", "https://example.org/ask"])),
        simulated=draw(st.booleans()),
        announcements=tuple(sorted(news, key=lambda it: it.published_at)),
        pages=pages,
        phases=tuple(made),
    )


def bits(reference: ReferenceDef) -> list[bytes]:
    return [part.tobytes() for _, item in sorted(reference.load().items()) for part in (item.vertices, item.edges)]


@examples(40)
@given(challenges())
def test_any_challenge_written_to_files_reads_back_as_it_was(challenge):
    with TemporaryDirectory() as folder:
        export(challenge, Path(folder))
        back = parse(Path(folder)).definition
        for old, new in zip(challenge.phases, back.phases, strict=True):
            assert bits(old.reference) == bits(new.reference)
        digests = {phase.slug: replace(phase.reference, sha256="") for phase in back.phases}
        back = replace(back, phases=tuple(replace(phase, reference=digests[phase.slug]) for phase in back.phases))
        assert back == challenge
        export(back, Path(folder) / "again")
        names = {path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file() and "again" not in path.parts}
        assert [name for name in names if (Path(folder) / name).read_bytes() != (Path(folder) / "again" / name).read_bytes()] == []


ROOFS = """\
slug: roofs
title: Real roofs
phases:
  - {slug: final, title: Final, opens_at: 2026-01-01T00:00, metrics: [{key: hss}], reference: {path: roofs}}
"""


@pytest.mark.django_db
def test_43_real_roofs_go_through_database_and_back_bit_for_bit(data_folder, tmp_path):
    folder = write_bundle(tmp_path / "bundle", ROOFS)
    (folder / "roofs").symlink_to(tmp_path / "bundle" / "copies")
    (folder / "copies").mkdir()
    for path in (data_folder / "building3d").glob("*.obj"):
        (folder / "copies" / path.name).write_bytes(path.read_bytes())
    apply(parse(folder).definition)
    export(read(Challenge.objects.get()), tmp_path / "out")
    given, back = load_folder(data_folder / "building3d"), load_folder(tmp_path / "out" / "phases" / "final" / "reference")
    assert len(given) == 43 and given.keys() == back.keys()
    assert max(item.vertices.max() for item in given.values()) > 6.5e6
    for name, item in given.items():
        assert item.vertices.tobytes() == back[name].vertices.tobytes()
        assert item.edges.tobytes() == back[name].edges.tobytes()
    assert apply(parse(tmp_path / "out").definition).is_empty
    Challenge.objects.get().phases.get().batches.all().delete()
    Challenge.objects.all().delete()
    apply(parse(tmp_path / "out").definition)
    export(read(Challenge.objects.get()), tmp_path / "again")
    assert same_folders(tmp_path / "out", tmp_path / "again") == []
