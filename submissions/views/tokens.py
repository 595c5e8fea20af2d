"""A person's API tokens: make one (its key is shown once), see them, revoke them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from submissions import throttling
from submissions.forms import TokenForm
from submissions.models import ApiToken


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """All tokens, and a form for a new one. The key of a new one is in this one answer only."""
    form, token, key = TokenForm(request.user, request.POST or None), None, ""
    if request.method == "POST" and form.is_valid():
        throttling.limit_tokens(request)
        chosen = form.cleaned_data
        token, key = ApiToken.make(request.user, chosen["name"], form.expires_at(), chosen["scopes"], chosen.get("challenges", ()))
        form = TokenForm(request.user)
    now = timezone.now()
    rows = [
        {"token": one, "live": one.is_live(now), "only_in": ", ".join(challenge.title for challenge in one.challenges.all())}
        for one in request.user.api_tokens.prefetch_related("challenges")
    ]
    context = {"form": form, "rows": rows, "new": token, "key": key, "address": request.build_absolute_uri("/")}
    return render(request, "submissions/tokens.html", context, status=422 if form.errors else 201 if key else 200)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user=request.user)
    token.revoke()
    messages.success(request, f"{token.name} is revoked; programs that use it are refused from now on.")
    return redirect("tokens")
