import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
import uvloop

from esign.system.process_pipe import write_to_process

Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_what_is_written_to_a_process_that_has_ended_is_refused_as_a_broken_pipe(run: Run) -> None:
    async def write() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "", stdin=asyncio.subprocess.PIPE
        )
        assert process.stdin
        await process.wait()
        async with asyncio.timeout(10):
            with pytest.raises(BrokenPipeError):
                while True:  # the end of the pipe is noticed with what is written
                    write_to_process(process.stdin, b"x" * 100_000)
                    with suppress(ConnectionError):
                        await process.stdin.drain()
                    await asyncio.sleep(0)

    run(write())
