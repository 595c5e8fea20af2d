"""Reasons for which an entry waits for its team to say that it is meant as it is. PURE."""

from enum import StrEnum


class Reason(StrEnum):
    """Reasons to ask a team about its entry; the first that applies is the entry's."""

    KIND = "kind"  # many of its files hold nothing that can be scored
    INPUTS = "inputs"  # it does not fit what was given out
    FOLDERS = "folders"  # its files may be of several runs
