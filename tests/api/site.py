"""A running installation as programs and people see it, on a free port, with a clock that moves when told."""

import asyncio
import base64
import io
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pikepdf
from pydantic_core import to_json

from esign.actions.mail import embedded_outbox
from esign.actions.people import accounts
from esign.actions.people.accounts import KeyWish
from esign.app import run_program
from esign.config import (
    Config,
    LimitSettings,
    OrganisationSettings,
    ServerSettings,
    SigningSettings,
    StorageSettings,
)
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people.api_key import Scope
from esign.runtime import Runtime
from esign.store.document import documents
from esign.store.engine.connections import FILE
from esign.store.engine.database import Transaction
from esign.web.api import document_replies
from tests.api import described
from tests.fakes import FakeClock
from tests.journeys.api import Person, a_pdf, until
from tests.journeys.letters import link_in
from tests.ports import reserve_port
from tests.pristine import SPARE, lay_database

V1 = "/api/v1"
PLENTY = 100_000
DOCUMENT_PATH = re.compile(r"/documents/(doc_\w+)")


class SiteAnswer:
    """What came back, whole; header names in small letters."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.content = content

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def code(self) -> str:
        """The code of an error, or the status of a success, so that a comparison says what it was."""
        return str(self.body["error"]["code"]) if self.status >= 400 else str(self.status)

    @property
    def places(self) -> set[tuple[str, str]]:
        """Path and rule of each detail."""
        return {(detail["path"], detail["rule"]) for detail in self.body["error"].get("details", [])}

    def __repr__(self) -> str:
        return f"<{self.status} {self.content[:1000]!r}>"


class Site:
    """The installation, its database, its mails, and one key for everything."""

    def __init__(self, runtime: Runtime, clock: FakeClock, session: aiohttp.ClientSession) -> None:
        self.runtime = runtime
        self.clock = clock
        self.session = session
        self.port = runtime.config.server.port
        self.base = f"http://127.0.0.1:{self.port}"
        self.key = ""
        self._numbers = count(1)

    # ---------- as a program ----------

    async def new_key(
        self,
        *scopes: Scope,
        mode: Mode = Mode.LIVE,
        days: int | None = None,
        organisation: str | None = None,
    ) -> str:
        """A key, as the command line makes it; of another organisation where one is named."""
        expires_at = None if days is None else self.clock.now() + days * DAY
        wish = KeyWish("ci", mode, frozenset(scopes or (Scope.ALL,)), expires_at)
        key, text = await accounts.create_key(self.runtime.installation, wish)
        if organisation is not None:

            async def move(tx: Transaction) -> None:
                await tx.run(
                    "UPDATE api_key SET organisation_id = :to WHERE id = :id", to=organisation, id=key.id
                )

            await self.runtime.db.write(move)
        return text

    async def await_jobs(self) -> None:
        """Wait until no mail or seal is under way, so that nothing changes but by requests."""

        async def find_end() -> bool | None:
            waiting = await self.runtime.db.one(
                "SELECT 1 AS one FROM outbox WHERE finished_at IS NULL LIMIT 1"
            )
            return True if waiting is None else None

        await until(find_end, "end of the jobs")

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = "",
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> SiteAnswer:
        """One request below /api/v1, its answer held against the description of the API.

        `key` None sends none; `data` is a body as it is, with whatever Content-Type `headers` name.
        """
        sent = dict(headers or {})
        if key is not None:
            sent.setdefault("Authorization", f"Bearer {key or self.key}")
        if body is not None:
            sent["Content-Type"], data = "application/json", json.dumps(body).encode()
        url = f"{self.base}{V1}{path}"
        stream = None if data is None else io.BytesIO(data)
        async with self.session.request(method, url, data=stream, headers=sent) as found:
            answer = SiteAnswer(found.status, found.headers, await found.read())
        if method == "GET" and answer.status == 200:
            await compare_with_stored(self.runtime, path, answer)
        is_json = answer.headers.get("content-type") == "application/json" and method != "HEAD"
        described.check(
            method, f"{V1}{path}", answer.status, answer.headers, answer.body if is_json else None
        )
        return answer

    async def ok(self, method: str, path: str, body: Any = None, **given: Any) -> Any:
        """The body of a request that must succeed."""
        answer = await self.ask(method, path, body, **given)
        assert answer.status in (200, 201), answer
        return answer.body

    async def create(self, **changes: Any) -> str:
        """The id of a new draft of one page for one signer, unless told otherwise."""
        return str((await self.ok("POST", "/documents", a_request(**changes)))["id"])

    async def send_document(self, **changes: Any) -> Any:
        """A new document that was sent, as the answer shows it."""
        return await self.ok("POST", f"/documents/{await self.create(**changes)}/send")

    async def get(self, document_id: str) -> Any:
        return await self.ok("GET", f"/documents/{document_id}")

    async def create_draft(self, **changes: Any) -> Any:
        """A new draft as GET shows it."""
        return await self.get(await self.create(**changes))

    async def trail(self, document_id: str) -> list[Any]:
        return list((await self.ok("GET", f"/documents/{document_id}/audit?limit=100"))["data"])

    async def list_events(self, document_id: str) -> list[str]:
        """The types in the audit trail, oldest first."""
        return [entry["type"] for entry in await self.trail(document_id)]

    async def bytes_of(self, document_id: str, variant: str) -> bytes:
        path = f"/documents/{document_id}/files/{variant}"
        answer = await self.ask("GET", path, headers={"Accept": "application/pdf"})
        assert answer.status == 200, answer
        return answer.content

    # ---------- as people ----------

    def signer(self, **members: Any) -> dict[str, Any]:
        """A recipient with an address of their own."""
        number = next(self._numbers)
        return {"name": f"Signer {number}", "email": f"signer{number}@example.test", **members}

    async def person(self, address: str) -> Person:
        """Whoever opens the newest link that was mailed to this address."""

        async def link() -> str | None:
            for mail in reversed(await embedded_outbox.list_mails(self.runtime.db, 1000)):
                if address in mail.recipient:
                    message = await embedded_outbox.read_mail(self.runtime.db, self.runtime.vault, mail.id)
                    if message is not None and (found := link_in(message)):
                        return found
            return None

        return Person(self.session, await until(link, f"mail to {address}"))

    async def complete_document(self, **changes: Any) -> Any:
        """A document that its one signer has signed and that is sealed."""
        signer = self.signer()
        document = await self.send_document(recipients=[signer], **changes)
        await (await self.person(signer["email"])).sign()
        return await self.wait_until_sealed(document["id"])

    async def wait_until_sealed(self, document_id: str, seconds: float = 20) -> Any:
        """The document once it is completed."""

        async def find_completed() -> Any:
            document = await self.get(document_id)
            assert document["sealError"] is None, document["sealError"]
            return document if document["status"] == "completed" else None

        return await until(find_completed, "seal", seconds)


async def compare_with_stored(runtime: Runtime, path: str, answer: SiteAnswer) -> None:
    """Fails if a document was shown otherwise than its stored rows, at the same revision, say.

    Answers are kept by revision: nothing that they show may change without it.
    """
    if (found := DOCUMENT_PATH.fullmatch(path)) is None:
        return
    with suppress(Problem):  # it was deleted meanwhile
        stored = await documents.get(runtime.db, found[1])
        if stored.revision == answer.body["revision"]:
            assert answer.content == to_json(document_replies.present(stored), by_alias=True)


def a_request(**changes: Any) -> dict[str, Any]:
    """The body that creates a document of one page for one signer without fields; None leaves a member out."""
    body = {
        "fileName": "agreement.pdf",
        "file": ONE_PAGE,
        "recipients": [{"name": "Ada Lovelace", "email": "ada@example.test"}],
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def encode_file(pdf: pikepdf.Pdf, **how: Any) -> str:
    """A PDF as a request carries it."""
    target = io.BytesIO()
    pdf.save(target, **how)
    return b64(target.getvalue())


ONE_PAGE = b64(a_pdf())


def a_config(folder: Path, **limits: int) -> Config:
    """As little in the way as possible; `limits` overrides."""
    generous = {
        "requests_per_minute": PLENTY,
        "auth_failures_per_minute": PLENTY,
        "webhooks": 100,
        "api_keys": 500,
    }
    return Config(
        server=ServerSettings(port=reserve_port()),
        storage=StorageSettings(data_dir=folder, spare_mib=SPARE),
        organisation=OrganisationSettings(name="Northlight", reply_to="office@northlight.example"),
        limits=LimitSettings(**{**generous, **limits}),
        signing=SigningSettings(reads_per_minute=0, writes_per_minute=0, wrong_links_per_minute=0),
    )


@asynccontextmanager
async def running(config: Config, clock: FakeClock | None = None) -> AsyncIterator[Site]:
    """The whole program with this configuration, and a client."""
    clock = clock or FakeClock()
    lay_database(config.storage.data_dir / FILE)
    connector = aiohttp.TCPConnector(limit=40)
    async with (
        run_program(config, clock) as (runtime, _),
        aiohttp.ClientSession(connector=connector, skip_auto_headers=["User-Agent"]) as session,
    ):
        site = Site(runtime, clock, session)
        if config.server.environment == "test":
            site.key = await site.new_key(mode=Mode.TEST)
        else:
            site.key = await site.new_key()
        yield site


async def gather(*work: Any) -> list[Any]:
    """All at once."""
    return list(await asyncio.gather(*work))
