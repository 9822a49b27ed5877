"""Clients that create, send, sign, decline and cancel, and a ledger of all that the server acknowledged to them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import aiohttp

from tests.journeys.api import Answer, Api, Person, a_request, a_session, a_signature
from tests.reliability.served import Served

CLIENTS = 8
SEAL_SECONDS = 60.0  # of a server that is up
DONE_BEFORE = ("recipient_already_completed", "document_not_sent", "document_already_sent")


@dataclass(frozen=True)
class Acknowledgement:
    """One operation that was answered with 2xx: of a document, `detail` is a name, an address or a hash."""

    act: str
    document: str
    detail: str
    request_id: str


@dataclass
class Ledger:
    """What was acknowledged in its order, and what should not have been answered."""

    entries: list[Acknowledgement] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    refused: int = 0
    slowest_seal: float = 0.0

    def note(self, act: str, document: str, detail: str, answer: Answer) -> None:
        """Write down an answer of 2xx; one that says that it was done before is none, and is left out."""
        if answer.status < 300:
            entry = Acknowledgement(act, document, detail, answer.headers.get("X-Request-Id", ""))
            self.entries.append(entry)


class Crowd:
    """Flows of documents by several clients; each insists until the server answers."""

    def __init__(
        self,
        served: Served,
        seed: int,
        clients: int = CLIENTS,
        word: str = "flow",
        seal_seconds: float = SEAL_SECONDS,
    ) -> None:
        self.ledger = Ledger()
        self.ended = asyncio.Event()
        self._served = served
        self._random = random.Random(seed)
        self._clients = clients
        self._number = 0
        self._word = word
        self._seal_seconds = seal_seconds

    async def work(self) -> None:
        """Make one document after the other until `ended`; the documents that were begun are finished."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._clients):
                group.create_task(self._keep_coming())

    async def _keep_coming(self) -> None:
        async with a_session() as session:
            while not self.ended.is_set():
                self._number += 1
                await self._flow(session, f"{self._word}{self._number}")

    async def _flow(self, session: aiohttp.ClientSession, name: str) -> None:
        api = Api(session, self._served.base, self._served.key)
        end = self._random.choices(["sign", "decline", "cancel"], [8, 1, 1])[0]
        addresses = [f"{name}.{n}@example.test" for n in range(self._random.choice([1, 2]))]
        people = [{"name": f"Signer {n}", "email": address} for n, address in enumerate(addresses)]
        body = a_request(externalId=name, recipients=people)
        made = await self._insist(lambda: api.call("POST", "/documents", body, idempotency_key=f"new-{name}"))
        if "id" not in made.body:  # the ledger holds the answer as a strange one
            return
        document = str(made.body["id"])
        self.ledger.note("created", document, name, made)
        sent = await self._insist(
            lambda: api.call("POST", f"/documents/{document}/send", {}, idempotency_key=f"send-{name}")
        )
        self.ledger.note("sent", document, name, sent)
        if end == "cancel":
            gone = await self._insist(lambda: api.call("POST", f"/documents/{document}/cancel", {}))
            self.ledger.note("cancelled", document, name, gone)
            return
        for address in addresses:
            person = Person(session, await self._served.office.wait_for_link(address))
            self.ledger.note("viewed", document, address, await self._insist(person.view))
            if end == "decline":
                declined = await self._insist(lambda who=person: who.decline("no"))  # type: ignore[misc]
                self.ledger.note("declined", document, address, declined)
                return
            done = await self._insist(lambda who=person: who.complete({"signature": a_signature()}))  # type: ignore[misc]
            self.ledger.note("signed", document, address, done)
        await self._wait_for_seal(api, document)

    async def _wait_for_seal(self, api: Api, document: str) -> None:
        began = self._served.uptime
        while True:
            answer = await self._insist(lambda: api.call("GET", f"/documents/{document}"))
            waited = self._served.uptime - began
            if answer.body["status"] == "completed":
                self.ledger.slowest_seal = max(self.ledger.slowest_seal, waited)
                self.ledger.note("sealed", document, answer.body["seal"]["sha256"], answer)
                return
            if waited > self._seal_seconds:
                self.ledger.strange.append(
                    f"{document} is not sealed after {waited:.0f} s of a running server"
                )
                return
            await asyncio.sleep(0.05)

    async def _insist(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the first answer but 503; whoever gets none asks again once the server is up."""
        while True:
            await self._served.alive.wait()
            try:
                answer = await call()
            except (aiohttp.ClientError, ConnectionError):
                await asyncio.sleep(0.02)
                continue
            if answer.status == 503:
                self.ledger.refused += 1
                await asyncio.sleep(0.1)
                continue
            if answer.status >= 300 and answer.code not in DONE_BEFORE:
                self.ledger.strange.append(f"{answer.status} {answer.content[:300]!r}")
            return answer
