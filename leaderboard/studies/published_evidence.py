"""Opinion scores of which only the means were published: a study that comes with a phase's imported figures."""

from __future__ import annotations

import math

import numpy as np
from django.utils import timezone

from evaluation.models import ResultTable
from leaderboard.bundle.definition import OpinionsDef
from leaderboard.bundle.results import published
from leaderboard.models import Study, StudyEntry
from leaderboard.stats.published_means import Means
from submissions import worker_notify
from submissions.models import Phase, User

SLUG = "published-opinions"


def follow(phase: Phase, actor: User | None) -> Study | None:
    """Make the phase's study agree with its table of imported figures; return None, and delete the study, if the table has no opinion
    scores. Call it in the transaction that changes the table.
    """
    table = ResultTable.of(phase)
    opinions = OpinionsDef.from_dict(table.opinions) if table and table.opinions else None
    if table is None or opinions is None:
        Study.objects.filter(phase=phase, from_results=True, answer_set=None).delete()
        return None
    values = {
        "title": opinions.title,
        "question": opinions.question,
        "source": phase.results_source,
        "kind": Study.Kind.OPINIONS,
        "lowest_score": opinions.scale[0],
        "highest_score": opinions.scale[1],
        "state": Study.State.CLOSED,
        "is_public": True,
        "revision": table.version,
        "criteria": [{"key": column.criterion, "title": column.criterion.capitalize(), "text": ""} for column in opinions.criteria],
    }
    slug = Study.free_slug(phase, SLUG)
    study, _ = Study.objects.update_or_create(
        phase=phase, from_results=True, answer_set__isnull=True, defaults=values, create_defaults=values | {"slug": slug}
    )
    entries = dict(phase.submissions.ranked().values_list("method_name", "pk"))
    study.entries.exclude(label__in=entries).delete()
    known = set(study.entries.values_list("label", flat=True))
    StudyEntry.objects.bulk_create(
        StudyEntry(study=study, label=name, submission_id=pk) for name, pk in entries.items() if name not in known
    )
    study.entries.filter(label__in=opinions.left_out, left_out_at__isnull=True).update(left_out_at=timezone.now())
    study.entries.exclude(label__in=opinions.left_out).update(left_out_at=None)
    worker_notify.after_commit("studies")
    return study


def means_of(study: Study, criterion: str) -> tuple[Means, str]:
    """The means published on the criterion, and the note that goes with it."""
    table = ResultTable.of(study.phase)
    assert table is not None  # the study follows it
    opinions = OpinionsDef.from_dict(table.opinions)
    rows = published(table.text, table.read_layout, opinions)[criterion]
    names = tuple(name for name in rows if rows[name][0] is not None)
    columns = np.array([[math.nan if value is None else value for value in rows[name]] for name in names], dtype=np.float64)
    mean, low, high, n = columns.reshape(-1, 4).T
    return Means(names, mean, low, high, n, opinions.raters, opinions.scale), opinions.note
