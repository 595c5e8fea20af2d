"""Sentences and numbers on published sets, each made of the set's record alone. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.evidence.record import Asked, CriterionFigures, EvidenceRecord, MetricFigures
from leaderboard.stats.evidence.reproduction import PrintedLine, Reproduction, Statistic
from leaderboard.stats.minimums import GROUPS_FOR_FIRM_INTERVAL
from leaderboard.wording import nouns
from leaderboard.wording.figures import share, share_end
from leaderboard.wording.nouns import listed, plural, verb
from leaderboard.wording.statement import Part, Statement, Tone

PRINTED_AS = {Statistic.PLCC: "PLCC", Statistic.SRCC: "SRCC", Statistic.KRCC: "KRCC"}
PROCEDURES = {"logistic-of-other-groups": "The metric's values first pass a logistic curve that was fitted to the other {groups}."}
NO_METRICS = "No values of metrics are published with this set."
NAMED = 3  # metrics that a sentence names; of more it says how many


def decimal(value: float, digits: int = 2) -> str:
    """A correlation without the zero before the point, with a true minus."""
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0") else text)


def interval(figure: SetFigure, across: bool) -> str:
    """The 95 % interval in brackets; empty where there is none."""
    if figure.low is None or figure.high is None:
        return ""
    low, high = (decimal(end) if across else share_end(end) for end in (figure.low, figure.high))
    return f"[{low}, {high}]"


def with_interval(figure: SetFigure, across: bool = False) -> str:
    """A figure's value with its interval: "84 [80, 88]", ".61 [.24, .82]"; empty where it has no value."""
    if figure.value is None:
        return ""
    return f"{(decimal if across else share)(figure.value)} {interval(figure, across)}".rstrip()


def material(name: str) -> str:
    """Name of what was judged, as readers write it."""
    return name.replace("nerf", "NeRF")


def people(record: EvidenceRecord, criterion: CriterionFigures) -> str:
    """Count of raters and of what they gave: "16 raters", "17,788 ratings, raters not known", "mean scores only"."""
    if criterion.basis is Basis.PERSONS:
        return f"{nouns.people(criterion.raters)}, {nouns.counted(criterion.answers, 'rating')}"
    return {
        Basis.PAIRS: f"{nouns.people(criterion.raters)}, {nouns.counted(criterion.answers, 'vote')}",
        Basis.SCORES: f"{nouns.counted(criterion.answers, 'rating')} without raters' names",
        Basis.ERRORS: "means with their errors",
        Basis.MEANS: "mean scores only",
        Basis.PAIRS_WITHOUT_PERSONS: f"{nouns.counted(criterion.answers, 'vote')} without raters' names",
    }[criterion.basis]


def counted(record: EvidenceRecord, criterion: CriterionFigures) -> str:
    """Count of what was judged: "96 results: 8 codecs and rates on 12 camera paths of 6 scenes"."""
    words = record.words
    entries = nouns.counted(1, words.entry) if criterion.entries_judged == 1 else f"{criterion.entries_judged:,} {_entries(words.entry)}"
    said = f"{nouns.counted(criterion.stimuli, 'result')} of {entries} on {nouns.counted(criterion.items, words.item)}"
    return said if criterion.groups == criterion.items else f"{said} of {nouns.counted(criterion.groups, words.group)}"


def _entries(noun: str) -> str:
    first, joined, second = noun.partition(" and ")
    return f"{plural(first)}{joined}{plural(second) if joined else ''}"


def scale(record: EvidenceRecord) -> str:
    """The published scale."""
    if record.scale is None:
        return record.scale_name
    low, high = record.scale
    return f"{low:g} to {high:g}" + (f" ({record.scale_name})" if record.scale_name else "")


def on_scale(record: EvidenceRecord) -> str:
    """The published scale, after what was said on it: "on a scale of 1 to 5", "in JOD"."""
    return f"in {record.scale_name}" if record.scale is None else f"on a scale of {scale(record)}"


def challenge_summary(named: str, has_metrics: bool) -> str:
    """Line under the title of a set's challenge; `named` is its material."""
    return f"People's scores of {material(named)}{', and values of metrics' if has_metrics else ''}, as published."


def challenge_description(asked: Asked, entry: str, has_metrics: bool, people_address: str) -> str:
    """Description of a set's challenge, in Markdown: what was asked, and what its leaderboard ranks."""
    said = [f"What people were asked: {asked.task}." if asked.task else "", f"Raters and answers: {asked.raters}." if asked.raters else ""]
    by = "the published values of one metric" if has_metrics else "people's published scores"
    said.append(f"The leaderboard ranks {_entries(entry)} by {by}. This service measured none of these values, and nobody can upload here.")
    said.append(f"[What people's scores say, source and licence]({people_address})")
    return "\n\n".join(filter(None, said))


def within_of(figures: MetricFigures) -> SetFigure | None:
    """The figure within items that a set's basis allows: of people's own answers, else of means."""
    return figures.decided if figures.decided is not None else figures.concordance


def between_of(figures: MetricFigures) -> SetFigure | None:
    """The same between families."""
    return figures.decided_between if figures.decided is not None else figures.concordance_between


def best(titles: Sequence[tuple[str, SetFigure | None]], where: str, looked_for: Sequence[str] = ()) -> str:
    """Sentence on which metrics may be the best, from their places, and never from the order of values; empty where nothing was compared.
    If many are ruled out, it names the metrics that readers look for."""
    tested = [(title, figure.may_be_best) for title, figure in titles if figure is not None and figure.may_be_best is not None]
    if len(tested) < 2:
        return ""
    may, out = ([title for title, is_best in tested if is_best is wanted] for wanted in (True, False))
    if not out:
        return f"{where}, none of these {len(tested)} metrics is ruled out as the best."
    if len(out) <= NAMED and len(may) > NAMED + 2:
        return f"{where}, any of these {len(tested)} metrics but {listed(out)} may be the best."
    if len(may) > NAMED + 2:
        return f"{where}, {len(may)} of {len(tested)} metrics may be the best."
    known = [title for title in looked_for if title in out][:NAMED]
    said = f"{where}, only {listed(may)} may be the best of {len(tested)} metrics"
    if known and len(known) < len(out):
        return f"{said}; the other {len(out)} metrics are ruled out, {listed(known)} among them."
    return f"{said}; {listed(known)} {'is' if len(known) == 1 else 'are'} ruled out." if known else f"{said}."


def not_compared(titles: Sequence[str]) -> str:
    """Sentence on metrics without values of some results, about which a claim says nothing; empty for none."""
    if not titles:
        return ""
    have, are = ("has", "is") if len(titles) == 1 else ("have", "are")
    return f"{listed(titles)} {have} no values for some results and {are} not compared."


def printed_with(record: EvidenceRecord, criterion: CriterionFigures, titles: Mapping[str, str]) -> str:
    """Sentence on how the printed numbers are computed, where the other figures of the page are computed otherwise.
    `titles` are names of metrics by their columns in the source."""
    lines = [one for one in (record.reproduction.lines if record.reproduction is not None else ()) if one.here is not None]
    chief = next((one for one in lines if one.statistic is Statistic.SRCC and not one.where), None)
    figures = None if chief is None else next((one for one in criterion.metrics.values() if one.column == chief.metric), None)
    if chief is None or figures is None or figures.srocc is None or not figures.srocc.shown or figures.srocc.value is None:
        return ""
    after = PROCEDURES[chief.procedure].format(groups=plural(record.words.group)) + " " if chief.procedure else ""
    means = "people's plain means" if criterion.basis in (Basis.PERSONS, Basis.SCORES) else "the published means"
    one = " of one criterion" if len(record.criteria) > 1 else ""
    return (
        f"The source computes its ρ over all its rows, with its score “{chief.against}”, and keeps the sign. {after}"
        f"Our ρ across {plural(record.words.item)} leaves out the references and compares with {means}{one}. "
        f"It is {with_interval(figures.srocc, across=True)} for {titles.get(chief.metric, chief.metric)}."
    )


def told(one: PrintedLine) -> str:
    """A printed number and the one that came out."""
    rows = "; ".join(f"{column} {' or '.join(texts)}" for column, texts in one.where.items())
    printed, here = decimal(one.printed, one.digits), "nothing" if one.here is None else decimal(one.here, one.digits)
    of = f"{one.metric} {PRINTED_AS[one.statistic]} with {one.against}{f', {rows}' if rows else ''}"
    return f"{of}: printed {printed}, here {here}{'' if one.same else ', which differs'}"


def reproduced(found: Reproduction | None, titles: Mapping[str, str]) -> str:
    """Sentence on the source's printed numbers, beside figures from the same data: the first chief number that is reproduced, and how many
    of all are. Empty if nothing printed can be checked. `titles` are names of metrics by their columns in the source."""
    if found is None:
        return ""
    counted = f"{found.same:,} of {found.printed:,} printed numbers"
    chief = next((one for one in found.lines if one.same and one.here is not None), None)
    if chief is None or chief.here is None:
        return f"{counted} have the same value when computed here."
    printed, here = decimal(chief.printed, chief.digits), decimal(chief.here, chief.digits)
    of = f"{titles.get(chief.metric, chief.metric)} {PRINTED_AS[chief.statistic]}"
    return f"The source prints {of} {printed}; the same data give {here} here ({counted} match)."


def _compared(criterion: CriterionFigures) -> str:
    """The noun of what a figure within items counts: comparisons that people decided, or pairs of their means."""
    return "comparisons" if criterion.basis.persons or criterion.basis.pairs else "pairs"


def size(record: EvidenceRecord, criterion: CriterionFigures) -> str:
    """Sentences on the figures of size alone, within one item and between families together, and on the metrics significantly above it. It
    is empty where no size is published."""
    figures = criterion.metrics.get("size")
    found = None if figures is None else within_of(figures)
    if figures is None or found is None or not found.shown or found.value is None:
        return ""
    between, across, words = between_of(figures), figures.srocc, record.words
    said = f"The size of a result (bytes or points) alone agrees with people in {with_interval(found)} of 100 {_compared(criterion)}"
    said += f" within one {words.item}"
    if between is not None and between.shown and between.value is not None:
        said += f". Between different {plural(words.family)} it agrees in {with_interval(between)} of 100"
    if across is not None and across.shown and across.value is not None:
        said += f". Over the results of all {plural(words.item)}, Spearman's ρ of size with people's means is "
        said += with_interval(across, across=True)
    tested = [one for one in criterion.metrics.values() if not one.reference_point]
    said += _above_size(f"Within one {words.item}", map(within_of, tested))
    said += _above_size(f"Across {plural(words.item)}", (one.srocc for one in tested))
    return f"{said}."


def _above_size(where: str, figures: Iterable[SetFigure | None]) -> str:
    """Number of metrics significantly above size, as the next sentence after others; empty where none is compared with it."""
    above = [one.above_size for one in figures if one is not None and one.above_size is not None]
    if not above:
        return ""
    n, k = sum(above), len(above)
    many = "no metric agrees" if not n else "all metrics agree" if n == k > 1 else f"{n} of {k} metrics {'agrees' if n == 1 else 'agree'}"
    return f". {where}, {many} with people significantly better than a result's size alone"


def ladders(record: EvidenceRecord, criterion: CriterionFigures) -> str:
    """Sentence on how many comparisons are of two entries that differ in strength alone; empty where there are none."""
    if criterion.ladders is None or not criterion.ladders.left_out:
        return ""
    noun = record.words.family
    return (
        f"{criterion.ladders.left_out:,} of {criterion.ladders.compared:,} {_compared(criterion)} are of one {noun} at two strengths. The "
        f"figures between {plural(noun)} leave out these {_compared(criterion)}."
    )


def divided(criterion: CriterionFigures) -> str:
    """Agreement on comparisons that divided raters, from the least to the most of all metrics, with the most that is possible there."""
    found = [one.decided_split for one in criterion.metrics.values() if one.decided_split is not None and not one.reference_point]
    if not found:
        return ""
    low, high = (share(pick(one.value for one in found)) for pick in (min, max))
    reach = f"in {low}" if low == high else f"in {low} to {high}"
    most = share(max(one.bound for one in found))
    said = f"On comparisons that divided raters ({found[0].n:,} answers), the metrics agree with people {reach} of 100."
    return f"{said} No metric could agree in more than {most}."


def alone(record: EvidenceRecord, title: str, figures: MetricFigures) -> str:
    """Sentence on the figure across items of a set's only metric; empty where there is none."""
    found = figures.srocc
    if found is None or not found.shown or found.value is None:
        return ""
    items = plural(record.words.item)
    return f"Over the results of all {items}, Spearman's ρ of {title} with people's means is {with_interval(found, across=True)}."


def beside_leading(record: EvidenceRecord, name: str, criterion: CriterionFigures) -> str:
    """Sentence on how often a criterion and the leading one put the same result first; empty if that is not known."""
    found = criterion.beside_leading
    if found is None or found.value is None or not found.shown:
        return ""
    name, leading = (one.replace("_", " ") for one in (name, next(iter(record.criteria))))
    return f"In {with_interval(found)} of 100 pairs within one {record.words.item}, “{name}” and “{leading}” put the same result first."


def within_and_across(title: str, rows: Sequence[tuple[EvidenceRecord, CriterionFigures, MetricFigures]], rivals: Mapping[str, str]) -> str:
    """Figures of one metric within items and across them in several sets. `rivals` are titles, by set, of a metric that may be the best
    across items where this one is ruled out."""
    said = []
    for record, criterion, figures in rows:
        within, across = within_of(figures), figures.srocc
        another = criterion.within.another_rater if criterion.within is not None else None
        assert within is not None and across is not None
        words = record.words
        beside = f"; another rater does in {with_interval(another)}" if another is not None and another.shown else ""
        rival = f". There {title} is ruled out as the best metric; {rivals[record.name]} may be the best" if record.name in rivals else ""
        said.append(
            f"In {record.called}, {title} picks the same result as people within one {words.item} in {with_interval(within)} of 100 "
            f"{_compared(criterion)}{beside}. Over the results of all {plural(words.item)}, Spearman's ρ of {title} with people's means "
            f"is {with_interval(across, across=True)}{rival}."
        )
    return " ".join(said)


def ruled_out_across(title: str, sets: Sequence[str]) -> Statement:
    """Claim on a metric that may be the best within items in all sets, and is ruled out across items in these."""
    return Statement.of(
        "Within ",
        Part("one", Tone.NAME),
        f" item, no metric agrees with people significantly better than {title}. ",
        Part("Across", Tone.NAME),
        f" items, at least one does ({listed(sets)}).",
    )


def as_published(title: str, rows: Sequence[tuple[EvidenceRecord, CriterionFigures, MetricFigures]]) -> str:
    """Figures of a published metric in each set, beside a metric of this service that has its name and was not measured on it."""
    figures = within_and_across(f"the published {title}", rows, {})
    return f"No study here has compared this metric with people yet. {figures} The authors of the sets computed the values."


def by_criterion(record: EvidenceRecord, titles: Mapping[str, str]) -> str:
    """Sentence on which metrics may be the best within items by each criterion, where not all criteria have the same; else empty."""
    found = {}
    for name, criterion in record.criteria.items():
        figures = {key: within_of(criterion.metrics[key]) for key in criterion.compared if key in titles}
        found[name] = tuple(titles[key] for key, figure in figures.items() if figure is not None and figure.may_be_best)
    if len(set(found.values())) < 2 or not all(found.values()):
        return ""
    by_metrics: dict[tuple[str, ...], list[str]] = {}
    for name, may in found.items():
        by_metrics.setdefault(may, []).append(f"“{name.replace('_', ' ')}”")
    each = "; ".join(f"{listed(may)} by {listed(names)}" for may, names in by_metrics.items())
    return f"Which metrics may be the best within items depends on the criterion: {each}."


def across_ceiling(record: EvidenceRecord, criterion: CriterionFigures) -> str:
    """Sentence on one rater's figure across items, and on the bound that the noise in people's means sets a metric. Empty if neither is
    known; a bound that reads as 1 is left out."""
    found = criterion.across
    if found is None:
        return ""
    one = "" if found.one is None else f"one rater's ratings and the mean of all others have ρ {decimal(found.one)}"
    bound = f"the noise in people's means limits any metric to about ρ {decimal(found.srocc)}" if round(found.srocc, 2) < 1 else ""
    said = "; ".join(filter(None, (one, bound)))
    return f"Over the results of all {plural(record.words.item)}, {said}." if said else ""


def fewness(criterion: CriterionFigures, record: EvidenceRecord) -> str:
    """Warning of few sources; empty where there are enough."""
    if criterion.groups >= GROUPS_FOR_FIRM_INTERVAL:
        return ""
    only = f"{verb('is', criterion.groups)} only {nouns.counted(criterion.groups, record.words.group)}"
    return f"Intervals are rough, because there {only}."


def speaks_of(criterion: CriterionFigures, record: EvidenceRecord) -> str:
    """Raters and groups of items that an interval allows for."""
    group = plural(record.words.group)
    return f"other raters and other {group}" if criterion.basis.persons else f"other {group}, rated by the same people"
