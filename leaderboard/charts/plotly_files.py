"""Serves plotly's own plotly.min.js from its wheel, as the static file plotly/plotly.min.js."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

PREFIX, NAME = "plotly", "plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds that one file, and nothing else of the package, without importing it."""

    def __init__(self, app_names: Any = None, *args, **kwargs) -> None:
        spec = importlib.util.find_spec("plotly")
        assert spec is not None and spec.origin is not None
        self.folder = Path(spec.origin).parent / "package_data"
        self.storage = FileSystemStorage(location=self.folder)
        self.storage.prefix = PREFIX
        super().__init__()

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != f"{PREFIX}/{NAME}":
            return []
        bundle = str(self.folder / NAME)
        return [bundle] if find_all else bundle

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        yield NAME, self.storage
