"""A real server with the signing pages over a document in a database, and a real browser."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route, expect, sync_playwright

from tests.browser.layout import TextSize
from tests.browser.screens import SETTLED
from tests.browser.stage import PATIENCE
from tests.web.signing.client import LINK, application
from tests.web.signing.site import SigningSite

ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # letters stand where they would on a device with many dots
]
CHROMIUM = "/usr/bin/chromium-headless-shell"  # the engine without a window system: half the work
WHOLE_CHROMIUM = "/usr/bin/chromium"  # for what the shell leaves out
LEFT = "net::ERR_ABORTED"  # the page was left before it came
expect.set_options(timeout=PATIENCE * 1000)  # a machine may be busy with other work
PARTS = ("image", "script", "stylesheet", "font")  # of a page, and of no use without it
AT_LEISURE = (
    "/mark.svg",
    "/draft",
    "/view",
    "/palette",
    "/erasure",
)  # a page that no longer needs the answer gives it up


def is_part(request: Request) -> bool:
    """Whether a page asked for this to show it within itself, such as a picture or a letter in a frame."""
    framed = request.resource_type == "document" and request.frame.parent_frame is not None
    return framed or request.resource_type in PARTS


@contextmanager
def serving(site: SigningSite) -> Iterator[str]:
    """The address of the link while the server runs."""
    listener = socket.create_server(("127.0.0.1", 0))
    site.base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(application(site), log_level="error", lifespan="off"))

    async def serve() -> None:
        try:
            await server.serve([listener])
        finally:
            await site.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield f"{site.base}{LINK}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser per file: while it runs, its own event loop takes the place of that of asynchronous tests."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("TESTS_SHOTS") or tmp_path_factory.mktemp("shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def shot(shots: Path, request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Waits until everything that moves has come to rest; where pictures are wanted (TESTS_SHOTS), takes one."""
    screen = request.node.callspec.id if hasattr(request.node, "callspec") else "phone-light"

    def take(page: Page, name: str) -> None:
        page.evaluate(SETTLED)
        if not os.environ.get("TESTS_SHOTS"):
            return
        page.screenshot(path=shots / f"{name}-{screen}.png", animations="disabled")

    return take


@contextmanager
def late(page: Page, script: str) -> Iterator[None]:
    """The page again, as over a slow line: until the block ends its script is still on its way."""
    with page.expect_request(f"**/{script}*"):
        held: list[Route] = []
        page.route(f"**/{script}*", lambda route: held.append(route))  # a method of C cannot be marked by it
        page.reload(wait_until="commit")
    yield
    for route in held:
        route.continue_()


def alive(page: Page) -> None:
    """Until the script of a page to sign has begun, a press on a field or a button is lost."""
    page.locator("body[data-alive]").wait_for()


class Looks:
    """What a page tells of being looked at: it outlives a page that is left for another, but is not cut off by us."""

    def __init__(self, page: Page) -> None:
        self.page, self.under_way, self.cut = page, set[Request](), set[Request]()
        page.on("request", self.note_request)
        page.on("requestfinished", self.note_end)
        page.on("requestfailed", self.note_failure)

    def note_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self.under_way.clear()
            self.cut.clear()
        elif request.url.endswith("/view"):
            self.under_way.add(request)

    def note_end(self, request: Request) -> None:
        self.under_way.discard(request)

    def note_failure(self, request: Request) -> None:
        if request in self.under_way and request.failure == LEFT:
            self.cut.add(request)
        self.under_way.discard(request)

    def wait_for_answers(self) -> None:
        """Waits, five seconds at most, until the server has answered."""
        for _ in range(500):
            if not self.under_way or self.page.is_closed():
                break
            self.page.wait_for_timeout(10)
        assert not self.cut


class Visits:
    """Opens links; remembers errors of the pages and failed requests: there must be none but what was excused."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.open = ExitStack()
        self.said: list[str] = []

    def __call__(self, site: SigningSite, **how: Any) -> Page:
        """The link of a server of its own."""
        return self.at(self.open.enter_context(serving(site)), **how)

    def at(
        self,
        address: str,
        *,
        width: int = 360,
        height: int = 740,
        dark: bool = False,
        excused: str | None = None,
        clock: bool = False,
        locale: str = "en-GB",
        text: float = 1,
        **more: Any,
    ) -> Page:
        """The page at the address; `text` is the size of letters that its reader has set in the browser."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            **{
                "device_scale_factor": 2 if width < 600 else 1,
                "has_touch": width < 600,
                "locale": locale,
                **more,
            },
        )
        self.open.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        if text != 1:
            TextSize(page).set(text)
        looks = Looks(page)

        def say(text: str) -> None:
            if not (excused and excused in text):
                self.said.append(text)

        def note_message(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                say(message.text)

        def note_failure(request: Request) -> None:
            unawaited = is_part(request) or request.url.partition("?")[0].endswith(AT_LEISURE)
            answered = request.resource_type == "fetch" and request.existing_response is not None
            if request.failure != LEFT or not (unawaited or answered):
                say(f"Failed to load resource: {request.url}: {request.failure}")

        page.on("console", note_message)
        page.on("pageerror", lambda error: say(str(error)))
        page.on("requestfailed", note_failure)
        # What is under way when the test has ended is cut off by us, and not a failure of the page.
        self.open.callback(page.remove_listener, "requestfailed", note_failure)
        self.open.callback(looks.wait_for_answers)
        if clock:
            page.clock.install()
        page.goto(address)
        if more.get("java_script_enabled", True) and page.locator("script[src*='/signing.js']").count():
            alive(page)
        looks.wait_for_answers()
        return page


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visits]:
    if (
        "stage" in request.fixturenames
    ):  # begun before, it ends after: pages go on loading until they are closed
        request.getfixturevalue("stage")
    visits = Visits(browser)
    with visits.open:
        yield visits
    assert visits.said == []
