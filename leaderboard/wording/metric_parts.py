"""Words for the parts of a metric's value of one item: what tables say instead of the keys that exports and the API use. PURE."""

from __future__ import annotations

import re

WORDS = {
    "tp": "matched",
    "n_pred": "in the entry",
    "n_gt": "in the reference",
    "pred2gt": "entry to reference",
    "gt2pred": "reference to entry",
    "uhd_pred2gt": "entry to reference",
    "accuracy": "entry to reference",
    "completeness": "reference to entry",
    "mean_a2": "squared, entry to reference",
    "mean_b2": "squared, reference to entry",
    "distance_sum": "sum of distances",
    "hss_f1": "corner F1",
    "hss_iou": "IoU of edges",
    "iou": "IoU",
    "n_del": "deleted",
    "n_ins": "inserted",
    "volume_pred": "volume of the entry",
    "volume_gt": "volume of the reference",
    "volume_both": "common volume",
    "p2s_max": "largest distance",
    "uncapped": "without the cap",
    "measured": "measured",
    "unlike": "share that is less plausible than clean views",
    "beyond_step": "share beyond a visible step",
    "puzzlesim_p05": "5th percentile",
    "mean_of_view": "mean of the view",
    "clean_mean": "clean views, mean",
    "clean_least": "clean views, lowest",
    "clean_greatest": "clean views, highest",
}


def part_words(key: str) -> str:
    """Words for a part by its key; of one that has none, the key with spaces."""
    if found := re.fullmatch(r"sap_(\d+)", key):
        return f"at distance {found[1]}"
    return WORDS.get(key, key.replace("_", " "))
