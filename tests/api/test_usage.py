import base64
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.instant import DAY, rfc3339
from esign.core.people.api_key import Scope
from esign.jobs import flush_usage
from tests.api.site import ONE_PAGE, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTHING = {
    "documentsCreated": 0,
    "documentsSent": 0,
    "documentsCompleted": 0,
    "emails": 0,
    "apiRequests": 0,
    "storageBytes": 0,
}


def day(site: Site) -> str:
    return rfc3339(site.clock.now())[:10]


async def read_usage(site: Site, key: str = "") -> dict[str, Any]:
    """Today's counters."""
    today = day(site)
    [entry] = (await site.ok("GET", f"/account/usage?from={today}&to={today}", key=key))["data"]
    assert entry.pop("day") == today
    return dict(entry)


async def test_a_document_is_counted_where_it_is_created_sent_and_completed(site: Site) -> None:
    site.clock.advance(days=1)
    document = await site.complete_document()
    found = await read_usage(site)
    assert (found["documentsCreated"], found["documentsSent"], found["documentsCompleted"]) == (1, 1, 1)
    assert found["emails"] == 3  # the invitation, and the sealed file to the signer and the sender
    stored = await site.runtime.db.all(
        "SELECT sum(size) AS size FROM document_blob d JOIN blob b USING (sha256) WHERE document_id = :id",
        id=document["id"],
    )
    assert found["storageBytes"] == stored[0]["size"]
    assert found["apiRequests"] >= 4


async def test_the_bytes_of_every_upload_are_counted(site: Site) -> None:
    site.clock.advance(days=1)
    await site.create()
    one = (await read_usage(site))["storageBytes"]
    assert one > len(base64.b64decode(ONE_PAGE))
    document_id = await site.create()
    await site.ok("PATCH", f"/documents/{document_id}", {"fileName": "a.pdf", "file": ONE_PAGE})
    await site.ok("POST", "/templates", {"fileName": "a.pdf", "file": ONE_PAGE})
    assert (await read_usage(site))["storageBytes"] == 4 * one


async def test_requests_are_counted_before_and_after_they_are_written(site: Site) -> None:
    site.clock.advance(days=1)
    assert [(await read_usage(site))["apiRequests"] for _ in range(3)] == [1, 2, 3]
    await flush_usage.tick(site.runtime)  # the program does so, too, each minute
    day = site.clock.now() // DAY
    row = await site.runtime.db.one(
        "SELECT sum(api_requests) AS written FROM usage WHERE day = :day", day=day
    )
    assert row is not None and row["written"] == 3
    assert (await read_usage(site))["apiRequests"] == 4
    assert (await site.ask("GET", "/account", key="esk_live_x")).status == 401
    assert (await read_usage(site))["apiRequests"] == 5


async def test_the_other_mode_counts_by_itself(site: Site) -> None:
    site.clock.advance(days=1)
    await site.create()
    key = await site.new_key(mode=Mode.TEST)
    assert await read_usage(site, key) == {**NOTHING, "apiRequests": 1}


async def test_every_day_is_listed_and_thirty_unless_asked_for(site: Site) -> None:
    found = (await site.ok("GET", "/account/usage"))["data"]
    days = [entry["day"] for entry in found]
    assert len(days) == 30 and days == sorted(days) and days[-1] == day(site)
    year = (await site.ok("GET", "/account/usage?from=2024-01-01&to=2024-12-31"))["data"]
    assert len(year) == 366 and all({**entry, **NOTHING} == entry for entry in year)
    first = (await site.ok("GET", "/account/usage?to=0001-01-05"))["data"]
    assert [entry["day"] for entry in first] == [f"0001-01-0{n}" for n in range(1, 6)]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("from=2024-01-01&to=2025-01-01", ("?from", "range")),
        ("from=2026-01-02&to=2026-01-01", ("?from", "range")),
        ("from=2026-02-30", ("?from", "format")),
        ("to=20260101", ("?to", "format")),
        ("to=", ("?to", "length")),
        ("until=2026-01-01", ("?until", "unknown_member")),
    ],
)
async def test_days_that_do_not_fit_are_refused(site: Site, query: str, place: tuple[str, str]) -> None:
    assert (await site.ask("GET", f"/account/usage?{query}")).places == {place}


async def test_usage_needs_its_scope(site: Site) -> None:
    key = await site.new_key(Scope.DOCUMENTS_READ)
    assert (await site.ask("GET", "/account/usage", key=key)).code == "insufficient_scope"
