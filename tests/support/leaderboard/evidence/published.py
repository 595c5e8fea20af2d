"""Folders of the published sets in PLUMBLINE_DATA, by the set's name."""

FOLDERS = {
    "gsc": "gsc-aipfqa",
    "nerf-qa": "nerf-qa-kobejean",
    "basics": "basics-mtb-pcqa",
    "icip2020": "icip2020-quach",
    "geo-metric": "geo-metric",
    "mate-3d": "mate-3d",
}
