"""The model cards of the shipped networks: what they were trained on, what was measured, what they must not be taken for. PURE."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evaluation.synthetic.objects import KINDS
from evaluation.training.resumable_run import Plan

STATEMENTS = {
    "backbone": "These weights know procedural rooms only: they have seen no photograph and no human judgement. They tell twelve "
    "classes of made-up objects apart; their features stand in for the published ones where those are not at hand, and give other values.",
    "detector": "This detector knows procedural rooms only: twelve classes of made-up objects, not the eighty of COCO. It has seen no "
    "photograph; what it finds in photographs, and what it misses there, has not been measured.",
}
USES = {
    "backbone": "features for `puzzlesim` and for distances of the LPIPS kind; images as `evaluation.networks.backbones.imagenet` "
    "leaves them",
    "detector": "objects and features for `osim`; images as the published YOLOX detectors take them (BGR, 0 to 255)",
}
FOLDERS = {"backbone": "backbone", "detector": "yolox"}  # under evaluation/networks/shipped


def card(
    name: str,
    weights: bytes,
    plan: Plan,
    parameters: int,
    trained: dict[str, int],
    measured: Sequence[dict[str, Any]],
    losses: list[float],
    made: str,
) -> dict[str, Any]:
    """The card as plain JSON values; `trained` are counts of rooms, views and objects, `measured` figures on held-out rooms.

    A detector's `letterbox` is the side to which `osim` brings images for it: the one at which it was most precise.
    """
    return {
        "name": name,
        "network": FOLDERS[plan.network],
        "architecture": "squeezenet" if plan.network == "backbone" else "small_detector",
        "classes": list(KINDS),
        "input_size": plan.size,
        **({"letterbox": max(measured, key=lambda one: one["map_50_95"])["size"]} if plan.network == "detector" else {}),
        "parameters": parameters,
        "sha256": hashlib.sha256(weights).hexdigest(),
        "bytes": len(weights),
        "made": made,
        "statement": STATEMENTS[plan.network],
        "use": USES[plan.network],
        "data": trained,
        "plan": asdict(plan),
        "held_out": list(measured),
        "losses": losses,
    }


def markdown(card: dict[str, Any]) -> str:
    """The card for people."""
    plan, data = card["plan"], card["data"]
    options = " ".join(f"--{key} {plan[key]}" for key in ("rooms", "steps", "batch", "size", "seed"))
    command = f"python -m evaluation train {plan['network']} {options} --held-out {data['held_out_rooms']}"
    lines = [
        f"# {card['network'].capitalize()} weights: {card['name']}",
        "",
        f"**{card['statement']}**",
        "",
        f"- File: `{card['name']}.safetensors`, {card['bytes']:,} bytes, {card['parameters']:,} parameters, sha256 `{card['sha256']}`",
        f"- Made: {card['made']}, by `{command}`",
        f"- Use: {card['use']}; trained at about {card['input_size']} pixels"
        + (f", given {card['letterbox']} pixels by `osim`" if "letterbox" in card else ""),
        f"- Classes: {', '.join(card['classes'])}",
        "",
        "## Data",
        "",
        f"- {data['rooms']} procedural rooms (`evaluation.synthetic.rooms`), {data['views']} views of {plan['pixels']} × {plan['pixels']} "
        f"pixels drawn by `evaluation.rendering`, {data['objects']} objects seen in them",
        f"- Held out: {data['held_out_rooms']} rooms of other seeds, with other objects and textures of the same makers",
        "- Changed in training: cut, mirrored, recoloured; some blurred, noisy, coarse, compressed or with blots of other images",
        "",
        "## Training",
        "",
        f"- {plan['steps']:,} steps of {plan['batch']} images, seed {plan['seed']}; AdamW, rate {plan['rate']:g} with a linear start and a "
        f"cosine to zero, weight decay {plan['weight_decay']:g}; exported is a running mean of the weights",
        f"- Mean loss over equal parts of the training: {', '.join(f'{value:.2f}' for value in card['losses'])}",
        "",
        "## On the held-out rooms",
        "",
    ]
    measured = card["held_out"]
    if plan["network"] == "backbone":
        lines += ["| image side | crops | named right |", "| --- | --- | --- |"]
        lines += [f"| {one['size']} | {one['crops']} | {one['accuracy']:.3f} |" for one in measured]
        head, by_class = "By class", measured[0]["by_class"]
    else:
        lines += [
            "Sure are detections with a score of at least 0.35, which `osim` takes for objects unless told otherwise.",
            "",
            "| image side | views | objects | mAP at .5 | mAP at .5:.95 | sure | of them right | objects found by them |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        for one in measured:
            shares = " | ".join("" if one[key] is None else f"{one[key]:.3f}" for key in ("sure_precision", "sure_recall"))
            precisions = f"{one['map_50']:.3f} | {one['map_50_95']:.3f}"
            lines.append(f"| {one['size']} | {one['views']} | {one['objects']} | {precisions} | {one['sure']} | {shares} |")
        head, by_class = "By class at .5", measured[0]["by_class_50"]
    listed = ", ".join(f"{name} {value:.2f}" for name, value in by_class.items())
    return "\n".join([*lines, "", f"{head}, at {measured[0]['size']}: {listed}"]) + "\n"
