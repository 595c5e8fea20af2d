"""Programs of others that compute a metric of ours: where both give the same value, and where they differ and why. PURE.

Each row names the test that holds it, as `file::function` below tests/pure/evaluation/metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Peer:
    """Comparison with one function of a program. `equal` is true if both give the same value for the same input. `words` say how near they
    are, or the difference and how one value becomes the other."""

    name: str
    equal: bool
    words: str
    test: str

    def __str__(self) -> str:
        return f"{'Equals' if self.equal else 'Differs from'} {self.name}: {self.words}."


HSS = Peer(
    "hoho2025 `hss`",
    True,
    "to 1e-6. The official scorer loses digits of float32 coordinates far from the origin; we centre both wireframes first and keep them",
    "wireframe/test_hss.py::test_real_roofs_score_as_by_the_official_scorer_centred_and_as_they_are",
)
CORNERS = Peer(
    "hoho2025 `compute_ap_metrics`",
    True,
    "to 1e-12. Only for two wireframes without corners the values differ: 1 here, 0 by hoho2025",
    "wireframe/test_corners.py::test_f1_is_that_of_the_official_scorer",
)
EDGES = Peer(
    "Building3D's evaluator",
    False,
    'the evaluator samples 20 points of each edge. Our `hausdorff="sampled20"` does so too and gives equal values; our default is exact',
    "wireframe/test_edges.py::test_sampled_distances_are_those_of_the_building3d_definition_and_bound_the_exact_ones",
)
WED = Peer(
    "the S23DR scorer of 2024 `compute_WED`",
    False,
    "it uses a wrong index of a vertex if predicted vertices are left unmatched; our "
    "`compat_index=True` repeats this error and gives equal values",
    "wireframe/test_wed.py::test_the_official_codes_wrong_index_can_be_repeated",
)
CHAMFER = Peer(
    "point-cloud-utils `chamfer_distance`",
    False,
    "point-cloud-utils adds the two directions, over the points that you give, in the points' unit. We average the two directions, over "
    '100,000 samples of each surface, as fractions of the reference\'s longest side (`normalize="none"`: metres). For points without '
    'faces, given as arrays, the value of point-cloud-utils is twice ours with `normalize="none"`',
    "mesh/test_distances.py::test_parity_with_point_cloud_utils",
)
PEERS: Mapping[str, tuple[Peer, ...]] = MappingProxyType(
    {
        "hss": (HSS,),
        "corner_f1": (CORNERS,),
        "edge_precision": (EDGES,),
        "edge_recall": (EDGES,),
        "edge_f1": (EDGES,),
        "wed_prereg": (WED,),
        "ecd_emd": (
            Peer(
                "POT `emd2`",
                True,
                "to rounding, of the same points",
                "wireframe/test_ecd.py::test_the_earth_movers_distance_is_that_of_pot",
            ),
        ),
        "chamfer_l1": (CHAMFER,),
        "p2s": (
            Peer(
                "trimesh `proximity.closest_point`",
                True,
                "to 1e-6, as the mean over the same points",
                "mesh/test_distances.py::test_parity_with_trimesh_proximity",
            ),
        ),
        "psnr": (
            Peer(
                "scikit-image and torchmetrics, with data_range=1",
                True,
                "to rounding; torchmetrics computes in float32. Identical images have 100 dB here and infinity there",
                "render/test_psnr.py::test_agrees_with_scikit_image",
            ),
        ),
        "ssim": (
            Peer(
                "scikit-image, with gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=1",
                True,
                "to rounding. The default window of scikit-image is another one (7 × 7, uniform weights)",
                "render/test_ssim.py::test_agrees_with_scikit_image",
            ),
            Peer(
                "torchmetrics",
                False,
                "torchmetrics mirrors the image at its border and counts the border too. Where the window lies within the image, values "
                "are equal",
                "render/test_ssim.py::test_agrees_with_torchmetrics_where_the_window_fits",
            ),
        ),
        "fid": (
            Peer(
                "torchmetrics",
                True,
                "to the precision of torchmetrics, from the same files",
                "render/test_fid.py::test_agrees_with_torchmetrics_from_file_to_distance",
            ),
        ),
        "puzzlesim": (
            Peer(
                "puzzle_sim",
                True,
                "if both use the same network; our default is another network",
                "render/puzzlesim/test_similarity.py::test_parity_with_the_peer",
            ),
        ),
        **dict.fromkeys(
            ("lpips_alex", "lpips_vgg", "lpips_squeeze"),
            (
                Peer(
                    "lpips and torchmetrics",
                    True,
                    "to float32's rounding",
                    "render/test_lpips.py::test_agrees_with_the_lpips_package_and_torchmetrics_as_number_and_as_map",
                ),
            ),
        ),
    }
)


def of(key: str) -> tuple[Peer, ...]:
    """The comparisons of a metric, and of the metric that it is in a mask or in boxes."""
    return PEERS.get(key.partition("@")[0], ())
