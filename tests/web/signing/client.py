"""Asks the signing pages without a network: one ASGI call per request, over a site of the test's own."""

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from esign.config import SigningSettings
from esign.system.clock import Clock
from esign.web import logos
from esign.web.error_pages import ErrorPages
from esign.web.http.errors import make_exception_handlers
from esign.web.pages import Pages
from esign.web.signing import make_routes
from esign.web.signing.throttle import LinkThrottle
from tests.web.signing.site import ORIGIN as ORIGIN
from tests.web.signing.site import TOKEN, SigningSite
from tests.web.wire import Seen

LINK = f"/s/{TOKEN}"


def application(site: SigningSite, clock: Clock | None = None) -> ASGIApp:
    """The pages as the program serves them, behind what stands for the guard; with a clock they have their limits."""
    pages = Pages.load()
    refuse = ErrorPages(pages, site.library)
    made = Starlette(
        routes=[*make_routes(pages, site.library), *logos.routes, pages.assets.route()],
        exception_handlers=make_exception_handlers(refuse),
    )
    made.router.redirect_slashes = False
    door: ASGIApp = LinkThrottle(made, clock, SigningSettings(), refuse) if clock else made

    async def guard_request(scope: Scope, receive: Receive, send: Send) -> None:
        made.state.runtime = await site.open()
        await site.draw(scope["path"], scope["query_string"].decode())
        raw, before = bytearray(), site.database.used

        async def listen() -> Message:
            message = await receive()
            raw.extend(message.get("body", b""))
            return message

        try:
            await door({**scope, "esign.origin": ORIGIN, "esign.request_id": "req_1"}, listen, send)
        finally:
            if scope["method"] == "POST" and site.database.used > before:
                await site.note(scope["path"].rpartition("/")[2], bytes(raw))

    return guard_request


class SigningClient:
    def __init__(self, site: SigningSite, clock: Clock | None = None) -> None:
        self.application = application(site, clock)

    async def ask(
        self,
        method: str = "GET",
        path: str = LINK,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Seen:
        sent: list[Message] = []
        coming = [
            {"type": "http.request", "body": body[at : at + 65_536], "more_body": at + 65_536 < len(body)}
            for at in range(0, max(1, len(body)), 65_536)
        ]

        async def receive() -> Message:
            if not coming:  # the client stays until it has its answer
                await asyncio.get_running_loop().create_future()
            return coming.pop(0)

        async def send(message: Message) -> None:
            sent.append(message)

        raw = {"host": "sign.example", **(headers or {})}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": path.partition("?")[0],
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": path.partition("?")[2].encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in raw.items()],
            "client": ("192.0.2.7", 0),
            "server": ("127.0.0.1", 80),
        }
        await self.application(scope, receive, send)
        named = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return Seen(sent[0]["status"], named, content)

    async def post(self, act: str, value: Any, **headers: str) -> Seen:
        """JSON, as the page's script sends it; `sec_fetch_site` stands for `Sec-Fetch-Site`."""
        given = {name.replace("_", "-"): text for name, text in headers.items()}
        content = value if isinstance(value, bytes) else orjson.dumps(value)
        return await self.ask("POST", f"{LINK}/{act}", content, {"content-type": "application/json", **given})
