"""The package of participants as its wheel holds it: whole, by itself, and the code that the server runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import pytest

from deploy.wheel import Package
from evaluation import library_versions, local
from evaluation.synthetic.houses import houses
from evaluation.synthetic.simplified import jittered
from submissions.formats.wireframe.wireframe_files import write_json
from tests import ROOT

# What only the service has, and what only POSIX systems have; and the rooms, which the package must not find beside itself.
HIDDEN = (
    "django",
    "celery",
    "kombu",
    "redis",
    "boto3",
    "ninja",
    "environs",
    "structlog",
    "submissions",
    "evaluation",
    "leaderboard",
    "fcntl",
    "resource",
    "pwd",
    "grp",
    "termios",
    "pty",
    "tty",
    "syslog",
    "readline",
)
POSIX_ONLY = ("plumbline.evaluation.work", "plumbline.evaluation.programs")  # what a worker runs, and metric programs
HIDE = f"""
import importlib.abc, select, sys
class Hider(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {HIDDEN!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}, it is hidden", name=name)
sys.meta_path.insert(0, Hider())
for name in list(sys.modules):
    if name.partition(".")[0] in {HIDDEN!r}:
        del sys.modules[name]
vars(select).pop("poll", None)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder that the wheel is unpacked into, as pip does with a pure one."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(folder)
    return folder


def run(installed: Path, code: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program that finds the package where it was unpacked, and none of what is hidden."""
    environment = {"PYTHONPATH": str(installed), "PATH": "", "HOME": "/nonexistent"}
    words = [sys.executable, "-c", HIDE + code, *arguments]
    return subprocess.run(words, cwd=cwd or installed, env=environment, capture_output=True, text=True, timeout=300)


COMMAND = "from plumbline.command import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def entry(tmp_path) -> Path:
    """Eight houses as `reference`, and the same with their corners moved as `entry`."""
    for name in ("reference", "entry"):
        (tmp_path / name).mkdir()
    for number, (name, house) in enumerate(houses(8).items()):
        (tmp_path / "reference" / f"{name}.json").write_bytes(write_json(house))
        (tmp_path / "entry" / f"{name}.json").write_bytes(write_json(jittered(house, 0.1, number)))
    return tmp_path


def test_it_is_pure_and_holds_one_package(wheel):
    with zipfile.ZipFile(wheel) as package:
        names = package.namelist()
        gone = [name for name in names if b"plumbline-small" in package.read(name) or b"plumbline_small" in package.read(name)]
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"plumbline"}
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    assert gone == []
    assert wheel.stat().st_size < 6_000_000


def test_the_commands_that_metric_programs_call_can_be_run(wheel):
    with zipfile.ZipFile(wheel) as package:
        found = {
            info.filename.rpartition("/")[2]: info.external_attr >> 16 & 0o111 for info in package.infolist() if "/bin/" in info.filename
        }
    assert found == {"codabench": 0o111, "evalai": 0o111}


def test_the_same_sources_make_the_same_bytes(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT, check=True, capture_output=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_every_module_is_imported_without_the_service_and_without_posix(installed):
    modules = sorted(
        ".".join(path.relative_to(installed).with_suffix("").parts).removesuffix(".__init__")
        for path in (installed / "plumbline").rglob("*.py")
    )
    wanted = [name for name in modules if not name.startswith(POSIX_ONLY)]
    assert len(wanted) > 240
    done = run(installed, "import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)", *wanted)
    assert done.returncode == 0, done.stderr


def test_no_text_names_a_module_or_a_command_of_the_repository(installed):
    for path in (installed / "plumbline").rglob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.partition("  #")[0]
            if code.lstrip().startswith("#"):
                continue
            assert not re.search(r"(?<![\w./-])(submissions|evaluation|leaderboard)\.(client|formats|metrics|kinds|stats|work)\b", code), (
                f"{path}, line {number}: {line}"
            )
            assert not re.search(r"python -m (submissions|evaluation|leaderboard)", code), f"{path}, line {number}: {line}"


def test_it_scores_to_the_last_digit_what_the_server_scores(installed, entry):
    metrics = ("edge_f1", "corner_offset", "hss", "wed_ap")
    words = [word for key in metrics for word in ("--metric", key)]
    done = run(installed, COMMAND, "score", "--json", *words, "entry", "reference", cwd=entry)
    assert done.returncode == 0, done.stderr
    scores = local.score(entry / "entry", entry / "reference", metrics).scores
    assert json.loads(done.stdout)["scores"] == {slug: found.to_dict() for slug, (found, _) in scores.items()}


SEES_NUMPY = """import os
class Sees:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print(*(os.environ.get(it) for it in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")), file=sys.stderr)
sys.meta_path.insert(0, Sees())
"""


def test_it_computes_with_one_thread_as_the_servers_scoring_does(installed, entry):
    """With several, products of matrices are added in another order, and values of pieces differ in the tenth digit."""
    done = run(installed, SEES_NUMPY + COMMAND, "score", "--json", "--metric", "edge_f1", "entry", "reference", cwd=entry)
    assert done.returncode == 0 and done.stderr.splitlines()[0] == "1 1", done.stderr


def test_its_commands_say_their_own_names(installed, tmp_path):
    said = run(installed, COMMAND, "--help").stdout
    for command in ("check", "upload", "status", "score", "compare", "plot", "info", "metrics", "worker", "study"):
        assert f"plumbline {command} " in said
    for words, usage in ((["check", "--help"], "usage: plumbline check"), (["score", "--help"], "usage: plumbline score")):
        assert run(installed, COMMAND, *words).stdout.startswith(usage)
    assert run(installed, COMMAND, "study", "--help").stdout.startswith("usage: plumbline study")
    refused = run(installed, COMMAND, "chekc")
    assert refused.returncode == 2 and "no command 'chekc'" in refused.stderr


def test_what_is_not_installed_is_named_with_the_line_that_installs_it(installed, entry):
    done = run(
        installed,
        "Hider.find_spec = lambda self, name, *a: (_ for _ in ()).throw(ModuleNotFoundError(name, name=name)) "
        "if name.partition('.')[0] == 'scipy' else None\n" + COMMAND,
        "score",
        "entry",
        "reference",
        cwd=entry,
    )
    assert done.returncode == 2
    assert re.search(r'^.*scipy .*pip install "plumbline\[score\] @ https://\S+"', done.stderr, re.M)


def test_frames_without_pandas_name_the_line_that_installs_it(installed):
    done = run(installed, "sys.modules['pandas'] = None\nfrom plumbline import frames\nframes.frame([])")
    assert re.search(r'^.*pandas .*pip install "plumbline\[frames\] @ https://\S+"', done.stderr, re.M)


def test_other_versions_than_the_servers_are_said(installed):
    code = "from plumbline.evaluation import library_versions as v\nv.version = lambda name: '9.9'\nfrom plumbline import installed\n"
    said = run(installed, code + "print('\\n'.join(installed.differences()))").stdout
    assert "numpy 9.9 " in said and said.count(" 9.9 ") > 5
    assert run(installed, "from plumbline import installed\nprint(installed.differences())").stdout.strip() == "[]"


def test_the_library_allows_ranges_and_a_worker_has_the_services_versions(wheel):
    with zipfile.ZipFile(wheel) as package:
        (metadata,) = (name for name in package.namelist() if name.endswith(".dist-info/METADATA"))
        required = re.findall(r"^Requires-Dist: (.*)$", package.read(metadata).decode(), re.MULTILINE)
        shipped = json.loads(package.read("plumbline/evaluation/exact.json"))["versions"]
    of_workers = [line for line in required if "extra == 'worker" in line]
    assert not [line for line in required if "==" in line.partition(";")[0] and line not in of_workers]
    names = [re.match(r"[\w-]+", line)[0] for line in of_workers]
    shipped = {name.lower(): version for name, version in shipped.items()}
    assert {"numpy", "scipy", "torch", "libigl"} <= set(names)
    assert [(name, line) for name, line in zip(names, of_workers, strict=True) if not line.startswith(f"{name}=={shipped[name]}; ")] == []
    assert shipped.items() >= library_versions.exact().items()


def test_the_version_names_the_day_of_the_last_change(wheel):
    found = re.fullmatch(r"plumbline-0\.1\.0\.dev(\d{8})\+[0-9a-f]{12}-py3-none-any\.whl", wheel.name)
    assert found and date.fromisoformat(found[1]).year >= 2026


def test_a_copy_without_its_history_names_the_day_that_it_is_told(tmp_path, monkeypatch):
    package = Package(ROOT)
    package.root = tmp_path
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert package._day() == ""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(86_400 * 365))
    assert package._day() == ".dev19710101"


TEXTS = [
    path
    for folder in (ROOT / "leaderboard", ROOT / "submissions", ROOT / "evaluation", ROOT / "deploy")
    for path in folder.rglob("*")
    if path.suffix in (".md", ".html", ".py", ".txt", ".yml", ".yaml", ".sh", ".sbatch", ".example") and "node_modules" not in path.parts
] + [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def unaddressed(text: str) -> list[str]:
    """The lines that install something called plumbline by its name alone, which on the public index is not this project."""
    lines = re.findall(r"^.*pip install.*plumbline.*$", text, re.MULTILINE)
    addressed = re.compile(r"@ *(https?://|\{)|https?://\S+/client/|\{\{ ?(package|install) ?\}\}|\{wheel\.address|\{named\}|\{NAME\}")
    return [line for line in lines if not addressed.search(line)]


def test_no_text_installs_the_package_without_an_address():
    assert len(TEXTS) > 500
    assert {str(path): found for path in TEXTS if (found := unaddressed(path.read_text()))} == {}


def test_a_line_without_an_address_is_found():
    assert unaddressed("python -m pip install plumbline") and unaddressed('pip install "plumbline[score]"')
    assert not unaddressed('pip install "plumbline[score] @ https://boards.example.org/client/plumbline-1-py3-none-any.whl"')
