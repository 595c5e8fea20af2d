"""`python -m evaluation`, as a participant runs it."""

import dataclasses
import json
import math
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evaluation import local
from evaluation.__main__ import main
from evaluation.metrics.registry import REGISTRY
from evaluation.metrics.scoring import MetricRequest, finish, score_items
from evaluation.synthetic.meshes import mesh
from submissions.formats.mesh.mesh_files import write_obj as write_mesh_obj
from submissions.formats.mesh.mesh_files import write_ply
from submissions.formats.wireframe.wireframe_files import write_json, write_npz, write_obj
from submissions.kinds import FAMILIES
from submissions.manifest import Item, Manifest, MetricEntry
from tests.support.evaluation.shapes import SPLIT, SQ, TRI, moved, noisy, random_wireframe, shuffled

REFERENCES = {name: random_wireframe(seed, 8, 9) for seed, name in enumerate(("house_1", "house_2", "house_3"))}
PREDICTIONS = {name: noisy(frame, 0.2, seed) for seed, (name, frame) in enumerate(REFERENCES.items())}
WRITERS = {"obj": write_obj, "json": write_json, "npz": write_npz}


def folder(path: Path, items, kind: str = "obj") -> Path:
    path.mkdir()
    for name, frame in items.items():
        (path / f"{name}.{kind}").write_bytes(WRITERS[kind](frame))
    return path


def zipped(path: Path, items, kind: str = "obj") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, frame in items.items():
            archive.writestr(f"entry/{name}.{kind}", WRITERS[kind](frame))
    return path


def manifest(path: Path, **values) -> Path:
    given = {
        "challenge": "c",
        "phase": "p",
        "family": "wireframe",
        "items": tuple(Item(name, name) for name in REFERENCES),
        "formats": ("obj", "json", "npz", "s23dr"),
        "missing": "reject",
        "unit": "m",
        "unit_scale": 1.0,
        "metrics": (MetricEntry("f1_tight", "corner_f1", {"tau": 0.2}), MetricEntry("hss", "hss", {"vert_thresh": 0.4})),
    }
    path.write_bytes(Manifest(**{**given, **values}).to_json())
    return path


@pytest.fixture
def reference(tmp_path):
    return folder(tmp_path / "reference", REFERENCES)


@pytest.fixture
def prediction(tmp_path):
    return folder(tmp_path / "prediction", PREDICTIONS)


@pytest.fixture
def run(capsys):
    """`run(*arguments)` -> (exit code, stdout, stderr)"""

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_list_of_metrics_as_json_has_what_the_registry_says(run):
    code, out, _ = run("metrics", "--json")
    listed = json.loads(out)
    assert code == 0 and [entry["key"] for entry in listed] == list(REGISTRY)
    for entry in listed:
        spec = REGISTRY[entry["key"]]
        assert set(entry) == {"key", "title", "family", "higher_is_better", "bounds", "unit", "params", "weights", "version"}
        low, high = spec.bounds
        assert entry["bounds"] == [None if low == -math.inf else low, high], "infinity is no JSON"
        assert entry["weights"] == (" + ".join(network for network, _ in spec.networks) or None)
        assert [param["name"] for param in entry["params"]] == [param.name for param in spec.params]


def test_the_list_of_metrics_fits_a_terminal_and_one_is_described_in_full(run):
    code, out, _ = run("metrics")
    lines = out.splitlines()
    assert code == 0 and max(map(len, lines[:-1])) <= 80
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [
        spec.key for family in FAMILIES for spec in REGISTRY.values() if spec.family == family
    ]
    code, out, _ = run("metrics", "hss")
    assert code == 0 and "vert_thresh" in out and "Equals hoho2025" in out and max(map(len, out.splitlines())) <= 100
    code, _, said = run("metrics", "hsss")
    assert code == 2 and " hss" in said


def loaded_by(*arguments) -> set[str]:
    """The names of the heavy packages that a fresh process has loaded after the command."""
    code = (
        "import sys; from evaluation.__main__ import main; code = main(sys.argv[1:]);"
        "print(code, *[m for m in ('torch', 'scipy.spatial', 'django', 'celery', 'manifold3d') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True)
    exit_code, *names = done.stderr.splitlines()[-1].split()
    assert exit_code == "0"
    return set(names)


def test_listing_the_metrics_loads_no_torch_scipy_or_django():
    assert loaded_by("metrics", "--json") == set()


def test_scoring_starts_without_django_or_torch(prediction, reference):
    assert not {"django", "celery", "torch"} & loaded_by("score", "--metric", "hss", prediction, reference)


def test_the_command_runs_as_a_module_without_any_settings(prediction, reference):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PLUMBLINE", "DJANGO"))}
    done = subprocess.run(
        [sys.executable, "-m", "evaluation", "score", "--metric", "corner_f1", "--json", str(prediction), str(reference)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert set(json.loads(done.stdout)["samples"]) == set(REFERENCES)


def test_json_has_exactly_the_promised_shape_and_the_runners_numbers(run, prediction, reference):
    code, out, err = run("score", "--metric", "hss", "--metric", "corner_offset", "--json", prediction, reference)
    assert (code, err) == (0, "")
    requests = [MetricRequest("hss", "hss", {}), MetricRequest("corner_offset", "corner_offset", {})]
    finished = finish(requests, [score_items(PREDICTIONS, REFERENCES, requests)], tuple(REFERENCES), list(REFERENCES))
    expected = {"samples": {name: {} for name in REFERENCES}, "scores": {}}
    for slug, (scores, summary) in finished.items():
        for name, value, status, parts in zip(scores.item_ids, scores.values, scores.statuses, scores.parts, strict=True):
            expected["samples"][name][slug] = {"value": value, "status": status, "parts": dict(parts)}
        expected["scores"][slug] = {"value": summary.value, "ci": [summary.ci_low, summary.ci_high], "n": summary.n}
    assert json.loads(out) == expected


@pytest.mark.parametrize("kind", list(WRITERS))
def test_folders_and_zips_of_every_format_give_the_same_scores(run, tmp_path, kind):
    given = folder(tmp_path / "p", PREDICTIONS, kind), zipped(tmp_path / "p.zip", PREDICTIONS, kind)
    against = zipped(tmp_path / "r.zip", REFERENCES), folder(tmp_path / "r", REFERENCES, "json")
    found = {run("score", "--metric", "hss", "--json", p, r)[:2] for p in given for r in against}
    assert len(found) == 1 and found.pop()[0] == 0


def test_an_s23dr_table_is_taken_too(run, tmp_path, reference):
    rows = [{"order_id": n, "wf_vertices": f.vertices.tolist(), "wf_edges": f.edges.tolist()} for n, f in PREDICTIONS.items()]
    (tmp_path / "submission.json").write_text(json.dumps(rows))
    code, out, _ = run("score", "--metric", "corner_f1", "--json", tmp_path / "submission.json", reference)
    assert code == 0 and json.loads(out)["scores"]["corner_f1"]["n"] == 3


def test_two_single_files_may_have_any_names_and_the_id_is_the_references(run, tmp_path):
    (tmp_path / "my try.obj").write_bytes(write_obj(SPLIT))
    (tmp_path / "best.json").write_bytes(write_json(shuffled(SQ, 1)))
    (tmp_path / "truth.npz").write_bytes(write_npz(SQ))
    _, out, _ = run("score", "--metric", "corner_f1", "--json", tmp_path / "my try.obj", tmp_path / "truth.npz")
    assert json.loads(out)["samples"]["truth"]["corner_f1"]["value"] == pytest.approx(8 / 9)
    _, out, _ = run("score", "--metric", "hss", "--json", tmp_path / "best.json", tmp_path / "truth.npz")
    assert json.loads(out)["scores"]["hss"] == {"value": 1.0, "ci": [None, None], "n": 1}


def test_a_metric_twice_under_two_names_with_parameters_for_one_or_both(run, prediction, reference):
    arguments = ["--metric", "corner_f1:wide", "--metric", "corner_f1:tight", "--param", "corner_f1.tau=5", "--param", "tight.tau=0.001"]
    code, out, _ = run("score", *arguments, "--json", prediction, reference)
    scores = json.loads(out)["scores"]
    assert code == 0 and set(scores) == {"wide", "tight"}
    assert scores["wide"]["value"] > 0.9 and scores["tight"]["value"] == 0.0


def test_without_a_metric_all_are_scored(run, prediction, reference):
    _, out, _ = run("score", "--param", "jaccard_distance.n_samples=500", "--json", prediction, reference)
    assert set(json.loads(out)["scores"]) == {key for key, spec in REGISTRY.items() if spec.family == "wireframe" and not spec.weights}


def test_without_json_there_is_a_table_of_scores_and_samples(run, prediction, reference):
    code, out, _ = run("score", "--metric", "hss", prediction, reference)
    assert code == 0 and "95 % interval" in out and "house_2" in out


def test_missing_samples_get_the_worst_value_and_a_warning(run, tmp_path, reference):
    some = folder(tmp_path / "some", {"house_2": PREDICTIONS["house_2"]})
    code, out, err = run("score", "--metric", "corner_offset", "--json", some, reference)
    found = json.loads(out)["samples"]["house_1"]["corner_offset"]
    assert code == 0 and (found["value"], found["status"]) == (0.5, "missing_pred")
    assert "house_1" in err and "missing" in err


def test_a_manifest_gives_metrics_parameters_units_groups_and_the_missing_rule(run, tmp_path, reference, prediction):
    items = tuple(Item(name, group) for name, group in zip(REFERENCES, ("east", "east", "west"), strict=True))
    phase = manifest(tmp_path / "phase.json", items=items, unit="cm", unit_scale=0.5)
    code, out, _ = run("score", "--manifest", phase, "--json", prediction, reference)
    found = json.loads(out)
    assert code == 0 and set(found["scores"]) == {"f1_tight", "hss"} and found["scores"]["hss"]["n"] == 2
    requests = [MetricRequest("f1_tight", "corner_f1", {"tau": 0.2})]
    expected = score_items(PREDICTIONS, REFERENCES, requests, unit_scale=0.5)["f1_tight"]
    assert [found["samples"][name]["f1_tight"]["value"] for name in REFERENCES] == list(expected.values)


def test_under_a_manifest_that_wants_every_sample_a_missing_one_is_refused(run, tmp_path, reference):
    some = folder(tmp_path / "some", {"house_2": PREDICTIONS["house_2"]})
    code, out, err = run("score", "--manifest", manifest(tmp_path / "phase.json"), "--json", some, reference)
    assert (code, out) == (1, "") and "house_1: is missing" in err and "house_3: is missing" in err
    code, _, _ = run("score", "--manifest", manifest(tmp_path / "phase.json", missing="worst"), "--json", some, reference)
    assert code == 0


def test_a_metric_named_on_the_command_line_takes_the_manifests_parameters():
    entries = (MetricEntry("f1_tight", "corner_f1", {"tau": 0.2}), MetricEntry("hss", "hss", {"vert_thresh": 0.4}))
    items = (Item("a", "a"),)
    phase = Manifest("c", "p", "wireframe", items, ("obj",), "reject", "m", 1.0, entries)

    def columns(*metrics, params=()):
        return {request.slug: request.params for request in local.requested(metrics, params, phase, phase.kind)}

    assert columns("hss")["hss"]["vert_thresh"] == 0.4
    assert columns("f1_tight")["f1_tight"]["tau"] == 0.2
    assert columns("corner_f1")["corner_f1"]["tau"] == 0.2
    assert columns("corner_f1:mine")["mine"]["tau"] == 0.2
    assert columns("corner_f1:mine", params=["mine.tau=0.3"])["mine"]["tau"] == 0.3
    assert columns("corner_recall")["corner_recall"]["tau"] == 0.5
    twice = dataclasses.replace(phase, metrics=(*entries, MetricEntry("f1_wide", "corner_f1", {"tau": 2.0})))
    with pytest.raises(local.CannotScore, match="has corner_f1 more than once; name one of f1_tight, f1_wide"):
        local.requested(["corner_f1"], [], twice, twice.kind)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--metric", "hs"], "There is no metric 'hs'; did you mean hss?"),
        (["--metric", "hss:"], "--metric hss: needs a name"),
        (["--metric", "hss:a b"], "needs a name of letters"),
        (["--metric", "hss", "--metric", "hss"], "hss is asked for twice"),
        (["--metric", "hss", "--param", "hss.tau=1"], "hss has no parameter 'tau'"),
        (["--metric", "hss", "--param", "hss.sections=x"], "hss.sections must be a whole number, got 'x'."),
        (["--metric", "hss", "--param", "vert_thresh=1"], "--param vert_thresh=1 must read KEY.NAME=VALUE"),
        (["--metric", "hss", "--param", "corner_f1.tau=1"], "which is not scored here; add --metric corner_f1."),
        (["--manifest", "nowhere.json"], "The manifest nowhere.json cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(run, prediction, reference, arguments, sentence):
    code, out, err = run("score", *arguments, prediction, reference)
    assert (code, out) == (2, "") and sentence in err and len(err.strip().splitlines()) == 1


def test_files_that_are_not_there_or_hold_nothing_are_one_sentence(run, tmp_path, prediction, reference):
    (tmp_path / "none").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "house_1.obj").write_text("v 0 0 nan\n")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "my house.obj").write_bytes(write_obj(SQ))
    for given, against, sentence in (
        (tmp_path / "gone", reference, "There is no prediction at"),
        (prediction, tmp_path / "gone", "There is no reference at"),
        (prediction, tmp_path / "bad", "The reference cannot be read: house_1.obj"),
        (prediction, tmp_path / "odd", "The reference's file names cannot serve as ids"),
    ):
        code, out, err = run("score", "--metric", "hss", given, against)
        assert (code, out) == (2, "") and sentence in err and "Traceback" not in err
    assert run("score", "--metric", "hss", prediction, tmp_path / "none")[0] == 2


def test_a_reference_must_have_every_item_of_the_manifest(run, tmp_path, prediction):
    part = folder(tmp_path / "part", {"house_1": REFERENCES["house_1"]})
    code, _, err = run("score", "--manifest", manifest(tmp_path / "phase.json"), prediction, part)
    assert code == 2 and "house_2" in err


def test_an_unacceptable_prediction_lists_its_problems_with_exit_code_1(run, tmp_path, reference):
    broken = folder(tmp_path / "broken", {**PREDICTIONS, "house_9": TRI})
    (broken / "house_2.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 9\n")
    code, out, err = run("score", "--metric", "hss", "--json", broken, reference)
    assert (code, out) == (1, "")
    assert "house_2.obj: line 3" in err and "house_9.obj" in err


def test_many_samples_show_a_bar_on_stderr_and_clean_json_on_stdout(run, tmp_path):
    many = {f"h{k:02}": moved(SQ, (k, 0, 0)) for k in range(25)}
    given = folder(tmp_path / "many", many)
    code, out, err = run("score", "--metric", "corner_f1", "--json", given, given)
    assert code == 0 and json.loads(out)["scores"]["corner_f1"] == {"value": 1.0, "ci": [None, None], "n": 25}
    assert "25/25" in err


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (3600.0, False)])
def test_a_few_samples_show_a_bar_once_they_have_taken_some_time(run, monkeypatch, patience, shown):
    monkeypatch.setattr("evaluation.__main__.PATIENCE", patience)
    code, _, err = run("properties", "--metric", "corner_f1", "--houses", "2")
    assert code == 0 and ("2/2" in err) == shown


def test_wrong_usage_is_exit_code_2(run):
    assert run("score")[0] == 2
    assert run("sing")[0] == 2


MESHES = {"a": mesh("vase", 1), "b": mesh("gear", 2)}


@pytest.fixture
def mesh_folders(tmp_path):
    for name in ("reference", "prediction"):
        (tmp_path / name).mkdir()
        for item_id, item in MESHES.items():
            (tmp_path / name / f"{item_id}.obj").write_bytes(write_mesh_obj(item))
    return tmp_path / "prediction", tmp_path / "reference"


def test_files_of_meshes_get_the_metrics_of_meshes(mesh_folders):
    prediction, reference = mesh_folders
    family = local._family((), None, (reference, prediction))
    keys = [request.key for request in local.requested((), (), None, family)]
    assert family.key == "mesh" and "chamfer_l1" in keys and not {"hss", "corner_f1"} & set(keys)
    assert set(keys) >= {key for key, spec in REGISTRY.items() if spec.family == "mesh" and not spec.weights}
    assert "saucd_w" not in keys, "its weights are not here"


def test_a_mesh_metric_makes_the_files_meshes(run, mesh_folders):
    code, out, _ = run("score", "--metric", "chamfer_l1", "--param", "chamfer_l1.n=500", "--json", *mesh_folders)
    assert code == 0 and json.loads(out)["scores"]["chamfer_l1"]["value"] == 0.0


def test_a_wireframe_metric_on_files_of_meshes_finds_no_edge(run, mesh_folders):
    code, out, err = run("score", "--metric", "corner_f1", "--json", *mesh_folders)
    assert code == 0 and "no edges (l records)" in err and json.loads(out)["scores"]["corner_f1"]["value"] == 1.0


def test_metrics_of_two_kinds_are_not_asked_for_at_once(run, mesh_folders):
    code, _, err = run("score", "--metric", "corner_f1", "--metric", "chamfer_l1", *mesh_folders)
    assert code == 2 and "corner_f1" in err and "chamfer_l1" in err


def test_one_mesh_file_against_another_of_another_name_and_format(run, tmp_path):
    (tmp_path / "truth.ply").write_bytes(write_ply(MESHES["a"]))
    (tmp_path / "mine.obj").write_bytes(write_mesh_obj(MESHES["a"]))
    code, out, _ = run(
        "score", "--metric", "mesh_fscore", "--param", "mesh_fscore.n=500", "--json", tmp_path / "mine.obj", tmp_path / "truth.ply"
    )
    assert code == 0 and json.loads(out)["samples"]["truth"]["mesh_fscore"]["value"] == 1.0
