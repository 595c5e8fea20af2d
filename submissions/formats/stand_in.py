"""Placeholders for real files: pointers of Git LFS and git-annex, and web pages saved in place of a download. PURE."""

import re
from pathlib import PurePosixPath

STAND_IN_BYTES = 1024  # of a file's beginning, which tell
_LFS = re.compile(rb"(?:\xef\xbb\xbf)?version https?://(?:git-lfs\.github\.com/spec|hawser\.github\.com/spec|git-media\.io)/v[/\d]")
# Content of a file that git-annex has not fetched: the path of the content, or of the link that a system without links wrote.
_ANNEX = re.compile(rb"(?:\.\./)*(?:\.git|/)/?annex/objects/")
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(!doctype\s+html|html|error)\b", re.IGNORECASE | re.DOTALL)
_PAGES = (".html", ".htm", ".xhtml")


def stand_in(head: bytes, name: str) -> str:
    """Return why the file ``name`` is refused: its true nature, and the command that fetches the real file. Empty for other files.

    ``head`` are the file's first bytes, of which at most ``STAND_IN_BYTES`` are read.
    """
    head = head[:STAND_IN_BYTES]
    if _LFS.match(head):
        return "is a Git LFS pointer, not the file that it points to; run `git lfs pull` in your clone and send the file it fetches"
    if _ANNEX.match(head):
        return "is a git-annex pointer, not the file that it points to; run `git annex get` in your clone and send the file it fetches"
    if PurePosixPath(name).suffix.lower() not in _PAGES and (found := _PAGE.match(head)):
        what = "a storage server's error message (XML)" if found[1].lower() == b"error" else "a web page (HTML)"
        return f"is {what} that was saved in place of the file; run `curl -fLO` with the file's own download address and send that"
    return ""
