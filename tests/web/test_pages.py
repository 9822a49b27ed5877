"""Pages as they go out: packed, and nobody waits while a large one is."""

import asyncio
import gzip

from starlette.types import Message, Scope

from esign.web.pages import CompressedPage

SCOPE: Scope = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", b"gzip")]}


async def test_the_server_goes_on_while_a_large_page_is_packed() -> None:
    text = "".join(map(str, range(500_000)))
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("a page asks for nothing")

    async def send(message: Message) -> None:
        sent.append(message)

    packing = asyncio.create_task(CompressedPage(text)(SCOPE, receive, send))
    await asyncio.sleep(0)
    assert not packing.done()
    await packing
    assert gzip.decompress(sent[1]["body"]).decode() == text
