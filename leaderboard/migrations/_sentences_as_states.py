"""Reasons and states of the sentences that rows stored in their place before version 23 of the statistics.

Migrations 0035 and 0042 use it. The sentences and their states are those of that time: they do not follow what pages say today.
"""

import re

SENTENCES = {  # by the key of the reason: the state that it leads to, and its sentence
    "few": ("too_few", "Too few {counted}: {need} are needed, there {are} {have}."),
    "few_for_difference": ("too_few", "Too few {counted}: {need} are needed, there {are} {have}."),
    "few_shared": ("too_few", "{have} of {need} votes on comparisons that two raters decided: too few to compare it with another rater."),
    "few_studies": ("too_few", "Fewer than {need} studies: they are listed, not pooled."),
    "few_sets": ("too_few", "In {have} of at least {need} sets of one material that a mean needs: listed, not pooled."),
    "few_for_gate": ("too_few", "Too few raters answered {value:g} of its questions with another rater: {need} are needed, there are {have}."),
    "few_for_likelihood": ("too_few", "It needs {need} raters with {value:g} scores each."),
    "few_for_look": ("too_few", "Too early: {need} {counted} are needed, there {are} {have}."),
    "few_for_correlation": ("not_applicable", "Correlations need {need} entries whose values differ: two are always in one line."),
    "few_for_correlation_interval": ("no_interval", "Fewer than {need} entries: no interval."),
    "few_for_interval": ("no_interval", "Too few {counted} for an interval: {need} are needed, there {are} {have}."),
    "few_for_tolerance": ("not_applicable", "Two items are needed to find a tolerance on one and judge it on the other."),
    "alike": ("alike", "All answers are alike."),
    "same_scores": ("alike", "All {have} scores are {value:g}."),
    "in_line": ("no_interval", "All entries are in one line: no interval."),
    "unstable": ("no_interval", "Without one of the groups or raters there is no value: no interval."),
    "always_higher": ("alike", "Everybody preferred the higher side of every difference."),
    "no_preference": ("undecided", "Nobody preferred either."),
    "no_winner": ("undecided", "No answer names a winner between entries that this metric has values for."),
    "no_answer": ("not_applicable", "Nobody answered on entries that this metric has values for."),
    "never_tied": ("not_applicable", "People never tied: nothing can be told apart."),
    "always_tied": ("not_applicable", "People always tied: nothing can be told apart."),
    "no_two": ("unconnected", "No two entries that people compared have values of this metric on one item."),
    "never_met": ("unconnected", "Some entries never met, not even by a chain of others: there is no order of all."),
    "little_in_common": ("too_few", "Too few entries were on both kinds of items: no interval."),
    "not_scored": ("not_applicable", "Nobody scored it."),
    "not_scored_both": ("unconnected", "Nobody scored both."),
    "nothing_counts": ("not_applicable", "No judgement counts: all are on known pairs, repeat others, or are of people who were left out."),
    "only_damaged": ("not_applicable", "Only damaged entries were compared here."),
    "none_counts": ("not_applicable", "No two of the entries that were compared here count: the others are damaged, or were left out."),
    "all_screened": ("not_applicable", "No score counts: the rule of screening leaves everybody out."),
    "no_comparisons": ("unconnected", "Nobody scored two entries on one {item}, so no duels follow from the scores."),
    "only_means": ("not_applicable", "Only the means were published, and a duel needs single scores."),
    "raters_at_chance": ("not_applicable", "Two raters agree no more than by chance here, so there is no other rater to compare it with."),
    "one_rater_holds_most": ("not_applicable", "One rater would hold more than half of the weight."),
    "gate_not_passed": ("not_applicable", "It was not shown to agree with the others about as often as at least half of the raters do."),
    "out_of_range": ("no_interval", "Together they come to a share below 0 or above 1, which says nothing; people's own figure stands."),
    "judge_silent": ("not_applicable", "It answered none of people's duels."),
}
EARLIER_WORDS = (
    ("few_for_correlation", r"Correlations need three entries whose values differ: two are always in one line\."),
    ("alike", r"All answers are alike"),
    ("no_two", r"No two entries that people compared have values of this metric on one sample\."),
    ("few_for_tolerance", r"Two samples are needed to find a tolerance on one and judge it on the other\."),
    ("no_comparisons", r"Nobody scored two entries on one .+?, so no duels follow from the scores\."),
)
PLACES = {
    "counted": r"(?P<counted>.+?)",
    "need": r"(?P<need>\d+)",
    "have": r"(?P<have>\d+)",
    "are": r"(?:is|are)",
    "value:g": r"(?P<value>-?[\d.e+-]+?)",
    "item": r".+?",
}
COUNTED = {"raters": "raters", "people": "raters", "entries": "entries", "pairs of entries": "pairs"}


def _pattern(template):
    """A sentence's template as an expression that finds its numbers."""
    parts = re.split(r"\{([^}]+)\}", template)
    return "".join(PLACES[part] if n % 2 else re.escape(part) for n, part in enumerate(parts))


# The longest first: some begin as others do.
PATTERNS = [(key, re.compile(pattern)) for key, pattern in EARLIER_WORDS] + [
    (key, re.compile(_pattern(words))) for key, (_, words) in sorted(SENTENCES.items(), key=lambda one: -len(one[1][1]))
]


def reason_of(words):
    """The reason that a stored sentence gave, as it is stored; "earlier" for one that is not known, None for an empty one."""
    if not words:
        return None
    for key, pattern in PATTERNS:
        if found := pattern.fullmatch(words):
            numbers = found.groupdict()
            counted = numbers.get("counted")
            need, have, value = (numbers.get(name) for name in ("need", "have", "value"))
            return {
                "key": key,
                "counted": COUNTED.get(counted, "items") if counted else None,
                "need": int(need) if need else None,
                "have": int(have) if have else None,
                "value": float(value) if value else None,
            }
    return {"key": "earlier", "counted": None, "need": None, "have": None, "value": None}


def with_states(content):
    """Contents in JSON's types with a reason beside each sentence, and a state beside each value. The sentence stays as a note."""
    if isinstance(content, list):
        return [with_states(each) if isinstance(each, dict | list) else each for each in content]
    if not isinstance(content, dict):
        return content
    found = {name: with_states(each) for name, each in content.items()}
    for name, words in content.items():
        prefix = name.removesuffix("why")
        if prefix != name and isinstance(words, str) and f"{prefix}reason" not in content:
            found[f"{prefix}reason"] = reason_of(words)
    if {"value", "low", "high"} <= content.keys() and "state" not in content:
        reason = reason_of(content.get("why") or "")
        if reason is not None:
            found["state"] = SENTENCES[reason["key"]][0] if reason["key"] in SENTENCES else "outdated"
        else:
            found["state"] = _state(content)
    return found


def _state(figure):
    """State of a figure that no sentence was stored of."""
    if figure["value"] is None:
        return "not_applicable"
    if figure["low"] is None:
        return "no_interval"
    return "rough" if figure.get("rough") else "known"
