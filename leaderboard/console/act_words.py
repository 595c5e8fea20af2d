"""What an act in the audit log is called: one sentence each, with the thing it was done to left to the next column."""

from __future__ import annotations

SENTENCES = {
    "challenge.create": "Made the challenge",
    "challenge.add": "Made the challenge",
    "challenge.edit": "Changed the challenge",
    "phase.add": "Added a phase",
    "phase.edit": "Changed a phase",
    "phase.remove": "Removed a phase",
    "phase.reevaluate": "Had all entries scored anew",
    "metric.add": "Added a metric",
    "metric.edit": "Changed a metric",
    "metric.remove": "Removed a metric",
    "reference.add": "Gave a reference",
    "reference.edit": "Changed the reference",
    "reference.store": "Stored a reference, not yet in force",
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
    "participation.admitted": "Admitted a participant",
    "participation.declined": "Declined a participant",
    "participation.pending": "Put a participant back to waiting",
    "submission.cancel": "Cancelled an entry",
    "submission.retry": "Queued a failed entry again",
    "study.import": "Brought in the votes of a study",
    "study.publish": "Changed who sees a study",
    "study.remove": "Removed a study",
    "submission.hide": "Hid an entry",
    "submission.unhide": "Showed a hidden entry again",
    "submission.disqualify": "Disqualified an entry",
    "submission.requalify": "Took a disqualification back",
    "submission.mark": "Changed an entry's badges",
    "batch.cancel": "Stopped a re-evaluation",
    "batch.retry": "Had an entry scored again in a re-evaluation",
    "batch.exclude": "Left an entry out of a re-evaluation",
}


def sentence(action: str) -> str:
    """The act in words; its own name, readable, for one that is new here."""
    return SENTENCES.get(action) or action.replace(".", ": ").replace("_", " ").capitalize()
