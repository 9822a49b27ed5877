"""The first start in a terminal: two lines and, last, the link; requests are printed only where that is asked for."""

import asyncio
import os
import pty
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.journeys.program import COMMAND, configuration, environment


class Terminal:
    """A program in a terminal, and what it has printed there."""

    def __init__(self, side: int) -> None:
        self._side = side
        self.said = ""

    async def read_until(self, pattern: str) -> str:
        """Return what was printed up to the end of what matches."""
        async with asyncio.timeout(60):
            while not re.search(pattern, self.said):
                self.said += (
                    (await asyncio.to_thread(os.read, self._side, 4096)).decode().replace("\r\n", "\n")
                )
        return self.said


@asynccontextmanager
async def serve_in_terminal(config: Path, *more: str) -> AsyncIterator[Terminal]:
    ours, theirs = pty.openpty()
    program = await asyncio.create_subprocess_exec(
        *COMMAND,
        "serve",
        *more,
        "--config",
        config,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(),
    )
    os.close(theirs)
    try:
        yield Terminal(ours)
    finally:
        program.terminate()
        await program.wait()
        os.close(ours)


async def ask(link: str) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(link.rpartition("/set-up/")[0] + "/healthz") as answer,
    ):
        assert answer.status == 200


@pytest.mark.slow
async def test_the_first_start_prints_two_lines_and_the_link_last(tmp_path: Path) -> None:
    async with serve_in_terminal(configuration(tmp_path)) as terminal:
        said = await terminal.read_until(r"/set-up/\S+\n")
        lines = said.splitlines()
        assert re.fullmatch(r"esign \S+ is running at http://127\.0\.0\.1:\d+, with its data in .+", lines[0])
        assert lines[1:3] == [
            "no mail server is set, so emails stay here; read them with: esign outbox",
            "To set up esign, open this link within 30 minutes:",
        ]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/set-up/\S+", lines[3]) and len(lines) == 4
        await ask(lines[3])
    assert terminal.said == said


@pytest.mark.slow
async def test_requests_are_printed_in_a_terminal_that_asks_for_them(tmp_path: Path) -> None:
    async with serve_in_terminal(configuration(tmp_path), "--log-requests") as terminal:
        link = re.search(r"http\S+/set-up/\S+", await terminal.read_until(r"/set-up/\S+\n"))
        assert link is not None
        await ask(link[0])
        assert "\nGET /healthz 200 " in await terminal.read_until(r" ms req_\w{26} .*\n")
