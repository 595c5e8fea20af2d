"""A ranking as an RO-Crate 1.1: a zip of its table, how to cite it, and a description of both that archives read."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from leaderboard.exports.citation import Citation
from submissions.formats.archive import readable_member

METADATA = "ro-crate-metadata.json"
PREVIEW = "ro-crate-preview.html"
CONFORMS = "https://w3id.org/ro/crate/1.1"


@dataclass(frozen=True)
class CrateFile:
    """One file of the crate, and what it is."""

    name: str
    about: str
    content_type: str
    data: bytes


def crate(citation: Citation, about: str, files: Sequence[CrateFile]) -> bytes:
    """The zip. The same ranking gives the same bytes: every time in it is the ranking's."""
    buffer = io.BytesIO()
    stamp = citation.made.timetuple()[:6]
    rows = "".join(f'<li><a href="{escape(one.name)}">{escape(one.name)}</a>: {escape(one.about)}</li>' for one in files)
    preview = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(citation.title)}</title></head><body>'
        f"<h1>{escape(citation.title)}</h1><p>{escape(about)}</p><p>{escape(citation.line)}</p><ul>{rows}</ul></body></html>\n"
    )
    documents = [
        (METADATA, json.dumps(metadata(citation, about, files), indent=1, ensure_ascii=False).encode()),
        (PREVIEW, preview.encode()),
        *((one.name, one.data) for one in files),
    ]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in documents:
            package.writestr(readable_member(name, stamp), data)
    return buffer.getvalue()


def metadata(citation: Citation, about: str, files: Sequence[CrateFile]) -> dict[str, Any]:
    """The crate's own description. A licence is not among it: whoever deposits it knows which one holds."""
    authors = [{"@id": f"#author-{n}", "@type": "Person", "name": name} for n, name in enumerate(citation.authors, 1)]
    service = {"@id": "#plumbline", "@type": "Organization", "name": "Plumbline"}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": citation.title,
        "description": about,
        "datePublished": citation.made.isoformat(timespec="seconds"),
        "version": citation.version,
        "url": citation.address,
        "identifier": citation.address,
        "creditText": citation.line,
        "author": [{"@id": one["@id"]} for one in authors],
        "publisher": {"@id": service["@id"]},
        "hasPart": [{"@id": one.name} for one in files],
    }
    described = [
        {
            "@id": one.name,
            "@type": "File",
            "name": one.name,
            "description": one.about,
            "encodingFormat": one.content_type,
            "contentSize": str(len(one.data)),
        }
        for one in files
    ]
    own = {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": CONFORMS}, "about": {"@id": "./"}}
    preview = {"@id": PREVIEW, "@type": "CreativeWork", "about": {"@id": "./"}}
    graph = [own, root, preview, *described, *authors, service]
    return {"@context": f"{CONFORMS}/context", "@graph": graph}
