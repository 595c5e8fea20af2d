"""Acts of tests at the console: what a browser sends, the page that asks first, and the last line of the log."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.console.forms.challenge import PhaseForm
from submissions.models import AuditEntry


def latest(challenge) -> AuditEntry:
    return challenge.audit.order_by("-id").first()


def confirm(client, answer):
    """Send the form of a confirming page."""
    assert answer.status_code == 200 and f'name="confirmed" value="{answer.context["plan"].digest}"' in answer.content.decode()
    fields: dict[str, list[str]] = {}
    for name, value in answer.context["fields"]:
        fields.setdefault(name, []).append(value)
    return client.post(answer.wsgi_request.path, {**fields, "confirmed": answer.context["plan"].digest})


def phase_form(phase, **changes) -> dict[str, object]:
    """Form that a browser sends for the phase as it stands, with some fields changed."""
    form = PhaseForm(instance=phase)
    values = {name: form[name].value() for name in form.fields}
    values = {name: value for name, value in values.items() if value not in (None, False)}
    return {**values, **changes}


def metric_values(**changes) -> dict[str, object]:
    return {
        "slug": "hss-2",
        "title": "",
        "weight": "1",
        "in_ranking": "on",
        "param_vert_thresh": "0.25",
        "param_edge_thresh": "0.5",
        "param_sections": "6",
        **changes,
    }


def upload(data: bytes, name: str = "reference.zip", **values) -> dict[str, object]:
    return {"file": SimpleUploadedFile(name, data), "note": "Second survey", "groups": "", **values}
