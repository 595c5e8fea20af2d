"""Tags and filters of every page: `{% load plumbline %}`.

How a number is drawn: `{% figure f %}`, `{% interval f %}`, `{% agreement f another %}`; how many there are: `{{ n|counted:"entry" }}`,
`{{ n|noun:"entry" }}`, `{{ n|verb:"has" }}`; what is said: `{% statement s %}`.

`{{ text|markdown }}`, `{{ text|markdown_note }}`, `{% moment at zone %}`, `{% day at zone %}`, `{{ size|bytes }}`, `{{ n|count }}`,
`{{ seconds|duration }}`, `{{ value|number }}`, `{{ value|digits }}`, `{{ value|value }}`, `{{ cell|text }}{{ cell|spread }}`,
`{{ names|sentence_list }}`, `{{ param.source|source_words }}`, `{% stated field value noun %}`, `{% entry_state it.state %}`,
`{% entry_sentence it.state %}`, `{% install_command "score" %}`, `{{ amount|money }}`,
`{% chart chart name %}`, `{% drawing chart name %}`, `{{ text|code_words }}`, `{% minimum "RATERS_FOR_FIGURE" %}`.
`{% table label="Teams" %}<th scope="col">…</th>{% rows %}<tr>…</tr>{% endtable %}`: a table in a frame that scrolls.
`{{ found.basis|basis }}`, `{{ found.basis|answers }}`, `{{ line.place|place }}`: what figures of people are of, and places with people.
"""

from __future__ import annotations

import json
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django import template
from django.conf import settings
from django.template import Context, Node, NodeList, TemplateSyntaxError
from django.template.base import FilterExpression, Parser, Token, token_kwargs
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from evaluation.metrics.spec import Source
from evaluation.models import MetricProgram
from leaderboard.charts import plotly, svg
from leaderboard.exports import wheel
from leaderboard.models import judge_budget
from leaderboard.records.board import BoardEntry
from leaderboard.records.cell import Cell
from leaderboard.records.chart import Chart
from leaderboard.records.people import Basis
from leaderboard.stats import minimums
from leaderboard.stats.two_way_intervals import Ends, Figure
from leaderboard.wording import (
    acceptance_test,
    certainty,
    entry_summary,
    figures,
    history,
    items,
    nouns,
    people,
    ranks,
    reasons,
    scoring,
    stated,
    suite_table,
)
from leaderboard.wording import agreement as agreement_words
from leaderboard.wording import board as board_words
from leaderboard.wording import study as study_words
from leaderboard.wording.comparison import untested
from leaderboard.wording.digits import NONE, rounded
from leaderboard.wording.metric_parts import part_words
from leaderboard.wording.statement import Statement, Tone
from submissions.entry_fields import EntryField, FieldKind
from submissions.entry_states import EntryState, Reader, State
from submissions.format_time import in_words
from submissions.lookup import PhasePlace
from submissions.markdown import laid_out
from submissions.wording import failed, label, sentence, tone

if TYPE_CHECKING:
    from leaderboard.views.home import Card
    from leaderboard.views.scoring import Scoring
    from submissions.lookup import ChallengePlace
    from submissions.models import Challenge

register = template.Library()
IN_SCRIPT = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}  # what could end a script or a line of it
TABLE_ARGUMENTS = {"label", "labelledby", "role", "frame", "class", "sortable"}
kept_laid_out = lru_cache(maxsize=64)(laid_out)  # of stored texts: the HTML of one has up to megabytes, and a preview is read once

register.filter("number", figures.number)
register.filter("percent", figures.share)
register.filter("ordinal", ranks.ordinal)
register.filter("points", figures.points)
register.filter("counted", nouns.counted)
register.filter("on_scale", nouns.on_scale)
register.filter("part_words", part_words)
# Statements of records, each as a filter of its name.
STATEMENTS: tuple[Callable[..., Any], ...] = (
    *(agreement_words.caveats, agreement_words.head, agreement_words.notes, agreement_words.places, agreement_words.reading),
    *(agreement_words.state, agreement_words.tone, agreement_words.trained, agreement_words.trained_more),
    *(board_words.difference, board_words.ends, board_words.folded, board_words.no_order, board_words.rule_value),
    *(board_words.text, board_words.value_words, acceptance_test.outcome, suite_table.asked),
    *(entry_summary.strip_note, entry_summary.unranked, items.flags),
    *(people.basis, people.earlier, ranks.place, ranks.rank_range, study_words.against, study_words.apart, nouns.plural, untested),
    *(history.change, history.day, history.leaders, history.rank_on, reasons.why, scoring.estimated_from),
)
for made in STATEMENTS:
    register.filter(made.__name__, made)
register.filter("failed", failed)
register.filter("untested_rank", certainty.untested)
register.filter("item_note", items.note)
register.filter("suite_notes", suite_table.notes)
register.filter("suite_result", suite_table.result)
register.simple_tag(ranks.span)


@register.filter
def code_words(text: object) -> str:
    """A line of plain text, with what stands between backticks as code."""
    parts = enumerate(str(text).split("`"))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", part) if k % 2 else part,) for k, part in parts))


@register.filter
def money(amount: Decimal | None) -> str:
    """An amount for judge models; empty where there is none."""
    return "" if amount is None else judge_budget.money(amount)


@register.filter
def noun(n: int | None, word: str) -> str:
    """The noun of a count that stands by itself: `{{ n|noun:"entry" }}`."""
    return nouns.plural(word, n)


@register.filter
def verb(n: int | None, word: str) -> str:
    """The verb of a count, named as of one: `{{ n|verb:"has" }}`."""
    return nouns.verb(word, n)


def ends_of(of: Figure | Mapping[str, Any] | Ends | Sequence[float | None] | None) -> Ends:
    """Value and ends of a figure, of a stored one, of a triple of them, or of a pair of ends alone."""
    if of is None:
        return (None, None, None)
    if isinstance(of, Mapping):
        return (of["value"], of["low"], of["high"])
    if isinstance(of, Sequence):
        low, high = of[-2:]
        return (of[0] if len(of) > 2 else None, low, high)
    return (getattr(of, "value", None), of.low, of.high)  # of an Elo the interval alone is drawn by this


@register.simple_tag
def interval(of: Figure | Ends | None, digits: int | str | None = None) -> str:
    """The 95 % interval of a figure, `[78, 88]`: of a share in hundredths, with `digits` decimals, or in "points". Empty without one."""
    _, low, high = ends_of(of)
    return figures.interval(low, high, digits)


@register.simple_tag(takes_context=True)
def figure(context: Context, of: Figure | Ends | None, digits: int | str | None = None, n: int | None = None) -> str:
    """A figure in a table: its value above its interval and `n`; a dash, with the reason in its tooltip, where a reader sees no number. The
    reason calls an item by the `noun` of the page."""
    value, low, high = ends_of(of)
    why = reasons.why(of, context.get("noun", reasons.SAMPLE))
    if value is None or not getattr(of, "shown", True):
        return format_html('<span class="none" title="{}">{}</span>', why, NONE) if why else NONE
    below = ", ".join(filter(None, [figures.interval(low, high, digits) or "no interval", "" if n is None else f"n {n:,}"]))
    title = format_html(' title="{}"', why) if low is None and why else ""
    return format_html('{}<small class="range"{}>{}</small>', figures.written(value, digits), title, below)


@register.simple_tag
def agreement(of: Figure | None = None, another: Figure | None = None, start: int = 45, role: str = "") -> str:
    """A figure on the scale of agreement, which goes from `start` to 100 with chance marked: a dot with its interval, over the interval of
    another rater. Without a figure that is shown, the scale alone."""
    value, low, high = ends_of(of if of is not None and of.shown else None)
    _, *band = ends_of(another)
    drawn = {"--v": value, "--lo": low, "--hi": high, "--b0": band[0], "--b1": band[1]}
    style = ";".join(f"{name}:{round(100 * at)}" for name, at in drawn.items() if at is not None)
    label = f"{figures.share(low)} to {figures.share(high)}" if low is not None else ""
    return format_html(
        '<span class="ag{}"{}{}>{}{}{}</span>',
        " from50" if start == 50 else "",
        format_html(' style="{}"', style) if style else "",
        format_html(' role="{}" aria-label="{}"', role, label) if role and label else format_html(' role="{}"', role) if role else "",
        mark_safe("<s></s>") if band[0] is not None else "",
        mark_safe("<i></i>") if low is not None else "",
        mark_safe("<u></u>") if value is not None else "",
    )


@register.filter
def answers(of: Basis) -> str:
    """The number of the answers that figures of people are of."""
    return nouns.answers(of.n, of.opinions)


@register.simple_tag
def statement(said: Statement | None) -> str:
    """A statement with its parts in their tones; nothing for none."""
    if said is None:
        return ""
    return format_html_join(
        "",
        "{}",
        (
            (
                part.text
                if part.tone is Tone.PLAIN
                else format_html("<b>{}</b>", part.text)
                if part.tone is Tone.NAME
                else format_html('<b class="{}">{}</b>', part.tone, part.text),
            )
            for part in said.parts
        ),
    )


@register.simple_tag
def minimum(name: str) -> int:
    """A number of `leaderboard.stats.minimums`."""
    found: int = getattr(minimums, name)
    return found


SOURCES = {
    Source.PAPER: "paper",
    Source.CODE: "authors’ code",
    Source.PEER: "peer",
    Source.OURS: "our choice",
    Source.ORGANIZER: "the organizer",
}


@register.filter
def source_words(source: Source) -> str:
    """Origin of a parameter's default, in a word or two."""
    return SOURCES[source]


@register.filter
def source_of(key: str) -> str:
    """Address of the published source of an organizer's metric; empty where it is not published."""
    scope, _, name = key.partition("/")
    row = MetricProgram.objects.newest().filter(scope=scope, key=name).first()
    if row is None:
        return ""
    return row.read.source or (reverse("program_file", args=[scope, name]) if row.is_public else "")


@register.filter
def extent(ends: Sequence[float], digits: int = 2) -> str:
    """Least and greatest of some values, `0.36–0.56`: a range, not an interval. They are the last two of `ends`."""
    return f"{ends[-2]:.{digits}f}–{ends[-1]:.{digits}f}"


@register.filter
def markdown(text: str | None, challenge: Challenge | None = None) -> SafeString:
    """Sanitised HTML of Markdown written by people, or the text as it was typed where it is too long or too deep; with the pictures of the
    challenge whose organizers wrote it."""
    return mark_safe(kept_laid_out(text, challenge.pictures_url if challenge else "").html if text else "")  # noqa: S308 - cleaned by `submissions.markdown`


@register.filter
def markdown_note(text: str | None) -> str:
    """For the author of Markdown: why it is shown as it was typed; nothing where it is not."""
    note = kept_laid_out(text).note if text else ""
    return format_html('<p class="alert warning">{}</p>', note) if note else ""


@register.simple_tag
def entry_state(state: EntryState) -> str:
    """The word for the state of an entry, as a tag unless the entry is scored."""
    words = label(state.state)
    return words if state.state == State.SCORED else format_html('<span class="tag {}">{}</span>', tone(state.state), words)


@register.simple_tag
def entry_sentence(state: EntryState) -> str:
    """State of an entry in a sentence for organizers."""
    return sentence(state, Reader.ORGANIZERS)


@register.simple_tag
def drawing(described: Chart, name: str) -> SafeString:
    """A chart as SVG."""
    return mark_safe(svg.draw(described, name))  # noqa: S308 - words are escaped there


@register.simple_tag
def chart(described: Chart, name: str) -> SafeString:
    """A chart as SVG, and what the interactive one is drawn from: a script of JSON with the id `figure-NAME`."""
    return drawing(described, name) + json_script(plotly.figure(described), f"figure-{name}")


@register.simple_tag(takes_context=True)
def install_command(context: template.Context, extra: str = "") -> str:
    """The command that installs this server's own package, with an extra of it; empty where the package is not made."""
    request = context.get("request")
    found = wheel.address(request.build_absolute_uri("/") if request else "")
    named = f'"plumbline[{extra}] @ {found}"' if extra else found
    return f"python -m pip install {named}" if found else ""


@register.simple_tag(takes_context=True)
def card_of(context: template.Context, challenge: Challenge) -> Card | None:
    """The challenge's card for its viewer: the newest public ranking of its main phase, and what is pictured."""
    from leaderboard.views import home  # pages load these tags

    found = home.visible(context["request"].user).filter(pk=challenge.pk)
    return next(iter(home.cards(found, timezone.now())), None)


@register.simple_tag
def scoring_of(place: ChallengePlace) -> Scoring | None:
    """Scoring of the phase that the viewer looks for now."""
    from leaderboard.views.scoring import scoring  # pages load these tags

    return scoring(PhasePlace(place.main_phase, place.viewer)) if place.main_phase else None


@register.simple_tag(takes_context=True)
def moment(context: template.Context, at: datetime | None, zone: str | None = None, how: str = "") -> str:
    """`at` in `zone` (the phase's; UTC where none is given) and in the viewer's own.

    A viewer who has named a zone in the account gets it from the server; for all others the
    page's script asks the browser. It stands behind the moment, or with `how="title"` (for
    tables) in the tooltip, or with `how="none"` nowhere. Nothing for `at=None`.
    """
    if at is None:
        return ""
    there = in_words(at, zone or "UTC")
    mine = getattr(context.get("user"), "time_zone", "") or ""
    yours = f"your time: {in_words(at, mine, short=True)}" if mine and mine != (zone or "UTC") and how != "none" else ""
    attributes = format_html(' data-local="{}"', "none" if mine else how) if mine or how else ""
    if yours and how == "title":
        attributes = format_html('{} title="{}"', attributes, yours)
    time = format_html('<time datetime="{}"{}>{}</time>', f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", attributes, there)
    return format_html('{} <span class="local">({})</span>', time, yours) if yours and how != "title" else time


@register.simple_tag
def moment_text(at: datetime, zone: str | None = None) -> str:
    """`at` in `zone` (UTC where none is given) as words alone, for a tooltip."""
    return in_words(at, zone or "UTC")


@register.simple_tag
def day(at: datetime | None, zone: str | None = None, how: str = "") -> str:
    """The day of `at` in `zone` (the phase's, by default UTC), `14 December 2026`. The tooltip has the moment, because a deadline at
    23:59 anywhere on Earth is the next day in UTC. `how` is "short" for `14 Dec 2026`, or "bare" for `14 Dec`. Nothing for `at=None`."""
    if at is None:
        return ""
    local = at.astimezone(zoneinfo.ZoneInfo(zone or "UTC"))
    there = {"short": f"{local.day} {local:%b %Y}", "bare": f"{local.day} {local:%b}"}.get(how, f"{local.day} {local:%B %Y}")
    attributes = format_html(' title="{}"', in_words(at, zone or "UTC"))
    return format_html('<time datetime="{}" data-local="none"{}>{}</time>', f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", attributes, there)


@register.simple_tag
def site_address(path: str) -> str:
    """The whole address of a page of this service."""
    return f"{settings.SITE_URL}{path}"


@register.simple_tag
def structured(
    name: str, about: str, path: str, kind: str = "", keywords: Sequence[str] = (), download: str = "", licence: str = ""
) -> SafeString:
    """Description of the page for search engines (schema.org in JSON-LD): no more than its own title and description, where its table is,
    and under which licence."""
    site = {"@type": "WebSite", "name": "Plumbline", "url": site_address("/")}
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": kind or "WebPage",
        "name": name or "Plumbline",
        "description": about,
        "url": site_address(path),
        "isPartOf": site,
    }
    if kind == "WebSite":
        target = {"@type": "EntryPoint", "urlTemplate": site_address("/search/?q={words}")}
        del data["isPartOf"]
        data["potentialAction"] = {"@type": "SearchAction", "target": target, "query-input": "required name=words"}
    if keywords:
        data["keywords"] = list(keywords)
    if licence:
        data["license"] = licence
    if download:
        data["distribution"] = {"@type": "DataDownload", "encodingFormat": "text/csv", "contentUrl": site_address(download)}
    text = json.dumps(data, ensure_ascii=False).translate(IN_SCRIPT)
    return mark_safe(f'<script type="application/ld+json">{text}</script>')  # noqa: S308 - nothing in it can end the element


@register.filter(name="bytes")
def size_in_words(size: float | None) -> str:
    """`12.3 MB`: decimal units, three digits at most."""
    if size is None:
        return NONE
    size = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            text = f"{size:.0f}" if unit == "bytes" or size >= 99.95 else f"{size:.1f}"
            return f"{text.removesuffix('.0')} {'byte' if unit == 'bytes' and text == '1' else unit}"
        size /= 1000
    return f"{size:,.1f} TB"


@register.filter
def count(n: int | None) -> str:
    """`12,345`; a dash for nothing."""
    return NONE if n is None else f"{n:,}"


@register.filter
def duration(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3 h`, `5 days`: the one unit that says most."""
    if seconds is None:
        return NONE
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


@register.simple_tag
def stated_of(entry: BoardEntry, field: EntryField) -> str:
    """Value of a field that a board's entry states, without its unit."""
    return stated.value(field, getattr(entry, field.public))


@register.simple_tag(name="stated")
def stated_value(field: EntryField, value: Any, noun: str) -> str:
    """Value of a field that a team states of its entry; `noun` is what the challenge calls an item."""
    if field.kind is FieldKind.LINK:
        return format_html('<a href="{}" rel="nofollow noopener ugc">{}</a>', value, Truncator(value).chars(60))
    return f"{stated.value(field, value)} {field.unit.format(item=noun)}".rstrip()


@register.filter
def digits(value: float | None) -> str:
    """A value without an interval, as boards and entries' pages show it."""
    return rounded(value).text


@register.filter
def spread(it: Cell | Ends) -> str:
    """The interval beside a value: one ±, or its two sides stacked; nothing without one."""
    value = board_words.digits(it)
    if value.half:
        return format_html(' <span class="none">{}</span>', value.half)
    return format_html(' <span class="sides none"><i>{}</i> <i>{}</i></span>', value.up, value.down) if value.up else ""


@register.simple_tag
def padding(it: Cell, widths: Mapping[str, int]) -> str:
    """Style that aligns a value with the others of its column at the point; empty for the longest one."""
    missing = widths[it.column.slug] - len(board_words.text(it).partition(".")[0])
    return format_html(' style="padding-left:{}ch"', missing) if missing else ""


@register.filter(name="value")
def value_or_count(value: float | None) -> str:
    """A value that may be a count: whole numbers without decimals, others as `number` shows them."""
    return figures.number(value, 0 if value is not None and float(value).is_integer() else None)


@register.filter
def sentence_list(words: Iterable[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return nouns.listed(map(str, words), last)


class Table(Node):
    """A table with one row of heads, in a frame that scrolls and has a name. `said` are the tag's arguments."""

    child_nodelists = ("heads", "rows")

    def __init__(self, heads: NodeList, rows: NodeList, said: Mapping[str, FilterExpression]) -> None:
        self.heads, self.rows, self.said = heads, rows, said

    def render(self, context: Context) -> SafeString:
        said = {name: value.resolve(context) for name, value in self.said.items()}
        by = "labelledby" if "labelledby" in said else "label"
        frame = f"wrap {said['frame']}" if "frame" in said else "wrap"
        role = said.get("role", "group" if by == "labelledby" else "region")
        kind = format_html(' class="{}"', said["class"]) if "class" in said else ""
        sortable = " data-sort" if said.get("sortable") else ""
        opening = format_html('<div class="{}" tabindex="0" role="{}" aria-{}="{}"><table{}{}>', frame, role, by, said[by], kind, sortable)
        heads, rows = self.heads.render(context), self.rows.render(context)
        return opening + mark_safe(f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>")  # noqa: S308 - escaped already


@register.tag
def table(parser: Parser, token: Token) -> Table:
    """`{% table label="Teams" %}`, its heads, `{% rows %}`, its rows, `{% endtable %}`.

    The frame is named by `label`, or by the heading with the id `labelledby`. Optional are its `role` (region with a label, else group), a
    further class of it (`frame`), the table's `class`, and `sortable`.
    """
    words = token.split_contents()[1:]
    said = token_kwargs(words, parser)
    if words or len({"label", "labelledby"} & said.keys()) != 1 or not said.keys() <= TABLE_ARGUMENTS:
        raise TemplateSyntaxError("A table takes label or labelledby, and role, frame, class and sortable, each as NAME=VALUE.")
    heads = parser.parse(("rows",))
    parser.delete_first_token()
    rows = parser.parse(("endtable",))
    parser.delete_first_token()
    return Table(heads, rows, said)
