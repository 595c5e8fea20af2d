"""The model card: what weights were trained on, how well they do, and what they must not be taken for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evaluation.metrics.mesh.locase.acceptance import Figure, interval
from evaluation.metrics.mesh.locase.acceptance_criteria import Sentence
from evaluation.metrics.mesh.locase.training import Plan

PUBLISHED = {"plcc": 0.728, "srocc": 0.757, "krocc": 0.614}  # of the paper, on human scores: a different test
NO_HUMAN = (
    "These weights were trained without human scores. The training meshes are simulated objects with simulated damage. Their scores "
    "follow from the level of the damage and its measured effect. The metric's value is therefore a pseudo-score. It has not been shown "
    "to agree with people."
)
HUMAN = "These weights were fine-tuned on human scores. The weights that they started from were trained on pseudo-scores."


def card(
    name: str,
    weights: bytes,
    plan: Plan,
    data: dict[str, Any],
    results: dict[str, Any],
    figures: Sequence[Figure],
    tried: Mapping[str, Sequence[Sentence]],
    made: str,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The card as plain JSON values."""
    folds = {phase: result for phase, result in results.items() if "plcc" in result}
    measures = ("plcc", "srocc", "krocc", "mae")
    mean = {key: float(np.mean([fold[key] for fold in folds.values()])) for key in measures} if folds else {}
    return {
        "name": name,
        "network": "locase",
        "sha256": hashlib.sha256(weights).hexdigest(),
        "bytes": len(weights),
        "made": made,
        "human_scores": plan.stage == 2,
        "statement": HUMAN if plan.stage == 2 else NO_HUMAN,
        "data": data,
        "plan": asdict(plan),
        "folds": {phase: {key: value for key, value in fold.items() if key != "losses"} for phase, fold in folds.items()},
        "folds_mean": mean,
        "losses": results["final"]["losses"],
        "stopped": {key: results["final"][key] for key in ("steps", "of") if key in results["final"]},
        "sentences": {label: [asdict(one) | {"met": one.met} for one in rows] for label, rows in tried.items()},
        "notes": list(notes),
        "may_rank": all(one.met for rows in tried.values() for one in rows),
        "acceptance": [asdict(figure) | {"met": figure.met} for figure in figures],
    }


def markdown(card: dict[str, Any]) -> str:
    """The card for people."""
    head = [
        f"# LoCaSE weights: {card['name']}",
        "",
        f"**{card['statement']}**",
        "",
        f"- File: `{card['name']}.safetensors`, {card['bytes']:,} bytes, sha256 `{card['sha256']}`",
        f"- Made: {card['made']}",
        "- Use: the mesh metric `locase`, 1 (worst) to 5, higher is better. Do not present its values as the judgement of people.",
        "",
    ]
    lines = ["## Requirements", ""]
    if card["may_rank"]:
        lines += ["These weights meet all requirements on the meshes below.", ""]
    else:
        lines += [
            "**Shown, not ranked: these weights do not meet every requirement.** Do not rank methods by a column with these weights.",
            "",
        ]
    for label, rows in card["sentences"].items():
        lines += [f"On {label}:", "", "| requirement | trials that meet it | worst trial | met |", "| --- | --- | --- | --- |"]
        for row in rows:
            lines.append(f"| {row['text']} | {row['held']} of {row['of']} | {row['figure']} | {'yes' if row['met'] else '**no**'} |")
        lines.append("")
    for note in card["notes"]:
        lines += [note, ""]
    plan = card["plan"]
    training = ["## Data", "", *(f"- {key}: {value}" for key, value in card["data"].items()), "", "## Training", ""]
    training += [
        f"- Stage {plan['stage']}, seed {plan['seed']}, {plan['epochs']} epochs; a batch is {plan['meshes'] or 'all'} meshes of "
        f"{'one object' if plan['per_batch'] == 1 else 'each of ' + str(plan['per_batch']) + ' objects'}.",
        f"- In each step the network looks at {plan['queries'] // 2} to {plan['queries'] * 3 // 2} evenly spread points of each mesh. In "
        f"the last fifth of the steps it looks at {plan['last_queries']}. A point's neighbours are taken from all points of the mesh. "
        "Scoring looks at all points, in all possible directions of the mesh's axes.",
        f"- AdamW with learning rate {plan['rate']:g} (linear start, then a cosine to zero) and weight decay {plan['weight_decay']:g}.",
        f"- The weights are an exponential moving average of the weights of all steps (decay {plan['average']:g}).",
        "- Loss of an object: smooth L1 + (1 - PLCC) + (1 - SROCC with soft ranks), each with weight 1.",
        "- In training, an object and its damaged meshes are mirrored together. Three in twenty damaged meshes are tilted by up to 10°; "
        "their scores stay the same.",
        *([f"- Stopped after {card['stopped']['steps']:,} of {card['stopped']['of']:,} steps."] if card["stopped"] else []),
        f"- Mean loss by epoch: {', '.join(f'{value:.2f}' for value in card['losses'])}",
        "",
    ]
    return "\n".join([*head, *lines, *training, *_folds(card), *_left_out(card), *_acceptance(card)]) + "\n"


def _folds(card: dict[str, Any]) -> list[str]:
    if not card["folds"] and card["plan"]["stage"] == 1:
        return [
            "## Folds",
            "",
            "There are no folds. Instead, four kinds of objects are left out of training, and the requirements are tested on objects of "
            "these kinds.",
            "",
        ]
    if not card["folds"]:
        return [
            "## Folds",
            "",
            "There are too few objects for folds. How well these weights score unseen objects has not been measured.",
            "",
        ]
    kind = "human scores" if card["human_scores"] else "pseudo-scores"
    lines = [
        "## Folds",
        "",
        f"For each fold, a network was trained on the other objects ({card['plan']['fold_epochs']} epochs, fewer than for the shipped "
        f"weights). It was tested on the objects left out. The table has the correlation of its scores with the {kind} over the damaged "
        "meshes of an object, averaged over objects.",
        "",
        "| fold | left out | objects | PLCC | SROCC | KROCC | mean error |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for phase, fold in card["folds"].items():
        figures = " | ".join(f"{fold[key]:.3f}" for key in ("plcc", "srocc", "krocc", "mae"))
        lines.append(f"| {phase} | {', '.join(fold['left_out'])} | {fold['n']} | {figures} |")
    mean = " | ".join(f"{card['folds_mean'][key]:.3f}" for key in ("plcc", "srocc", "krocc", "mae"))
    lines += [f"| mean |  |  | {mean} |", ""]
    lines.append(
        f"The paper's figures are PLCC {PUBLISHED['plcc']}, SROCC {PUBLISHED['srocc']} and KROCC {PUBLISHED['krocc']}. They are about "
        "human scores of other meshes, so they cannot be compared with these figures."
    )
    return [*lines, ""]


def _left_out(card: dict[str, Any]) -> list[str]:
    found = card.get("leave_one_out")
    if not found:
        return []
    meshes = found["meshes"]
    return [
        "## One object left out at a time",
        "",
        f"These figures are not of the weights above. For each of {len(meshes)} simulated objects, the same network was trained anew on "
        f"the other {len(meshes) - 1} ({found['epochs']} epochs) and tested on the object left out. The table has the correlations of its "
        "scores with the pseudo-scores of the object's damaged meshes. The paper's figures are about human scores of other meshes, so "
        "they cannot be compared with these figures.",
        "",
        *folds_table(meshes, found["folds"]),
        "",
    ]


def folds_table(meshes: Mapping[str, int], folds: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown: the correlations of each object that was left out, the mean over objects with its interval, and the paper's
    figures. `meshes` are the numbers of damaged meshes by object; there are three objects at least."""
    lines = ["| object left out | meshes | PLCC | SROCC | KROCC |", "| --- | --- | --- | --- | --- |"]
    for fold in folds.values():
        (name,) = fold["left_out"]
        lines.append(f"| {name} | {meshes[name]} | " + " | ".join(f"{fold[key]:.3f}" for key in PUBLISHED) + " |")
    means = []
    for mean, (low, high) in left_out_means(folds).values():
        means.append(f"{mean:.3f} [{low:.3f}, {min(high, 1.0):.3f}]")
    total, published = sum(meshes.values()), " | ".join(f"{value:.3f}" for value in PUBLISHED.values())
    return [
        *lines,
        f"| mean of {len(folds)} objects [95 %, Student's t over objects] | {total} | {' | '.join(means)} |",
        f"| the paper, mean of 16 objects, human scores | 175 | {published} |",
    ]


def left_out_means(folds: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[float, tuple[float, float]]]:
    """Each correlation's mean over the objects left out, and its 95 % interval by Student's t over them."""
    found = {}
    for key in PUBLISHED:
        values = np.array([fold[key] for fold in folds.values()])
        between = interval(values)
        assert between is not None  # there are three objects at least
        found[key] = (float(values.mean()), between)
    return found


def _acceptance(card: dict[str, Any]) -> list[str]:
    if not card["acceptance"]:
        return []
    return [
        "## What should hardly change the score",
        "",
        f"Each figure is measured on {max(figure['n'] for figure in card['acceptance'])} simulated objects of kinds that training leaves "
        "out. Each object has six damaged meshes with pseudo-scores. Noise is given as a share of the mean distance of the vertices from "
        "their middle. Score changes are means of |change| / score. The limits (“at most”) are our own. The paper's figures are about "
        "other meshes and other weights.",
        "",
        *figures_table(card["acceptance"]),
        "",
        "The reference itself scores 5, the highest score. A symmetric object has no definite axes, so the score is averaged over all "
        "possible directions of the axes.",
        "",
    ]


def figures_table(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Acceptance figures as lines of Markdown."""
    lines = [
        "| figure | measured | 95 % interval | objects | at most | met | table of the paper | its figure |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for figure in figures:

        def shown(value: float | None, in_points: bool = figure["name"].startswith(("standard deviation", "mean score of"))) -> str:
            return "" if value is None else f"{value:.3f}" if in_points else f"{100 * value:.2f} %"

        between = "none for one object" if figure["interval"] is None else " to ".join(map(shown, figure["interval"]))
        met = {True: "yes", False: "**no**", None: ""}[figure["met"]]
        lines.append(
            f"| {figure['name']} | {shown(figure['value'])} | {between} | {figure['n']} | {shown(figure['limit'])} | {met} | "
            f"{figure['table'] or ''} | {shown(figure['published'])} |"
        )
    return lines
