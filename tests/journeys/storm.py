"""A server that is killed again and again while people and programs use it, and a record of all that it promised."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
from aiohttp import web
from aiosmtpd.smtp import SMTP, Envelope, Session

from esign.demo import contract
from tests.certificates import HOST
from tests.journeys.api import PATIENCE, Answer, Api, Person, a_request, a_signature, until
from tests.journeys.letters import link_in
from tests.journeys.program import Program
from tests.journeys.receiver import Delivered, Receiver
from tests.mail.server import Server


class Killer:
    """Kills the server at each planned instant, `(moment, milliseconds after it)`, and starts it again."""

    def __init__(
        self, program: Program, plan: list[tuple[str, int]], recovered: Callable[[], Awaitable[None]]
    ) -> None:
        self.life = 1
        self.alive = asyncio.Event()
        self.alive.set()
        self.quiet: Callable[[], Awaitable[None]] = self._nothing_open
        self._program = program
        self._plan = list(reversed(plan))
        self._recovered = recovered
        self._strike: asyncio.Task[None] | None = None

    @property
    def done(self) -> bool:
        """Every planned kill has been survived."""
        return not self._plan and not self._busy

    @property
    def _busy(self) -> bool:
        return self._strike is not None and not self._strike.done()

    def at(self, moment: str) -> None:
        """Something happened that the next kill may wait for."""
        if self._plan and not self._busy and self._plan[-1][0] == moment:
            _, wait = self._plan.pop()
            self._strike = asyncio.create_task(self._kill(wait / 1000))

    async def up(self) -> None:
        """Return once the server lives; raises what went wrong when it came back."""
        await self.alive.wait()
        if self._strike is not None and self._strike.done():
            self._strike.result()

    async def _kill(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.alive.clear()
        try:
            children = self._program.children()
            await self._program.kill()
            await self.quiet()
            self.life += 1
            await self._program.start()
            await self._recovered()
        finally:
            self.alive.set()
        await until(lambda: self._are_gone(children), "end of the PDF workers of a killed server")

    async def _nothing_open(self) -> None: ...

    async def _are_gone(self, pids: list[int]) -> bool | None:
        return not any(is_working(pid) for pid in pids) or None


def is_working(pid: int) -> bool:
    """Whether a process lives; one that only waits to be buried does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


@dataclass
class MailOffice(Server):
    """A mail server that knows in which life of the sender each mail came, and from which one on it was `settled`."""

    killer: Killer | None = None
    links: dict[str, str] = field(default_factory=dict)
    settled: dict[str, int] = field(default_factory=dict)
    lives: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    open: int = 0

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        said = await super().handle_DATA(server, session, envelope)
        message = self.messages_of(envelope)
        assert self.killer is not None
        self.lives[str(message["Message-ID"])].append(self.killer.life)
        if link := link_in(message):
            self.links.setdefault(envelope.rcpt_tos[0] or "", link)
        self.killer.at("mail")
        return said

    @staticmethod
    def messages_of(envelope: Envelope) -> Any:
        return Server(envelopes=[envelope]).messages[0]

    def settle(self, message_ids: set[str]) -> None:
        """These are noted as taken by now and must not come again in a later life."""
        assert self.killer is not None
        for message_id in message_ids:
            self.settled.setdefault(message_id, self.killer.life)

    async def link_to(self, address: str) -> str:
        async def find_arrival() -> str | None:
            return self.links.get(address)

        return await until(find_arrival, f"invitation for {address}")

    async def drain_output(self) -> None:
        """What a dead sender had still written has been read."""

        async def nobody() -> bool | None:
            return self.open == 0 or None

        await until(nobody, "end of the mail connections")


@asynccontextmanager
async def an_office() -> AsyncIterator[MailOffice]:
    office = MailOffice()
    loop = asyncio.get_running_loop()

    class CountedLine(SMTP):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            office.open += 1
            super().connection_made(transport)

        def connection_lost(self, error: Exception | None) -> None:
            office.open -= 1
            super().connection_lost(error)

    listener = await loop.create_server(lambda: CountedLine(office, hostname=HOST, loop=loop), "127.0.0.1", 0)
    office.port = listener.sockets[0].getsockname()[1]
    try:
        yield office
    finally:
        listener.close()
        await listener.wait_closed()


@dataclass
class Promises:
    """What the server acknowledged with 2xx: by document, and by (document, address) for signers."""

    created: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    signed: set[tuple[str, str]] = field(default_factory=set)
    sealed: dict[str, str] = field(default_factory=dict)


class SignerCrowd:
    """Flows of documents from creation to seal, each of which insists until it is answered."""

    def __init__(self, base: str, key: str, killer: Killer, office: MailOffice) -> None:
        self.promises = Promises()
        self._killer = killer
        self._office = office
        self._key = key
        self._base = base
        self._number = 0

    async def keep_coming(self) -> None:
        """One document after the other until the last kill is survived."""
        async with watch_requests(self._killer) as session:
            while not self._killer.done:
                self._number += 1
                await self.flow(session, f"flow{self._number}")

    async def flow(self, session: aiohttp.ClientSession, name: str) -> None:
        api = Api(session, self._base, self._key)
        addresses = [f"{name}.{who}@example.test" for who in ("first", "second")]
        document = await self.create(api, name, addresses)
        await self.send(api, document)
        for address in addresses:
            person = Person(session, await self._office.link_to(address))
            await self.sign(api, person, document, address)
        self._killer.at("all signed")

        async def find_sealed() -> Any:
            told = (await self.insist(lambda: api.call("GET", f"/documents/{document}"))).body
            return told if told["status"] == "completed" else None

        told = await until(find_sealed, f"seal of {document}", 2 * PATIENCE)
        self.promises.sealed[document] = told["seal"]["sha256"]
        self._killer.at("sealed")

    async def create(self, api: Api, name: str, addresses: list[str]) -> str:
        fields = [
            {"type": "signature", "page": 1, "x": 10, "y": 80},
            {"type": "name", "page": 1, "x": 60, "y": 80},
        ]
        people = [
            {"name": f"Signer {n}", "email": address, "order": n, "fields": fields}
            for n, address in enumerate(addresses, 1)
        ]
        body = a_request(externalId=name, recipients=people)

        def call() -> Awaitable[Answer]:
            return api.call("POST", "/documents", body, idempotency_key=f"create-{name}")

        answer = await self.insist(call)
        assert answer.status == 201, answer.content
        document = str(answer.body["id"])
        self.promises.created[document] = name
        self._killer.at("created")
        again = await self.insist(call)
        assert (again.status, again.content) == (201, answer.content)
        assert again.headers["Idempotent-Replayed"] == "true"
        return document

    async def send(self, api: Api, document: str) -> None:
        answer = await self.insist(
            lambda: api.call("POST", f"/documents/{document}/send", {}, idempotency_key=f"send-{document}")
        )
        assert answer.status == 200, answer.content
        self.promises.sent.add(document)
        self._killer.at("sent")

    async def sign(self, api: Api, person: Person, document: str, address: str) -> None:
        assert (await self.insist(person.view)).status == 200
        told = (await self.insist(lambda: api.call("GET", f"/documents/{document}"))).body
        mine = next(r for r in told["recipients"] if r["email"] == address)
        field = next(f["id"] for f in mine["fields"] if f["type"] == "signature")
        ink = (
            contract.choose_answer(contract.CAFE, {"type": "signature"})
            if mine["order"] == 1
            else a_signature()
        )
        answer = await self.insist(lambda: person.complete({field: ink}))
        took_effect = ("recipient_already_completed", "document_not_sent")
        assert answer.status == 200 or answer.code in took_effect, answer.content
        self.promises.signed.add((document, address))
        self._killer.at("signed")

    async def insist(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """The first answer; whoever gets none asks again once the server is back."""
        while True:
            await self._killer.up()
            try:
                answer = await call()
            except (aiohttp.ClientError, ConnectionError):
                await asyncio.sleep(0.01)
                continue
            if answer.status != 503:
                return answer


MOMENTS = (("/send", "send"), ("/complete", "sign"), ("/documents", "create"))


@asynccontextmanager
async def watch_requests(killer: Killer) -> AsyncIterator[aiohttp.ClientSession]:
    """Connections that tell the killer when a request has just been written."""

    async def note_written(_: aiohttp.ClientSession, __: SimpleNamespace, sent: Any) -> None:
        for ending, moment in MOMENTS:
            if sent.url.path.endswith(ending):
                killer.at(moment)

    trace = aiohttp.TraceConfig()
    trace.on_request_chunk_sent.append(note_written)
    connector = aiohttp.TCPConnector(force_close=True, limit=0)
    async with aiohttp.ClientSession(connector=connector, trace_configs=[trace]) as session:
        yield session


def listen(receiver: Receiver, killer: Killer) -> None:
    """Let the killer know of every event that arrives, before it is answered."""

    def answer(_: Delivered) -> web.Response:
        killer.at("webhook")
        return web.Response(status=204)

    receiver.answer = answer
