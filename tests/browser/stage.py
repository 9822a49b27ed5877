"""The whole program in a thread of its own, for tests whose browser takes the event loop of this one."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from esign.actions.mail import embedded_outbox
from tests.journeys.letters import part
from tests.journeys.site import JourneySite, a_site

T = TypeVar("T")
PATIENCE = 30.0  # seconds for one thing asked of the program


@dataclass(frozen=True)
class BrowserStage:
    """Jobs run when a test says so; `folder` holds the program's data."""

    site: JourneySite
    folder: Path
    loop: asyncio.AbstractEventLoop

    def do(self, what: Coroutine[Any, Any, T]) -> T:
        """What comes of it, done where the program runs."""
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(PATIENCE)

    def work(self, kind: str) -> None:
        """Work off every due job of this kind."""
        assert self.do(self.site.work(kind)), f"there was no {kind} to work off"

    def letter(self, email: str) -> str:
        """The text of the newest mail there."""
        runtime = self.site.runtime
        kept = self.do(embedded_outbox.list_mails(runtime.db, 1000))
        newest = [mail.id for mail in kept if email in mail.recipient][-1]
        message = self.do(embedded_outbox.read_mail(runtime.db, runtime.vault, newest))
        assert message is not None
        return part(message, "plain")

    def link(self, email: str) -> str:
        """The newest link that was mailed there."""
        return self.do(self.site.person(email)).link


@contextmanager
def a_stage(folder: Path, organisation: dict[str, Any]) -> Iterator[BrowserStage]:
    """`organisation` is that table of the configuration."""
    ready: Future[tuple[JourneySite, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def play() -> None:
        async with a_site(folder, organisation=organisation) as site:
            over = asyncio.Event()
            ready.set_result((site, asyncio.get_running_loop(), over))
            await over.wait()

    def run() -> None:
        try:
            asyncio.run(play())
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=run)
    thread.start()
    site, loop, over = ready.result(PATIENCE)
    try:
        yield BrowserStage(site, folder, loop)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
