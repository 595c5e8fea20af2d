"""Weights of a network, as names and sentences: what their model card and their files say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.networks.weights import AnyFile, PackagedFile, PublishedFile

Fact = tuple[str, str]


def card_facts(card: Mapping[str, Any]) -> Iterator[Fact]:
    """Answers and features that the weights were trained on, and their accuracy on samples that were not seen."""
    if "decisions" in (data := card.get("data", {})):
        simulated = ", simulated" if card.get("simulated", card.get("made_up")) else ""
        yield "Trained on", f"{data['decisions']:,} decisions of {data['raters']:,} raters{simulated}"
    if features := card.get("features"):
        yield "Features", f"{features['name']}, frozen"
    if (accuracy := card.get("accuracy", {})).get("mean") is not None:
        spread = f" ± {accuracy['sd']:.3f}" if accuracy["sd"] is not None else ""
        yield "Accuracy", f"{accuracy['mean']:.3f}{spread} over {accuracy['folds']} folds, on samples and methods that were not seen"
    if left_out := card.get("leave_one_out"):
        rho, objects = left_out["means"]["srocc"], len(left_out["meshes"])
        yield (
            "One object left out",
            f"Spearman’s ρ with pseudo-scores {rho['mean']:.2f} [{rho['low']:.2f}, {rho['high']:.2f}], mean over {objects} simulated "
            f"objects. Each object was scored by a network trained on the other {objects - 1}, not by these weights",
        )
    if figures := [one for one in card.get("acceptance", ()) if one["limit"] is not None]:
        failed = [f"{one['name']} ({100 * one['value']:.1f} %)" for one in figures if not one["met"]]
        words = f"{len(figures) - len(failed)} of {len(figures)} limits of our own kept on {figures[0]['n']} simulated objects"
        yield "What should hardly change it", words + (f"; not kept: {'; '.join(failed)}" if failed else "")


def file_facts(file: AnyFile) -> Iterator[Fact]:
    """Size, licence and digest of a file."""
    if isinstance(file, PublishedFile | PackagedFile):
        digest = file.sha256 or (file.stated if isinstance(file, PublishedFile) else "")
        yield "File", f"{file.what}; about {file.megabytes:.3g} MB, licence {file.licence}"
        yield "SHA-256", f"{digest[:16]}…, {file.pinned_by}" if digest else file.pinned_by
    else:
        yield "SHA-256", f"{file.sha256[:16]}…, of its model card"
