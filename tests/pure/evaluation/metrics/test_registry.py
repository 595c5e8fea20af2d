import ast
import dataclasses
import hashlib
import importlib
import inspect
import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from evaluation.metrics import registry
from evaluation.metrics.registry import REGISTRY, ParamError, UnknownMetric, fingerprint, get, parse_param, resolve_params
from evaluation.metrics.spec import PRECISION, Source
from evaluation.networks import weights
from evaluation.networks.weights import NOT_NETWORKS
from submissions.kinds import FAMILIES
from tests import ROOT

LPIPS = ("lpips_alex", "lpips_vgg", "lpips_squeeze")
# key: (higher is better, bounds, unit, worst), as the specification's index has them
INDEX = {
    "corner_precision": (True, (0, 1), "", "0"),
    "corner_recall": (True, (0, 1), "", "0"),
    "corner_f1": (True, (0, 1), "", "0"),
    "corner_offset": (False, (0, None), "m", "tau"),
    "edge_precision": (True, (0, 1), "", "0"),
    "edge_recall": (True, (0, 1), "", "0"),
    "edge_f1": (True, (0, 1), "", "0"),
    "wed_prereg": (False, (0, None), "", "empty_prediction"),
    "wed_mnn": (False, (0, None), "", "empty_prediction"),
    "wed_nearest": (False, (0, None), "", "empty_prediction"),
    "wed_hungarian": (False, (0, None), "", "empty_prediction"),
    "wed_ap": (False, (0, None), "", "1"),
    "ecd_emd": (False, (0, None), "m", "gt_diagonal"),
    "spectral_l1": (False, (0, None), "m", "empty_prediction"),
    "spectral_l2": (False, (0, None), "m", "empty_prediction"),
    "hss": (True, (0, 1), "", "0"),
    "hss_exact": (True, (0, 1), "", "0"),
    "sap3d": (True, (0, 1), "", "0"),
    "jaccard_distance": (False, (0, 1), "", "1"),
    "wf_learned": (True, (-math.inf, None), "logit", "empty_prediction"),
    "ecd_chamfer": (False, (0, None), "m", "gt_diagonal"),
    "wf_hausdorff": (False, (0, None), "m", "gt_diagonal"),
    "chamfer_l1": (False, (0, None), "", "gt_diagonal"),
    "chamfer_l2": (False, (0, None), "", "gt_diagonal_squared"),
    "mesh_fscore": (True, (0, 1), "", "0"),
    "uhd": (False, (0, None), "", "gt_diagonal"),
    "p2s": (False, (0, None), "", "gt_diagonal"),
    "normal_difference": (False, (0, 1), "", "1"),
    "volume_iou": (True, (0, 1), "", "0"),
    "saucd": (False, (0, 2), "", "2"),
    "saucd_w": (False, (0, 2), "", "2"),
    "locase": (True, (1, 5), "pseudo-score", "1"),
    "psnr": (True, (0, 100), "dB", "0"),
    "ssim": (True, (-1, 1), "", "0"),
    "lpips_alex": (False, (0, None), "", "1"),
    "lpips_vgg": (False, (0, None), "", "1"),
    "lpips_squeeze": (False, (0, None), "", "1"),
    "clip_sim": (True, (-1, 1), "", "0"),
    "clip_sim_text": (True, (-1, 1), "", "0"),
    "fid": (False, (0, None), "", "null"),
    "osim": (True, (0, 1), "", "0"),
    "puzzlesim": (True, (0, 1), "", "0"),
    "mesh_looks": (False, (0, 2), "", "2"),
    "lite0_distance": (False, (0, 2), "", "1"),
    "piece_distance": (False, (0, None), "", "10"),
    "osim_rois": (True, (0, 1), "", "0"),
    "puzzlesim_pieces": (True, (0, 1), "", "0"),
}
LPIPS = ("lpips_alex", "lpips_vgg", "lpips_squeeze")
MASKED = ("psnr", "ssim", *LPIPS, "puzzlesim", "puzzlesim_pieces")
BOXED = ("psnr", "ssim", *LPIPS, "clip_sim")
INDEX |= {f"{key}@mask": INDEX[key] for key in MASKED} | {f"{key}@bbox": INDEX[key] for key in BOXED}
EDITS = {"cv_ins": -0.5, "cv_del": -0.25, "ce": 1.0, "normalized": True, "clip_to_empty": False, "drop_isolated": False, "merge_tol": None}
SURFACE = {"n": 100_000, "normalize": "gt_unit", "align": "none", "seed0": 0}
DEFAULTS = {
    "corner_f1": {"tau": 0.5, "matching": "hungarian_raw", "drop_isolated": False, "merge_tol": None},
    "edge_f1": {"tau_edge": 0.5, "hausdorff": "exact", "matching": "hungarian_raw", "merge_tol": None},
    "wed_prereg": {**EDITS, "single_scale": True, "compat_index": False},
    "wed_mnn": EDITS,
    "wed_nearest": {name: value for name, value in EDITS.items() if name != "cv_del"} | {"merge_cost": 0.0},
    "wed_hungarian": EDITS,
    "wed_ap": {"tau_edge": 0.5, "merge_tol": None},
    "ecd_emd": {"n": 1024, "sampling": "stratified", "seed0": 0, "merge_tol": None},
    "spectral_l1": {"size_mode": "quantile", "normalize": "off", "drop_isolated": False, "merge_tol": None},
    "spectral_l2": {"size_mode": "quantile", "normalize": "off", "drop_isolated": False, "merge_tol": None},
    "hss_exact": {"vert_thresh": 0.5, "edge_thresh": 0.5},
    "sap3d": {"delta_1": 0.25, "delta_2": 0.5, "delta_3": 1.0, "merge_tol": None},
    "hss": {"vert_thresh": 0.5, "edge_thresh": 0.5, "sections": 6},
    "jaccard_distance": {
        "radius": 0.5,
        "primitive": "cylinder",
        "n_samples": 100_000,
        "method": "sampling",
        "seed0": 0,
        "merge_tol": None,
    },
    "ecd_chamfer": {"n": 10_000, "sampling": "stratified", "seed0": 0, "merge_tol": None, "one_sided": "off"},
    "wf_hausdorff": {"n": 10_000, "sampling": "stratified", "seed0": 0, "merge_tol": None},
    "chamfer_l1": SURFACE,
    "mesh_fscore": {"threshold": 0.05, **SURFACE},
}


def test_the_registry_holds_exactly_the_metrics_of_the_index():
    found = {spec.key: (spec.higher_is_better, spec.bounds, spec.unit, spec.worst) for spec in REGISTRY.values()}
    assert found == INDEX


@pytest.mark.parametrize("key", DEFAULTS)
def test_defaults_are_those_of_the_specification(key):
    assert resolve_params(key, {}) == DEFAULTS[key]


@pytest.mark.parametrize("spec", REGISTRY.values(), ids=list(REGISTRY))
def test_every_function_takes_all_parameters_of_its_spec_and_has_no_default_of_its_own(spec):
    bound = spec.function.keywords if isinstance(spec.function, partial) else {}
    taken = dict(inspect.signature(getattr(spec.function, "func", spec.function)).parameters)
    assert next(iter(taken)) == "pair"
    assert {key: parameter for key, parameter in taken.items() if parameter.default is not parameter.empty} == {}
    inspect.signature(spec.function).bind("a pair", **resolve_params(spec.key, {}))
    if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in taken.values()):
        assert set(taken) - {"pair"} - set(bound) == {param.name for param in spec.params if param != PRECISION}


def test_metrics_are_listed_by_kind_and_by_the_place_that_their_module_gives():
    listed = [(name.partition(".")[0], importlib.import_module(f"evaluation.metrics.{name}").PLACE) for name in registry.MODULES]
    kinds = list(dict.fromkeys(kind for kind, _ in listed))
    assert kinds == list(FAMILIES)[: len(kinds)] and listed == sorted(listed, key=lambda one: (kinds.index(one[0]), one[1]))
    assert len(set(listed)) == len(listed), "two metrics claim one place"


@pytest.mark.parametrize("name", registry.MODULES)
def test_every_metric_stands_beside_its_function(name):
    module = importlib.import_module(f"evaluation.metrics.{name}")
    for spec in module.SPECS:
        function = getattr(spec.function, "func", spec.function)
        assert function.__module__ == module.__name__ and function.__doc__ and REGISTRY[spec.key] is spec


@pytest.mark.parametrize("spec", REGISTRY.values(), ids=list(REGISTRY))
def test_every_spec_says_what_pages_need(spec):
    assert spec.title and spec.doc and spec.origin and spec.formula and spec.family in ("wireframe", "mesh", "render")
    assert (spec.device, spec.aggregation) == ("cpu", "macro_mean")
    assert [param for param in spec.params if not param.doc] == []
    if spec.family != "render":
        assert (spec.level, spec.needs) == ("item", ("reference",)) and spec.weights in (None, spec.key, "lite0")
    assert spec.acceptance_scorer is None or spec.acceptance_scorer.__doc__
    assert (spec.level == "item") == (spec.finish is None) and (spec.finish is None or spec.finish.__doc__)
    assert {name for _, name in spec.networks} == {param.name for param in spec.params} & {"weights", "detector", "features"}


@pytest.mark.parametrize("spec", [spec for spec in REGISTRY.values() if spec.networks], ids=lambda spec: spec.key)
def test_whoever_needs_a_network_is_told_how_to_get_its_weights_or_has_them(spec, monkeypatch, tmp_path):
    monkeypatch.setattr(weights, "_folder", [tmp_path])
    for network, name in spec.networks:
        for choice in spec.param(name).choices:
            if choice in weights.names(network):
                found = weights.get(network, choice)
                assert found.there or weights.refusal(spec, {**resolve_params(spec.key, {}), name: choice})


def test_several_networks_are_named_by_parameters_of_their_own():
    assert get("lpips_alex").networks == (("lpips_alex", "weights"),) and get("hss").networks == ()
    assert get("lpips_alex@bbox").networks == (("lpips_alex", "weights"), ("yolox", "detector"))


# Defaults that a source gives, by its tags in the specification; metrics in boxes and in masks have those of the whole.
GIVEN = {
    Source.PAPER: {
        "mesh_fscore.threshold",
        "volume_iou.resolution",
        "saucd_w.weights",
        "spectral_l1.size_mode",
        "spectral_l2.size_mode",
        *(f"osim.{name}" for name in ("weights", "conf", "feature", "saliency", "low_quality_rule")),
        "osim_rois.saliency",
        "osim_rois.low_quality_rule",
        "puzzlesim.weights",
        "clip_sim.weights",
        *(f"{key}.{name}" for key in ("psnr", "ssim", "clip_sim", *LPIPS) for name in ("detector", "conf")),
    },
    Source.CODE: {
        *(f"corner_{key}.tau" for key in ("precision", "recall", "f1")),
        *(f"corner_{key}.matching" for key in ("precision", "recall", "f1", "offset")),
        *(f"edge_{key}.matching" for key in ("precision", "recall", "f1")),
        *(f"wed_prereg.{name}" for name in ("cv_ins", "cv_del", "ce", "normalized", "single_scale")),
        *(f"hss.{name}" for name in ("vert_thresh", "edge_thresh", "sections")),
        "hss_exact.vert_thresh",
        "hss_exact.edge_thresh",
        *(f"{key}.weights" for key in ("lpips_alex", "lpips_vgg", "lpips_squeeze", "fid")),
    },
    Source.PEER: {
        "corner_offset.tau",
        *(f"wed_{key}.{name}" for key in ("mnn", "hungarian") for name in ("cv_ins", "cv_del", "ce", "normalized")),
        *(f"wed_nearest.{name}" for name in ("cv_ins", "ce", "normalized")),
        "osim.nms",
        *(f"{key}.nms" for key in ("psnr", "ssim", "clip_sim", *LPIPS)),
    },
}


def test_every_default_says_whose_it_is():
    found = {source: set() for source in Source}
    for spec in REGISTRY.values():
        for param in spec.params:
            found[param.source].add(f"{spec.key.partition('@')[0]}.{param.name}")
    assert not found[Source.ORGANIZER]  # that of a program's parameters
    assert {source: found[source] for source in GIVEN} == GIVEN


def test_the_jaccard_distance_differs_from_the_papers_average_as_its_page_says():
    """A within B, with three quarters of its volume: points of A lie in both always, points of B in three of four."""
    paper, ours = (1 + 0.75) / 2, 0.75
    warning = get("jaccard_distance").warning
    assert f"this mean is {paper} and the paper's distance {1 - paper}." in warning
    assert f"union is {ours}, so the distance here is {1 - ours}." in warning


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        REGISTRY["mine"] = get("hss")
    with pytest.raises(dataclasses.FrozenInstanceError):
        get("hss").version = 2


def test_reading_the_table_loads_numpy_and_nothing_else_that_is_large():
    code = "import sys, evaluation.metrics.registry as registry; registry.fingerprint('hss', {}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & {*registry.LIBRARIES, "scipy.stats", "django", "celery", "torch", "trimesh", "pandas"} == set()


def test_what_functions_load_on_first_use_is_named_for_the_workers_that_load_it_before():
    found = set()
    for path in (ROOT / "evaluation" / "metrics").rglob("*.py"):
        if path.name == "command.py":
            continue
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "scipy":
                found.add(f"scipy.{node.attr}")
            elif isinstance(node, ast.FunctionDef):
                found |= {alias.name for part in ast.walk(node) if isinstance(part, ast.Import) for alias in part.names}
                found |= {str(part.module) for part in ast.walk(node) if isinstance(part, ast.ImportFrom)}
    of_networks, always = {"torch", "torch.nn"}, {"numpy"}  # which some need not wait for
    assert {name for name in found if not name.startswith(("evaluation", "submissions"))} - of_networks - always == set(registry.LIBRARIES)


def test_an_unknown_metric_is_one_sentence_with_near_matches():
    with pytest.raises(UnknownMetric, match=r"^There is no metric 'corner_f2'; did you mean corner_f1 .*\?$"):
        get("corner_f2")
    with pytest.raises(UnknownMetric, match="there are: corner_precision"):
        get("zzz")


def test_given_parameters_overlay_the_defaults_and_come_back_typed():
    params = resolve_params("jaccard_distance", {"radius": 1, "n_samples": 500.0, "merge_tol": 0.01})
    assert params == {**DEFAULTS["jaccard_distance"], "radius": 1.0, "n_samples": 500, "merge_tol": 0.01}
    assert type(params["radius"]) is float and type(params["n_samples"]) is int


@pytest.mark.parametrize(
    ("key", "given", "sentence"),
    [
        ("hss", {"tau": 1}, "hss has no parameter 'tau'; its parameters are: vert_thresh, edge_thresh, sections."),
        ("corner_f1", {"tau": 0}, "corner_f1.tau must be more than 0, got 0."),
        ("corner_f1", {"tau": -1.5}, "corner_f1.tau must be more than 0, got -1.5."),
        ("corner_f1", {"tau": float("nan")}, "corner_f1.tau must be a finite number, got nan."),
        ("corner_f1", {"tau": 10**400}, "corner_f1.tau must be a finite number, got 1"),
        ("corner_f1", {"tau": "0.5"}, "corner_f1.tau must be a finite number, got '0.5'."),
        ("corner_f1", {"tau": True}, "corner_f1.tau must be a finite number, got True."),
        ("corner_f1", {"tau": None}, "corner_f1.tau must be a finite number, got None."),
        ("corner_f1", {"drop_isolated": 1}, "corner_f1.drop_isolated must be true or false, got 1."),
        ("corner_f1", {"merge_tol": 0.0}, "corner_f1.merge_tol must be more than 0, got 0.0."),
        ("corner_f1", {"matching": "greedy"}, "corner_f1.matching must be one of hungarian_raw, hungarian_capped, got 'greedy'."),
        ("hss", {"sections": 2}, "hss.sections must be at least 3, got 2."),
        ("hss", {"sections": 6.5}, "hss.sections must be a whole number, got 6.5."),
        ("wf_hausdorff", {"n": 10**9}, "wf_hausdorff.n must be at most 1000000, got 1000000000."),
    ],
)
def test_a_wrong_parameter_is_one_sentence(key, given, sentence):
    with pytest.raises(ParamError) as error:
        resolve_params(key, given)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("key", "name", "text", "expected"),
    [
        ("corner_f1", "tau", "0.25", 0.25),
        ("corner_f1", "tau", "1", 1.0),
        ("corner_f1", "drop_isolated", "true", True),
        ("corner_f1", "drop_isolated", "No", False),
        ("corner_f1", "merge_tol", "none", None),
        ("corner_f1", "matching", "hungarian_capped", "hungarian_capped"),
        ("jaccard_distance", "n_samples", "500", 500),
    ],
)
def test_parameters_are_read_from_text(key, name, text, expected):
    found = parse_param(key, name, text)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(("name", "text"), [("tau", "half"), ("drop_isolated", "2"), ("tau", "inf"), ("nothing", "1"), ("tau", "none")])
def test_text_that_is_no_value_is_refused(name, text):
    with pytest.raises(ParamError):
        parse_param("corner_f1", name, text)


def test_the_fingerprint_is_that_of_key_version_full_parameters_and_weights():
    text = json.dumps(
        {"key": "hss", "params": {"edge_thresh": 0.5, "sections": 6, "vert_thresh": 0.5}, "version": get("hss").version, "weights": None},
        sort_keys=True,
        separators=(",", ":"),
    )
    assert fingerprint("hss", {}) == hashlib.sha256(text.encode()).hexdigest()


def test_the_fingerprints_of_all_metrics_are_the_recorded_ones():
    """Stored scores carry them: a metric whose code only moved keeps its columns. A new version of a metric changes its line."""
    recorded = json.loads(Path(__file__).with_name("fingerprints.json").read_text())
    assert {key: fingerprint(key, {}, "0" * 64 if spec.networks else None) for key, spec in REGISTRY.items()} == recorded


def test_precision_is_stored_and_hashed_only_where_it_is_not_float32():
    """Columns from before there was such a parameter are the columns of float32: their snapshots and figures stay as they are."""
    known = set()
    for key, spec in REGISTRY.items():
        digest = "0" * 64 if spec.networks else None
        assert spec.has_precision == any(network not in NOT_NETWORKS for network, _ in spec.networks)
        assert "precision" not in resolve_params(key, {})
        if spec.has_precision:
            assert resolve_params(key, {"precision": "float32"}) == resolve_params(key, {})
            assert fingerprint(key, {"precision": "float32"}, digest) == fingerprint(key, {}, digest)
            others = {fingerprint(key, {"precision": other}, digest) for other in ("tf32", "bfloat16", "float16")}
            assert len(others | {fingerprint(key, {}, digest)}) == 4 and not others & known
            assert resolve_params(key, {"precision": "tf32"}) == resolve_params(key, {}) | {"precision": "tf32"}
            assert spec.every_param({})["precision"] == "float32" and "tf32" in spec.titled({"precision": "tf32"})
            known |= others
    with pytest.raises(ParamError, match=r"lpips_alex.precision must be one of float32, tf32, bfloat16, float16, got 'float64'"):
        resolve_params("lpips_alex", {"precision": "float64"})


def test_the_fingerprint_does_not_depend_on_how_parameters_are_written():
    assert fingerprint("corner_f1", {}) == fingerprint("corner_f1", {"matching": "hungarian_raw", "tau": 0.5})
    assert fingerprint("corner_f1", {"tau": 1}) == fingerprint("corner_f1", {"tau": 1.0})


def test_the_fingerprint_changes_with_everything_that_changes_numbers(monkeypatch):
    known = fingerprint("corner_f1", {})
    others = [fingerprint("corner_f1", {"tau": 0.25}), fingerprint("corner_recall", {}), fingerprint("corner_f1", {}, "ab" * 32)]
    newer = dataclasses.replace(get("corner_f1"), version=2)
    monkeypatch.setattr(registry, "REGISTRY", {"corner_f1": newer})
    assert len({known, *others, fingerprint("corner_f1", {})}) == 5


def test_a_column_says_which_network_it_looks_with_unless_it_is_the_one_it_is_known_with():
    osim = get("osim")
    assert osim.titled({}) == osim.titled({"weights": "yolox-x", "conf": 0.5}) == "OSIM"
    assert osim.titled({"weights": "no-more"}) == "OSIM (no-more)"
    assert osim.titled({"weights": "no-more"}, "Objects") == "Objects (no-more)"
    assert osim.titled({"weights": "yolox-s"}, "OSIM with yolox-s") == "OSIM with yolox-s"
    assert get("corner_f1").titled({"tau": 1.0}) == get("corner_f1").title
    assert get("psnr@bbox").titled({"detector": "yolox-nano"}).endswith("(yolox-nano)")
