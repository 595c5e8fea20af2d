"""The score of a roof on every real roof there is."""

from submissions.formats.wireframe.wireframe_files import load_folder
from tests.pure.evaluation.metrics.wireframe.test_hss import compare_with_official


def test_real_roofs_score_as_by_the_official_scorer_centred_and_as_they_are(data_folder):
    roofs = load_folder(data_folder / "building3d")
    assert len(roofs) == 43
    compare_with_official(roofs.values())
