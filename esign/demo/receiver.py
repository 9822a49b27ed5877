"""A webhook receiver as a customer would write one: it checks each signature (Standard Webhooks) and keeps the
event.
"""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from esign.core.instant import SECOND
from esign.system.clock import SystemClock

TOLERANCE = 300


class WebhookReceiver:
    """Receives events; `events` holds those with a good signature, `forged` counts the others."""

    def __init__(self) -> None:
        self.secret = ""
        self.url = ""
        self.events: dict[str, dict[str, Any]] = {}
        self.forged = 0
        self.arrived = asyncio.Event()

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if not self.is_genuine(request.headers, body):
            self.forged += 1
            return web.Response(status=400)
        self.events[request.headers["webhook-id"]] = json.loads(body)
        self.arrived.set()
        return web.Response(status=204)

    def is_genuine(self, headers: Any, body: bytes) -> bool:
        """Return whether one of the signatures is HMAC-SHA256 over id, time and body, and the time is recent."""
        message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "0")
        if abs(SystemClock().now() // SECOND - int(timestamp)) > TOLERANCE:
            return False
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        content = f"{message_id}.{timestamp}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        signatures = headers.get("webhook-signature", "").split()
        return any(hmac.compare_digest(expected, signature) for signature in signatures)

    def list_types(self) -> list[str]:
        """Return the types of the events, in the order in which they happened."""
        return [event["type"] for event in sorted(self.events.values(), key=lambda event: event["sequence"])]

    async def until(self, event_type: str, seconds: float) -> None:
        """Return when an event of that type has arrived. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while event_type not in self.list_types():
                self.arrived.clear()
                await self.arrived.wait()


@asynccontextmanager
async def run_receiver() -> AsyncIterator[WebhookReceiver]:
    """Run a receiver on a free loopback port while the context is open."""
    receiver = WebhookReceiver()
    app = web.Application()
    app.router.add_post("/events", receiver.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/events"
        yield receiver
    finally:
        await runner.cleanup()
