"""A judge beside people: how far it agrees with them, whether its answers may be added to theirs, and what they then add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from leaderboard.stats import agreement, judge_substitution, judges, reliability
from leaderboard.stats.agreement import Differences
from leaderboard.stats.answers import Answers
from leaderboard.stats.judge_substitution import Asked, Joined
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.records import Judge, PairTogether, Together
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.votes import Floats


def beside_people(counted: Answers, scored: Sequence[Scored], one: JudgeAnswers, tolerated: float, would_count: Iterable[Judged]) -> Judge:
    """The figures of a judge by the answers that count. `tolerated` is how much worse than a person it may be; people's answers to what it
    answered in `would_count` would count too."""
    asked = reliability.questions(counted)
    verdict = judges.verdict(judges.preferred(asked, counted.samples, counted.entries, one.judged))
    said = verdict[np.unique(counted.question, return_inverse=True)[1]]  # [N], its verdict on the question of each answer
    had = ~np.isnan(said)
    judge = Judge(
        key=one.key,
        display_only=one.display_only,
        decided=agreement.decided(Differences(counted.take(had), said[had], said[had], had, 1.0)),
        gate=judge_substitution.gate(asked.verdicts, verdict, tolerated),
        left_share=judges.left_share(one.judged),
        facts=dict(one.facts),
    )
    if not judge.counts or not one.drawn_alike:
        return judge
    others = _others(counted, would_count)

    # Each metric's decided agreement by people and the judge: people's answers that the judge gave too, and the judge's on the rest.
    with_people = []
    for metric in scored:
        if metric.by_sample:
            found, more = agreement.differences(counted, metric.x), agreement.differences(others, metric.x)
            both = (found.answers.verdict != 0) & had[found.had]
            joined = _joined(found.answers.take(both), found.verdict[both], said[found.had][both], more.answers, more.verdict)
            with_people.append(Together(**vars(joined), key=metric.key))

    # The share of answers that pick the first of each two entries, equal answers half.
    pairs = []
    for a, b in sorted(set(zip(others.a.tolist(), others.b.tolist(), strict=True))):
        on = (counted.a == a) & (counted.b == b) & had
        if on.any():
            joined = _joined(counted.take(on), -1, said[on], others.take((others.a == a) & (others.b == b)), -1)
            pairs.append(PairTogether(**vars(joined), first=counted.entries[a], second=counted.entries[b]))
    return replace(judge, with_people=with_people, pairs_with_people=pairs)


def _others(counted: Answers, judged: Iterable[Judged]) -> Answers:
    """A judge's answer, by most of its texts, to each comparison that people were not asked; each has a rater of its own."""
    samples, entries = ({name: n for n, name in enumerate(names)} for names in (counted.samples, counted.entries))
    rows = [
        (samples[sample], entries[a], entries[b], np.sign(sum(verdicts)))
        for (sample, a, b), verdicts in sorted(judges.verdicts_on(judged).items())
        if verdicts and sample in samples and a in entries and b in entries
    ]
    sample, a, b, verdict = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    nothing = np.zeros(len(rows), dtype=np.int64)
    every = replace(counted, rater=np.arange(len(rows)), sample=sample, a=a, b=b, verdict=verdict, side=nothing, weight=np.ones(len(rows)))
    return every.take(~np.isin(every.question, counted.question))


def _joined(people: Answers, ours: Floats | int, same: Floats, others: Answers, theirs: Floats | int) -> Joined:
    """Share of verdicts that are alike, half where one is a tie: of `ours` with people's, to which the judge gave the `same` answers or
    others, and of `theirs` with the judge's own on `others`."""
    if len(people) < 2:
        return Joined(None, None, None, 0.0, len(people), None, Reason(Key.JUDGE_SILENT))
    by_people = Asked((1 + ours * people.verdict) / 2, people.rater, people.unit)
    by_judge = Asked((1 + theirs * others.verdict) / 2, others.rater, others.unit)
    return judge_substitution.together(by_people, (1 + ours * same) / 2, by_judge)
