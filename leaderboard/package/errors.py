"""Refusals of the package that are no fault of one metric's input."""

from __future__ import annotations


class CannotEvaluate(ValueError):
    """Folders cannot be scored, or a file is no saved result; a sentence for each problem."""


class Rejected(CannotEvaluate):
    """Predictions that are no valid entry; a sentence for each problem."""


class NotComparable(CannotEvaluate):
    """Two results are of other items, references or definitions; a sentence for each difference."""
