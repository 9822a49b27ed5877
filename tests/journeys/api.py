"""The doors of a running server as programs and people use them: the API with a key, a link without one."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeVar

import aiohttp
import pikepdf

T = TypeVar("T")

V1 = "/api/v1"
PATIENCE = 20.0  # seconds until what must happen soon counts as not happening


@dataclass(frozen=True)
class Answer:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def code(self) -> str:
        """The error's code."""
        return str(self.body["error"]["code"])


class Api:
    """One key at one server; `session` may be shared."""

    def __init__(self, session: aiohttp.ClientSession, base: str, key: str) -> None:
        self.base = base
        self.session = session
        self._key = key

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """`headers` in snake case: `idempotency_key="k"`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"Authorization": f"Bearer {self._key}"}
        sent = None
        if body is not None:
            named["Content-Type"] = "application/json"
            sent = BytesIO(json.dumps(body).encode())
        url = f"{self.base}{V1}{path}"
        async with self.session.request(method, url, data=sent, headers=named) as answer:
            return Answer(answer.status, answer.headers, await answer.read())

    async def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The body of a call that must succeed."""
        answer = await self.call(method, path, body, **headers)
        assert answer.status in (200, 201), (answer.status, answer.content[:2000])
        return answer.body

    async def create(self, **changes: Any) -> str:
        """The id of a new draft for Ada, unless told otherwise."""
        return str((await self.ok("POST", "/documents", a_request(**changes)))["id"])

    async def send(self, document: str) -> Any:
        return await self.ok("POST", f"/documents/{document}/send")

    async def send_document(self, **changes: Any) -> str:
        """The id of a new document, already sent."""
        document = await self.create(**changes)
        await self.send(document)
        return document

    async def get(self, document: str) -> Any:
        return await self.ok("GET", f"/documents/{document}")

    async def status(self, document: str) -> str:
        return str((await self.get(document))["status"])

    async def file(self, document: str, variant: str = "sealed") -> bytes:
        path = f"/documents/{document}/files/{variant}"
        answer = await self.call("GET", path, accept="application/pdf")
        assert answer.status == 200, answer.content
        return answer.content

    async def trail(self, document: str) -> list[Any]:
        """The types of the audit trail, oldest first."""
        page = await self.ok("GET", f"/documents/{document}/audit?limit=100")
        return [entry["type"] for entry in page["data"]]

    async def webhook(self, url: str, *events: str) -> Any:
        return await self.ok("POST", "/webhooks", {"url": url, "events": list(events or ("*",))})


class Person:
    """Whoever holds a link; does what the page's script does, in a browser of their own."""

    def __init__(self, session: aiohttp.ClientSession, link: str) -> None:
        self.link = link
        self.cookies: dict[str, str] = {}
        self._session = session

    async def open(self) -> Answer:
        return await self.get("")

    async def get(self, path: str) -> Answer:
        """What lies below the link; `path` begins with a slash, or is empty."""
        async with self._session.get(self.link + path, cookies=self.cookies) as answer:
            return Answer(answer.status, answer.headers, await answer.read())

    async def state(self) -> str:
        """As the page says it on its body."""
        found = re.search(r'data-state="([\w-]+)"', (await self.open()).content.decode())
        assert found
        return found[1]

    async def post(self, act: str, body: Any) -> Answer:
        async with self._session.post(f"{self.link}/{act}", json=body, cookies=self.cookies) as answer:
            self.cookies |= {name: cookie.value for name, cookie in answer.cookies.items()}
            return Answer(answer.status, answer.headers, await answer.read())

    async def view(self) -> Answer:
        return await self.post("view", {})

    async def complete(self, answers: Mapping[str, Any] | None = None) -> Answer:
        """Agree and finish; without `answers` with a typed signature alone."""
        found = re.search(r'data-consent="([0-9a-f]{64})"', (await self.open()).content.decode())
        given = {"signature": a_signature()} if answers is None else answers
        return await self.post("complete", {"answers": given, "consent": found[1] if found else "none"})

    async def sign(self, answers: Mapping[str, Any] | None = None) -> None:
        """Look and finish; both must succeed."""
        for answer in (await self.view(), await self.complete(answers)):
            assert answer.status == 200, answer.content

    async def send_code(self) -> Answer:
        return await self.post("code", {})

    async def enter(self, code: str) -> Answer:
        """Enter a code; a right one is kept as a browser keeps it."""
        return await self.post("authenticate", {"code": code})

    async def decline(self, reason: str | None = None) -> Answer:
        return await self.post("decline", {"reason": reason})


@asynccontextmanager
async def a_session() -> AsyncIterator[aiohttp.ClientSession]:
    """Connections of its own for every request, so that a killed server leaves none that is half dead."""
    connector = aiohttp.TCPConnector(force_close=True, limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session


def a_pdf(pages: int = 1) -> bytes:
    """Blank pages of A4."""
    with pikepdf.new() as pdf:
        for _ in range(pages):
            pdf.add_blank_page(page_size=(595, 842))
        target = BytesIO()
        pdf.save(target, deterministic_id=True)
        return target.getvalue()


def a_request(**changes: Any) -> dict[str, Any]:
    """The body that creates a document of one page for one signer without fields."""
    return {
        "fileName": "agreement.pdf",
        "file": base64.b64encode(a_pdf()).decode(),
        "recipients": [{"name": "Ada Lovelace", "email": "ada@example.test"}],
        **changes,
    }


def a_signature(text: str = "Ada Lovelace") -> dict[str, str]:
    return {"kind": "typed", "text": text, "hand": "a"}


async def until(found: Callable[[], Awaitable[T | None]], what: str, seconds: float = PATIENCE) -> T:
    """What `found` finds at last; a failure that says what was awaited when it does not."""
    try:
        async with asyncio.timeout(seconds):
            while (value := await found()) is None:  # noqa: ASYNC110  what is awaited lies in another process
                await asyncio.sleep(0.02)
            return value
    except TimeoutError:
        raise AssertionError(f"after {seconds:g} s there was no {what}") from None
