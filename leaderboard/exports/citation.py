"""Citations of a challenge, of a ranking and of a published set: a line, BibTeX, and a citation file (CFF 1.2.0)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import yaml

from leaderboard.stats.evidence.record import EvidenceRecord

SERVICE = "Plumbline"
NOT_STATED = "not stated"  # how a manifest says that the source names nobody


@dataclass(frozen=True)
class Citation:
    """Citation: title, who made it (none: the service itself), when, where, and which version; `line` reads as a sentence."""

    key: str
    title: str
    line: str
    made: datetime
    address: str
    version: str
    authors: tuple[str, ...] = ()
    abstract: str = ""

    @property
    def bibtex(self) -> str:
        """One record; LaTeX's own letters are escaped."""
        return bibtex(
            self.key,
            author=" and ".join(f"{{{_latex(name)}}}" for name in self.authors),
            title=_latex(self.title),
            year=f"{self.made:%Y}",
            month=f"{self.made:%b}".lower(),
            howpublished=f"\\url{{{self.address}}}",
            note=f"{SERVICE}, {self.made:%Y-%m-%d %H:%M} UTC",
        )

    @property
    def cff(self) -> str:
        """A CITATION.cff. There is no licence field, because a challenge states the licence of its data only."""
        data = {
            "cff-version": "1.2.0",
            "message": "Cite this as follows.",
            "type": "dataset",
            "title": self.title,
            "authors": [{"name": name} for name in self.authors or (SERVICE,)],
            "version": self.version,
            "date-released": f"{self.made:%Y-%m-%d}",
            "url": self.address,
        }
        if self.abstract:
            data["abstract"] = self.abstract
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)


def bibtex(key: str, **fields: str) -> str:
    """A record of something that is neither an article nor a book, without the fields that are empty."""
    known = {name: text if name == "month" else f"{{{text}}}" for name, text in fields.items() if text}
    lines = ",\n".join(f"  {name} = {text}" for name, text in known.items())
    return f"@misc{{{key},\n{lines}\n}}"


@dataclass(frozen=True)
class PublishedCitation:
    """Citation of the authors of a published set; `line` reads as a sentence. Authors that the source does not name are left out."""

    line: str
    bibtex: str

    @classmethod
    def of(cls, record: EvidenceRecord) -> PublishedCitation:
        authors = "" if record.authors.startswith(NOT_STATED) else record.authors
        year = record.published[:4] if record.published[:4].isdigit() else ""
        where = record.source.repository or (f"https://doi.org/{record.source.doi}" if record.source.doi else "")
        paper = record.paper or (f"https://doi.org/{record.doi}" if record.doi else "")
        who = f"{authors.rstrip('.')}{f' ({year})' if year else ''}. " if authors else ""
        line = f"{who}{record.title}. {f'{paper}. ' if paper else ''}Data: {where}, {record.source.version}."
        address = f"\\url{{{paper or where}}}"
        note = f"Data: {f'{chr(92)}url{{{where}}}, ' if paper else ''}{record.source.version}"
        people = " and ".join(name.strip() for name in re.split(r",|\band\b", authors) if name.strip())
        title = _latex(record.title)
        return cls(line, bibtex(record.name, author=_latex(people), title=title, year=year, howpublished=address, note=note))


def _latex(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "&%$#_{}" else letter for letter in text)
