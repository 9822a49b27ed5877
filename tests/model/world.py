"""The installation that the model is held against: every attempt goes through a door of the running program."""

import asyncio
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
from starlette.types import Receive, Send
from starlette.types import Scope as Asked

from esign.actions.mail import embedded_outbox
from esign.app import App, open_runtime
from esign.config import Config, LimitSettings, ServerSettings, SigningSettings, StorageSettings
from esign.core.actor import Mode
from esign.core.instant import rfc3339
from esign.core.people.api_key import Scope
from esign.core.seal_credential import Credential
from esign.jobs import expire, remind, worker
from esign.pdf.seal_order import SealedFiles, SealOrder
from esign.pdf.worker.queue_turn import QueueTurn
from esign.pdf.worker.workers import WorkerFailed, Workers
from esign.runtime import Runtime
from esign.store.document import signing_links
from esign.store.engine.connections import FILE
from esign.store.queue import audit_entries
from esign.web.http.server import run_server
from tests.api import described
from tests.api.site import PLENTY, SiteAnswer, a_request, compare_with_stored
from tests.factories import is_intact
from tests.fakes import FakeClock
from tests.journeys.api import V1, a_session, a_signature
from tests.journeys.letters import link_in
from tests.journeys.site import new_key
from tests.model.rules import Attempt, ModelPerson, Paper
from tests.ports import reserve_port
from tests.pristine import SPARE

T = TypeVar("T")


class Press(Workers):
    """The real workers; while `broken` they refuse to seal, as they do without the key's token."""

    broken = False

    async def seal(
        self, order: SealOrder, credential: Credential, turn: QueueTurn | None = None
    ) -> SealedFiles:
        if self.broken:
            raise WorkerFailed("the token with the seal key does not answer")
        return await super().seal(order, credential, turn)


@dataclass(frozen=True)
class Call:
    """One request of a program to the API."""

    method: str
    path: str
    body: Any = None


def call_of(paper: Paper, act: Attempt) -> Call:
    """What a program asks for an attempt."""
    at, one = f"/documents/{paper.id}", f"/documents/{paper.id}/recipients/{act.who}"
    address = {"email": f"person{act.value}@example.test"}
    return {
        "edit content": Call("PATCH", at, {"title": f"title {act.value}"}),
        "add a recipient": Call(
            "POST", f"{at}/recipients", {"name": "Somebody", "order": 1 + act.value % 3, **address}
        ),
        "reorder a recipient": Call("PATCH", one, {"order": 1 + act.value % 3}),
        "remove a recipient": Call("DELETE", one),
        "correct a recipient": Call("PATCH", one, address),
        "edit expiry": Call("PATCH", at, {"expiresAt": rfc3339(act.value)}),
        "edit reminders": Call("PATCH", at, {"reminders": {"enabled": bool(act.value % 2)}}),
        "edit externalId": Call("PATCH", at, {"externalId": f"order {act.value}"}),
        "edit metadata": Call("PATCH", at, {"metadata": {"case": str(act.value)}}),
        "send": Call("POST", f"{at}/send"),
        "remind": Call("POST", f"{at}/remind"),
        "link": Call("POST", f"{one}/link"),
        "cancel": Call("POST", f"{at}/cancel"),
        "delete": Call("DELETE", at),
        "download original": Call("GET", f"{at}/files/original"),
        "download sealed": Call("GET", f"{at}/files/sealed"),
        "download certificate": Call("GET", f"{at}/files/certificate"),
        "retry-seal": Call("POST", f"{at}/retry-seal"),
        "duplicate": Call("POST", f"{at}/duplicate"),
        "audit": Call("GET", f"{at}/audit"),
        "fetch": Call("GET", at),
    }[act.kind]


class ModelStage:
    """What all installations of a run share, because it takes long to start: workers, a listening port, a client."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.press = folder, Press()
        self.config = Config(
            server=ServerSettings(port=reserve_port()),
            storage=StorageSettings(data_dir=folder / "new", spare_mib=SPARE),
            limits=LimitSettings(requests_per_minute=PLENTY),
            signing=SigningSettings(reads_per_minute=0, writes_per_minute=0, wrong_links_per_minute=0),
        )
        self.app: App

    async def open(self) -> None:
        """An installation without any document lies in `new`, with a key for everything."""
        self._stack = AsyncExitStack()
        async with open_runtime(self.config, FakeClock()) as runtime:
            self.key = await new_key(runtime, frozenset({Scope.ALL}), Mode.LIVE)
            front = App(runtime).front
        server = self.config.server
        await self._stack.enter_async_context(run_server(self._serve, server.host, server.port, front))
        self.session: aiohttp.ClientSession = await self._stack.enter_async_context(a_session())

    async def _serve(self, scope: Asked, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    async def close(self) -> None:
        await self._stack.aclose()
        await self.press.close()

    def new_folder(self, found: Path | None = None) -> Path:
        """A copy of what lies in a data folder at this moment, as a killed process leaves it."""
        folder = Path(tempfile.mkdtemp(dir=self.folder)) / "data"
        shutil.copytree(
            found or self.folder / "new", folder, ignore=shutil.ignore_patterns("lock", "*.lock", "*-shm")
        )
        return folder


class ModelWorld:
    """One installation at a time; `crash` goes on with what a killed one leaves on the disk."""

    def __init__(self, stage: ModelStage) -> None:
        self.stage, self.clock = stage, FakeClock()
        self.press, self.session, self.key = stage.press, stage.session, stage.key
        self.base = stage.config.server.base_url
        self.press.broken = False
        self.data = stage.new_folder()
        self._read: set[str] = set()
        self._consents: dict[str, str] = {}

    async def open(self) -> None:
        """The program on its data; jobs and ticks run only when told."""
        self._stack = AsyncExitStack()
        config = self.stage.config.model_copy(
            update={"storage": StorageSettings(data_dir=self.data, spare_mib=SPARE)}
        )
        opened = await self._stack.enter_async_context(open_runtime(config, self.clock))
        self.press.signer.find_key = opened.pdf.signer.find_key  # the keys are those of this installation
        self.runtime: Runtime = replace(opened, pdf=self.press)
        await worker.recover_jobs(self.runtime)
        self.stage.app = App(self.runtime)
        self._stack.push_async_callback(self.stage.app.settle)

    async def close(self) -> None:
        await self._stack.aclose()

    async def crash_during(self, work: Coroutine[Any, Any, T], seconds: float) -> T | None:
        """As after kill -9: the files as they are after `seconds`, opened anew; the result if it had come by then."""
        task = asyncio.create_task(work)
        await asyncio.sleep(seconds)
        answer = task.result() if task.done() else None
        self.data = self.stage.new_folder(self.data)
        await task  # what is not killed really ends in peace: on files that nobody looks at any more
        await self.close()
        await self.open()
        return answer

    # ---------- attempts ----------

    async def ask(self, call: Call, **headers: str) -> SiteAnswer:
        """One request of the program."""
        sent = {"Authorization": f"Bearer {self.key}", **headers}
        url = f"{self.base}{V1}{call.path}"
        async with self.session.request(call.method, url, json=call.body, headers=sent) as found:
            answer = SiteAnswer(found.status, found.headers, await found.read())
        if call.method == "GET" and answer.status == 200:
            await compare_with_stored(self.runtime, call.path, answer)
        return answer

    async def attempt(self, paper: Paper, act: Attempt) -> SiteAnswer:
        """By a program with its key, or by whoever holds a link."""
        if act.kind in ("view", "complete", "decline"):
            return await self._by_link(act)
        call, accept = call_of(paper, act), {"Accept": "application/pdf"}
        answer = await self.ask(call, **(accept if act.kind.startswith("download") else {}))
        body = answer.body if answer.headers["content-type"] == "application/json" else None
        described.check(call.method, f"{V1}{call.path}", answer.status, answer.headers, body)
        return answer

    async def _by_link(self, act: Attempt) -> SiteAnswer:
        body: dict[str, Any] = {"reason": "not like this"} if act.kind == "decline" else {}
        if act.kind == "complete":
            assert act.token is not None
            body = {"answers": {"signature": a_signature()}, "consent": await self.consent(act.token)}
        async with self.session.post(f"{self.base}/s/{act.token}/{act.kind}", json=body) as found:
            return SiteAnswer(found.status, found.headers, await found.read())

    async def consent(self, token: str) -> str:
        """The words that the page of this link asks to agree to, by their hash; looked up once."""
        if token not in self._consents:
            async with self.session.get(f"{self.base}/s/{token}") as page:
                found = re.search(r'data-consent="([0-9a-f]{64})"', await page.text())
            if found is None:
                return "none"
            self._consents[token] = found[1]
        return self._consents[token]

    async def create(self, people: Sequence[ModelPerson]) -> tuple[str, list[str]]:
        """The ids of a new draft and of its recipients."""
        recipients = [
            {"name": f"Person {n}", "email": p.email, "order": p.order, "role": p.role}
            for n, p in enumerate(people)
        ]
        made = await self.ask(Call("POST", "/documents", a_request(recipients=recipients)))
        assert made.status == 201, made
        return made.body["id"], await self.people_of(made.body["id"])

    async def people_of(self, document_id: str) -> list[str]:
        """The ids of the recipients, in their order."""
        found = await self.ask(Call("GET", f"/documents/{document_id}"))
        return [recipient["id"] for recipient in found.body["recipients"]]

    async def retain(self, days: int | None) -> None:
        answer = await self.ask(Call("PATCH", "/settings", {"retainCompletedDays": days}))
        assert answer.status == 200, answer

    # ---------- the clock and the workers ----------

    async def tick(self) -> None:
        await expire.tick(self.runtime)
        await remind.tick(self.runtime)

    async def seal(self, broken: bool) -> None:
        self.press.broken = broken
        await worker.drain_jobs(self.runtime, "seal")

    async def read_mails(self) -> list[tuple[str, str, str]]:
        """Deliver what is due; recipient, address and token of each new mail that holds a link."""
        await worker.drain_jobs(self.runtime, "mail")
        found = []
        for mail in await embedded_outbox.list_mails(self.runtime.db, 1000):
            if mail.id not in self._read:
                self._read.add(mail.id)
                message = await embedded_outbox.read_mail(self.runtime.db, self.runtime.vault, mail.id)
                assert message is not None
                if link := link_in(message):
                    token = link.rpartition("/")[2]
                    owner = await signing_links.find(self.runtime.db, token, self.clock.now())
                    assert owner is not None, "a link that is dead already was mailed"
                    found.append((owner.recipient_id, message["To"].addresses[0].addr_spec, token))
        return found

    # ---------- what is there ----------

    async def events_of(self, paper: Paper) -> list[tuple[str, str | None]]:
        """What was published about it, in the order of its sequence, which has no gap (I-b)."""
        published = await self.read_events(paper)
        first = len(paper.events) if paper.deleted else 1
        assert list(published) == list(range(first, first + len(published)))
        return list(published.values())

    async def read_events(self, paper: Paper) -> dict[int, tuple[str, str | None]]:
        """What was published about it, by its sequence."""
        rows = await self.runtime.db.all(
            "SELECT id, sequence, body FROM event WHERE document_id = :id ORDER BY sequence", id=paper.id
        )
        bodies = {row["sequence"]: json.loads(row["body"]) for row in rows}
        assert len({body["id"] for body in bodies.values()}) == len(rows)
        return {
            sequence: (body["type"], body["data"].get("recipient", {}).get("id"))
            for sequence, body in bodies.items()
        }

    async def check_trail(self, paper: Paper) -> None:
        """The audit chain verifies, erased or not (I-f)."""
        assert is_intact(await audit_entries.find_entries(self.runtime.db, paper.id))

    def check_file(self) -> None:
        """The database is whole and nothing dangles (I-g, I-i)."""
        with sqlite3.connect(self.data / FILE) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()


async def both(first: Any, second: Any) -> tuple[SiteAnswer, SiteAnswer]:
    """Two at once."""
    one, other = await asyncio.gather(first, second)
    return one, other
