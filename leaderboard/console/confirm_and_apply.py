"""An edited definition to the database: immediately if it is harmless, else after a page that shows the difference has been confirmed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from leaderboard.bundle.apply import PlanChanged, apply, plan_for
from leaderboard.bundle.definition import ChallengeDef, MetricDef, PageDef, PhaseDef
from leaderboard.bundle.plan import Plan
from leaderboard.bundle.show import as_text
from submissions.errors import Refused

OWN_FIELDS = ("csrfmiddlewaretoken", "confirmed")
Thing = TypeVar("Thing", MetricDef, PageDef, PhaseDef)


def confirm_and_apply(request: HttpRequest, definition: ChallengeDef, back: str, message: str = "", then: str = "") -> HttpResponse:
    """Apply `definition` for the form in `request`, and go on to `then` or, without it or with
    nothing done, `back` (addresses).

    The confirming page sends the same form again with the digest of the plan it showed, so exactly that plan is applied. If the challenge
    has changed meanwhile, the page is shown again. Raises `Refused` where the plan is.
    """
    plan = plan_for(definition)
    if plan.refusals:
        raise Refused(" ".join(plan.refusals), "plan_refused")
    if plan.is_empty:
        messages.info(request, "Nothing to change.")
        return redirect(back)
    confirmed = request.POST.get("confirmed", "")
    if plan.needs_confirmation and confirmed != plan.digest:
        return _ask(request, plan, back, bool(confirmed))
    try:
        apply(definition, request.user, expected=plan.digest)
    except PlanChanged as changed:
        return _ask(request, changed.plan, back, True)
    rescored = [scored_anew(rescoring.entries) for rescoring in plan.rescorings if rescoring.entries]
    messages.success(request, " ".join([message or "Saved.", *rescored]))
    return redirect(then or back)


def _ask(request: HttpRequest, plan: Plan, back: str, changed: bool) -> HttpResponse:
    """The page that shows each changed thing with its rows, and sends the same form again."""
    things = []
    for path, changes in plan.things().items():
        rows = [
            {"field": it.field.replace("_", " "), "before": as_text(it.before), "after": as_text(it.after), "diff": it.text_diff}
            for it in changes
            if it.field
        ]
        warnings = [change.warning for change in changes if change.warning]
        things.append({"name": ", ".join(path) or "the challenge", "kind": changes[0].kind, "rows": rows, "warnings": warnings})
    fields = [(name, value) for name, values in request.POST.lists() if name not in OWN_FIELDS for value in values]
    context = {"plan": plan, "things": things, "fields": fields, "back": back, "changed": changed, "challenge": plan.after}
    return render(request, "console/confirm.html", context)


def scored_anew(n: int) -> str:
    return f"{n} {'entry is' if n == 1 else 'entries are'} being scored again. The leaderboard switches when all are done."


# --- small edits of a definition


def with_phase(definition: ChallengeDef, slug: str, **values: Any) -> ChallengeDef:
    """`definition` with other values in one of its phases."""
    return replace(definition, phases=tuple(replace(phase, **values) if phase.slug == slug else phase for phase in definition.phases))


def moved(things: tuple[Thing, ...], slug: str, to: str) -> tuple[Thing, ...]:
    """`things` with the one called `slug` a place earlier (`up`) or later; nothing moves off the end."""
    order = list(things)
    place = next((n for n, thing in enumerate(order) if thing.slug == slug), None)
    if place is not None:
        thing = order.pop(place)
        order.insert(max(0, place + (-1 if to == "up" else 1)), thing)
    return tuple(order)
