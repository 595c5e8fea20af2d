"""The library's own tests on the oldest versions of the libraries that the package allows, in an environment of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from deploy.wheel import Package
from tests import ROOT

TRIED = ("metric_functions", "human_studies", "results", "examples")  # of tests/pure/leaderboard/package
COPIED = ("tests/__init__.py", "tests/support", "tests/pure/__init__.py", "tests/pure/leaderboard", "tests/pure/evaluation")
EXTRAS = ("score", "study", "frames", "plot")
TESTS_NEED = ("pytest", "hypothesis", "trimesh")


def oldest(package: Package) -> list[str]:
    """The first version of each range, of what the tested extras need."""
    names = {*package.settings["needs"], *(name for extra in EXTRAS for name in package.settings["extras"][extra])}
    ranges = package.settings["ranges"]
    return [f"{name}=={ranges[name].removeprefix('>=').partition(',')[0]}" for name in sorted(names)]


def copied(package: Package, folder: Path) -> None:
    """The tests, with the names that modules have in the package."""
    for part in COPIED:
        for path in [ROOT / part] if (ROOT / part).is_file() else (ROOT / part).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                place = folder / path.relative_to(ROOT)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(package.rewritten(path.read_text()).encode() if path.suffix == ".py" else path.read_bytes())
    page = folder / "leaderboard" / "docs" / "python.md"
    page.parent.mkdir(parents=True)
    page.write_bytes((ROOT / "leaderboard" / "docs" / "python.md").read_bytes())


def test_the_librarys_tests_pass_on_the_oldest_versions(tmp_path):
    package = Package(ROOT)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    named = f"plumbline[{','.join(EXTRAS)}] @ {wheel.as_uri()}"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *oldest(package), named, *TESTS_NEED], check=True)
    copied(package, tmp_path / "copy")
    files = [f"tests/pure/leaderboard/package/test_{name}.py" for name in TRIED]
    done = subprocess.run([python, "-m", "pytest", "-q", *files], cwd=tmp_path / "copy", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
