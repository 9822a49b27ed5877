"""The list of documents as a signed-in person's browser asks for it: the whole program, all but the socket."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from esign.actions.people import one_time_links, sessions
from esign.actions.people.sessions import SignInRequest
from esign.app import App, open_runtime
from esign.config import Config, ServerSettings, StorageSettings
from esign.core.actor import Origin
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.user import Stage
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import members, users
from esign.system.entropy import make_id
from tests.factories import ORGANISATION
from tests.fakes import FakeClock

Ask = Callable[[str], Awaitable[bytes]]

# each has as many rows on its page at every size
PAGES = {
    "all, newest first": "",
    "drafts": "view=draft",
    "completed, last change first": "view=completed&sort=-updatedAt",
    "what needs attention": "view=attention",
    "a word of every document": "q=customer",
    "one recipient": "recipientEmail=staff7@northlight.example",
}


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Ask]:
    """Asks for the list with this query; the answer is the page."""
    config = Config(
        server=ServerSettings(base_url="http://localhost"), storage=StorageSettings(data_dir=folder)
    )
    async with open_runtime(config, FakeClock()) as runtime:
        app, token = App(runtime), await signed_in(runtime)

        async def ask(query: str) -> bytes:
            status, body = await get(app, query, token)
            if status != 200:
                raise RuntimeError(f"/documents?{query} answered {status}")
            return body

        yield ask
        await app.settle()


async def signed_in(runtime: Runtime) -> str:
    """The cookie of somebody new who looks after everything."""
    now = runtime.clock.now()
    email = f"{make_id('usr', now)}@northlight.example"
    user = one_time_links.make_user(email, "Ada", now, "")
    member = Member(
        make_id("mem", now), ORGANISATION, email, "Ada", MemberRole.OWNER, MemberStatus.ACTIVE, now, user.id
    )

    async def write(tx: Transaction) -> None:
        await users.add(tx, user)
        await members.add(tx, member)

    await runtime.db.write(write)
    token, _ = await sessions.begin_session(runtime, user, ORGANISATION, Stage.WHOLE, SignInRequest(Origin()))
    return token


async def get(app: App, query: str, token: str) -> tuple[int, bytes]:
    headers = [(b"host", b"localhost"), (b"cookie", f"esign={token}".encode()), (b"accept", b"text/html")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/documents",
        "raw_path": b"/documents",
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])
