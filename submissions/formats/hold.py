"""Reasons to put an entry on hold: it is scored only after its team confirms it. PURE."""

from enum import StrEnum


class Reason(StrEnum):
    """Reasons to ask a team about its entry. An entry stores the first that applies."""

    KIND = "kind"  # many files hold nothing that can be scored, such as points where meshes are asked for
    INPUTS = "inputs"  # its size, axes or place do not fit the inputs
    FOLDERS = "folders"  # its files lie in several folders and may come from several runs
