"""Every act that is kept has a sentence."""

from __future__ import annotations

import re

from django.utils.html import escape

from leaderboard.bundle.apply import VERBS
from leaderboard.console.views.audit import SENTENCES, sentence
from submissions.models import Admission, AuditEntry
from tests import ROOT

RECORDED = re.compile(r"(?:\.record|_flag|_record_member|_record_foreign)\([^()]*?\"([a-z]+\.[a-z]+)\"")


def test_every_act_that_the_code_records_has_a_sentence():
    source = "\n".join(path.read_text() for room in ("submissions", "evaluation", "leaderboard") for path in (ROOT / room).rglob("*.py"))
    recorded = set(RECORDED.findall(source))
    assert {"submission.mark", "batch.exclude", "phase.reevaluate", "team.grant"} <= recorded, "the pattern finds them"
    recorded |= {f"participation.{admission.value}" for admission in Admission} | {"challenge.create"}
    nouns = ("phase", "metric", "file", "announcement")
    recorded |= {f"{noun}.{verb}" for noun in nouns for verb in VERBS.values()}
    assert recorded <= SENTENCES.keys(), recorded - SENTENCES.keys()


def test_an_act_that_is_new_is_still_readable():
    assert sentence("study.begin_rating") == "Study: begin rating"


def test_the_console_shows_sentences_and_no_raw_names(desk, at, challenge, people):
    AuditEntry.record(challenge, people.organizer, "submission.mark", "number 3")
    for page in ("", "audit/"):
        text = desk.get(at(page)).content.decode()
        assert escape(sentence("submission.mark")) in text and ">submission.mark<" not in text
