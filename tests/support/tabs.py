"""Tabs of one browser for pages of a static site."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

OF_A_TAB = {"viewport", "color_scheme", "reduced_motion"}  # what a tab can change of itself; the rest belongs to a profile
SIZE = {"width": 1280, "height": 720}


class Tabs:
    """A tab is opened by one that stays, in its profile and its process, which take more of the processor to begin than a page to
    load; it leaves nothing behind. What asks for more than a tab can change has a profile of its own, as the second of a test has."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._keeper: Page | None = None
        self._lent: Page | None = None
        self._own: list[BrowserContext] = []

    def open(self, url: str, by: Browser | None = None, **options: Any) -> Page:
        """An empty tab for pages of the site at that address, with these options of a context; `by` another browser."""
        if by is not None or self._lent is not None or options.keys() - OF_A_TAB:
            self._own.append((by or self._browser).new_context(**options))
            return self._own[-1].new_page()
        if self._keeper is None:
            self._keeper = self._browser.new_context().new_page()
            self._keeper.goto(f"{url}/static/plumbline.css")
        with self._keeper.context.expect_page() as opened:
            self._keeper.evaluate("void window.open('about:blank')")
        self._lent = opened.value
        self._lent.set_viewport_size(options.get("viewport", SIZE))
        looks = (options.get("color_scheme", "light"), options.get("reduced_motion", "no-preference"))
        self._lent.emulate_media(color_scheme=looks[0], reduced_motion=looks[1])
        return self._lent

    def clear(self) -> None:
        """Close what was opened, and have the profile that stays forget it."""
        for context in self._own:
            context.close()
        self._own.clear()
        if self._lent is None or self._keeper is None:
            return
        context, self._lent = self._keeper.context, None
        session = context.new_cdp_session(self._keeper)
        for tab in context.pages:
            if tab is not self._keeper:
                origin = "/".join(tab.url.split("/")[:3])
                tab.close()
                session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()
        context.clear_cookies()
        context.clear_permissions()
