"""Programs that are run: in the sandbox and without, as Python functions and as scripts, with the numbers of a local run."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest
import scipy
from PIL import Image

from evaluation.metrics import registry, scoring
from evaluation.metrics.result import Status
from evaluation.metrics.scoring import MetricRequest
from evaluation.programs import files as program_files
from evaluation.programs import program_checks, results, sandbox
from evaluation.programs.program import Budget, Program, Sample, load
from evaluation.programs.results import Cause
from evaluation.properties import measure
from evaluation.synthetic.houses import houses
from evaluation.synthetic.meshes import meshes
from submissions.formats.render.views import CleanViews, Render, View
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests import ROOT
from tests.conftest import need
from tests.support.evaluation.programs import LENGTHS, written

LINE = Wireframe(np.array([[0.0, 0, 0], [3, 4, 0]]), np.array([[0, 1]]))


@pytest.fixture(params=["in the sandbox", "without"])
def boxed(request) -> bool:
    if request.param == "in the sandbox":
        need("sandbox")
    return request.param == "in the sandbox"


def scored(program: Program, *samples: Sample, **params: object) -> list:
    with program:
        return program.score_all(samples, params)


def half(item: Wireframe) -> Wireframe:
    return Wireframe(item.vertices / 2, item.edges)


def test_a_function_gets_arrays_in_metres(tmp_path, boxed):
    program = load(written(tmp_path, LENGTHS), boxed=boxed)
    same, shorter, missing = scored(
        program, Sample("a", "a", LINE, LINE), Sample("b", "b", half(LINE), LINE, 0.01), Sample("c", "c", None, LINE), factor=2
    )
    assert (same.value, same.parts["length"]) == (0.0, 5.0)
    assert shorter.value == pytest.approx(2 * 0.025)
    assert missing.status == Status.FAILED  # `scoring` says that it is missing


def test_the_program_of_the_guide_passes_its_check_and_sees_damage(tmp_path):
    guide = (ROOT / "leaderboard/docs/programs.md").read_text()
    for name, language in (("metric.yaml", "yaml"), ("score.py", "python")):
        (tmp_path / name).write_text(re.search(rf"^```{language}\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)[1])
    program = load(tmp_path, boxed=False)
    with program:
        found = program_checks.first_run(program, program_checks.samples_of("wireframe", None), {"spacing": 0.1})
    assert (found.passed, found.warning) == (True, "")
    values = {against: [row.value for row in found.rows if row.against == against] for against in ("itself", "damaged")}
    assert values["itself"] == [0.0] * 3 and min(values["damaged"]) > 0.01
    bare = Wireframe(np.zeros((0, 3)), np.zeros((0, 2), dtype=int))
    moved, empty, unknown = scored(
        load(tmp_path, boxed=False),
        *(
            Sample("a", "a", Wireframe(LINE.vertices + np.array([0.0, 0, 1]), LINE.edges), LINE),
            Sample("b", "b", bare, LINE),
            Sample("c", "c", LINE, bare),
        ),
        spacing=0.1,
    )
    assert moved.value == pytest.approx(1.0) and moved.parts == pytest.approx({"to_reference": 1.0, "to_prediction": 1.0})
    assert (empty.status, unknown.status) == (Status.FAILED, Status.NOT_APPLICABLE)


def test_the_time_of_a_program_is_that_of_its_own_process(tmp_path):
    folder = written(tmp_path, "import time\n\ndef score(prediction, reference, params):\n    time.sleep(0.05)\n    return 0.0")
    with load(folder, boxed=False) as program, registry.with_programs([program.document.spec("roofs", "c" * 64, program)]):
        assert measure.milliseconds(("roofs/lengths", {}, None), houses(2)) >= 50


def test_a_script_finds_files_and_writes_scores(tmp_path, boxed):
    code = """
        import json

        def length(path):
            item = json.load(open(path))
            return sum(sum((a - b) ** 2 for a, b in zip(item["vertices"][i], item["vertices"][j])) ** 0.5 for i, j in item["edges"])

        params = json.load(open("params.json"))
        found = {}
        for item in json.load(open("items.json"))["items"]:
            found[item["id"]] = {"value": abs(length(item["prediction"]) - length(item["reference"])) * params["factor"]}
        json.dump({"items": found}, open("output/scores.json", "w"))
    """
    program = load(written(tmp_path, code, run="script", entry="python score.py"), boxed=boxed)
    first, second = scored(program, Sample("a", "a", half(LINE), LINE), Sample("b", "b", LINE, LINE), factor=3)
    assert (first.value, second.value) == (7.5, 0.0)


def test_a_command_that_fails_is_quoted_to_the_last_2_000_characters(tmp_path, boxed):
    code = """
        import sys

        print("x" * 3000 + "the first line of the trouble", file=sys.stderr)
        sys.exit("the last line of it")
    """
    program = load(written(tmp_path, code, run="script", entry="python score.py"), boxed=boxed)
    first, second = scored(program, Sample("a", "a", LINE, LINE), Sample("b", "b", LINE, LINE))
    why, of_the_second = (results.reasons(one.flags)[0] for one in (first, second))
    head, middle, quoted = of_the_second[0].partition("the last line of it")
    assert "exit status 1" in head and middle and (quoted, of_the_second[1]) == ("", False)
    quoted = why[0].removeprefix(head)
    assert quoted.endswith("the last line of it")
    assert 1980 <= len(quoted) <= 2010


def test_a_folder_in_the_place_of_the_scores_fails_the_items_with_a_sentence(tmp_path, boxed):
    code = "import os\nos.mkdir('output/scores.json')"
    program = load(written(tmp_path, code, run="script", entry="python score.py"), boxed=boxed)
    (found,) = scored(program, Sample("a", "a", LINE, LINE))
    assert found.status == Status.FAILED and "scores.json" in results.reasons(found.flags)[0][0]


def test_a_command_gets_no_more_items_at_once_than_were_checked_on_arrival(tmp_path):
    need("sandbox")
    code = """
        import json

        rows = json.load(open("items.json"))["items"]
        json.dump({"items": {row["id"]: {"value": len(rows)} for row in rows}}, open("output/scores.json", "w"))
    """
    samples = [Sample(str(n), str(n % 5), LINE, LINE) for n in range(15)]
    for level, sizes in (("item", [12] * 12 + [3] * 3), ("group", [12, 12, 12, 12, 3] * 3)):
        fields = {"run": "script", "entry": "python score.py", "level": level, "effort": "{seconds: 100, memory_mb: 60}"}
        found = scored(load(written(tmp_path / level, code, **fields)), *samples)
        assert [result.value for result in found] == sizes


def test_a_program_that_needs_no_reference_gets_none(tmp_path, boxed):
    code = "def score(prediction, reference, params):\n    return 2.0 if reference is None else 1.0"
    for needs, value in (("[]", 2.0), ("[reference]", 1.0)):
        (found,) = scored(load(written(tmp_path / str(value), code, needs=needs), boxed=boxed), Sample("a", "a", LINE, LINE))
        assert found.value == value
    script = """
        import json, os

        (item,) = json.load(open("items.json"))["items"]
        value = 2.0 if item["reference"] is None and not os.listdir("reference") else 1.0
        json.dump({"items": {item["id"]: {"value": value}}}, open("output/scores.json", "w"))
    """
    program = load(written(tmp_path / "script", script, run="script", entry="python score.py", needs="[]"), boxed=boxed)
    assert scored(program, Sample("a", "a", LINE, LINE))[0].value == 2.0


def test_a_group_is_seen_at_once_and_each_item_has_its_value(tmp_path, boxed):
    code = """
        def score(predictions, references, params):
            return sum(one is not None for one in predictions) + 10 * len(references)
    """
    program = load(written(tmp_path, code, level="group"), boxed=boxed)
    samples = [Sample("a", "one", LINE, LINE), Sample("b", "two", LINE, LINE), Sample("c", "one", None, LINE)]
    assert [result.value for result in scored(program, *samples)] == [21.0, 11.0, 21.0]


def test_what_is_prepared_of_a_reference_is_an_attribute_or_a_fourth_argument(tmp_path, boxed):
    code = """
        def prepare(reference, params):
            return len(reference.vertices)

        def score(prediction, reference, params{more}):
            return {value}
    """
    for name, more, value in (("a", "", "reference.prepared"), ("b", ", prepared", "prepared")):
        program = load(written(tmp_path / name, code.format(more=more, value=value)), boxed=boxed)
        (result,) = scored(program, Sample("a", "a", LINE, LINE))
        assert result.value == 2.0


def test_the_seed_makes_chance_repeatable_whatever_the_order(tmp_path, boxed):
    code = """
        import random
        import numpy as np

        def score(prediction, reference, params):
            return random.random() + np.random.random()
    """
    program = load(written(tmp_path, code), boxed=boxed)
    samples = [Sample(name, name, LINE, LINE) for name in "abc"]
    first = [result.value for result in scored(program, *samples)]
    assert first == [result.value for result in scored(program, *samples[::-1])]
    assert first != [result.value for result in scored(program, *samples, seed=1)]


@pytest.mark.parametrize(
    ("code", "said", "cause"),
    [
        ("def score(p, r, q):\n    raise ValueError('no roof')", "ValueError: no roof", Cause.RAISED),
        ("def score(p, r, q):\n    return float('nan')", "finite", Cause.ANSWER),
        ("def score(p, r, q):\n    return 'much'", "a text", Cause.ANSWER),
        ("def score(p, r, q):\n    return object()", "object", Cause.RAISED),
        ("def score(p, r, q):\n    pass", "returned nothing", Cause.ANSWER),
        ("def score(p, r, q):\n    raise ValueError('a' * 300 + 'z')", "z", Cause.RAISED),
        ("def score(p, r, q):\n    return -3", "below 0", Cause.BOUNDS),
        ("def score(p, r, q):\n    while True: pass", "took longer than 1 s, ten times the 0.1 s", Cause.TIME),
        ("def score(p, r, q):\n    import os; os._exit(3)", "crashed", Cause.ENDED),
        ("def score(p, r, q):\n    a = []\n    return a.append(a) or a", "ValueError", Cause.RAISED),
        ("def score(p, r, q):\n    a = []\n    for _ in range(99999): a = [a]\n    return a", "nested too deep", Cause.RAISED),
        ("def score(p, r, q):\n    return {'value': 1, 'note': 'x' * 2000000}", "bytes", Cause.SIZE),
        ("def score(p, r, q):\n    return len(bytearray(3 << 30))", "more than the 600 MB", Cause.MEMORY),
        ("import nonesuch", "does not load: ModuleNotFoundError", Cause.LOAD),
        ("def other(p, r, q):\n    return 1", "no function score", Cause.LOAD),
    ],
)
def test_a_program_that_goes_wrong_fails_its_item_with_a_sentence(tmp_path, code, said, cause):
    need("sandbox")
    program = load(written(tmp_path, code, effort="{seconds: 0.1, memory_mb: 60}"))
    (result,) = scored(program, Sample("a", "a", LINE, LINE))
    assert (result.status, results.cause_of(result.flags)) == (Status.FAILED, cause)
    assert said in results.reasons(result.flags)[0][0]


def test_no_more_time_than_there_is_for_the_slice(tmp_path):
    need("sandbox")
    program = load(written(tmp_path, "import time\ndef score(p, r, q):\n    time.sleep(0.4)\n    return 1"), Budget(seconds=2.5))
    found = scored(program, *(Sample(str(n), str(n), LINE, LINE) for n in range(20)))
    assert found[0].status == Status.OK
    assert found[-1].status == Status.FAILED
    assert results.cause_of(found[-1].flags) == Cause.TIME


def test_columns_of_programs_stand_among_ours(tmp_path):
    need("sandbox")
    folder = written(tmp_path, LENGTHS)
    with load(folder) as program, registry.with_programs([program.document.spec("roofs", "c" * 64, program)]):
        references = houses(3)
        predictions = {name: half(item) for name, item in list(references.items())[1:]}
        requests = [MetricRequest("edge_f1", "edge_f1", {}), MetricRequest("lengths", "roofs/lengths", {})]
        scores = scoring.score_items(predictions, references, requests)
        (samples, summary) = scoring.finish(requests, [scores], list(references), list(references))["lengths"]
    assert samples.statuses == ("missing_pred", "ok", "ok")
    assert samples.values[0] == 100.0  # the worst value
    assert summary.n == 3


def test_an_item_on_which_it_fails_has_the_worst_value(tmp_path):
    need("sandbox")
    folder = written(tmp_path, "def score(p, r, q):\n    raise ValueError('no')")
    with load(folder) as program, registry.with_programs([program.document.spec("roofs", "c" * 64, program)]):
        references = houses(1)
        scores = scoring.score_items(references, references, [MetricRequest("l", "roofs/lengths", {})])["l"]
    assert (scores.values, scores.statuses) == ((100.0,), ("failed",))


def test_a_mesh_has_faces(tmp_path, boxed):
    code = """
        def score(prediction, reference, params):
            assert prediction.faces.dtype == "int64" and prediction.vertices.dtype == "float64"
            return len(prediction.faces) + len(reference.vertices)
    """
    program = load(written(tmp_path, code, kind="mesh", worst="null"), boxed=boxed)
    ((name, mesh),) = meshes(1).items()
    (result,) = scored(program, Sample(name, name, mesh, mesh))
    assert result.value == len(mesh.faces) + len(mesh.vertices)


def test_a_render_has_pixels_and_clean_views(tmp_path, boxed):
    def picture(value: int) -> Render:
        buffer = io.BytesIO()
        Image.new("RGB", (6, 4), (value, value, value)).save(buffer, "PNG")
        return Render(buffer.getvalue(), 6, 4)

    code = """
        def score(prediction, reference, params):
            assert prediction.image.shape == (4, 6, 3) and prediction.image.dtype == "uint8" and reference.mask is None
            assert prediction.prompt == "a chair"
            return float(abs(prediction.image.astype(float) - reference.image).mean()) + 100 * len(reference.clean)
    """
    program = load(written(tmp_path, code, kind="render"), boxed=boxed)
    view = View(picture(10), 6, 4, clean=CleanViews.of([picture(1), picture(2)]), prompt="a chair")
    (result,) = scored(program, Sample("room/1", "room", picture(13), view))
    assert result.value == 203.0


def test_a_script_is_run_by_the_python_that_has_the_packages_of_the_service(tmp_path, monkeypatch, boxed):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # where there may be another Python without them, or none of that name
    code = """
        import json, sys

        import scipy

        found = {"value": sys.version_info.micro, "parts": {"scipy": int(scipy.__version__.split(".")[1])}}
        json.dump({"items": {"a": found}}, open("output/scores.json", "w"))
    """
    program = load(written(tmp_path, code, run="script", entry="python score.py"), boxed=boxed)
    (result,) = scored(program, Sample("a", "a", LINE, LINE))
    assert (result.value, result.parts) == (sys.version_info.micro, {"scipy": int(scipy.__version__.split(".")[1])}), result


EVALAI = """
    import json, os, zipfile

    def evaluate(test_annotation_file, user_submission_file, phase_codename, **kwargs):
        assert zipfile.is_zipfile(test_annotation_file) and phase_codename == "dev"
        n = len(zipfile.ZipFile(user_submission_file).namelist())
        return {"result": [{"val": {"Files": n, "Half": n / 2}}, {"test": {"Half": 7}}], "submission_result": {}}
"""
CODABENCH = """
    import os, sys

    given, written = sys.argv[1:]
    n = len(os.listdir(os.path.join(given, "res")))
    assert os.listdir(os.path.join(given, "ref"))
    with open(os.path.join(written, "scores.txt"), "w") as file:
        file.write(f"files: {n}\\nhalf: {n / 2}\\n")
"""


@pytest.mark.parametrize(
    ("code", "entry", "params", "value", "parts"),
    [
        (EVALAI, "evalai score.py dev", {}, 2.0, {"Files": 2.0, "val/Half": 1.0, "test/Half": 7.0}),
        (EVALAI, "evalai score.py dev", {"figure": "test/Half"}, 7.0, {"Files": 2.0, "val/Half": 1.0, "test/Half": 7.0}),
        (CODABENCH, "codabench python $program/score.py $input $output", {"figure": "half"}, 1.0, {"files": 2.0, "half": 1.0}),
    ],
    ids=["evalai", "evalai, one figure", "codabench"],
)
def test_scoring_programs_of_other_services_run_as_they_are(tmp_path, boxed, code, entry, params, value, parts):
    program = load(written(tmp_path, code, run="script", entry=entry, level="set"), boxed=boxed)
    for _ in range(2):  # without a sandbox nothing may be in the way of the next run
        found = scored(program, Sample("a", "a", LINE, LINE), Sample("b", "b", LINE, LINE), **params)
        assert [(result.value, dict(result.parts)) for result in found] == [(value, parts)] * 2


def test_a_scoring_program_finds_the_folders_of_codabench_where_it_expects_them(tmp_path):
    need("sandbox")
    code = """
        import os

        with open("/app/output/scores.txt", "w") as file:
            file.write(f"files: {len(os.listdir('/app/input/res'))}")
    """
    program = load(written(tmp_path, code, run="script", entry="codabench python3 score.py", level="set"))
    assert scored(program, Sample("a", "a", LINE, LINE))[0].value == 1.0


def test_a_program_of_files_gets_each_item_as_one_and_finds_nothing_of_another(tmp_path):
    need("sandbox")
    code = """
        import glob, json, os

        def score(prediction, reference, params):
            sides = [json.load(open(one.path)) for one in (prediction, reference)]
            assert not hasattr(prediction, "vertices")
            others = [path for path in glob.glob("/tmp/**", recursive=True) if os.path.isfile(path)]
            return {"value": len(sides[0]["edges"]), "parts": {"files": len(others), "scale": prediction.unit_scale}}
    """
    written(tmp_path, code, kind="files")
    found = program_files.read(tmp_path).of_kind("wireframe")
    assert (found.document.kind, found.document.as_files) == ("wireframe", True)
    with Program(found.document, tmp_path) as program:
        results_ = program.score_all([Sample(name, name, LINE, LINE, 0.5) for name in ("a/b", "c")], {})
    assert [(one.value, one.parts) for one in results_] == [(len(LINE.edges), {"files": 2.0, "scale": 0.5})] * 2, results_


def test_a_program_that_asks_for_a_card_reaches_the_cards_and_no_other_does(tmp_path, monkeypatch):
    need("sandbox")
    monkeypatch.setattr(sandbox, "card_devices", lambda: ["/dev/full"])  # a device that any machine has, and no sandbox
    code = """
        import os, resource

        def score(prediction, reference, params):
            try:
                os.write(os.open("/dev/full", os.O_RDWR), b"x")
            except FileNotFoundError:
                return 0
            except OSError as error:
                return {"value": error.errno, "parts": {"addresses": resource.getrlimit(resource.RLIMIT_AS)[0]}}
    """
    for device, value in (("gpu", 28.0), ("cpu", 0.0)):  # no space left on device: it was written to
        with load(written(tmp_path / device, code, device=device)) as program:
            (result,) = scored(program, Sample("a", "a", LINE, LINE))
            assert result.value == value, result
            assert result.parts.get("addresses", sandbox.CARD_ADDRESSES) == sandbox.CARD_ADDRESSES


def test_without_a_card_a_program_that_asks_for_one_is_refused(tmp_path, monkeypatch):
    need("sandbox")
    monkeypatch.setattr(sandbox, "card_devices", lambda: [])
    with pytest.raises(sandbox.NoSandbox, match=r"no sandbox for metric programs with a graphics card.* no graphics card of NVIDIA"):
        load(written(tmp_path, LENGTHS, device="gpu"))


def test_a_metric_that_is_constant_is_told_when_it_arrives(tmp_path):
    rows = program_checks.samples_of("wireframe", None)
    with load(written(tmp_path / "constant", "def score(prediction, reference, params):\n    return 0.5\n"), boxed=False) as program:
        found = program_checks.first_run(program, rows, {})
    assert found.passed and " 0.5: " in found.warning
    with load(written(tmp_path / "lengths", LENGTHS), boxed=False) as program:
        assert program_checks.first_run(program, rows, {}).warning == ""
