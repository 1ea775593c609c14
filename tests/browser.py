"""A headless Chromium for tests of the web page, where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser; CHROMIUM must not be None."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=_QUIET)
        try:
            yield running
        finally:
            running.close()


class Visit:
    """A page that was opened, with everything that it complained about or asked the network for."""

    def __init__(self, running: Browser, file: Path, fragment: str = "", width: int = 1440) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page: Page = running.new_page(viewport={"width": width, "height": 900})
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = file.as_uri()
        self.page.goto(self.address + fragment)

    def text(self, selector: str) -> str:
        """The text of the one visible element that matches."""
        return self.page.locator(f"{selector}:visible").inner_text()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
