"""The rules that keep the code one house: directions of imports, purity, emptiness of packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT

ROOMS = ("submissions", "evaluation", "leaderboard")  # each may import itself and what stands before it
PURE = (
    "submissions/kinds.py",
    "submissions/manifest.py",
    "submissions/validation.py",
    "submissions/markdown.py",
    "submissions/formats",
    "submissions/client",
    "evaluation/__main__.py",
    "evaluation/local.py",
    "evaluation/reference_warnings.py",
    "evaluation/result_tables.py",
    "evaluation/images",
    "evaluation/metrics",
    "evaluation/networks",
    "evaluation/properties",
    "evaluation/rendering",
    "evaluation/synthetic",
    "evaluation/training",
    "evaluation/work/child.py",
    "evaluation/work/parent_death.py",
    "leaderboard/stats",
    "leaderboard/boards/certainty.py",
    "leaderboard/boards/digits.py",
    "leaderboard/boards/exports.py",
    "leaderboard/charts/boards.py",
    "leaderboard/charts/judges.py",
    "leaderboard/charts/ranking_variants.py",
    "leaderboard/charts/studies.py",
    "leaderboard/studies/judge/client.py",
    "leaderboard/studies/judge/images.py",
    "leaderboard/studies/judge/instructions.py",
    "leaderboard/studies/judge/parse.py",
    "leaderboard/studies/judge/prompts.py",
    "leaderboard/studies/judge/schedule.py",
    "leaderboard/studies/live/history.py",
    "leaderboard/studies/live/plan.py",
    "leaderboard/viewer/mesh_lod.py",
    "leaderboard/viewer/mesh_scene.py",
    "leaderboard/viewer/svg.py",
    "leaderboard/viewer/wireframe_scene.py",
)
IMPURE = {"django", "celery", "kombu", "redis", "boto3", "botocore", "environs"}
# That is what they are for.
MAY_USE_THE_NETWORK = {
    "submissions/client/command.py",
    "submissions/client/transfer.py",
    "evaluation/networks/fetching.py",
    "leaderboard/studies/judge/client.py",
}
NETWORK = {"httpx", "requests", "urllib3", "socket"}


def imports(path: Path) -> Iterator[str]:
    """Dotted names imported anywhere in the file, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files(*parts: str) -> Iterator[Path]:
    for part in parts:
        path = ROOT / part
        yield from [path] if path.is_file() else path.rglob("*.py")


def test_lower_rooms_never_import_upper_ones():
    for n, room in enumerate(ROOMS):
        for path in files(room):
            for name in imports(path):
                assert name.split(".")[0] not in ROOMS[n + 1 :], f"{path} imports {name}"


def test_pure_folders_use_no_framework_no_queue_no_network():
    for path in files(*PURE):
        where = path.relative_to(ROOT).as_posix()
        forbidden = IMPURE if where in MAY_USE_THE_NETWORK else IMPURE | NETWORK
        for name in imports(path):
            assert name.split(".")[0] not in forbidden, f"{where} imports {name}"
            room, *rest = name.split(".")
            if room in ROOMS and rest:
                target = "/".join([room, *rest])
                assert any(target.startswith(pure.removesuffix(".py")) for pure in PURE), f"{where} imports {name}, which is not pure"


def test_the_packages_themselves_import_nothing():
    for path in ROOT.glob("*/__init__.py"):
        if path.parent.name in ROOMS:
            assert path.read_text().strip() == "", f"{path} must stay empty, or importing a pure folder loads Django"


def test_the_top_level_holds_what_the_layout_names():
    import subprocess

    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    names = {name.split("/")[0] for name in tracked}
    assert {name for name in names if not name.startswith(".")} <= {
        "manage.py", "leaderboard", "evaluation", "submissions", "tests", "deploy",
        "requirements.txt", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "LICENSE",
    }  # fmt: skip
