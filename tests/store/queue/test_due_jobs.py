from typing import Any

import pytest

from esign.core.actor import Mode, Owner
from esign.core.instant import MINUTE, Instant
from esign.core.mail_urgency import Urgency
from esign.store.engine.database import Database
from esign.store.queue import due_jobs, outbox, set_aside
from esign.store.queue.due_jobs import MailTimes
from esign.store.queue.outbox import Job, NewJob
from tests.factories import NOW
from tests.store.plans import steps, walks

LEASE = 5 * MINUTE


async def add(db: Database, key: str, at: Instant, kind: str = "mail", **more: Any) -> None:
    await db.write(lambda tx: outbox.add(tx, NewJob(kind, key, **more), at))


async def claim(db: Database, job_id: int, at: Instant) -> Job | None:
    return await db.write(lambda tx: outbox.claim(tx, job_id, at, LEASE, "first"))


async def seals(db: Database, *owners: str) -> None:
    """Due seals of these organisations, one after the other; ids count from 1."""
    for n, owner in enumerate(owners):
        await add(db, f"seal:{n}", NOW + n, kind="seal", owner=Owner(owner, Mode.LIVE))


async def test_seals_are_due_in_turns_between_organisations(db: Database) -> None:
    await seals(db, *("A" * 20), "B", "C")
    later = NOW + 100
    assert await due_jobs.find_due_seals(db, later, 4) == [1, 21, 22, 2]
    assert await due_jobs.find_due_seals(db, NOW, 4) == [1], "what is due by then"
    for job_id in (1, 2):
        await claim(db, job_id, later)
    assert await due_jobs.find_due_seals(db, later, 2) == [21, 22], (
        "who has two under way comes after the others"
    )
    assert await due_jobs.find_due_seals(db, later, 20) == [21, 22, *range(3, 21)]
    assert await due_jobs.find_due_seals(db, later, 20, 2) == [21, 22], "no more than two at once"
    assert await due_jobs.find_due_seals(db, later, 20, 3) == [21, 22, 3]


async def test_claims_of_workers_that_are_gone_take_no_place_once_their_leases_are_over(db: Database) -> None:
    await seals(db, "A", "A", "A")
    ids = await mails(db, "B", *[Urgency.INVITATION] * 2)
    for job_id in (1, 2, *ids):
        assert await claim(db, job_id, NOW + 100)
    over = NOW + 100 + LEASE
    assert await due_jobs.find_due_seals(db, over - 1, 4, 2) == []
    assert await due_jobs.find_due_seals(db, over, 4, 2) == [3, 1]
    assert len(await due_jobs.find_due_mails(db, due_at(over), 16, 1, 2)) == 2


async def test_a_suspect_whose_worker_is_gone_stops_no_others_once_its_lease_is_over(db: Database) -> None:
    await seals(db, "A", "A")
    await db.write(lambda tx: tx.run("UPDATE outbox SET cut_offs = 2"))
    assert await claim(db, 1, NOW + 100) and not await claim(db, 2, NOW + 100)
    over = NOW + 100 + LEASE
    assert [one.is_under_way for one in await set_aside.find_suspects(db, over - 1)] == [True, False]
    assert [one.is_under_way for one in await set_aside.find_suspects(db, over)] == [False, False]
    assert await claim(db, 1, over)


async def test_the_search_for_due_seals_grows_with_organisations_and_not_with_what_waits(
    db: Database,
) -> None:
    plan = await steps(db, lambda tx: due_jobs.find_due_seals(tx, NOW, 2))
    read = [step for step in plan if "outbox" in step or "waiting" in step or "next" in step]
    assert all("outbox_leased" in step or "outbox_seals" in step or "PRIMARY KEY" in step for step in read), (
        plan
    )


# ---------- mails, in turns ----------


async def mails(db: Database, owner: str, *urgencies: Urgency, at: Instant = NOW) -> list[int]:
    """Due mails of an organisation, one after the other; their ids."""
    for n, urgency in enumerate(urgencies):
        await add(db, f"{owner}:{at}:{n}", at + n, owner=Owner(owner, Mode.LIVE), urgency=urgency)
    rows = await db.all("SELECT id FROM outbox WHERE organisation_id = :owner ORDER BY id", owner=owner)
    return [row["id"] for row in rows][-len(urgencies) :]


def due_at(now: Instant) -> MailTimes:
    """While no seal waits, nothing is held."""
    return MailTimes(now, held=now)


async def test_mails_are_due_in_turns_between_organisations(db: Database) -> None:
    many = await mails(db, "A", *[Urgency.INVITATION] * 20)
    [one] = await mails(db, "B", Urgency.NEWS)
    [other] = await mails(db, "C", Urgency.INVITATION)
    for turn in range(1, 20):
        chosen = await due_jobs.find_due_mails(db, due_at(NOW + 100), 4, turn, 6)
        assert {one, other} < set(chosen), "whoever has none under way comes before a second one of another"
    for job_id in many[:3]:
        await claim(db, job_id, NOW + 100)
    assert set(await due_jobs.find_due_mails(db, due_at(NOW + 100), 2, 1, 6)) == {one, other}


async def test_no_organisation_has_more_mails_under_way_than_its_share(db: Database) -> None:
    ids = await mails(db, "A", *[Urgency.INVITATION] * 20)
    assert len(await due_jobs.find_due_mails(db, due_at(NOW + 100), 16, 1, 6)) == 6
    for job_id in ids[:5]:
        await claim(db, job_id, NOW + 100)
    assert len(await due_jobs.find_due_mails(db, due_at(NOW + 100), 16, 1, 6)) == 1


async def test_a_mail_that_somebody_waits_for_is_before_others_of_whoever_has_fewer_under_way(
    db: Database,
) -> None:
    for owner in ("A", "B", "C"):
        await mails(db, owner, *[Urgency.INVITATION] * 9)
    busy = await mails(db, "D", *[Urgency.INVITATION] * 3)
    codes = await mails(db, "D", *[Urgency.AWAITED] * 9, at=NOW + 50)
    for job_id in busy:
        await claim(db, job_id, NOW + 100)
    chosen = await due_jobs.find_due_mails(db, due_at(NOW + 100), 4, 1, 6)
    assert chosen[0] in codes
    assert not set(chosen[1:]) & set(codes), "one at a time, so that codes stop nobody either"


async def test_whoever_stands_level_gets_a_turn_whatever_the_order_of_names_and_ages(db: Database) -> None:
    for n, owner in enumerate("ABCDEFGH"):
        await mails(db, owner, *[Urgency.NEWS] * 3, at=NOW + n)
    first = [(await due_jobs.find_due_mails(db, due_at(NOW + 100), 1, turn, 6))[0] for turn in range(200)]
    rows = await db.all("SELECT id, organisation_id FROM outbox")
    owners = {row["id"]: row["organisation_id"] for row in rows}
    assert {owners[job_id] for job_id in first} == set("ABCDEFGH")


async def test_the_search_for_due_mails_grows_with_organisations_and_not_with_what_waits(
    db: Database,
) -> None:
    await mails(db, "A", Urgency.NEWS)
    plan = await steps(db, lambda tx: due_jobs.find_due_mails(tx, due_at(NOW), 16, 1, 6))
    read = [step for step in plan if "outbox" in step or "waiting" in step or "next" in step]
    known = ("outbox_leased", "outbox_lanes", "PRIMARY KEY")
    assert all(any(name in step for name in known) for step in read), plan


@pytest.mark.parametrize("urgency", Urgency)
async def test_mails_that_nobody_has_to_answer_are_held_for_seals(db: Database, urgency: Urgency) -> None:
    [early, late] = await mails(db, "A", urgency, urgency)
    found = await due_jobs.find_due_mails(db, MailTimes(NOW + 100, held=NOW), 4, 1, 6)
    assert set(found) == ({early, late} if urgency <= Urgency.INVITATION else {early})


async def test_a_seal_waits_when_it_is_due_and_no_worker_has_taken_it(db: Database) -> None:
    await mails(db, "A", Urgency.NEWS)
    assert not await due_jobs.has_waiting_seal(db, NOW), "a mail is no seal"
    await seals(db, "A")
    assert not await due_jobs.has_waiting_seal(db, NOW - 1)
    assert await due_jobs.has_waiting_seal(db, NOW)
    [row] = await db.all("SELECT id FROM outbox WHERE kind = 'seal'")
    await claim(db, row["id"], NOW)
    assert not await due_jobs.has_waiting_seal(db, NOW + LEASE)
    assert not await walks(db, lambda tx: due_jobs.has_waiting_seal(tx, NOW))
