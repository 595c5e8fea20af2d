"""Metrics as functions: of arrays as of files, to the bit; and what they cannot be computed of, in a sentence each."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import leaderboard.package as plumbline
from evaluation import local
from evaluation.metrics import peers, registry
from evaluation.synthetic.houses import houses
from evaluation.synthetic.meshes import meshes
from evaluation.synthetic.simplified import jittered
from submissions.formats.arrays import Mesh, Wireframe
from submissions.formats.mesh.mesh_files import write_ply
from submissions.formats.render.views import encoded
from submissions.formats.wireframe.wireframe_files import write_json, write_npz
from tests import ROOT
from tests.support.examples import examples

HOUSE = next(iter(houses(1).values()))
MESH = next(iter(meshes(1).values()))
SQUARE = np.array([[0, 0, 0], [4, 0, 0], [4, 3, 0], [0, 3, 0]], float), np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
PICTURE = np.random.default_rng(0).integers(0, 256, (24, 30, 3), dtype=np.uint8)
COORDINATE = st.floats(-1e6, 1e6, allow_nan=False, width=64)


def bits(value: plumbline.Value) -> tuple:
    return value.value, value.status, value.parts, value.flags, value.fingerprint


def test_a_value_knows_itself():
    value = plumbline.edge_f1((SQUARE[0][:3], [[0, 1], [1, 2], [0, 2]]), SQUARE, tau_edge=0.25)
    assert float(value) == value.value == pytest.approx(4 / 7) and value.status == "ok"
    assert value.parameters["tau_edge"] == 0.25 and set(value.parameters) == {one.name for one in registry.get("edge_f1").params}
    assert value.fingerprint == registry.fingerprint("edge_f1", {"tau_edge": 0.25}) != registry.fingerprint("edge_f1", {})
    assert repr(value) == "<edge_f1 0.571429>" and f"{value:.2f}" == "0.57"


A, B = np.array([[0, 0, 0], [1, 0, 0.0]]), np.array([[0, 0, 0], [1, 0.3, 0], [3, 0, 0]])


def test_points_without_a_surface_are_their_own_samples_and_the_value_has_no_fingerprint():
    """The toy example of the definitions: distances 0 and .3 one way, 0, .3 and 2 the other."""
    value = plumbline.chamfer(A, B, normalize="none")
    assert value.value == pytest.approx((0.15 + 2.3 / 3) / 2) and value.flags == ("points_only",)
    assert (
        value.fingerprint is None
        and "has no fingerprint" in value.notes[0]
        and repr(value) == "<chamfer_l1 0.458333 (no fingerprint, 1 note)>"
    )
    assert plumbline.metric("chamfer_l2", normalize="none")(A, B).value == pytest.approx(0.045 + 4.09 / 3)
    assert [plumbline.fscore(A, B, threshold=tau, normalize="none").value for tau in (0.3, 0.05)] == pytest.approx([0.8, 0.4])
    assert plumbline.chamfer(A, B, normalize="none", unit="cm").value == pytest.approx(value.value / 100)
    assert plumbline.chamfer(A, B).value == pytest.approx(value.value / 3), "in units of the reference's longest side"
    assert bits(plumbline.chamfer(A, B)) == bits(plumbline.chamfer(SimpleNamespace(points=A), (B[::-1], [])))


def test_points_against_a_surface_are_a_leaderboards_entry_and_keep_the_fingerprint(tmp_path):
    (tmp_path / "points.ply").write_bytes(write_ply(Mesh(A, np.empty((0, 3), np.int64))))
    value = plumbline.chamfer(A, MESH)
    assert value.fingerprint == registry.fingerprint("chamfer_l1", {}) and bits(value) == bits(
        plumbline.chamfer(tmp_path / "points.ply", MESH)
    )
    scanned = plumbline.chamfer(MESH, MESH.vertices)
    assert scanned.fingerprint is None and 0 < scanned.parts["accuracy"] < 1 and scanned.parts["completeness"] < 0.01


def test_no_value_is_not_a_number():
    value = plumbline.Value("fid", None, "not_applicable", {}, {}, "")
    assert np.isnan(float(value)) and repr(value) == "<fid no value (not_applicable)>"


@given(seed=st.integers(0, 10_000), amount=st.floats(0, 0.6))
def test_wireframes_of_arrays_are_those_of_files(tmp_path_factory, seed, amount):
    folder, moved = tmp_path_factory.mktemp("wireframes"), jittered(HOUSE, amount, seed)
    for name, frame in (("pred", moved), ("ref", HOUSE)):
        (folder / f"{name}.json").write_bytes(write_json(frame))
        (folder / f"{name}.npz").write_bytes(write_npz(frame))
    given = (moved.vertices, moved.edges), SimpleNamespace(vertices=HOUSE.vertices.tolist(), edges=HOUSE.edges)
    for name in ("edge_f1", "wed", "corner_f1"):
        found = getattr(plumbline, name)(*given)
        for suffix in ("json", "npz"):
            assert bits(getattr(plumbline, name)(folder / f"pred.{suffix}", str(folder / f"ref.{suffix}"))) == bits(found)


def test_a_value_is_that_of_a_whole_run_over_files(tmp_path):
    for name, frame in (("pred", jittered(HOUSE, 0.1, 1)), ("ref", HOUSE)):
        (tmp_path / f"{name}.json").write_bytes(write_json(frame))
    scored = local.score(tmp_path / "pred.json", tmp_path / "ref.json", ["hss"]).scores["hss"][0]
    assert float(plumbline.hss(jittered(HOUSE, 0.1, 1), HOUSE)) == scored.values[0]


@examples(15)
@given(points=arrays.arrays(np.float64, (6, 3), elements=COORDINATE), unit=st.sampled_from(["m", "cm", 0.3]))
def test_meshes_of_arrays_are_those_of_files(tmp_path_factory, points, unit):
    folder, faces = tmp_path_factory.mktemp("meshes"), np.array([[0, 1, 2], [2, 3, 4], [3, 4, 5], [0, 1, 5]])
    (folder / "pred.ply").write_bytes(write_ply(Mesh(points, faces)))
    (folder / "ref.ply").write_bytes(write_ply(MESH))
    chamfer = plumbline.metric("chamfer", n=200, normalize="none")
    of_files = bits(chamfer(folder / "pred.ply", folder / "ref.ply", unit=unit))
    for form in ((points, faces), {"vertices": points, "faces": faces}, SimpleNamespace(vertices=points, triangles=faces.astype(np.int32))):
        assert bits(chamfer(form, MESH, unit=unit)) == of_files


@examples(15)
@given(pixels=arrays.arrays(np.uint8, st.tuples(st.integers(12, 20), st.integers(12, 20), st.sampled_from([1, 3, 4]))))
def test_images_of_arrays_are_those_of_files(tmp_path_factory, pixels):
    folder = tmp_path_factory.mktemp("images")
    (folder / "pred.png").write_bytes(encoded(pixels[..., 0] if pixels.shape[2] == 1 else pixels))
    reference = np.resize(PICTURE, (*pixels.shape[:2], 3))
    for name in ("psnr", "ssim"):
        metric = getattr(plumbline, name)
        of_files = bits(metric(folder / "pred.png", reference))
        assert bits(metric(pixels, reference)) == bits(metric(np.moveaxis(pixels, 2, 0), reference)) == of_files
        of_floats = metric(pixels / 255, (reference / 255).astype(np.float32))
        assert bits(of_floats) == of_files and of_floats.notes == ()


def test_rounding_to_8_bits_is_said():
    value = plumbline.psnr(PICTURE / 255 * 0.999, PICTURE)
    assert len(value.notes) == 1 and "8 bits" in value.notes[0] and "1 note" in repr(value)


def test_tensors_are_taken():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensors = torch.tensor(SQUARE[0]), torch.tensor(SQUARE[1])
    assert float(plumbline.edge_f1(tensors, SQUARE)) == 1.0
    assert float(plumbline.psnr(torch.tensor(PICTURE).permute(2, 0, 1), PICTURE)) == 100.0


def test_meshes_of_trimesh_are_taken_and_are_no_wireframes():
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    box = trimesh.creation.box()
    assert float(plumbline.volume_iou(box, (box.vertices, box.faces))) == 1.0
    with pytest.raises(plumbline.InputError, match=r"^hss is a metric of wireframes; the prediction is a mesh$"):
        plumbline.hss(box, SQUARE)


def test_images_of_pil_are_taken():
    from PIL import Image

    assert float(plumbline.psnr(Image.fromarray(PICTURE), PICTURE)) == 100.0


def test_a_metric_of_the_set_takes_lists_and_a_scene_its_clean_views():
    noisy = np.clip(PICTURE.astype(int) + 40, 0, 255).astype(np.uint8)
    scene = plumbline.metric("osim_rois")([noisy, PICTURE], [PICTURE, PICTURE])
    assert scene.value is None and scene.status == "not_applicable"  # no region is marked
    with pytest.raises(plumbline.InputError, match="as many predictions as references, got 1 and 2"):
        plumbline.metric("osim_rois")([noisy], [PICTURE, PICTURE])
    value = plumbline.metric("puzzlesim_pieces")(noisy, [PICTURE, noisy, PICTURE])
    assert value.key == "puzzlesim_pieces" and value.fingerprint


VERTICES, EDGES = SQUARE


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plumbline.hss((VERTICES[:, :2], EDGES), SQUARE), "the prediction's vertices must have the shape [V, 3], got (4, 2)"),
        (lambda: plumbline.hss((VERTICES, EDGES.T), SQUARE), "the prediction's edges must have the shape [E, 2], got (2, 4)"),
        (
            lambda: plumbline.hss((VERTICES, [[0, 1, 2]]), SQUARE),
            "the prediction's edges must have the shape [E, 2], got (1, 3), which are faces of a mesh; hss is a metric of wireframes",
        ),
        (lambda: plumbline.metric("p2s")(A, B), "the reference: it needs at least one face with an area"),
        (lambda: plumbline.chamfer(A, B[:1]), "the reference is too small to be measured against"),
        (lambda: plumbline.chamfer(A, B[:0]), "the reference: it needs at least one face with an area"),
        (lambda: plumbline.chamfer(A[:, :2], B), "the prediction's vertices must have the shape [V, 3], got (2, 2)"),
        (lambda: plumbline.chamfer([[0, 0, 0]], B), "a path, (vertices, faces), an array [N, 3] of points, or an object with these"),
        (lambda: plumbline.chamfer(HOUSE, MESH), "chamfer_l1 is a metric of meshes; the prediction is a wireframe"),
        (lambda: plumbline.hss((VERTICES, [[0, 9]]), SQUARE), "the prediction: edges[0]: edge names vertex 9, there are 4, counted from 0"),
        (lambda: plumbline.hss((VERTICES * np.nan, EDGES), SQUARE), "the prediction: vertices[0]: has a coordinate that is not finite"),
        (lambda: plumbline.hss(SQUARE, (VERTICES, [[0, 0]])), "nothing can be measured against the reference: it needs at least one edge"),
        (lambda: plumbline.hss("no/such.obj", SQUARE), "there is no prediction at no/such.obj"),
        (lambda: plumbline.hss(SQUARE, SQUARE, unit="yards"), "there is no unit 'yards'; give one of km, m,"),
        (
            lambda: plumbline.hss(SQUARE, SQUARE, unit=0),
            "mm, in, ft, or a positive number of metres, got 0",
        ),
        (lambda: plumbline.hss(5, SQUARE), "the prediction must be a path, (vertices, edges), or an object with these attributes, got int"),
        (lambda: plumbline.psnr(PICTURE * 1.0, PICTURE), "the prediction is an image of floats from 0 to 255; they must lie in [0, 1]"),
        (lambda: plumbline.psnr(PICTURE.astype(np.uint16), PICTURE), "must be an image of uint8, or of floats in [0, 1], got uint16"),
        (lambda: plumbline.psnr(PICTURE[:3], PICTURE), "has the shape (3, 30, 3), whose channels may be first or last"),
        (lambda: plumbline.psnr(PICTURE[..., :2], PICTURE), "must have 1, 3 or 4 channels, first or last, got the shape (24, 30, 2)"),
        (lambda: plumbline.psnr(PICTURE[None], PICTURE), "must have the shape [H, W, C], [C, H, W] or [H, W], got (1, 24, 30, 3)"),
        (lambda: plumbline.metric("psnr@mask")(PICTURE, PICTURE), "psnr@mask needs mask=, where it looks"),
        (lambda: plumbline.metric("psnr")(PICTURE, PICTURE, mask=PICTURE[..., 0]), "psnr takes no mask; psnr@mask does"),
        (lambda: plumbline.metric("puzzlesim_pieces")(PICTURE, [PICTURE, PICTURE[:20]]), "one size, got 30 × 20, 30 × 24"),
    ],
)
def test_a_sentence_says_what_is_wrong_and_none_speaks_of_phases(call, sentence):
    with pytest.raises(plumbline.InputError) as raised:
        call()
    assert sentence in str(raised.value) and "phase" not in str(raised.value)


def test_a_metric_without_its_weights_names_the_command(monkeypatch):
    from evaluation.networks import weights

    monkeypatch.setattr(weights, "refusal", lambda spec, params, command: f"{spec.title} needs weights; get them with: {command}.")
    with pytest.raises(plumbline.InputError, match=r"LPIPS .* get them with: python -m evaluation fetch$"):
        plumbline.lpips(PICTURE, PICTURE)


def test_what_is_not_installed_is_said_with_what_installs_it(monkeypatch):
    from evaluation.metrics import scoring
    from leaderboard.package import installed

    def fail(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'igl'", name="igl")

    monkeypatch.setattr(scoring, "score_items", fail)
    monkeypatch.setattr(installed, "missing", lambda module, extra: f"{module} needs [{extra}]")
    with pytest.raises(ModuleNotFoundError, match=r"^igl needs \[score\]$"):
        plumbline.volume_iou(MESH, MESH)


@pytest.mark.parametrize("name", plumbline.NAMES)
def test_each_function_shows_its_parameters_and_its_metric(name):
    function, spec = getattr(plumbline, name), registry.get(plumbline.NAMES[name])
    named = inspect.signature(function).parameters
    assert next(iter(named)) == "prediction" and {one.name for one in spec.params} < set(named) and name in dir(plumbline)
    assert function.__doc__.startswith(spec.title) and max(map(len, function.__doc__.splitlines())) <= 100


def test_modules_stand_in_the_way_of_no_name():
    for name in plumbline.__all__:
        assert not inspect.ismodule(getattr(plumbline, name))


def test_importing_it_loads_nothing_heavy():
    code = "import sys, leaderboard.package; print(*sorted({'numpy', 'scipy', 'torch', 'pandas', 'httpx', 'PIL'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip() == ""


def test_metrics_are_listed_with_what_is_known_of_them():
    table = plumbline.metrics().set_index("key")
    assert list(table.index) == list(registry.REGISTRY) and len(plumbline.metrics("mesh")) < len(table)
    assert table.loc["edge_f1", "parameters"]["tau_edge"] == 0.5 and isinstance(table.loc["hss", "sanity_tests_failed"], list)
    (across,) = (
        one for one in table.loc["lpips_alex", "agreement"] if one["figure"] == "across items" and one["set"].startswith("NeRF-QA")
    )
    assert across["low"] < across["value"] < across["high"] and across["n"] == 56
    with pytest.raises(ValueError, match="no metrics of 'point cloud'"):
        plumbline.metrics("point cloud")


def test_each_comparison_with_another_program_names_a_test_that_is_there():
    for key, found in peers.PEERS.items():
        assert registry.find(key) is not None
        for peer in found:
            file, _, name = peer.test.partition("::")
            assert f"def {name}(" in (ROOT / "tests/pure/evaluation/metrics" / file).read_text()


def test_a_wireframe_may_have_scores_of_its_edges():
    scores = np.linspace(0, 1, 4)
    by_tuple = plumbline.metric("sap3d")((*SQUARE, scores), SQUARE)
    assert bits(by_tuple) == bits(plumbline.metric("sap3d")(Wireframe(*SQUARE, scores), SQUARE))
