"""Errors of trainings that cannot be done as asked, and how their commands end then. PURE."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from evaluation.networks.device_use import CardTrouble
from evaluation.networks.weights import WeightsError
from submissions.formats.errors import FormatError


class TrainingError(ValueError):
    """Training cannot go on as asked; one sentence."""


class DataError(TrainingError):
    """Material that cannot be trained on; one sentence."""


def reported(train: Callable[[argparse.Namespace], None], options: argparse.Namespace) -> int:
    """`train(options)` as a command: 0, or 2 with a sentence on standard error where it is not possible as given."""
    try:
        train(options)
    except (TrainingError, WeightsError, CardTrouble, FormatError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0
