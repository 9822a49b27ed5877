"""The lines about requests, which are written in batches: what remains of them when the program ends."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.journeys.program import Program, configuration


def read_requests(program: Program) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in program.said.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == "request"]


async def ask_until_closed(program: Program, answered: list[str]) -> None:
    """Ask as fast as it answers, until it does not; keep the id of each request that was answered."""
    async with aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(f"{program.base}/healthz") as answer:
                    await answer.read()
            except aiohttp.ClientError:
                return
            answered.append(answer.headers["x-request-id"])


@pytest.mark.slow
async def test_a_program_that_is_told_to_stop_under_load_has_written_each_line(tmp_path: Path) -> None:
    program = Program(configuration(tmp_path))
    await program.start()
    answered: list[str] = []
    asking = [asyncio.create_task(ask_until_closed(program, answered)) for _ in range(4)]
    while len(answered) < 500:  # noqa: ASYNC110  (the condition is in other tasks)
        await asyncio.sleep(0.01)
    await program.stop()
    await asyncio.gather(*asking)
    written = [line["requestId"] for line in read_requests(program)]
    assert set(answered) <= set(written) and len(set(written)) == len(written)


@pytest.mark.slow
async def test_a_program_that_is_killed_loses_the_last_moment_at_most(tmp_path: Path) -> None:
    program = Program(configuration(tmp_path))
    await program.start()
    answered: list[str] = []
    asking = [asyncio.create_task(ask_until_closed(program, answered)) for _ in range(4)]
    while len(answered) < 500:  # noqa: ASYNC110  (as above)
        await asyncio.sleep(0.01)
    early = set(answered)
    while not early <= {line["requestId"] for line in read_requests(program)}:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await program.kill()
    await asyncio.gather(*asking)
    written = [line["requestId"] for line in read_requests(program)]
    assert early <= set(written) and len(set(written)) == len(written)
