"""What docs/api.md promises to those who build against the API: a whole document with a test key and nothing else."""

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from esign.core.actor import Mode
from tests.journeys.api import Api, a_request, until
from tests.journeys.receiver import Receiver
from tests.journeys.site import a_site


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    """All that a developer has: the address of a server that works by itself, and a test key."""
    async with a_site(tmp_path / "data", working=True) as site:
        yield await site.key(mode=Mode.TEST)


async def mails(api: Api, document: str) -> list[Any]:
    """Asked once: what was caused by an earlier call is there."""
    return list((await api.ok("GET", f"/test/messages?documentId={document}"))["data"])


async def test_a_whole_document_with_a_test_key_alone(api: Api) -> None:
    fields = [
        {"type": "signature", "page": 1, "x": 10, "y": 70},
        {"type": "text", "page": 1, "x": 10, "y": 50, "key": "iban"},
    ]
    people = [
        {"name": "Ada Example", "email": "ada@example.com", "fields": fields, "order": 1},
        {"name": "Bob Example", "email": "bob@example.com", "order": 2},
    ]
    made = await api.ok("POST", "/documents", a_request(send=True, recipients=people))
    assert made["status"] == "sent"
    document = made["id"]

    [invitation] = await mails(api, document)
    assert (invitation["to"], invitation["subject"][:6]) == ("ada@example.com", "[TEST]")
    assert invitation["links"]

    simulate = f"/test/documents/{document}/simulate"
    await api.ok("POST", simulate, {"action": "view"})
    after = await api.ok("POST", simulate, {"action": "complete", "values": {"iban": "DE89 3704"}})
    assert [recipient["status"] for recipient in after["recipients"]] == ["completed", "sent"]
    assert [mail["to"] for mail in await mails(api, document)] == ["bob@example.com", "ada@example.com"]
    await api.ok("POST", simulate, {"action": "complete"})

    async def is_completed() -> bool | None:
        return await api.status(document) == "completed" or None

    await until(is_completed, "seal")
    with pikepdf.open(io.BytesIO(await api.file(document))) as sealed:
        assert len(sealed.pages) == (await api.get(document))["seal"]["pageCount"] > 1
    sent = await mails(api, document)
    assert sorted(mail["to"] for mail in sent) == ["ada@example.com"] * 2 + ["bob@example.com"] * 2


async def test_a_receiver_on_this_machine_hears_of_it_over_plain_http(api: Api, receiver: Receiver) -> None:
    url = receiver.url.replace("127.0.0.1", "localhost")
    webhook = await api.webhook(url, "document.completed")
    tried = await api.ok("POST", f"/webhooks/{webhook['id']}/test")

    async def came() -> Any:
        return next((came.event for came in receiver.came if came.id == tried["eventId"]), None)

    assert (await until(came, "test event"))["type"] == "webhook.test"
    document = (await api.ok("POST", "/documents", a_request(send=True)))["id"]
    await api.ok("POST", f"/test/documents/{document}/simulate", {"action": "complete"})

    async def find_event() -> Any:
        return next((came.event for came in receiver.came if came.id != tried["eventId"]), None)

    event = await until(find_event, "webhook")
    assert (event["type"], event["mode"]) == ("document.completed", "test")
    assert event["data"]["document"]["id"] == document
