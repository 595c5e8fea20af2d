"""Descriptions of a challenge and a ranking for archives, data loaders and search engines: Croissant, citation files, RO-Crates.

All of it holds exactly what a visitor without an account may see at that moment, for any reader, so that it can be kept and passed on.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from leaderboard.boards.rows import BoardRows, Choice
from leaderboard.exports.citation import Citation
from leaderboard.exports.crate import CrateFile, crate
from leaderboard.exports.croissant import DataFile, PhaseItems, croissant
from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.lookup import shown_board, snapshot_of
from leaderboard.service.responses import attachment, for_everybody
from leaderboard.views.board import caption, citation
from leaderboard.wording.board import size
from leaderboard.wording.nouns import counted
from submissions.lookup import ChallengePlace, challenge_place
from submissions.models import ChallengeFile
from submissions.views.files import manifest_bytes

NOBODY = AnonymousUser()
JSON_LD = "application/ld+json"


def of_challenge(place: ChallengePlace) -> dict[str, Any]:
    """The Croissant document of a challenge, as somebody without an account sees it; `place` is theirs."""
    challenge = place.challenge
    common = challenge.files.filter(kind=ChallengeFile.Kind.INPUT, phase__isnull=True)  # listed to all, given to participants
    files = [
        DataFile(
            f"file-{file.pk}",
            file.name,
            f"{file.title or 'Input'}. For participants: log in, or send a token.",
            _address("challenge_file", challenge.slug, file.pk),
            file.size,
            file.sha256,
        )
        for file in common
    ]
    phases = [
        PhaseItems(
            phase.slug,
            phase.title,
            _address("manifest", challenge.slug, phase.slug),
            manifest_bytes(phase),
            challenge.kind,
            challenge.item_noun,
            challenge.unit_noun,
        )
        for phase in place.phases
        if phase.manifest_data and phase.has_opened(place.now)
    ]
    cite = challenge_citation(place)  # whose title may say that its data are simulated
    simulated = "Its data and entries are simulated. " if challenge.simulated else ""
    about = simulated + (challenge.summary or f"A challenge on 3D reconstruction: {challenge.kind.title.lower()}.")
    return croissant(challenge.slug, challenge.title, about, cite, challenge.tags, challenge.licence, files, phases)


def _address(name: str, *args: object) -> str:
    return f"{settings.SITE_URL}{reverse(name, args=args)}"


def challenge_citation(place: ChallengePlace) -> Citation:
    """The challenge by its organizers, whose names its overview tells."""
    challenge = place.challenge
    names = challenge.organizer_names
    simulated = " (simulated data)" if challenge.simulated else ""
    title, made = f"{challenge.title}{simulated}", challenge.created_at
    address = _address("challenge", challenge.slug)
    who = f"{', '.join(names)}. " if names else ""
    line = f"{who}{title}. Plumbline challenge, rules version {challenge.rules_version}, {made:%Y}. {address}"
    return Citation(f"plumbline-{challenge.slug}", title, line, made, address, challenge.rules_version, names, challenge.summary)


def challenge_croissant(request: HttpRequest, challenge: str) -> HttpResponse:
    """The challenge's data as Croissant."""
    found = of_challenge(challenge_place(NOBODY, challenge))
    return for_everybody(HttpResponse(json.dumps(found, indent=1, ensure_ascii=False), content_type=JSON_LD))


def challenge_cite(request: HttpRequest, challenge: str, kind: str) -> HttpResponse:
    """The challenge's citation, as a citation file or BibTeX."""
    return _cite(challenge_citation(challenge_place(NOBODY, challenge)), kind)


def snapshot_cite(request: HttpRequest, challenge: str, phase: str, digest: str, kind: str) -> HttpResponse:
    """A ranking's citation, in the same two forms."""
    place = shown_board(NOBODY, challenge, phase)
    ranking = snapshot_of(place.phase, place.viewer, digest)
    return _cite(citation(place, ranking), kind)


def snapshot_crate(request: HttpRequest, challenge: str, phase: str, digest: str) -> HttpResponse:
    """A ranking as RO-Crate, to be deposited: its table, its citation, what the challenge is, and what an entry holds."""
    place = shown_board(NOBODY, challenge, phase)
    ranking = snapshot_of(place.phase, place.viewer, digest)
    cite, board = citation(place, ranking), ranking.board
    table = BoardRows(board, Choice()).table(caption(place, ranking))
    counts = size(board.n_entries, board.n_teams if place.phase.has_teams else None)
    if not board.imported:
        counts += f" on {counted(board.n_items, 'item')}"
    about = f"A ranking of {place.challenge.title}, {place.phase.title}, as it stood: {counts}. SHA-256 of its content: {ranking.digest}."
    if place.challenge.simulated:
        about += " Data, teams and entries are simulated."
    files = [
        *(
            CrateFile(f"ranking.{kind}", words, FILE_FORMATS[kind].content_type, FILE_FORMATS[kind].write(table).encode())
            for kind, words in (("csv", "The ranking as a table, every number in full."), ("json", "The same with its head, for programs."))
        ),
        CrateFile("CITATION.cff", "How to cite it.", "text/yaml", cite.cff.encode()),
        CrateFile("CITATION.bib", "The same as BibTeX.", "application/x-bibtex", f"{cite.bibtex}\n".encode()),
    ]
    texts = (("description.md", "What the challenge is.", place.challenge.description), ("rules.md", "Its rules.", place.challenge.rules))
    files += [CrateFile(name, words, "text/markdown", text.encode()) for name, words, text in texts if text]
    if place.phase.manifest_data:
        words = "Items, formats, limits and metrics of the phase now."
        files.append(CrateFile("manifest.json", words, "application/json", manifest_bytes(place.phase)))
    name = f"{place.challenge.slug}-{place.phase.slug}-{ranking.short}.crate.zip"
    return for_everybody(attachment(HttpResponse(crate(cite, about, files), content_type="application/zip"), name))


def _cite(found: Citation, kind: str) -> HttpResponse:
    text, content_type = (found.cff, "text/yaml") if kind == "cff" else (f"{found.bibtex}\n", "application/x-bibtex")
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    return for_everybody(attachment(response, "CITATION.cff" if kind == "cff" else f"{found.key}.bib"))
