"""The checklist on a challenge's overview: the steps that a viewer still has to take."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from submissions.models import Admission, Phase, Status, Submission
from submissions.permissions import Viewer


@dataclass(frozen=True)
class Step:
    """One line of the list. `now` marks the one to do next; `note` says why one has to wait.

    `url` is where it is done: its button reads `action` when it is the next to do, and its link
    `again` once it is done; an empty word is no link.
    """

    title: str
    done: bool
    url: str = ""
    action: str = ""
    again: str = ""
    note: str = ""
    now: bool = False


def steps(viewer: Viewer, phase: Phase | None) -> list[Step]:
    """The steps from logging in to the first entry in `phase` (the one that matters now)."""
    challenge = viewer.challenge
    assert challenge is not None  # the list is part of a challenge's page
    slug, it = challenge.slug, viewer.participation
    found = [Step("Log in, or sign up", viewer.known, f"{reverse('account_login')}?next={reverse('challenge', args=[slug])}", "Log in")]

    accepted = it is not None and not it.must_accept and it.admission != Admission.DECLINED
    note = ""
    if it is not None and it.rules_accepted_at and not it.has_accepted:
        note = f"You accepted version {it.rules_version}; they have changed since."
    title = f"Accept the rules (version {challenge.rules_version})"
    found.append(Step(title, accepted, reverse("rules", args=[slug]), "Read and accept", "Read them", note))

    if challenge.needs_approval:
        note = ""
        if it is not None and it.admission == Admission.DECLINED:
            note = "The organizers have declined your participation; write to them if you think that is a mistake."
        elif it is not None and it.is_waiting:
            note = "The organizers have been asked; nothing is left for you to do here."
        found.append(Step("Be admitted by the organizers", it is not None and it.admission == Admission.ADMITTED, note=note))

    team = reverse("team", args=[slug])
    found.append(Step("Join a team, or be a team of one", viewer.team_id is not None, team, "Found a team", "Your team"))
    found.append(_upload(viewer, phase))
    first = next((i for i, step in enumerate(found) if not step.done), None)
    return [Step(**(vars(step) | {"now": i == first})) for i, step in enumerate(found)]


def _upload(viewer: Viewer, phase: Phase | None) -> Step:
    title = f"Upload an entry to {phase.title}" if phase else "Upload an entry"
    if phase is None:
        return Step(title, False, note="There is no phase yet.")
    sent = viewer.team_id is not None and Submission.objects.filter(phase=phase, team=viewer.team_id, status=Status.SCORED).exists()
    note = ""
    if not phase.has_opened(viewer.now):
        note = "The phase has not opened yet."
    elif not phase.has_teams:
        note = f"It ranks figures from {phase.results_source}, and takes no uploads."
    elif not phase.is_open(viewer.now):
        note = "The phase is over. Its leaderboard stays."
    elif phase.manifest is None:
        note = "The organizers have not given its reference yet."
    ready = not note and viewer.may("phase.upload", phase)
    url = reverse("upload", args=[phase.challenge.slug, phase.slug]) if ready else ""
    return Step(title, sent, url, "Upload", "Upload another", note)
