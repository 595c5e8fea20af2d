"""Raters who come from a panel: the facts on them in the address they come by, and the page they go to when they are done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from django.utils.crypto import salted_hmac

from leaderboard.models import Study
from submissions.errors import Refused

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
VALUE = re.compile(r"[A-Za-z0-9_.@:-]{1,100}")
MAX_PARAMETERS = 6


def check_names(names: Sequence[str]) -> None:
    """Raises ValueError, in a sentence, for names that no parameter of an address has."""
    wrong = next((name for name in names if not NAME.fullmatch(name)), None)
    if wrong is not None:
        raise ValueError(f"“{wrong[:60]}” is not the name of a parameter; write letters, digits and _, such as PROLIFIC_PID.")
    if len(set(names)) < len(names):
        raise ValueError("A parameter is named twice; name each once.")
    if len(names) > MAX_PARAMETERS:
        raise ValueError(f"A study keeps at most {MAX_PARAMETERS} parameters; name those that you need.")


def parameters_of(study: Study, query: Mapping[str, str]) -> dict[str, str]:
    """Parameters that the study keeps of the address somebody came by, {} of one without a panel. Raises `Refused`, in a sentence, where
    the first, which names the person, is missing, or a value has a form that panels do not give."""
    kept = {name: query[name] for name in study.panel_parameters if query.get(name)}
    wrong = next((name for name, value in kept.items() if not VALUE.fullmatch(value)), None)
    if wrong is not None:
        raise Refused(f"The address gives no usable {wrong}; open the link of your panel again, as it was sent.", "bad_panel")
    if study.panel_parameters and study.panel_parameters[0] not in kept:
        raise Refused(f"The address lacks {study.panel_parameters[0]}; open the link of your panel again, as it was sent.", "no_panel")
    return kept


def with_parameters(address: str, study: Study, query: Mapping[str, str]) -> str:
    """The address with those parameters of `query` that the study keeps, for a page that reads them after another one."""
    kept = {name: query[name] for name in study.panel_parameters if query.get(name)}
    return f"{address}?{urlencode(kept)}" if kept else address


def address_to_give(address: str, study: Study) -> str:
    """The address to give to a panel: with a placeholder for each parameter, in the form that Prolific fills in. Empty for a study without
    a panel."""
    placeholders = "&".join(f"{name}={{{{%{name}%}}}}" for name in study.panel_parameters)
    return f"{address}?{placeholders}" if placeholders else ""


def hash_of(study: Study, panel_id: str) -> str:
    """Hash that is kept of somebody's number at a panel, also once they have left: the same in all studies of a challenge, and of no use
    without this service's secret key. Empty where they have none."""
    return salted_hmac("rater of a panel", f"{study.phase.challenge_id}:{panel_id}", algorithm="sha256").hexdigest() if panel_id else ""


def completion(study: Study) -> dict[str, str] | None:
    """Proof for somebody who has answered everything: the address to go back to, or a code; None where there is neither."""
    if not study.completion:
        return None
    return {"address" if study.completion.startswith("https://") else "code": study.completion}
