"""The documentation's page on bundles is true: its example parses, and it names every key."""

from __future__ import annotations

import re

import yaml

from leaderboard.bundle.definition import CHALLENGE_FIELDS, IMAGE_FIELDS, PHASE_FIELDS
from leaderboard.bundle.parse import parse
from leaderboard.views.docs import FOLDER, TITLES
from submissions.formats.wireframe.wireframe_files import write_json
from tests.support.factories import gable
from tests.support.submissions.hostile.renders import png

PAGE = (FOLDER / "bundle.md").read_text()
EXAMPLE = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_complete_example_parses(tmp_path):
    (tmp_path / "challenge.yaml").write_text(EXAMPLE)
    for name in ("description.md", "rules.md", "faq.md", "inputs/points.zip", "inputs/final.zip", "inputs/example.zip"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "pictures").mkdir()
    for name in ("setup.png", "logo.png"):
        (tmp_path / "pictures" / name).write_bytes(png())
    for phase in ("warm-up", "final"):
        (tmp_path / "reference" / phase).mkdir(parents=True)
        for item in ("roof_01", "roof_02", "roof_03"):
            (tmp_path / "reference" / phase / f"{item}.json").write_bytes(write_json(gable()))
    definition = parse(tmp_path).definition
    assert [phase.slug for phase in definition.phases] == ["warm-up", "final"]
    assert [metric.slug for metric in definition.phases[1].metrics] == ["hss", "edge_f1", "edge_f1@25"]


def test_the_complete_example_names_every_key():
    data = yaml.safe_load(EXAMPLE)
    final = data["phases"][1]
    listed = {"organizers", "announcements", "pages", "pictures", "inputs", "phases"}
    assert {name.removesuffix("_file") for name in data} == {"slug", *CHALLENGE_FIELDS, *listed}
    assert set(final) == {"slug", *PHASE_FIELDS, "metrics", "reference", "inputs", "examples"} - {*IMAGE_FIELDS}
    renders = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    assert set(renders) == {*IMAGE_FIELDS, "reference"}
    assert set().union(*final["metrics"]) == {"key", "slug", "title", "params", "weight", "primary", "in_ranking"}


def test_the_page_is_linked():
    assert "bundle" in TITLES
