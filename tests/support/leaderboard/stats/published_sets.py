"""The example of the specification, and the published sets of the folder of test data, as the tables that figures are computed from.

Whoever has no folder of test data has the example alone. The sets are read here by hand, apart from the product's own readers.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from leaderboard.evidence.tables import (
    Criterion,
    EvidenceTables,
    Label,
    Means,
    PublishedMetric,
    RatersAre,
    Scores,
    Stimuli,
)
from leaderboard.stats.evidence.record import Facts, Licence, SetSource

FACTS = Facts(title="A set", authors="Somebody", licence=Licence("none"), source=SetSource(release="2026-01-01"))
FIRST_SESSION = ("chair", "fortress", "mic", "room")  # of NeRF-QA, by who scored which scenes


def stimuli_of(
    item: Sequence[str],
    entry: Sequence[str],
    group: Sequence[str] | None = None,
    family: Mapping[str, str] | None = None,
    labels: Mapping[str, Label] | None = None,
) -> Stimuli:
    """Stimuli by the names of their item and entry, in order of first appearance."""
    items, entries = list(dict.fromkeys(item)), list(dict.fromkeys(entry))
    group_named = dict(zip(item, group or item, strict=True))
    families = [(family or {}).get(name, name) for name in entries]
    groups = list(dict.fromkeys(group_named[name] for name in items))
    distinct = list(dict.fromkeys(families))
    return Stimuli(
        tuple(items),
        tuple(groups),
        tuple(entries),
        tuple(distinct),
        tuple((labels or {}).get(name, Label.ENTRY) for name in entries),
        np.array([items.index(name) for name in item]),
        np.array([entries.index(name) for name in entry]),
        np.array([groups.index(group_named[name]) for name in items]),
        np.array([distinct.index(name) for name in families]),
    )


def scores_of(table: np.ndarray, session: Sequence[str] | None = None) -> Scores:
    """Scores float64[J, columns], NaN where there is none; a column of two sessions is two raters."""
    sessions = list(dict.fromkeys(session or [""]))
    at = np.array([sessions.index(name) for name in session or [""] * len(table)])
    stimulus, column = np.nonzero(~np.isnan(table))
    raters: dict[tuple[int, int], int] = {}
    rater = np.array([raters.setdefault((int(at[j]), int(c)), len(raters)) for j, c in zip(stimulus, column, strict=True)], dtype=np.int64)
    of = list(raters)
    return Scores(
        stimulus,
        rater,
        table[stimulus, column],
        tuple(sessions),
        np.array([s for s, _ in of], dtype=np.int64),
        np.array([c + 1 for _, c in of], dtype=np.int64),
    )


def tables_of(
    name: str,
    material: str,
    stimuli: Stimuli,
    criteria: Sequence[Criterion],
    metrics: Sequence[tuple[PublishedMetric, np.ndarray]],
    scale: tuple[float, float] | None,
    raters_are: RatersAre = RatersAre.NONE,
    scale_name: str = "",
) -> EvidenceTables:
    values = np.stack([values for _, values in metrics], axis=1).astype(float) if metrics else np.zeros((len(stimuli), 0))
    published = tuple(metric for metric, _ in metrics)
    return EvidenceTables(name, material, raters_are, "", scale, scale_name, True, stimuli, tuple(criteria), published, values)


def means_of(mean: np.ndarray, se: np.ndarray | None = None) -> Means:
    nothing = np.full(len(mean), np.nan)
    return Means(np.asarray(mean, dtype=float), nothing, nothing, nothing if se is None else np.asarray(se, dtype=float))


# --- the example of the specification (EVIDENCE, section 10)


def example(raters_are: RatersAre = RatersAre.PERSONS) -> EvidenceTables:
    i, e = (part.ravel() for part in np.meshgrid(np.arange(6), np.arange(5), indexing="ij"))
    t = ((3 * i + 5 * e + i * e) % 7) + 1.5 * e
    r = np.arange(6)[None, :]
    score = np.minimum(5, 1 + np.floor((t[:, None] + ((2 * r + 3 * i[:, None] + e[:, None] * (r + 1)) % 5)) / 3.2))
    metrics = {"A": t + ((2 * i + e) % 3), "B": t + 4 * (i % 2) + ((i + 2 * e) % 4), "C": (7 * i + 3 * e) % 5}
    entries = [f"entry {n}" for n in e]
    family = {f"entry {n}": "p" if n < 2 else "q" for n in range(5)}
    return tables_of(
        "example",
        "pictures",
        stimuli_of([f"item {n}" for n in i], entries, family=family),
        [Criterion("quality", scores=scores_of(score))],
        [(PublishedMetric(name, name, True), x) for name, x in metrics.items()],
        (1, 5),
        raters_are,
    )


# --- published sets


def gsc(folder: Path) -> EvidenceTables:
    rows = sheet(folder / "gsc-aipfqa" / "Results.xlsx")
    table = pd.DataFrame(rows[1:], columns=rows[0])
    entry = (table.Codec + " " + table.Rate).tolist()
    numbers = table[[name for name in table if name.startswith("Subject_")]].astype(float).to_numpy()
    lower = ("LPIPS",)
    names = {"PSNR_Y": "psnr-y", "PSNR_YUV": "psnr-yuv", "SSIM": "ssim", "MS_SSIM": "ms-ssim", "LPIPS": "lpips", "IWSSIM": "iw-ssim"}
    names |= {"FSIMc": "fsimc", "VIFp": "vif", "VMAF": "vmaf"}
    metrics = [
        (PublishedMetric(column, name, column not in lower), table[column].astype(float).to_numpy()) for column, name in names.items()
    ]
    metrics.append((PublishedMetric("ModelSize", "size", True, True), table.ModelSize.astype(float).to_numpy()))
    item = (table.Scene + " path " + table.Trajectory).tolist()
    stimuli = stimuli_of(item, entry, table.Scene.tolist(), dict(zip(entry, table.Codec, strict=True)))
    return tables_of("gsc", "splat videos", stimuli, [Criterion("quality", scores=scores_of(numbers))], metrics, (1, 5), RatersAre.COLUMNS)


NERF_LOWER = ("LPIPS(alex)", "mad", "DISTS", "Pieapp", "lpips_vgg", "gmsd", "nlpd", "ST-LPIPS-vgg")
# fmt: off
NERF_COLUMNS = (
    "DISTS", "VIF", "MS-SSIM", "mad", "Pieapp", "wadiqam", "Topiq-fr", "lpips_vgg", "LPIPS(alex)",
    "SSIMq", "PSNRq", "gmsd", "fsimc", "nlpd", "ST-LPIPS-vgg", "Ahiq", "PSNRy",
)
# fmt: on


def nerf_values(folder: Path) -> pd.DataFrame:
    """The metrics' values, by stimulus."""
    table = pd.read_csv(folder / "nerf-qa-kobejean" / "Test_2_iqa.csv")
    return table.set_index(pd.Index([_spelt(name) for name in table.distorted_folder]))


def _spelt(name: str) -> str:
    """One spelling of what the two files spell in two ways."""
    return name.lower().replace("sh_dim_1", "sh_1").replace("materails", "materials")


def nerf_qa(folder: Path) -> EvidenceTables:
    people = pd.read_csv(folder / "nerf-qa-kobejean" / "participants.csv")
    values = nerf_values(folder).loc[[_spelt(name) for name in people.distorted_folder]]
    entry = [re.sub("materails_", "", name) for name in people.method]
    numbers = people[[name for name in people if name.startswith("Subject ")]].to_numpy(dtype=float)
    session = ["first" if scene in FIRST_SESSION else "second" for scene in people.scene]
    metrics = [(PublishedMetric(name, name.lower(), name not in NERF_LOWER), values[name].to_numpy(dtype=float)) for name in NERF_COLUMNS]
    stimuli = stimuli_of(people.scene.tolist(), entry, family={name: name.split("_")[0] for name in entry})
    criteria = [Criterion("quality", scores=scores_of(numbers, session))]
    return tables_of("nerf-qa", "nerf videos", stimuli, criteria, metrics, (0, 10), RatersAre.COLUMNS)


def basics(folder: Path) -> EvidenceTables:
    inner = folder / "basics-mtb-pcqa"
    table = pd.read_csv(inner / "BASICS_testset_indv_scores.csv")
    pcqm = pd.read_csv(inner / "pcqm_predictions.csv").set_index("ppc").predictions
    entry = [re.sub(r"^p\d+_", "", name) for name in table.ppc]
    numbers = table[[name for name in table if name.startswith("obs")]].to_numpy(dtype=float)
    stimuli = stimuli_of(table.src.tolist(), entry, family={name: name.rsplit("_", 1)[0] for name in entry})
    metrics = [(PublishedMetric("predictions", "pcqm", False), pcqm.loc[table.ppc].to_numpy(dtype=float))]
    criteria = [Criterion("quality", scores=scores_of(numbers))]
    return tables_of("basics", "point clouds", stimuli, criteria, metrics, (1, 5), RatersAre.COLUMNS)


def icip2020(folder: Path) -> EvidenceTables:
    table = pd.read_csv(folder / "icip2020-quach" / "icip2020_degraded_pcs_features.csv")
    printed = pd.read_csv(folder / "icip2020-quach" / "printed.csv")
    entry = (table.codec_id + " " + table.codec_rate.astype(str)).tolist()
    labels = {name: Label.REFERENCE for name in entry if name.startswith("REF")}
    metrics = [
        (PublishedMetric(column, name.lower(), "psnr" in column), table[column].to_numpy(dtype=float))
        for name, column in zip(printed.metric, printed.column, strict=True)
    ]
    metrics.append((PublishedMetric("min_y_psnr_color", "cloud-y-psnr", True), table.min_y_psnr_color.to_numpy(dtype=float)))
    metrics.append((PublishedMetric("output_points", "points", True, True), table.output_points.to_numpy(dtype=float)))
    stimuli = stimuli_of(table.pc_name.tolist(), entry, family=dict(zip(entry, table.codec_id, strict=True)), labels=labels)
    criteria = [Criterion("quality", means=means_of(table.mos.to_numpy(), table.mos_ci.to_numpy() / 1.959964))]
    return tables_of("icip2020", "point clouds", stimuli, criteria, metrics, (1, 5))


GEO_METRICS = ("METRO", "FMPD", "DAME", "MSDM", "MSDM2", "RMS")


def geo_metric(folder: Path) -> EvidenceTables:
    """Entries are distortions with a strength, criteria the settings in which the faces were seen."""
    table = pd.read_csv(folder / "geo-metric" / "JODPerMesh.csv")
    table["entry"] = np.where(table.magnitude == "ref", "reference", table.magnitude)
    # The values of metrics differ by setting, so each setting has its own: what is of one setting is an item of it.
    names, criteria = list(dict.fromkeys(table.setting)), []
    undamaged = table[table.magnitude != "ref"]
    stimuli = stimuli_of(
        (undamaged.basemesh + " " + undamaged.setting).tolist(),
        undamaged.entry.tolist(),
        undamaged.basemesh.tolist(),
        dict(zip(undamaged.entry, undamaged.dst_type, strict=True)),
    )
    jod = undamaged.JOD.to_numpy(dtype=float)
    for name in names:
        criteria.append(Criterion(name, means=means_of(np.where(undamaged.setting == name, jod, np.nan))))
    values = undamaged[[*GEO_METRICS]].replace(-1, np.nan)  # the source prints no correlation where these are
    metrics = [(PublishedMetric(name, name.lower(), False), values[name].to_numpy(dtype=float)) for name in GEO_METRICS]
    return tables_of("geo-metric", "meshes", stimuli, criteria, metrics, None, scale_name="JOD")


def mate_3d(folder: Path) -> EvidenceTables:
    table = pd.read_csv(folder / "mate-3d" / "all.csv")
    criteria = [
        Criterion(name.lower(), means=means_of(table[name].to_numpy(dtype=float)))
        for name in ("Overall", "Geometry", "Texture", "Alignment")
    ]
    stimuli = stimuli_of(table.prompt.tolist(), table.model.tolist())
    return tables_of("mate-3d", "generated meshes", stimuli, criteria, [], (0, 10))


SETS: dict[str, Callable[[Path], EvidenceTables]] = {
    "gsc": gsc,
    "nerf-qa": nerf_qa,
    "basics": basics,
    "icip2020": icip2020,
    "geo-metric": geo_metric,
    "mate-3d": mate_3d,
}


def sheet(path: Path) -> list[list[str]]:
    """The cells of the first sheet of a workbook, as texts."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        texts = ["".join(part.itertext()) for part in ElementTree.fromstring(archive.read("xl/sharedStrings.xml")).iter(f"{space}si")]
        root = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in root.iter(f"{space}row"):
        found = []
        for cell in row.iter(f"{space}c"):
            value = cell.findtext(f"{space}v") or ""
            found.append(texts[int(value)] if cell.get("t") == "s" else value)
        rows.append(found)
    return rows
