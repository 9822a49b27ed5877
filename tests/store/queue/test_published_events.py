import json
import sqlite3
from typing import Any

import pytest

from esign.core.document.state.outcome import Event
from esign.core.people.account import Organisation
from esign.store.document import outcomes
from esign.store.engine.database import Database
from esign.store.queue import audit_entries, published_events
from esign.system.vault import Vault
from tests.factories import NOW, ORGANISATION, ORIGIN, SENDER, is_intact
from tests.store.plans import walks


async def publish(
    db: Database, event_id: str, document_id: str, sequence: int = 1, at: int = NOW, **more: Any
) -> dict[str, Any]:
    event = {"id": event_id, "type": "document.sent", "mode": "live", "sequence": sequence, **more}
    await db.write(lambda tx: published_events.publish(tx, event, ORGANISATION, document_id, at))
    return event


async def test_an_event_is_kept_byte_for_byte_as_minified_utf_8(
    db: Database, organisation: Organisation
) -> None:
    event = await publish(db, "evt_1", "doc_1", data={"title": "Ünïcode 😀", "n": 1})
    body = await published_events.get_body(db, "evt_1")
    assert body == json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    assert await published_events.get_body(db, "evt_2") is None


async def test_no_number_of_a_document_is_given_twice(db: Database, organisation: Organisation) -> None:
    await publish(db, "evt_1", "doc_1")
    event = {"id": "evt_2", "type": "document.sent", "mode": "live", "sequence": 1}
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        await db.write(lambda tx: published_events.publish(tx, event, ORGANISATION, "doc_1", NOW))


async def test_old_events_are_forgotten_a_few_at_a_time_and_the_trail_stays(
    db: Database, organisation: Organisation
) -> None:
    created = Event("document.created", NOW, SENDER, None, ORIGIN)
    await db.write(lambda tx: outcomes.record(tx, "doc_1", (created,), Vault(bytes(range(32)))))
    for n in range(5):
        await publish(db, f"evt_{n}", "doc_1", n + 1, NOW + n)
    assert await db.write(lambda tx: published_events.prune(tx, NOW + 3, 2)) == 2
    assert await db.write(lambda tx: published_events.prune(tx, NOW + 3, 2)) == 1
    assert await db.write(lambda tx: published_events.prune(tx, NOW + 3, 2)) == 0
    assert await published_events.get_body(db, "evt_2") is None
    assert await published_events.get_body(db, "evt_3") is not None
    (entry,) = await audit_entries.find_entries(db, "doc_1")
    assert is_intact([entry])


async def test_events_are_read_along_an_index(db: Database) -> None:
    assert await walks(db, lambda tx: published_events.get_body(tx, "evt_1")) == []
    assert await walks(db, lambda tx: published_events.prune(tx, NOW, 9)) == []
