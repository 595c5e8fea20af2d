"""The smallest numbers from which on something is shown, tested or said: one constant for each minimum of the documents.

A name says of what there must be so many, and for what. No constant serves two purposes, so that each can change alone. Reasons, pages,
forms, forecasts and messages take the number from here; `leaderboard/docs` states it, and `tests/pure/leaderboard/stats/test_minimums.py`
compares the two.
"""

from __future__ import annotations

# Of a board's values: groups for an interval, a test, a bracket and a range of the rank. Entries have intervals before there is a board,
# so the number lies where these are made.
from evaluation.metrics.aggregation import GROUPS_FOR_BOARD_INTERVAL as GROUPS_FOR_BOARD_INTERVAL

GROUPS_FOR_RARE_FAILURES = 24  # below which a failure that one in seven shows may be in none of them

# Of a figure from people: an interval, a test, and a value on a page. From the second two on the interval is no rough one.
RATERS_FOR_FIGURE = 5
ITEMS_FOR_FIGURE = 5
RATERS_FOR_FIRM_INTERVAL = 8
ITEMS_FOR_FIRM_INTERVAL = 8

# Of a figure of a published set: groups of items, where these are the clusters, and all results together for a figure across items.
GROUPS_FOR_FIGURE = 5
GROUPS_FOR_FIRM_INTERVAL = 8
STIMULI_FOR_ACROSS = 24
STIMULI_FOR_ONE_RATER = 10  # that a rater scored, for a correlation with the mean of all others

# Of a metric beside another rater: decisive answers on questions that two raters decided.
ANSWERS_FOR_ANOTHER_RATER = 100

# Of correlations over entries, and of a curve fitted to opinion scores.
ENTRIES_FOR_CORRELATION = 3
ENTRIES_FOR_CORRELATION_INTERVAL = 8
STIMULI_FOR_FIT = 24

# Of the likelihood score of opinion scores, which stands beside the mean.
RATERS_FOR_LIKELIHOOD = 12
SCORES_FOR_LIKELIHOOD = 24

# Of two entries' own share, and of what a difference of a metric means.
ANSWERS_FOR_OWN_SHARE = 20
RATERS_FOR_DIFFERENCE = 5
ITEMS_FOR_DIFFERENCE = 5
ENTRIES_FOR_DIFFERENCE = 8
PAIRS_FOR_DIFFERENCE = 15

# Of studies taken together.
STUDIES_FOR_MEAN = 3
STUDIES_FOR_PREDICTION = 4

# Of judge models: the test whether one may stand beside people, and how often it picks the left side.
QUESTIONS_FOR_GATE = 30
RATERS_FOR_GATE = 3
ITEMS_FOR_LEFT_SHARE = 5

# Of groups of raters who agree with each other.
RATERS_FOR_GROUPS = 12
QUESTIONS_FOR_GROUPS = 30

# Of one rater, and of a planned look at first place.
ANSWERS_FOR_RATER = 10
RATERS_FOR_LOOK = 5
ITEMS_FOR_LOOK = 5

# Advised before a study opens.
RATERS_ADVISED = 12
ITEMS_ADVISED = 24

# Of the likeness of a board's metrics: entries below which one swapped pair moves tau by more than a twentieth.
ENTRIES_FOR_LIKENESS = 10
