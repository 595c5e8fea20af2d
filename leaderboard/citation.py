"""Citations of a challenge and of a ranking: a line, BibTeX, and a citation file (CFF 1.2.0)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import yaml

SERVICE = "Plumbline"


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
        fields = {"author": " and ".join(f"{{{_latex(name)}}}" for name in self.authors)} if self.authors else {}
        fields |= {
            "title": f"{{{_latex(self.title)}}}",
            "year": f"{{{self.made:%Y}}}",
            "month": f"{self.made:%b}".lower(),
            "howpublished": f"{{\\url{{{self.address}}}}}",
            "note": f"{{{SERVICE}, {self.made:%Y-%m-%d %H:%M} UTC}}",
        }
        if self.authors:
            fields["author"] = f"{{{fields['author']}}}"
        lines = ",\n".join(f"  {name} = {value}" for name, value in fields.items())
        return f"@misc{{{self.key},\n{lines}\n}}"

    @property
    def cff(self) -> str:
        """A CITATION.cff. Nothing is said of a licence: what a challenge states is of its data alone."""
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


def _latex(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "&%$#_{}" else letter for letter in text)
