"""`metric.yaml`: what is taken, and for each wrong field a sentence that names it."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.metrics.spec import Source
from evaluation.programs import document
from evaluation.programs.document import MetricDocument, ProgramError

WHOLE = {
    "key": "normal_consistency",
    "title": "Normal consistency",
    "kind": "mesh",
    "level": "item",
    "higher_is_better": True,
    "bounds": [0, 1],
    "unit": "",
    "worst": 0,
    "version": 3,
    "needs": ["reference"],
    "params": [{"name": "samples", "kind": "int", "default": 10000, "low": 100, "high": 1000000, "doc": "Points drawn."}],
    "run": "python",
    "entry": "score.py:score",
    "image": None,
    "packages": ["numpy", "scipy"],
    "device": "cpu",
    "effort": {"seconds": 2, "memory_mb": 1000},
    "doc": "What it measures.",
    "paper": "",
}


def read(**changed: object) -> MetricDocument:
    return document.read(yaml.safe_dump({name: value for name, value in (WHOLE | changed).items() if value != "left out"}).encode())


def test_every_field_of_the_contract_is_taken():
    found = read()
    assert (found.key, found.kind, found.bounds, found.worst, found.version) == ("normal_consistency", "mesh", (0.0, 1.0), 0.0, 3)
    assert found.effort == document.Work(2.0, 1000)
    assert found.params[0].default == 10000


def test_bounds_without_ends_may_be_null_as_a_whole():
    assert read(bounds=None).bounds == read(bounds=[None, None]).bounds == read(bounds="left out").bounds == (None, None)


def test_titles_of_many_scripts_and_signs_are_taken():
    for title in ("Corner-F1 (0.5 m)", "1 − SSIM", "Kantenlänge ≥ ½", "角の数", "مسافة", "Surface, per m²"):
        assert read(title=title).title == title


def test_it_survives_being_stored():
    found = read(bounds=[None, 5], worst=None, tolerance=1e-4, source="https://example.org/code")
    stored = json.loads(json.dumps(found.to_dict()))
    assert MetricDocument.from_dict(stored) == found
    assert found.params and [one for one in stored["params"] if "source" in one] == []  # as they were stored before parameters had one
    assert {param.source for param in found.params} == {Source.ORGANIZER}


# Control, soft hyphen, marks and overrides of direction, isolates, joiners, byte order, tags, fillers, selectors, private, not assigned.
UNSEEN = (
    "\x85\xad\u061c\u200b\u200d\u200e\u202e\u2028\u2060\u2066\ufeff\U000e0041\u034f\u115f\u2800\u3164\uffa0\ufe0f\U000e0100\ue000\U000e1fff"
)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"key": "Corner-F1"}, "key"),
        ({"key": "left out"}, "key: expected a value; the key is missing"),
        ({"title": ""}, "title"),
        ({"title": "x" * 81}, "title"),
        ({"kind": "pictures"}, "kind"),
        ({"kind": "left out"}, "kind: expected a value; the key is missing"),
        ({"level": "scene"}, "level"),
        ({"higher_is_better": "higher"}, "higher_is_better"),
        ({"bounds": [1, 0]}, "bounds"),
        ({"bounds": [0]}, "bounds"),
        ({"bounds": [0, float("inf")]}, "bounds"),
        ({"worst": 2}, "worst"),
        ({"worst": "left out"}, "worst: expected a value; the key is missing"),
        ({"worst": True}, "worst"),
        ({"version": 0}, "version"),
        ({"version": 1.5}, "version"),
        ({"needs": ["answers"]}, "needs"),
        ({"run": "docker"}, "run"),
        ({"entry": "score.py"}, "entry"),
        ({"entry": "../score.py:score"}, "entry"),
        ({"entry": "/etc/score.py:score"}, "entry"),
        ({"run": "script", "entry": "'open"}, "entry"),
        ({"run": "image", "entry": "score"}, "image"),
        ({"run": "image", "entry": "score", "image": "a/b:latest"}, "image"),
        ({"image": "a/b@sha256:" + "0" * 64}, "image"),
        ({"packages": ["nonesuch"]}, "nonesuch"),
        ({"packages": "numpy"}, "packages"),
        ({"packages": ["numpy>=2"]}, "without versions"),
        ({"key": None}, "found nothing"),
        ({"device": "tpu"}, "device"),
        ({"effort": {"seconds": 0}}, "effort.seconds"),
        ({"effort": {"seconds": 2, "memory_mb": 1.5}}, "effort.memory_mb"),
        ({"effort": {"minutes": 2}}, "effort.minutes"),
        ({"source": "javascript:alert(1)"}, "source"),
        ({"tolerance": 1}, "tolerance"),
        ({"colour": "red"}, "colour"),
        ({"params": [{"name": "seed", "kind": "int", "default": 0}]}, "params[0].name"),
        ({"params": [{"name": "a", "kind": "int", "default": 0.5}]}, "params[0].default"),
        ({"params": [{"name": "a", "kind": "int", "default": 5, "high": 4}]}, "params[0].default"),
        ({"params": [{"name": "a", "kind": "int", "default": 3, "low": 4, "high": 2}]}, "params[0].low: expected at most high"),
        ({"params": [{"name": "a", "kind": "bool", "default": True, "high": 2}]}, "params[0].high: expected for parameters of kind"),
        ({"params": [{"name": "a", "kind": "choice", "default": "b"}]}, "params[0].choices"),
        ({"params": [{"name": "a", "kind": "choice", "default": "b", "choices": ["c", "d"]}]}, "params[0].default: expected one of c, d"),
        ({"params": [{"name": "a", "kind": "bool", "default": True}, {"name": "a", "kind": "bool", "default": False}]}, "twice"),
        ({"params": ["a"]}, "params[0]"),
        ({"doc": "a\x07b"}, "doc"),
        ({"title": "=HYPERLINK(1)"}, "title: expected a title that does not begin with ="),
        ({"title": " -1 + 2"}, "title: expected a title that does not begin with -"),
        ({"title": "＠home"}, "title: expected a title that does not begin with ＠"),
        *(({"title": f"Corner{odd}F1"}, "title: expected no invisible") for odd in UNSEEN),
        *(({name: f"a{odd}b"}, f"{name}: expected no invisible") for name in ("doc", "unit", "paper") for odd in "\u202e\u200b"),
        (
            {"params": [{"name": "a", "kind": "choice", "default": "b", "choices": ["b", "c\u202e"]}]},
            "params[0].choices: expected texts",
        ),
    ],
)
def test_a_wrong_field_is_named(changed, named):
    with pytest.raises(ProgramError) as refused:
        read(**changed)
    sentence = str(refused.value)
    assert named in sentence
    assert "\n" not in sentence
    assert sentence.endswith((".", "did you mean source?"))


def test_all_wrong_fields_are_named_with_their_lines():
    text = b"key: a1\ntitle: A\nkind: pictures\nhigher_is_better: true\nworst: 0\nrun: python\nentry: a.py:a\nversion: 0\n"
    with pytest.raises(ProgramError) as refused:
        document.read(text)
    assert re.findall(r"metric\.yaml: line (\d+): (\w+):", str(refused.value)) == [("3", "kind"), ("8", "version")]


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe",
        b"- a list",
        b"key: [",
        b"key: a\nkey: b",
        b"a: &x [1]\nb: *x",
        b"a: !!python/object/apply:os.system [true]",
        b"a: " + b"[" * 500 + b"]" * 500,
        b"a: " + b"x" * 70_000,
    ],
)
def test_a_file_that_is_no_plain_mapping_is_refused(text):
    with pytest.raises(ProgramError):
        document.read(text)


def test_its_spec_is_one_of_any_metric(monkeypatch):
    monkeypatch.setattr(registry, "_source", None)  # nobody keeps programs
    spec = read().spec("roofs", "c" * 64)
    assert (spec.key, spec.family, spec.bounds, spec.worst, spec.is_program) == (
        "roofs/normal_consistency",
        "mesh",
        (0.0, 1.0),
        "0.0",
        True,
    )
    with registry.with_programs([spec]):
        assert registry.get("roofs/normal_consistency") is spec
        with pytest.raises(registry.UnknownMetric, match="did you mean roofs/normal_consistency"):
            registry.get("roofs/normals_consistency")
        with pytest.raises(registry.UnknownMetric, match=r", roofs/normal_consistency\.$"):
            registry.get("zzz")
        params = registry.resolve_params(spec.key, {"samples": 500})
        first = registry.fingerprint(spec.key, params)
        assert first != registry.fingerprint(spec.key, {"samples": 501})
        with registry.with_programs([read().spec("roofs", "d" * 64)]):
            assert registry.fingerprint(spec.key, params) != first
        with registry.with_programs([read(version=4).spec("roofs", "c" * 64)]):
            column = Column("mine", spec.key, params, first, "c" * 64)
            assert column.version == 3
            assert not column.is_current
    with pytest.raises(registry.UnknownMetric):
        registry.get("roofs/normal_consistency")
