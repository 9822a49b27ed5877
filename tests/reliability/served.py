"""`esign serve` with its workers, killed as one: the server has a folder, a mail server and a webhook receiver."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import SMTP as POLICY
from pathlib import Path
from typing import cast

import aiohttp

from esign.store.engine.connections import FILE
from tests.journeys.api import Api, until
from tests.journeys.letters import link_in
from tests.journeys.program import COMMAND, configuration, environment, meanwhile
from tests.journeys.receiver import Receiver, receiving

SETTINGS = """
[mail]
host = "127.0.0.1"
port = {port}
security = "none"
from = "sign@example.test"

[limits]
requests_per_minute = 100000
emails_per_day = 1000000

[signing]
reads_per_minute = 0
writes_per_minute = 0
"""


class PostOffice:
    """A mail server: the newest link of each address, and in which life of the sender each mail came."""

    def __init__(self) -> None:
        self.port = 0
        self.life = 1
        self.links: dict[str, str] = {}
        self.lives: dict[str, list[int]] = {}

    def take(self, octets: bytes, to: str) -> None:
        """Keep what is read of one mail."""
        message = message_from_bytes(octets, policy=POLICY)
        self.lives.setdefault(str(message["Message-ID"]), []).append(self.life)
        if link := link_in(message):
            self.links.setdefault(to, link)

    def count_repeats(self) -> Counter[int]:
        """Return how many mails came again, by the life after which they did."""
        return Counter(life for lives in self.lives.values() for life in sorted(lives)[:-1])

    async def wait_for_link(self, address: str) -> str:
        """Return the link in the first mail for this address, once it came."""

        async def find() -> str | None:
            return self.links.get(address)

        return await until(find, f"invitation for {address}", 120)


class MailConnection(asyncio.Protocol):
    """SMTP without extensions, one command after the other."""

    def __init__(self, office: PostOffice) -> None:
        self.office = office
        self.buffer = b""
        self.in_data = False
        self.to = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.say("220 post office")

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            line, found, rest = self.buffer.partition(b"\r\n.\r\n" if self.in_data else b"\r\n")
            if not found:
                return
            self.buffer = rest
            self.answer(line)

    def answer(self, line: bytes) -> None:
        verb = line[:4].upper()
        if self.in_data:
            self.in_data = False
            self.office.take(line.replace(b"\r\n..", b"\r\n."), self.to)
            self.say("250 taken")
        elif verb == b"RCPT":
            self.to = line.partition(b"<")[2].partition(b">")[0].decode()
            self.say("250 OK")
        elif verb == b"DATA":
            self.in_data = True
            self.say("354 go on")
        else:
            self.say("221 bye" if verb == b"QUIT" else "250 OK")

    def say(self, answer: str) -> None:
        self.transport.write(answer.encode() + b"\r\n")


@dataclass
class Served:
    """An installation in a folder of its own, whose server can be started, killed and started again."""

    config: Path
    key: str
    office: PostOffice
    receiver: Receiver
    prefix: Sequence[str] = ()
    command: Sequence[str] = COMMAND
    starts: list[float] = field(default_factory=list)
    process: asyncio.subprocess.Process | None = None
    alive: asyncio.Event = field(default_factory=asyncio.Event)
    _up: float = 0.0
    _since: float | None = None

    @property
    def folder(self) -> Path:
        return self.config.parent

    @property
    def database(self) -> Path:
        return self.folder / "data" / FILE

    @property
    def base(self) -> str:
        port = self.config.read_text("utf-8").partition("port = ")[2].partition("\n")[0]
        return f"http://127.0.0.1:{port}"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", errors="replace")

    @property
    def uptime(self) -> float:
        """The seconds that the server has been up, over all its lives."""
        return self._up + (time.perf_counter() - self._since if self._since is not None else 0.0)

    async def start(self, seconds: float = 60.0) -> None:
        """Start the server and return when /readyz answers 200; its seconds are added to `starts`."""
        began = time.perf_counter()
        with (self.folder / "server.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.prefix,
                *self.command,
                "serve",
                "--config",
                str(self.config),
                env=environment({"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}),
                stderr=log,
                start_new_session=True,
            )
        process = self.process
        async with aiohttp.ClientSession() as session:

            async def answers() -> bool | None:
                assert process.returncode is None, self.log[-3000:]
                try:
                    async with session.get(f"{self.base}/readyz") as answer:
                        return answer.status == 200 or None
                except aiohttp.ClientError:
                    return None

            await until(answers, "ready server", seconds)
        self.starts.append(time.perf_counter() - began)
        self._since = time.perf_counter()
        self.alive.set()

    def mark_down(self) -> None:
        """From now on nobody expects an answer."""
        self.alive.clear()
        if self._since is not None:
            self._up += time.perf_counter() - self._since
            self._since = None

    async def kill(self) -> None:
        """End the server and everything that it started by SIGKILL, and return when all of it is gone."""
        assert self.process is not None
        self.mark_down()
        family = find_family(self.process.pid)
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await self.process.wait()

        async def are_gone() -> bool | None:
            return not any(is_working(pid) for pid in family) or None

        await until(are_gone, "end of the killed processes")

    async def stop(self, seconds: float = 30.0) -> int:
        """Ask the server to stop with SIGTERM; return its exit code."""
        assert self.process is not None
        self.mark_down()
        self.process.terminate()
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    async def run_command(self, *arguments: str) -> None:
        """Run one command of the program; raise unless it ends with 0."""
        ran = await meanwhile(*arguments, "--config", self.config, seconds=600)
        assert ran.code == 0, (arguments, ran.out[-2000:], ran.err[-2000:])


def find_family(pid: int) -> list[int]:
    """Return the process and all that descend from it."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def is_working(pid: int) -> bool:
    """Return whether a process lives and does not only wait to be buried."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


@asynccontextmanager
async def install(
    folder: Path, more: str = "", connect: Callable[[PostOffice], asyncio.Protocol] = MailConnection
) -> AsyncIterator[Served]:
    """An installation that does not run yet, with a key, a mail server and a webhook for every event.

    `more` are tables of its configuration, `connect` makes the mail server's side of a connection.
    """
    office = PostOffice()
    listener = await asyncio.get_running_loop().create_server(lambda: connect(office), "127.0.0.1", 0)
    office.port = listener.sockets[0].getsockname()[1]
    try:
        async with receiving() as receiver:
            config = configuration(folder, SETTINGS.format(port=office.port) + more)
            made = await meanwhile("keys", "create", "--name", "harness", "--config", config, seconds=600)
            served = Served(config, made.out.strip(), office, receiver)
            try:
                yield served
            finally:
                if served.process is not None and served.process.returncode is None:
                    await served.kill()
    finally:
        listener.close()


async def add_webhook(served: Served) -> None:
    """Let the receiver of the installation hear of every event."""
    async with aiohttp.ClientSession() as session:
        await Api(session, served.base, served.key).webhook(served.receiver.url)
