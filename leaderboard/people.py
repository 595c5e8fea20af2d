"""What boards say of people: how far each metric agrees with them, what they prefer, and where a row contradicts them.

`told` is the part of a ranking's payload that says so, of the moment at which the ranking is made; everything else here
reads that part, so a board asks nothing more for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leaderboard.models.analysis import StudyAnalysis
from leaderboard.stats.opinions import HIGHEST, LOWEST
from leaderboard.stats.ranking import order, rank
from submissions.models import Phase

COLUMN = "people"  # the slug of the people's own column
WITHHELD = "withheld by the organizers"  # in the place of a name
MOST_SAMPLES = 12  # that a mark names
TRAINED = {  # of a metric and the judgements that it is held against, see `leaderboard.trained`; {} are votes, or scores
    "these": "trained on these {}",
    "entries": "trained on other {} about these entries",
    "unknown": "unknown whether trained on these {}",
}
TRAINED_MORE = {
    "these": "It was trained on these very {}, so that its agreement with them is no evidence.",
    "entries": "It was trained on other {} about entries of this phase, so that its agreement with these is weaker evidence.",
    "unknown": "Its weights do not say enough to know whether it was trained on these {}; if it was, its agreement is no evidence.",
}
ALIKE = (
    (0.7, "much as the opinion scores do"), (0.3, "somewhat as the opinion scores do"), (-0.3, "hardly as the opinion scores do"),
    (-1.1, "against the opinion scores"),
)  # fmt: skip
NOTHING: dict[str, Any] = {"value": None, "low": None, "high": None, "n": 0}


# --- into the payload


def told(phase: Phase, is_public: bool, entries: Sequence[Mapping[str, Any]], fingerprints: Mapping[str, str]) -> dict[str, Any] | None:
    """What people found, for a ranking of `entries`: of the phase's studies that may be shown the one that most raters took
    part in, of equals the newest. None without a study that has been analysed.

    `fingerprints` are those of the ranking's columns: what was found of other values under the same slug is not said of them.
    """
    rows = StudyAnalysis.objects.filter(study__phase=phase, content__isnull=False).select_related("study")
    if is_public:
        rows = rows.filter(study__is_public=True)
    of_study: dict[int, dict[str, StudyAnalysis]] = {}
    for row in rows:
        of_study.setdefault(row.study_id, {})[row.criterion] = row
    if not of_study:
        return None
    main = [found[next(iter(found.values())).study.leading(found)] for found in of_study.values()]
    row = max(main, key=lambda row: (n_raters(row.content) or 0, row.study.created_at, row.study_id))
    lines = [line for line in row.content["metrics"] if fingerprints.get(line["key"], "") in ("", line.get("fingerprint", ""))]
    return _told(row, row.content | {"metrics": lines}, entries)


def withdrawn_words(n: int) -> str:
    """Judgements that are in figures but no more in the database; nothing for none."""
    return f"{n:,} judgement{' was' if n == 1 else 's were'} withdrawn since" if n else ""


def n_raters(content: Mapping[str, Any]) -> int | None:
    """How many people's judgements count; None where that is not known."""
    known = content["n_raters"] if "n_raters" in content else len(content["raters"])
    return None if known is None else known - len(content.get("screened", ()))


def _told(row: StudyAnalysis, content: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    study = row.study
    opinions = content.get("kind") == "opinions"
    shown = {entry["id"] for entry in entries}
    scale = {line["method"]: line["mos" if opinions else "win_rate"] for line in content["scales"]}
    count = {line["method"]: line["n" if opinions else "appearances"] for line in content["scales"]}
    label_of = {pk: label for label, pk in content["entries"].items()}
    preferred = [scale.get(label_of.get(entry["id"], ""), [None, None, None]) for entry in entries]
    return {
        "study": {name: getattr(study, name) for name in ("id", "slug", "title", "question", "source", "made_up")},
        "kind": "opinions" if opinions else "pairs", "of": content.get("of", "votes"), "criterion": row.criterion,
        "raters": n_raters(content), "groups": sorted({name for name in content["groups"] if name}),
        "judgements": content["counted"], "questions": content.get("questions", 0), "at": row.finished_at.isoformat(timespec="seconds"),
        "between": {"value": content["like_others"]} if opinions else content["people"]["pairs"],
        "note": content.get("note", ""),
        "left_out": [name for name in content.get("left_out", []) if content["entries"].get(name) in (None, *shown)],
        "metrics": [_metric(line, opinions) for line in content["metrics"]],
        "judges": [_metric(line, opinions) for line in content.get("judges", [])],
        **{name: [ends[n] for ends in preferred] for n, name in enumerate(("value", "low", "high"))},
        "n": [count.get(label_of.get(entry["id"], "")) or 0 for entry in entries],
        "marks": _marks(content, shown),
    }  # fmt: skip


def _metric(line: Mapping[str, Any], opinions: bool) -> dict[str, Any]:
    """One metric's figures: pair by pair with all raters (empty name) and with each group, and in the order of the entries."""
    if opinions:
        by = {"": _rho(line["order"]) if line["order"] else NOTHING} | {name: _rho(found) for name, found in line["groups"].items()}
    else:
        by = {"": line["pairs"]} | {name: found for name, found in line["groups"].items() if name}
    return {"slug": line["key"], "by": by, "order": line["order"], "trained": line.get("trained", "")}


def _rho(order: Mapping[str, Any]) -> dict[str, Any]:
    low, high = order.get("srocc_ci") or (None, None)
    return {"value": order["srocc"], "low": low, "high": high, "n": order["n"]}


def _marks(content: Mapping[str, Any], shown: set[int]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By slug and entry: the entries that people prefer to it and the metric does not, those they are surest of first.

    What stands on the board, or never was an entry, is named; others are not."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for line in content["metrics"]:
        for one in line["contradictions"]:
            worse, better = content["entries"].get(one["other"]), content["entries"].get(one["preferred"])
            if worse not in shown or (better is not None and better not in shown):
                continue
            said = {"preferred": one["preferred"], "id": better, "samples": one["samples"][:MOST_SAMPLES], "n": len(one["samples"])}
            found.setdefault(line["key"], {}).setdefault(str(worse), []).append(said)
    return found


def withheld(told: Mapping[str, Any], at: Sequence[int], ids: frozenset[int]) -> dict[str, Any]:
    """The part without what people said of the entries `ids`, which stand at `at`."""
    blank = {name: [None if n in at else value for n, value in enumerate(told[name])] for name in ("value", "low", "high")}
    marks = {
        slug: {pk: [one for one in said if one["id"] not in ids] for pk, said in by_entry.items() if int(pk) not in ids}
        for slug, by_entry in told["marks"].items()
    }
    blank["n"] = [0 if n in at else count for n, count in enumerate(told.get("n", []))]
    return {**told, **blank, "marks": marks}


def unnamed(content: Mapping[str, Any], labels: Collection[str]) -> dict[str, Any]:
    """An analysis without what it says of the entries called so: neither names nor figures of theirs are left in it."""
    if not labels:
        return dict(content)
    at = [n for n, name in enumerate(content["methods"]) if name in labels]
    metrics = []
    for line in content["metrics"]:
        said = [one for one in line["contradictions"] if one["preferred"] not in labels and one["other"] not in labels]
        own = {"values": [None if n in at else value for n, value in enumerate(line["values"])]} if "values" in line else {}
        metrics.append(line | {"contradictions": said} | own)
    found = {
        **content, "metrics": metrics, "methods": [WITHHELD if n in at else name for n, name in enumerate(content["methods"])],
        "scales": [line for line in content["scales"] if line["method"] not in labels],
        "entries": {name: pk for name, pk in content["entries"].items() if name not in labels},
    }  # fmt: skip
    if "left_out" in content:
        found["left_out"] = [name for name in content["left_out"] if name not in labels]
    return found | ({"anchor": WITHHELD} if content.get("anchor") in labels else {})


# --- out of the payload


@dataclass(frozen=True)
class Trust:
    """How far one column of a board agrees with the people of a study, in words and as a bar."""

    share: int | None  # of the bar, in percent
    words: str
    more: str
    title: str
    trained: str = ""  # in words, where it may have learnt from these judgements


class People:
    """What a payload tells of people, for the page of its board."""

    def __init__(self, told: Mapping[str, Any], titles: Mapping[str, str]) -> None:
        self.told, self.titles = told, titles
        self.study = told["study"]
        self.opinions = told["kind"] == "opinions"
        self.at = datetime.fromisoformat(told["at"])
        self.lines = {line["slug"]: line for line in told["metrics"]}
        self.judges = {line["slug"]: line for line in told.get("judges", [])}

    @property
    def who(self) -> str:
        """How many people judged, in words."""
        raters = self.told["raters"]
        return "raters unknown" if raters is None else f"{raters} rater{'' if raters == 1 else 's'}"

    @property
    def two_agree(self) -> float | None:
        """The share of pairs on which two raters agree, beside which metrics are seen; None of opinion scores, which have none."""
        return None if self.opinions else self.told["between"]["value"]

    @property
    def has_marks(self) -> bool:
        return any(self.told["marks"].values())

    @property
    def basis(self) -> str:
        """What the figures are of, in words."""
        if self.told["of"] == "means":
            return f"mean opinion scores as they were published ({self.who})"
        what = "scores" if self.opinions else f"answers on {self.told['questions']:,} pairs"
        return f"{self.told['judgements']:,} {what} by {self.who}"

    def trust(self, slug: str) -> Trust | None:
        """The head of a column; None where nothing is known of it."""
        line = self.lines.get(slug)
        if line is None:
            return None
        figure, rho = line["by"][""], line["order"]["srocc"]
        spread = line["order"].get("srocc_ci")
        ends = f" [{signed(spread[0])}, {signed(spread[1])}]" if spread else ""
        more = "" if rho is None else f"ρ {signed(rho)}{ends}"
        title = f"{self.reading(slug)} {self.basis[0].upper()}{self.basis[1:]}, {self.at:%-d %B %Y}."
        if self.opinions:
            n = line["order"]["n"]
            words = "people: too few entries" if rho is None else f"ρ {signed(rho, 3)}{ends}"
            more = f"{n} entries, {self.who}"
            return Trust(None if rho is None else max(0, round(100 * rho)), words, more, title, self.trained(slug))
        if figure["value"] is None:
            return Trust(None, "people: no answer" if rho is None else "answers no pair", more, title, self.trained(slug))
        agreed = round(100 * figure["value"])
        who = self.who.replace(" ", "\xa0")  # in one line, where the head is narrow
        return Trust(agreed, f"{agreed} / 100 pairs, {who}", more, title, self.trained(slug))

    def trained(self, slug: str) -> str:
        """In a few words, whether a metric may have learnt from these judgements; empty where it has not."""
        return trained_words(self.lines.get(slug, {}), self.opinions)

    def reading(self, slug: str, group: str = "") -> str:
        """A metric's agreement in plain words, beside that of two people."""
        line, title = self.lines.get(slug) or self.judges[slug], self.titles.get(slug, slug)
        figure = line["by"].get(group, NOTHING)
        if self.opinions:
            return opinion_reading(title, figure) + trained_more(line, True)
        words = reading(title, figure, self.told["between"])
        if group or not line["order"] or line["order"]["srocc"] is None:
            return words + trained_more(line)
        rho, spread = line["order"]["srocc"], line["order"].get("srocc_ci")
        ends = f" (95 % interval {signed(spread[0])} to {signed(spread[1])})" if spread else ""
        return f"{words} Spearman's ρ with the people's order: {signed(rho)}{ends}.{trained_more(line)}"

    def charts(self) -> list[dict[str, Any]]:
        """The metrics, and judge models, by how far they agree with people, most first: with all raters, then with each group of
        them."""
        lines = [*self.lines.values(), *self.judges.values()]
        named = [group for group in self.told["groups"] if any(group in line["by"] for line in lines)]
        names = ["", *(named if len(named) > 1 else [])]
        figures = [line["by"].get(name, NOTHING) for name in names for line in lines]
        ends = [[figure[end] for end in ("value", "low", "high")] for figure in figures]
        if self.two_agree is not None:
            ends.append([self.two_agree])
        found = []
        for name in names:
            rows = [self._bar(line, name, ends) for line in lines if line["by"].get(name, NOTHING)["value"] is not None]
            if rows:
                found.append({"group": name, "rows": sorted(rows, key=lambda row: -row["value"])})
        return found

    def _bar(self, line: Mapping[str, Any], group: str, every: Sequence[Sequence[float | None]]) -> dict[str, Any]:
        figure = line["by"][group]
        ends = ""
        if figure["low"] is not None:
            low, high = figure["low"], figure["high"]
            ends = f"{signed(low)} to {signed(high)}" if self.opinions else f"{round(100 * low)} to {round(100 * high)}"
        mark = spread(self.two_agree, None, None, every)
        return {
            "title": self.titles.get(line["slug"], line["slug"]), "value": figure["value"], "ends": ends,
            "agreed": round(100 * figure["value"]), "bar": spread(figure["value"], figure["low"], figure["high"], every),
            "two_agree": mark["dot"] if mark else None,
            "is_judge": line["slug"] in self.judges, "trained": trained_words(line, self.opinions), "n": figure["n"],
            "reading": self.reading(line["slug"], group),
        }  # fmt: skip

    def column(self, content: Mapping[str, Any]) -> dict[str, Any] | None:
        """What people prefer as a column of the board; None where they judged none of its entries."""
        value, low, high = (on_scale(self.told[name]) if self.opinions else self.told[name] for name in ("value", "low", "high"))
        ends = [v for v in (*value, *low, *high) if v is not None]
        if not ends:
            return None
        counted = [v if entry["counted"] else None for v, entry in zip(value, content["entries"], strict=True)]
        n = len(content["entries"])
        return {
            "slug": COLUMN, "key": COLUMN, "title": "Opinion score" if self.opinions else "People", "fingerprint": "", "params": {},
            "higher_is_better": True, "unit": "of 5" if self.opinions else "", "is_primary": False, "in_ranking": False, "weight": 0.0,
            "scale": [min(ends), max(ends)], "decimals": 2, "value": value, "ci_low": low, "ci_high": high,
            # Over how many answers the interval is: 0 says that this is not known, and is no reason to hide it.
            "n": [0] * n, "rank": rank(counted, True), "rank_low": [None] * n, "rank_high": [None] * n, "group": [None] * n,
            "order": order(value, True),
        }  # fmt: skip


def on_scale(scores: Sequence[float | None]) -> list[float | None]:
    """Opinion scores as they are shown: the interval of a few of them may reach beyond the scale, where no score can be."""
    return [None if score is None else min(max(score, LOWEST), HIGHEST) for score in scores]


def of_content(content: Mapping[str, Any]) -> People | None:
    """What the payload tells of people; None where it tells nothing."""
    told = content.get("people")
    return People(told, {metric["slug"]: metric["title"] for metric in content["metrics"]}) if told else None


def trained_words(line: Mapping[str, Any], opinions: bool = False) -> str:
    """In a few words, whether the metric of a line may have learnt from the judgements it is held against; empty where not."""
    return TRAINED.get(line.get("trained", ""), "").format("scores" if opinions else "votes")


def trained_more(line: Mapping[str, Any], opinions: bool = False) -> str:
    """The same as a sentence to be put behind another."""
    words = TRAINED_MORE.get(line.get("trained", ""), "").format("scores" if opinions else "votes")
    return f" {words}" if words else ""


def reading(title: str, pairs: Mapping[str, Any], between: Mapping[str, Any]) -> str:
    """A metric's agreement on pairs in plain words, beside that of two people."""
    if pairs["value"] is None:
        return f"{title} answers none of the study's questions."
    words = f"{title} orders {round(100 * pairs['value'])} of 100 pairs as the raters did"
    if pairs["low"] is not None:
        words += f" (95 % interval {round(100 * pairs['low'])} to {round(100 * pairs['high'])})"
    return f"{words}; two raters agree on {round(100 * between['value'])}." if between["value"] is not None else f"{words}."


def opinion_reading(title: str, rho: Mapping[str, Any]) -> str:
    """A metric's correlation with mean opinions in plain words."""
    if rho["value"] is None:
        return f"{title} cannot be compared with opinions: too few entries have both."
    value = rho["value"]
    alike = next(words for least, words in ALIKE if value >= least)
    words = f"{title} orders the {rho['n']} entries {alike}"
    ends = f", 95 % interval {signed(rho['low'])} to {signed(rho['high'])}" if rho["low"] is not None else ""
    return f"{words} (Spearman's ρ {signed(value, 3)}{ends})."


def signed(value: float, digits: int = 2) -> str:
    """With a true minus sign, and none on a rounded zero."""
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", "−")


def spread(value: float | None, low: float | None, high: float | None, rows: Sequence[Sequence[float | None]]) -> dict[str, float] | None:
    """Where a value and its interval stand, in percent of the line that holds all `rows`; None without a value."""
    ends = [end for row in rows for end in row if end is not None]
    if value is None or not ends:
        return None
    start, width = min(ends), (max(ends) - min(ends)) or 1.0
    at = [round(100 * ((value if end is None else end) - start) / width, 1) for end in (value, low, high)]
    return {"dot": at[0], "left": at[1], "width": round(at[2] - at[1], 1)}
