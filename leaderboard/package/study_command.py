"""plumbline study FILE --scale LOW:HIGH: opinion scores on any scale; with --means: means of which the scores are not known.

    plumbline study scores.csv --scale 0:10 --scores values.csv
    plumbline study means.csv --means --scores values.csv --json

FILE has the columns rater, entry, score and sample; with --means entry, mean, sample, and se, or sd and n. --scores names a file of
metrics' values: sample, entry, and a column for each metric, called KEY:higher or KEY:lower where KEY is no metric of Plumbline.

Exit codes: 0 done. 1 the file cannot be used; every problem is on stderr. 2 the command cannot be carried out as given.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leaderboard.package.human_studies import BY, means, opinions
from leaderboard.stats.votes import VotesError

if TYPE_CHECKING:
    from pandas import DataFrame


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="plumbline study", description=__doc__, allow_abbrev=False, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--scale", type=_scale, metavar="LOW:HIGH", help="the two ends of the scale")
    parser.add_argument("--means", action="store_true", help="the file holds means, not single scores")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="values of metrics")
    parser.add_argument("--lower-is-better", action="store_true", help="a lower score is a better one")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    try:
        read = means if options.means else opinions
        study = read(options.file, options.scale, better_is_higher=not options.lower_is_better)
        tables = {"entries": study.entries()}
        if options.scores is not None:
            tables |= {f"agreement by {by}": study.agreement(options.scores, by) for by in BY}
    except VotesError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}))
        return 0
    print(study)
    for name, table in tables.items():
        print(f"\n{name}\n{_text(table)}")
    return 0


def _text(table: DataFrame) -> str:
    """A table as text: a value and the ends of its interval in one cell."""
    shown = table.copy()
    for column in table.columns:
        if f"{column}_low" in table:
            ends = zip(table[column], table[f"{column}_low"], table[f"{column}_high"], strict=True)
            shown[column] = [
                _number(value) + ("" if low is None or low != low else f" [{low:.3f}, {high:.3f}]") for value, low, high in ends
            ]
            shown = shown.drop(columns=[f"{column}_low", f"{column}_high"])
    return str(shown.to_string(index=False, na_rep="–", float_format="%.3f"))


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"


def _scale(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form LOW:HIGH, such as 0:10") from None
