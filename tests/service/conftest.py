"""Caches that each test's client would fill anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from whitenoise.middleware import WhiteNoiseMiddleware


@pytest.fixture(scope="session", autouse=True)
def _static_files_once() -> Iterator[None]:
    """A client has a handler of its own, which would look at every file of the apps and of plotly."""
    look, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def remember(self: WhiteNoiseMiddleware) -> None:
        key = (self.static_prefix, self.max_age)
        if key not in found:
            look(self)
            found[key] = dict(self.files)
        self.files |= found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", remember)
        yield
