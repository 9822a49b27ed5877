"""Posting to an address of the settings: what the second try after a lost connection may cost."""

import asyncio

import pytest

from esign.net import DirectClient, RequestFailed
from esign.net.time_limits import TimeLimits


async def test_both_tries_together_take_no_longer_than_was_given() -> None:
    connections, over = 0, asyncio.Event()

    async def lost_and_then_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        if connections == 1:
            await asyncio.sleep(2.4)
        else:
            await over.wait()
        writer.close()

    server = await asyncio.start_server(lost_and_then_silent, "127.0.0.1", 0)
    direct = DirectClient()
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    with pytest.raises(RequestFailed, match="timeout"):
        async with asyncio.timeout(5.1):  # with its whole time the second try would take longer
            await direct.post(address, b"asked", {}, TimeLimits(3.0, 3.0), most=10)
    assert connections == 2
    over.set()
    await direct.close()
    server.close()
    await server.wait_closed()
