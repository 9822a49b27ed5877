"""Documents that go by themselves: by the settings of their organisation, or as documents of test mode."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from esign.config import EffectiveSettings
from esign.core.actor import Mode
from esign.core.instant import DAY
from esign.jobs import prune, purge
from tests.fakes import FakeClock
from tests.journeys.api import Api
from tests.journeys.site import JourneySite


async def cancel_document(api: Api) -> str:
    document = await api.send_document()
    await api.ok("POST", f"/documents/{document}/cancel")
    return document


async def exists(api: Api, document: str) -> bool:
    answer = await api.call("GET", f"/documents/{document}")
    assert answer.status in (200, 404)
    return answer.status == 200


async def rows(site: JourneySite, document: str) -> dict[str, Any]:
    """How many rows speak of it in each table."""
    tables = ("document", "recipient", "document_blob", "link", "audit", "event")
    return {
        table: len(
            await site.runtime.db.all(
                f"SELECT 1 FROM {table} WHERE {'id' if table == 'document' else 'document_id'} = :id",
                id=document,
            )
        )
        for table in tables
    }


async def test_what_ended_goes_on_its_day_and_leaves_its_tombstone(
    site: JourneySite, clock: FakeClock
) -> None:
    ended, declined, draft = (
        await site.complete_document(),
        await cancel_document(site.api),
        await site.api.create(),
    )
    await site.api.ok("PATCH", "/settings", {"deleteClosedAfterDays": 30})
    clock.advance(days=30, milliseconds=-1)
    assert await purge.tick(site.runtime) == 0
    clock.advance(milliseconds=1)
    assert await purge.tick(site.runtime) == 2
    assert await purge.tick(site.runtime) == 0
    for document in (ended, declined):
        assert not await exists(site.api, document)
        left = await rows(site, document)
        assert left.pop("audit") > 3
        assert left == {"document": 0, "recipient": 0, "document_blob": 0, "link": 0, "event": 1}
        trail = await site.runtime.db.all(
            "SELECT type, actor_kind, personal, salt FROM audit WHERE document_id = :id ORDER BY seq",
            id=document,
        )
        assert (trail[-1]["type"], trail[-1]["actor_kind"]) == ("document.deleted", "system")
        assert not any(line["personal"] or line["salt"] for line in trail)
        [event] = await site.runtime.db.all("SELECT body FROM event WHERE document_id = :id", id=document)
        told = json.loads(event["body"])
        assert told["type"] == "document.deleted"
        assert told["data"] == {"document": {"id": document, "externalId": None}}
    assert await exists(site.api, draft)
    clock.advance(days=2)
    await prune.tick(site.runtime)
    kept = await site.runtime.db.all("SELECT DISTINCT document_id FROM document_blob")
    assert [row["document_id"] for row in kept] == [draft]


async def test_nothing_goes_before_its_retention_ends(site: JourneySite, clock: FakeClock) -> None:
    completed, closed = await site.complete_document(), await cancel_document(site.api)
    await site.api.ok("PATCH", "/settings", {"deleteClosedAfterDays": 10, "retainCompletedDays": 20})
    clock.advance(days=20, milliseconds=-1)
    assert await purge.tick(site.runtime) == 1
    assert (await exists(site.api, completed), await exists(site.api, closed)) == (True, False)
    clock.advance(milliseconds=1)
    assert await purge.tick(site.runtime) == 1
    assert not await exists(site.api, completed)


async def test_without_the_setting_live_documents_stay_for_ever(site: JourneySite, clock: FakeClock) -> None:
    document = await site.complete_document()
    clock.advance(days=5000)
    assert await purge.tick(site.runtime) == 0
    assert await exists(site.api, document)


async def test_the_setting_counts_at_the_moment_of_the_tick(site: JourneySite, clock: FakeClock) -> None:
    document = await cancel_document(site.api)
    await site.api.ok("PATCH", "/settings", {"deleteClosedAfterDays": 1})
    clock.advance(days=3)
    await site.api.ok("PATCH", "/settings", {"deleteClosedAfterDays": None})
    assert await purge.tick(site.runtime) == 0
    await site.api.ok("PATCH", "/settings", {"deleteClosedAfterDays": 3})
    assert await purge.tick(site.runtime) == 1
    assert not await exists(site.api, document)


async def test_documents_of_test_mode_go_ninety_days_after_their_end(
    site: JourneySite, clock: FakeClock
) -> None:
    testing, live = await site.key(mode=Mode.TEST), await cancel_document(site.api)
    tested, draft, sent = (
        await cancel_document(testing),
        await testing.create(),
        await testing.send_document(),
    )
    clock.advance(milliseconds=90 * DAY - 1)
    assert await purge.tick(site.runtime) == 0
    clock.advance(milliseconds=1)
    assert await purge.tick(site.runtime) == 1
    assert not await exists(testing, tested)
    for api, document in ((site.api, live), (testing, draft), (testing, sent)):
        assert await exists(api, document)


async def test_ticks_at_once_and_a_deletion_by_hand_delete_once(site: JourneySite, clock: FakeClock) -> None:
    document = await cancel_document(site.api)
    await site.api.ok("PATCH", "/settings", {"deleteClosedAfterDays": 1})
    clock.advance(days=2)
    by_hand, counts = await asyncio.gather(
        site.api.call("DELETE", f"/documents/{document}"),
        asyncio.gather(*(purge.tick(site.runtime) for _ in range(4))),
    )
    assert sum(counts) + (by_hand.status == 200) == 1 and by_hand.status in (200, 404)
    assert (await rows(site, document))["event"] == 1


@pytest.mark.parametrize("days", [1, 400])
async def test_the_life_of_test_documents_is_a_setting(
    days: int, site: JourneySite, clock: FakeClock
) -> None:
    test = site.runtime.config.test.model_copy(update={"purge_after_days": days})
    config = site.runtime.config.model_copy(update={"test": test})
    runtime = replace(site.runtime, settings=EffectiveSettings(config))
    document = await cancel_document(testing := await site.key(mode=Mode.TEST))
    clock.advance(milliseconds=days * DAY - 1)
    assert (await purge.tick(runtime), await exists(testing, document)) == (0, True)
    clock.advance(milliseconds=1)
    assert (await purge.tick(runtime), await exists(testing, document)) == (1, False)
