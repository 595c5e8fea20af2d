"""Money for judge models: budgets of challenges and accounts, which operators set, and keys of organizers' own."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from leaderboard.console.forms.judges import AccountLimitForm, KeyForm, LimitForm
from leaderboard.console.page import page, told
from leaderboard.lookup import organizer
from leaderboard.models import JudgeBudget, JudgeKey
from submissions.models import Challenge, User
from submissions.permissions import allowed, require


@sensitive_post_parameters("key")
@organizer
def of_challenge(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Costs of a challenge's judge models this month, their budget, and its own key."""
    key_form, limit_form, is_done = _acts(request, challenge)
    if is_done:
        return redirect(request.path)
    return page(request, "judge_budget", challenge, "judges", **_context(request, challenge), key_form=key_form, limit_form=limit_form)


@sensitive_post_parameters("key")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def of_account(request: HttpRequest) -> HttpResponse:
    """The same page for the viewer's account. Operators see all budgets and set the budgets of accounts."""
    is_operator = allowed(request.user, "operator.see")
    if not JudgeBudget.belongs_to(request.user):
        raise PermissionDenied
    if request.method == "POST" and request.POST.get("act") == "limit":
        require(request.user, "operator.see")
        form = AccountLimitForm(data=request.POST)
        if form.is_valid():
            JudgeBudget.set_limit(form.account, form.cleaned_data["limit"], request.user)
            return told(request, f"The budget of {form.account.introduced(form.cleaned_data['name'])} is set.")
        key_form = KeyForm()
    else:
        key_form, _, is_done = _acts(request, request.user)
        if is_done:
            return redirect(request.path)
        form = AccountLimitForm()
    context = _context(request, request.user) | {"key_form": key_form, "limit_form": form}
    if is_operator:
        rows = JudgeBudget.objects.select_related("challenge", "account", "set_by").order_by("challenge__title", "account__username")
        context["all_budgets"] = [row.in_month(context["budget"].month) for row in rows]
    return render(request, "console/judge_account.html", context)


@sensitive_variables()
def _acts(request: HttpRequest, owner: Challenge | User) -> tuple[KeyForm, LimitForm, bool]:
    """The page's forms, filled in if one was refused; and whether an act was done, so that the page is to be requested again."""
    budget, act = JudgeBudget.of(owner), request.POST.get("act", "") if request.method == "POST" else ""
    key_form = KeyForm(request.POST if act == "key" else None)
    limit_form = LimitForm(budget, request.POST if act == "limit" else None)
    if act == "key" and key_form.is_valid():
        JudgeKey.put_in(owner, key_form.cleaned_data["url"], key_form.cleaned_data["key"], request.user)
        messages.success(request, "The key is stored. It is not shown again.")
    elif act == "remove":
        key = JudgeKey.of(owner)
        stopped = key.remove(request.user) if key is not None else 0
        runs = f" {stopped} run{' that it paid is' if stopped == 1 else 's that it paid are'} stopped." if stopped else ""
        messages.success(request, f"The key is removed.{runs}")
    elif act == "limit":
        require(request.user, "operator.see")
        if not limit_form.is_valid():
            return key_form, limit_form, False
        JudgeBudget.set_limit(owner, limit_form.cleaned_data["limit"], request.user)
        messages.success(request, "The budget is set.")
    else:
        return key_form, limit_form, False
    return key_form, limit_form, True


def _context(request: HttpRequest, owner: Challenge | User) -> dict[str, Any]:
    return {
        "budget": JudgeBudget.of(owner),
        "key": JudgeKey.of(owner),
        "is_operator": allowed(request.user, "operator.see"),
        "currency": settings.JUDGE_CURRENCY,
    }
