"""What waited for a mail server that was away: how fast it leaves once the server is back, and what fresh mail waits.

10,000 invitations are queued while the server refuses every mail; then it takes all of them, each command after a delay
as on a way of so many milliseconds. Meanwhile a document is sent each second: how long its invitation takes.
"""

import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

from tests.bench.installation import BenchInstallation, document, install_program, padded_pdf

DOCUMENTS, RECIPIENTS = 200, 50
DELAYS_MS = (0, 20)
PATIENCE = 1_800.0
SETTINGS = """
[mail]
host = "127.0.0.1"
port = {port}
security = "none"
from = "Bench <bench@example.com>"
"""


@dataclass
class Relay:
    """A mail server that costs little; while `away` it puts off every mail."""

    away: bool = True
    delay: float = 0.0
    port: int = 0
    connections: int = 0
    arrived: dict[str, float] = field(default_factory=dict)


class Session(asyncio.Protocol):
    """One command after the other; of a mail only the recipient is kept."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self.buffer = b""
        self.in_data = False
        self.to = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.relay.connections += 1
        self.say(b"220 bench")

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            end = b"\r\n.\r\n" if self.in_data else b"\r\n"
            line, found, rest = self.buffer.partition(end)
            if not found:
                return
            self.buffer = rest
            self.take(line)

    def take(self, line: bytes) -> None:
        verb = line[:4].upper()
        if self.in_data:
            self.in_data = False
            self.relay.arrived[self.to] = time.perf_counter()
            self.say(b"250 taken")
        elif verb == b"MAIL" and self.relay.away:
            self.say(b"451 come back later")
        elif verb == b"RCPT":
            self.to = line.partition(b"<")[2].partition(b">")[0].decode()
            self.say(b"250 OK")
        elif verb == b"DATA":
            self.in_data = True
            self.say(b"354 go on")
        else:
            self.say(b"221 bye" if verb == b"QUIT" else b"250 OK")

    def say(self, answer: bytes) -> None:
        asyncio.get_running_loop().call_later(self.relay.delay, self.transport.write, answer + b"\r\n")


@asynccontextmanager
async def relaying() -> AsyncIterator[Relay]:
    relay = Relay()
    server = await asyncio.get_running_loop().create_server(lambda: Session(relay), "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()


async def run() -> None:
    for delay in DELAYS_MS:
        async with relaying() as relay, install_program(SETTINGS.format(port=relay.port)) as at:
            await measure(at, relay, delay)


async def measure(at: BenchInstallation, relay: Relay, delay: int) -> None:
    pdf, total = padded_pdf(60_000), DOCUMENTS * RECIPIENTS
    began = time.perf_counter()
    for number in range(DOCUMENTS):
        await send(at, pdf, [f"waiting-{number}-{n}@example.com" for n in range(RECIPIENTS)])
    away = (time.perf_counter() - began) / 60
    asked, relay.away, relay.delay = relay.connections, False, delay / 1_000
    fresh = asyncio.create_task(send_fresh(at, relay, pdf))
    async with asyncio.timeout(PATIENCE):
        while (count := sum(to.startswith("waiting") for to in relay.arrived)) < total:  # noqa: ASYNC110  (polling costs the relay nothing)
            await asyncio.sleep(0.2)
    fresh.cancel()
    waits = await fresh
    times = sorted(moment for to, moment in relay.arrived.items() if to.startswith("waiting"))
    print(f"each answer after {delay} ms")
    print(f"connections while it was away  {asked:8.0f}         ({away:.1f} minutes)")
    print(f"waiting mails that left        {count / (times[-1] - times[0]):8.0f} /s")
    print(f"all {count} in               {times[-1] - times[0]:8.1f} s")
    print(f"connections for them           {relay.connections - asked:8.0f}")
    if waits:
        print(f"fresh mail meanwhile, median   {statistics.median(waits):8.2f} s")
        print(f"fresh mail meanwhile, slowest  {max(waits):8.2f} s")


async def send(at: BenchInstallation, pdf: bytes, addresses: list[str]) -> None:
    body = document(pdf, recipients=len(addresses))
    for recipient, email in zip(body["recipients"], addresses, strict=True):
        recipient |= {"email": email, "order": 1, "fields": []}
    await at.call("POST", "/api/v1/documents", body | {"send": True})


async def send_fresh(at: BenchInstallation, relay: Relay, pdf: bytes) -> list[float]:
    """Send a document each second once mails leave, until cancelled; the seconds that each invitation took."""
    sent: dict[str, float] = {}
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(1)
            if relay.arrived:
                email = f"fresh-{len(sent)}@example.com"
                sent[email] = time.perf_counter()
                await send(at, pdf, [email])
    return [relay.arrived[email] - at_ for email, at_ in sent.items() if email in relay.arrived]
