"""The model card of a trained `wf_learned`: whose votes it has seen, how well it does, what it must not be taken for. PURE."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evaluation.metrics.wireframe.learned.metric import MARGIN, SIDE, WIDTH
from evaluation.metrics.wireframe.learned.network import Features
from evaluation.training.preference.training import Plan, over_folds
from evaluation.training.preference.votes import Decisions

HUMAN = "These weights were trained on the votes of {raters} raters ({votes}) and like what those raters liked, from one side."
SIMULATED = "These weights have seen no human judgement: the raters of their training study are simulated."
USE = (
    "the wireframe metric `wf_learned`, in logits, higher is better, to be compared on one sample only. Never as the sole judge: an entry "
    "can be made to please a network without being better (reward hacking)."
)


def card(
    name: str,
    weights: bytes,
    plan: Plan,
    features: Features,
    decisions: Decisions,
    said: Mapping[str, Any],
    results: Mapping[str, Any],
    parameters: int,
    made: str,
) -> dict[str, Any]:
    """The card as plain JSON values. `said` describes the study: title, question, source, phase, simulated, votes_sha256 (the
    file's digest) and study (its address and when it was made, which no other study has)."""
    simulated = bool(said.get("simulated"))
    statement = SIMULATED if simulated else HUMAN.format(raters=f"{decisions.raters:,}", votes=f"{len(decisions):,} decisions")
    return {
        "name": name,
        "network": "wf_learned",
        "features": {"network": features.network, "name": features.name, "sha256": features.sha256, "width": features.width},
        "view": {"side": SIDE, "margin": MARGIN, "line_width": WIDTH, "azimuth": 45, "elevation": 30},
        "parameters": parameters,
        "sha256": hashlib.sha256(weights).hexdigest(),
        "bytes": len(weights),
        "made": made,
        "simulated": simulated,
        "statement": statement,
        "use": USE,
        "data": {
            **{
                key: said[key]
                for key in ("title", "question", "source", "phase", "study", "study_created_at", "votes_sha256")
                if said.get(key)
            },
            "criterion": decisions.criterion,
            "raters": decisions.raters,
            "votes": decisions.votes,
            "equal": decisions.equal,
            "asked_again": decisions.again,
            "decisions": len(decisions),
            "samples": sorted({decisions.samples[number] for number in decisions.sample.tolist()}),
            "methods": sorted({decisions.methods[number] for side in (decisions.winner, decisions.loser) for number in side.tolist()}),
        },
        "plan": asdict(plan),
        "accuracy": over_folds(dict(results)),
        "folds": {
            phase: {key: value for key, value in one.items() if key != "losses"} for phase, one in results.items() if phase != "final"
        },
        "losses": results["final"]["losses"],
    }


def markdown(card: Mapping[str, Any]) -> str:
    """The card for people."""
    features = card["features"]
    head = [
        f"# Learned preference weights: {card['name']}",
        "",
        f"**{card['statement']}**",
        "",
        f"- File: `{card['name']}.safetensors`, {card['bytes']:,} bytes, {card['parameters']:,} parameters, sha256 `{card['sha256']}`",
        f"- Features: {features['name']}, {features['width']:,} numbers of a view, sha256 `{features['sha256']}`",
        f"- Made: {card['made']}",
        f"- Use: {card['use']}",
        "",
    ]
    return "\n".join([*head, *_data(card), *_training(card), *_folds(card)]) + "\n"


def _data(card: Mapping[str, Any]) -> list[str]:
    data = card["data"]
    words = {"title": "Study", "question": "Question", "source": "Source", "phase": "Phase", "criterion": "Criterion"}
    lines = ["## Data", "", *(f"- {word}: {data[key]}" for key, word in words.items() if data.get(key))]
    return [
        *lines,
        f"- {data['votes']:,} votes of {data['raters']:,} raters, of which {data['equal']:,} were equal and {data['asked_again']:,} asked "
        f"again; {data['decisions']:,} decisions between entries with files",
        f"- {len(data['samples'])} samples: {', '.join(data['samples'])}",
        f"- {len(data['methods'])} methods: {', '.join(data['methods'])}",
        "",
    ]


def _training(card: Mapping[str, Any]) -> list[str]:
    plan, view = card["plan"], card["view"]
    return [
        "## Training",
        "",
        f"- What is seen: {view['side']} × {view['side']} pixels, prediction blue over reference black, azimuth {view['azimuth']}°, "
        f"elevation {view['elevation']}°, {view['margin']} times the ball around the reference",
        f"- Head: layer norm, {card['features']['width']:,} to 256, GELU, dropout 0.2, 256 to 1; loss −ln σ(g_winner − g_loser)",
        f"- AdamW, rate {plan['rate']:g}, weight decay {plan['weight_decay']:g}, {plan['epochs']} epochs in batches of {plan['batch']} "
        f"pairs, seed {plan['seed']}",
        f"- Mean loss by epoch: {', '.join(f'{value:.3f}' for value in card['losses'])}",
        "",
    ]


def _folds(card: Mapping[str, Any]) -> list[str]:
    lines = ["## Accuracy on samples and methods that were not seen", ""]
    if not card["folds"]:
        return [*lines, "Too few samples or methods for folds: how well these weights do has not been measured.", ""]
    mean, sd = card["accuracy"]["mean"], card["accuracy"]["sd"]
    lines += [
        "Each fold holds out some samples and some methods. It is trained on pairs without either, and tested on pairs of the held-out "
        "methods on the held-out samples. Accuracy is the share of pairs that the head decides as the rater did; a tie of the head counts "
        "half.",
        "",
        "| fold | samples | methods | trained on | judged by | accuracy |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in card["folds"].items():
        names = f"{', '.join(one['samples'])} | {', '.join(one['methods'])}"
        lines.append(f"| {name} | {names} | {one['trained_on']:,} | {one['pairs']:,} | {one['accuracy']:.3f} |")
    return [*lines, f"| mean ± sd |  |  |  |  | {mean:.3f}{'' if sd is None else f' ± {sd:.3f}'} |", ""]
