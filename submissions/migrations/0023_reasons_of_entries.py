"""Keep the reason of a rejected, cancelled or failed entry with its numbers, in place of sentences, of why it is on hold, and of whose
fault a failure was. A sentence that fits no reason stays as the note of one that says so."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import migrations, models

# Whatever else a sentence of before said to do.
ADVICE = re.compile(r"(?:; it used up no quota, so retry it\.| It used up no quota; retry it or ask the operator\.)$")
DOING = r"(?P<doing>Checking this entry|Scoring items (?P<first>\d+) to (?P<last>\d+))"
LOST = DOING + r" was begun (?P<times>once|twice|\d+ times), and each time its worker was lost"
FAILURES = [
    ("memory", DOING + r" failed\. It needed more memory than the (?P<megabytes>\d+) MB one job may use\."),
    ("time", DOING + r" failed\. It was not done within the (?P<seconds>\d+) s one job may take\."),
    ("error", DOING + r" failed\. An error in the service stopped it\."),
    ("crash", DOING + r" failed\. The process that did it broke down\."),
    ("killed", DOING + r" failed\. The process that did it was killed\."),
    ("accelerator", DOING + r" failed\. An error of the graphics card, or of what was computed on it, stopped it\."),
    ("room", DOING + r" failed\. There was no room on the worker's disk\."),
    ("remote", DOING + r" failed\."),
    ("lost_on_machines", LOST + r", on more than one machine, so it counts as its own failure\."),
    ("lost", LOST + r"; that is the service's fault as far as is known, and its operator was told\."),
    ("lacking", r"No worker could begin (?P<doing>checking this entry|scoring items (?P<first>\d+) to (?P<last>\d+))\. (?P<note>.+)"),
    ("left_out", r"This entry was left out of a re-evaluation while it was being scored"),
]
UNCONFIRMED = re.compile(r"It was on hold until (\d+ \w+ \d+, \d\d:\d\d) \S+, and nobody confirmed it\.")
NEWER_HOLDS = re.compile(r"It was on hold until (\d+) newer entries of your team were; upload it again\.")
HOLDS_OVER = "The time for confirming entries is over. If it is meant so, upload it again with `--as-is`."


def failure(sentence, fault):
    """Reason, numbers and note of a failure."""
    said = ADVICE.sub("", sentence)
    for reason, pattern in FAILURES:
        if match := re.fullmatch(pattern, said):
            numbers = {name: value for name, value in match.groupdict().items() if value and name not in ("doing", "note")}
            if "times" in numbers:
                numbers["times"] = {"once": "1", "twice": "2"}.get(numbers["times"], numbers["times"].split()[0])
            return reason, {name: int(value) for name, value in numbers.items()}, match.groupdict().get("note") or ""
    return "other_own" if fault == "entry" else "other", {}, said


def rejection(entry):
    """Reason and numbers of a rejection that is not on hold, and whether the last problem said so."""
    last = entry.problems[-1] if entry.problems else ""
    if match := UNCONFIRMED.fullmatch(last):
        try:
            zone = ZoneInfo(entry.phase.time_zone)
        except (ZoneInfoNotFoundError, ValueError):  # which was worded in UTC
            zone = ZoneInfo("UTC")
        until = datetime.strptime(match[1], "%d %B %Y, %H:%M").replace(tzinfo=zone)
        return "unconfirmed", {"until": until.isoformat()}, True
    if match := NEWER_HOLDS.fullmatch(last):
        return "newer_holds", {"n": int(match[1])}, True
    return ("holds_over", {}, True) if last == HOLDS_OVER else ("problems", {}, False)


def sort_sentences(apps, schema_editor):
    entries = apps.get_model("submissions", "Submission").objects
    for entry in entries.filter(status="failed").only("failure", "fault").iterator():
        entry.reason, entry.numbers, entry.failure = failure(entry.failure, entry.fault)
        entry.save(update_fields=["reason", "numbers", "failure"])
    rejected = entries.filter(status="rejected").select_related("phase")
    for entry in rejected.only("on_hold", "problems", "n_problems", "phase__time_zone").iterator():
        if entry.on_hold:
            entry.reason = entry.on_hold
        else:
            entry.reason, entry.numbers, told = rejection(entry)
            if told:
                entry.problems, entry.n_problems = entry.problems[:-1], entry.n_problems - 1
        entry.failure = ""
        entry.save(update_fields=["reason", "numbers", "problems", "n_problems", "failure"])
    expired = entries.filter(status="cancelled", failure="The upload was not finished in time; start it again.")
    expired.update(reason="expired", failure="")


def bring_back_what_code_asks(apps, schema_editor):
    """The sentences themselves do not come back."""
    entries = apps.get_model("submissions", "Submission").objects
    entries.filter(status="rejected", reason__in=["kind", "inputs", "folders"]).update(on_hold=models.F("reason"))
    own = ["memory", "time", "lost_on_machines", "other_own"]
    entries.filter(status="failed").exclude(reason__in=own).update(fault="service")
    entries.filter(status="failed", reason__in=own).update(fault="entry")


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0022_teams_that_become_one'),
    ]

    operations = [
        migrations.AddField(model_name='submission', name='reason', field=models.CharField(blank=True, default='', editable=False, max_length=20), preserve_default=False),
        migrations.AddField(model_name='submission', name='numbers', field=models.JSONField(blank=True, default=dict, editable=False)),
        migrations.RunPython(sort_sentences, bring_back_what_code_asks),
        migrations.RemoveField(model_name='submission', name='on_hold'),
        migrations.RemoveField(model_name='submission', name='fault'),
    ]
