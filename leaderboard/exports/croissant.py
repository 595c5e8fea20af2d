"""A challenge's data in Croissant 1.0 (MLCommons), the JSON-LD by which tools and search engines find and load data sets.

It lists what somebody without an account sees: files with their size and digest, and the manifest of each phase that has opened, whose
items are a record set. A licence is among it where the organizers state one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mimetypes import guess_type
from typing import Any

from leaderboard.exports.citation import Citation
from submissions.kinds import Family

CONFORMS = "http://mlcommons.org/croissant/1.0"
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
            *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "separator", "source", "subField", "transform"),
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
}


@dataclass(frozen=True)
class DataFile:
    """A file: where it is, how large, and its SHA-256 in hexadecimal digits."""

    key: str
    name: str
    about: str
    address: str
    size: int
    sha256: str

    @property
    def content_type(self) -> str:
        return guess_type(self.name)[0] or "application/octet-stream"


@dataclass(frozen=True)
class PhaseItems:
    """The manifest of a phase as it is sent (`body`), and what its items are called."""

    slug: str
    title: str
    address: str
    body: bytes
    family: Family
    item_noun: str
    unit_noun: str

    @property
    def file(self) -> DataFile:
        about = f"What an entry of {self.title} holds: items, formats, limits and metrics."
        digest = hashlib.sha256(self.body).hexdigest()
        return DataFile(f"{self.slug}-manifest", f"{self.slug}-manifest.json", about, self.address, len(self.body), digest)

    def record_set(self) -> dict[str, Any]:
        """Its items as records: an id and the group that it is averaged in."""
        key = f"{self.slug}-items"
        return {
            "@type": "cr:RecordSet",
            "@id": key,
            "name": key,
            "description": f"The items of {self.title}, one {self.item_noun} each; an entry has one of each ({self.family.title.lower()}).",
            "key": {"@id": f"{key}/id"},
            "field": [
                self._field(key, "id", f"Name of the {self.item_noun}.", "$.items[*].id"),
                self._field(key, "group", f"The {self.unit_noun} that it belongs to; by itself, its own name.", "$.items[*].group"),
            ],
        }

    def _field(self, key: str, name: str, about: str, path: str) -> dict[str, Any]:
        return {
            "@type": "cr:Field",
            "@id": f"{key}/{name}",
            "name": name,
            "description": about,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": self.file.key}, "extract": {"jsonPath": path}},
        }


def croissant(
    name: str,
    title: str,
    about: str,
    cite: Citation,
    tags: Sequence[str],
    licence: str,
    files: Sequence[DataFile],
    phases: Sequence[PhaseItems],
) -> dict[str, Any]:
    """The document: a schema.org Dataset, its files as the distribution, the items of its phases as record sets."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "@id": cite.address,
        "name": name,
        "alternateName": title,
        "description": about,
        "url": cite.address,
        "datePublished": cite.made.isoformat(),
        "version": cite.version,
        "creator": [{"@type": "sc:Person" if cite.authors else "sc:Organization", "name": one} for one in cite.authors or ("Plumbline",)],
        "publisher": {"@type": "sc:Organization", "name": "Plumbline"},
        "keywords": list(tags),
        **({"license": licence} if licence else {}),
        "isLiveDataset": True,
        "citeAs": cite.bibtex,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": one.key,
                "name": one.name,
                "description": one.about,
                "contentUrl": one.address,
                "contentSize": f"{one.size} B",
                "encodingFormat": one.content_type,
                "sha256": one.sha256,
            }
            for one in (*files, *(phase.file for phase in phases))
        ],
        "recordSet": [phase.record_set() for phase in phases],
    }
