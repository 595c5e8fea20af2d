"""The audit log of organizers' acts, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard.bundle.plan import NOTHING
from leaderboard.bundle.show import as_text
from leaderboard.console.page import page, paged
from leaderboard.lookup import organizer, search_text
from submissions.models import AuditEntry, Challenge

# One sentence for each act, with the thing it was done to left to the next column.
SENTENCES = {
    "challenge.create": "Made the challenge",
    "challenge.add": "Made the challenge",
    "challenge.edit": "Changed the challenge",
    "phase.add": "Added a phase",
    "phase.edit": "Changed a phase",
    "phase.remove": "Removed a phase",
    "phase.import": "Imported a table of figures",
    "results.add": "Gave a table of figures",
    "results.edit": "Changed a table of figures",
    "column.add": "Added a column of figures",
    "column.edit": "Changed a column of figures",
    "column.remove": "Removed a column of figures",
    "phase.reevaluate": "Started scoring all entries again",
    "metric.add": "Added a metric",
    "metric.edit": "Changed a metric",
    "metric.remove": "Removed a metric",
    "program.add": "Brought a metric program",
    "program.publish": "Changed who may read a metric program",
    "program.remove": "Removed a metric program",
    "reference.add": "Gave a reference",
    "reference.edit": "Changed the reference",
    "reference.store": "Stored a reference without switching to it",
    "reference.regions": "Marked regions on a reference's views",
    "file.add": "Added a file",
    "file.edit": "Changed a file",
    "file.remove": "Removed a file",
    "announcement.add": "Announced something",
    "announcement.edit": "Changed an announcement",
    "announcement.remove": "Took an announcement back",
    "organizer.add": "Made somebody an organizer",
    "organizer.remove": "Took somebody off the organizers",
    "link.rotate": "Changed the challenge's secret link",
    "team.grant": "Granted a team extra tries",
    "team.merge": "Merged two teams",
    "participation.admitted": "Admitted a participant",
    "participation.declined": "Declined a participant",
    "participation.pending": "Put a participant back to waiting",
    "submission.cancel": "Cancelled an entry",
    "submission.retry": "Queued a failed entry again",
    "worker.token": "Made a token for workers, which see the hidden reference",
    "worker.revoke": "Revoked a token of workers",
    "worker.trust": "Gave a token of workers parts again",
    "worker.versions": "Allowed a token's workers to have other versions of the libraries",
    "worker.decide": "Decided between two workers that differ",
    "compute.budget": "Set what scoring may take",
    "judge.budget": "Set what judge models may cost in a month",
    "judge.key": "Added the challenge's own key for judge models",
    "judge.key_removed": "Removed the challenge's own key for judge models",
    "judge.plan": "Planned questions for a judge model",
    "judge.start": "Started a judge model",
    "judge.texts": "Had a model asked for texts to make objects from",
    "judge.pause": "Paused a judge model",
    "judge.cancel": "Cancelled a judge model's run",
    "judge.remove": "Removed a judge model's run with its answers",
    "study.import": "Brought in the votes of a study",
    "study.publish": "Changed who sees a study",
    "study.programs": "Changed whether other challenges' programs run on a study",
    "study.remove": "Removed a study",
    "study.screen": "Changed whether a study's raters are screened",
    "study.make": "Made a study",
    "study.edit": "Changed a study",
    "study.open": "Opened a study to raters",
    "study.close": "Closed a study",
    "study.leave_out": "Left an entry out of a study",
    "study.take_in": "Took an entry into a study again",
    "study.remove_rater": "Removed a rater",
    "study.readmit_rater": "Readmitted a rater",
    "study.renew_link": "Made a rater a new link of their own",
    "study.count_rater": "Changed whether a rater's votes count",
    "study.invite": "Made an invitation link to a study",
    "study.end_invitation": "Ended an invitation to a study",
    "study.list_account": "Put somebody on the list of a study",
    "submission.let_stand": "Allowed an entry whose team withdrew a later one",
    "submission.hide": "Hid an entry",
    "submission.unhide": "Showed a hidden entry again",
    "submission.disqualify": "Disqualified an entry",
    "submission.requalify": "Took a disqualification back",
    "submission.mark": "Changed an entry's badges",
    "submission.baseline": "Uploaded a baseline",
    "batch.cancel": "Stopped a re-evaluation",
    "batch.switch": "Showed the values of a re-evaluation on the leaderboard",
    "batch.retry": "Had an entry scored again in a re-evaluation",
    "batch.exclude": "Left an entry out of a re-evaluation",
}


@organizer
@require_safe
def audit(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    rows = challenge.audit.select_related("actor").order_by("-at", "-id")
    kind, text = search_text(request, "kind"), search_text(request)
    if kind:
        rows = rows.filter(action__startswith=f"{kind}.")
    if text:
        rows = rows.filter(target__icontains=text) | rows.filter(actor__username__icontains=text)
    entries, foot = paged(request, rows)
    kinds = sorted({action.split(".")[0] for action in challenge.audit.order_by().values_list("action", flat=True).distinct()})
    shown = [(entry, sentence(entry.action), details(entry)) for entry in entries]
    return page(request, "audit", challenge, "audit", rows=shown, **foot, kinds=kinds, kind=kind, text=text)


def details(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """(what, before, after) for each value that the act changed, and (what, "", value) for what it says besides."""
    before, after = entry.detail.get("before") or {}, entry.detail.get("after") or {}
    rows = [
        (name.replace("_", " "), as_text(before[name]) if before.get(name) not in NOTHING else "", as_text(after.get(name)))
        for name in sorted({**before, **after})
    ]
    besides = [(name, "", as_text(entry.detail[name])) for name in ("reason", "note") if entry.detail.get(name)]
    return rows + besides


def sentence(action: str) -> str:
    """The act in words; its own name, readable, for one that is new here."""
    return SENTENCES.get(action) or action.replace(".", ": ").replace("_", " ").capitalize()
