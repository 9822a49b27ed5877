import pytest

from esign.core.actor import Mode
from esign.core.people.account import Organisation
from esign.core.people.usage import Meter, RequestTally, Usage
from esign.store.engine.database import Database
from esign.store.people import usage
from tests.factories import NOW, ORGANISATION, an_organisation, store_organisation
from tests.store.plans import steps


async def add(
    db: Database, used: Usage, day: int = 1, mode: Mode = Mode.LIVE, to: str = ORGANISATION
) -> None:
    await db.write(lambda tx: usage.add(tx, Meter(to, mode, day), used))


async def test_counters_add_up_by_organisation_mode_and_day(db: Database, organisation: Organisation) -> None:
    await store_organisation(db, an_organisation(id="org_other"))
    await add(db, Usage(documents_created=1, storage_bytes=10))
    await add(db, Usage(documents_created=1, emails=2))
    await add(db, Usage(emails=4), day=2)
    await add(db, Usage(emails=8), mode=Mode.TEST)
    await add(db, Usage(emails=16), to="org_other")
    assert await usage.find(db, organisation.id, Mode.LIVE, 1, 2) == {
        1: Usage(documents_created=2, storage_bytes=10, emails=2),
        2: Usage(emails=4),
    }
    assert await usage.find(db, organisation.id, Mode.LIVE, 2, 9) == {2: Usage(emails=4)}
    assert await usage.find(db, organisation.id, Mode.LIVE, 3, 9) == {}


@pytest.mark.parametrize(("day", "sent"), [(1, 10), (2, 4), (3, 0)])
async def test_mails_of_a_day_count_in_both_modes(
    db: Database, organisation: Organisation, day: int, sent: int
) -> None:
    await add(db, Usage(emails=2))
    await add(db, Usage(emails=8), mode=Mode.TEST)
    await add(db, Usage(emails=4), day=2)
    assert await usage.count_emails(db, organisation.id, day) == sent


async def test_live_documents_sent_since_a_day_are_summed(db: Database, organisation: Organisation) -> None:
    for day in (9, 10, 11):
        await add(db, Usage(documents_sent=day, documents_created=100), day=day)
    await add(db, Usage(documents_sent=1000), day=10, mode=Mode.TEST)
    assert await usage.count_documents_sent(db, organisation.id, 10) == 21
    assert await usage.count_documents_sent(db, organisation.id, 12) == 0


async def test_nothing_is_written_for_nothing(db: Database, organisation: Organisation) -> None:
    await add(db, Usage())
    assert await db.all("SELECT * FROM usage") == []


async def test_days_are_found_along_the_key(db: Database) -> None:
    found = await steps(db, lambda tx: usage.find(tx, ORGANISATION, Mode.LIVE, 1, 366))
    found += await steps(db, lambda tx: usage.count_emails(tx, ORGANISATION, 1))
    found += await steps(db, lambda tx: usage.count_documents_sent(tx, ORGANISATION, 1))
    assert all(step.startswith("SEARCH usage") for step in found), found


def test_what_is_counted_while_the_rest_is_written_stays_pending() -> None:
    tally = RequestTally()
    tally.count("org_1", Mode.LIVE, NOW)
    counts = tally.snapshot()
    (meter,) = counts
    tally.count("org_1", Mode.LIVE, NOW)
    tally.subtract_written(counts)
    assert tally.count_pending(meter) == 1
    tally.subtract_written(tally.snapshot())
    assert (tally.count_pending(meter), tally.snapshot()) == (0, {})
