"""Static files under names that hold a hash of their contents, so that browsers keep them for good; the web server collects them."""

from __future__ import annotations

import fcntl
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from whitenoise.storage import CompressedManifestStaticFilesStorage

COLLECTED = "collected.sha256"  # of all that was collected, with names; in STATIC_ROOT
# A module that imports another by its address beside it gets the other's hashed name, line by line: bundles have no such lines.
_IMPORTS = (r"""(?m)^(?P<matched>import (?P<names>[^"\n]*) from "(?P<url>\.{1,2}/[^"\n]+)";)""", 'import %(names)s from "%(url)s";')


class HashedStorage(CompressedManifestStaticFilesStorage):
    """Names with a hash for files that were collected. Where none were, as in tests and with DEBUG, files keep their own names and
    browsers ask again after a minute."""

    patterns = (CompressedManifestStaticFilesStorage.patterns[0], ("*.js", (_IMPORTS,)))

    def stored_name(self, name: str) -> str:
        return super().stored_name(name) if self.hashed_files else name

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        yield from super().post_process(paths, dry_run=dry_run, **options)
        if not dry_run:
            Path(self.path(COLLECTED)).write_text(_digest())


def collect() -> None:
    """Collect the static files, compressed, unless those in STATIC_ROOT are these very ones, as in an image that was built with them.

    Ends the process with a sentence where the folder holds others and cannot be written: pages would name files of another version.
    """
    root: Path = settings.STATIC_ROOT
    if settings.DEBUG or _is_collected(root):
        return
    try:
        root.mkdir(parents=True, exist_ok=True)
        with (root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of servers that start at the same time, one collects
            if not _is_collected(root):
                call_command("collectstatic", interactive=False, verbosity=0)
    except OSError as error:
        sys.exit(
            f"The static files in {root} are missing or of another version, and cannot be collected there ({error.strerror}). Make the "
            "folder writable, or run `manage.py collectstatic` as a user who may write there."
        )


def _is_collected(root: Path) -> bool:
    return (root / COLLECTED).is_file() and (root / COLLECTED).read_text() == _digest()


def _digest() -> str:
    """A hash over names and contents of all static files of the apps."""
    digest = hashlib.sha256()
    found = [(name, Path(storage.path(name))) for finder in finders.get_finders() for name, storage in finder.list([])]
    for name, path in sorted(found):
        contents = path.read_bytes()
        digest.update(f"{name} {len(contents)} ".encode() + contents)
    return digest.hexdigest()
