"""The wireframe metrics there are."""

from __future__ import annotations

from evaluation.metrics.catalogue.wireframe_edits import EDIT_DISTANCES, SPECTRAL
from evaluation.metrics.catalogue.wireframe_hits import CONFIDENCES, CORNERS, EDGES
from evaluation.metrics.catalogue.wireframe_learned import LEARNED
from evaluation.metrics.catalogue.wireframe_shapes import CURVES, HYBRID, JACCARD

SPECS = (*CORNERS, *EDGES, *EDIT_DISTANCES, *CURVES, *SPECTRAL, JACCARD, *HYBRID, *CONFIDENCES, *LEARNED)
