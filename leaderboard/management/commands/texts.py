"""`manage.py texts`: Markdown of people that pages do not lay out as its author meant."""

from __future__ import annotations

import re
from typing import Any

from django.core.management.base import BaseCommand
from django.db.models import Model

from leaderboard.models import Study
from submissions.markdown import laid_out
from submissions.models import Announcement, Challenge, ChallengePage, Phase, Submission

SOURCES: list[tuple[type[Model], str]] = [
    (Challenge, "description"),
    (Challenge, "rules"),
    (Phase, "description"),
    (Announcement, "body"),
    (ChallengePage, "body"),
    (Submission, "description"),
    (Study, "consent"),
]
UNSUPPORTED = {  # what no page lays out, and how a text that uses it is recognised, outside of code
    "[TOC]": r"^\[TOC\][ \t]*$",
    "abbreviations": r"^\*\[[^\]\n]+\]:",
    "definition lists": r"^\S.*\n(\n)?:[ \t]+\S",
    "raw HTML": r"</?[A-Za-z][A-Za-z0-9-]*(\s[^<>]*)?/?>",
}
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.M | re.S)


class Command(BaseCommand):
    help = "List descriptions, rules, announcements and consent texts that use Markdown which pages do not lay out, or are too long for it."

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        for model, field in SOURCES:
            for row in model._default_manager.exclude(**{field: ""}).order_by("pk").iterator():
                text = getattr(row, field)
                faults = [what for what, pattern in UNSUPPORTED.items() if re.search(pattern, CODE.sub("", text), re.M)]
                if note := laid_out(text).note:
                    faults.append(note)
                if faults:
                    found += 1
                    self.stdout.write(f"{model._meta.verbose_name} {row.pk} ({row}), {field}: {', '.join(faults)}")
        self.stdout.write(f"{found} texts to rewrite." if found else "Every text is laid out as it was written.")
