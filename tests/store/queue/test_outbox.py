from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.instant import DAY, MINUTE, Instant
from esign.core.people.account import Organisation
from esign.store.engine.database import Database, Transaction
from esign.store.people import organisations
from esign.store.queue import due_jobs, outbox, set_aside
from esign.store.queue.outbox import Job, NewJob
from esign.system.vault import Vault
from tests.factories import NOW, a_document, store
from tests.store.plans import steps, walks

LEASE = 5 * MINUTE


async def add(db: Database, key: str, at: Instant = NOW, kind: str = "mail", **more: Any) -> None:
    await db.write(lambda tx: outbox.add(tx, NewJob(kind, key, body=key.encode(), **more), at))


async def due(db: Database, at: Instant, kind: str = "mail", limit: int = 10) -> list[int]:
    return await due_jobs.find_due(db, kind, at, limit)


async def claim(db: Database, job_id: int, at: Instant = NOW, boot: str = "first") -> Job | None:
    return await db.write(lambda tx: outbox.claim(tx, job_id, at, LEASE, boot))


async def claim_added_job(
    db: Database, key: str, at: Instant = NOW, kind: str = "mail", boot: str = "first"
) -> Job:
    """A job just added and claimed."""
    await add(db, key, at, kind)
    job = await claim(db, (await due(db, at, kind))[-1], at, boot)
    assert job is not None
    return job


async def state(db: Database, key: str) -> tuple[str, int, str | None, bytes | None]:
    row = await db.one("SELECT state, attempts, last_error, body FROM outbox WHERE key = :key", key=key)
    assert row is not None
    return row["state"], row["attempts"], row["last_error"], row["body"]


async def test_a_job_is_due_at_once_and_brings_what_it_was_given(db: Database) -> None:
    await add(db, "a", document_id="doc_1")
    assert await due_jobs.find_due(db, "mail", NOW, 10) == [1]
    assert await claim(db, 1) == Job(1, "mail", "a", "doc_1", b"a", 1, outbox.NOBODY)


async def test_the_same_key_is_queued_once_for_ever(db: Database) -> None:
    job = await claim_added_job(db, "a")
    await add(db, "a", NOW + DAY)
    await db.write(lambda tx: outbox.finish(tx, job, NOW))
    await add(db, "a", NOW + DAY)
    assert await due(db, NOW + 2 * DAY) == []
    assert len(await db.all("SELECT id FROM outbox")) == 1


async def test_due_jobs_come_oldest_first_and_only_of_their_kind(db: Database) -> None:
    for key, at in (("late", NOW), ("early", NOW - 5), ("late too", NOW), ("future", NOW + 1)):
        await add(db, key, at)
    await add(db, "other", NOW - 9, kind="seal")
    assert await due(db, NOW) == [2, 1, 3]
    assert await due(db, NOW, "mail", 2) == [2, 1]
    assert await due(db, NOW + 1) == [2, 1, 3, 4]


async def test_a_claimed_job_is_hidden_until_its_lease_ends(db: Database) -> None:
    await add(db, "a")
    assert await claim(db, 1) is not None
    assert await claim(db, 1) is None
    assert await due(db, NOW + LEASE - 1) == []
    assert await claim(db, 1, NOW + LEASE - 1) is None
    assert await due(db, NOW + LEASE) == [1]
    again = await claim(db, 1, NOW + LEASE)
    assert again is not None
    assert again.attempts == 2


async def test_two_who_claim_at_once_do_not_both_get_it(db: Database) -> None:
    await add(db, "a")

    async def both(tx: Transaction) -> list[Job | None]:
        return [await outbox.claim(tx, 1, NOW, LEASE, boot) for boot in ("first", "second")]

    first, second = await db.write(both)
    assert first is not None
    assert second is None


@pytest.mark.parametrize(("error", "ended"), [(None, "done"), ("gave up", "failed")])
async def test_a_finished_job_is_never_due_again_and_carries_nothing_any_more(
    db: Database, error: str | None, ended: str
) -> None:
    job = await claim_added_job(db, "a")
    await db.write(lambda tx: outbox.finish(tx, job, NOW, error))
    assert await state(db, "a") == (ended, 1, error, None)
    assert await due(db, NOW + 99 * DAY) == []
    assert await claim(db, job.id, NOW + 99 * DAY) is None


async def test_what_has_ended_cannot_end_or_be_postponed_once_more(db: Database) -> None:
    job = await claim_added_job(db, "a")
    await db.write(lambda tx: outbox.finish(tx, job, NOW))
    await db.write(lambda tx: outbox.finish(tx, job, NOW + 1, "too late"))
    await db.write(lambda tx: outbox.postpone(tx, job, NOW + 1, "too late"))
    assert await state(db, "a") == ("done", 1, None, None)


async def test_a_postponed_job_keeps_its_reason_and_its_content(db: Database) -> None:
    job = await claim_added_job(db, "a")
    await db.write(lambda tx: outbox.postpone(tx, job, NOW + MINUTE, "server busy"))
    assert await state(db, "a") == ("pending", 1, "server busy", b"a")
    assert await outbox.find_pending(db, "mail") == [("a", "server busy")]
    assert await outbox.find_next_due(db, "mail") == NOW + MINUTE
    assert await due(db, NOW + MINUTE - 1) == []
    assert await due(db, NOW + MINUTE) == [job.id]


async def test_after_a_crash_what_the_lost_run_had_claimed_is_due_at_once_and_not_counted(
    db: Database,
) -> None:
    mine = await claim_added_job(db, "mine", boot="second")
    lost = await claim_added_job(db, "lost", boot="first")
    await claim_added_job(db, "ended", boot="first")
    postponed = await claim_added_job(db, "postponed", boot="first")
    await db.write(lambda tx: outbox.postpone(tx, postponed, NOW + DAY, "busy"))
    ended = Job(3, "mail", "ended", None, b"", 1)
    await db.write(lambda tx: outbox.finish(tx, ended, NOW))

    assert await db.write(lambda tx: set_aside.note_cut_offs(tx, "second", NOW + 1)) == []
    assert await due(db, NOW + 1) == [lost.id]
    assert (await state(db, "lost"))[1] == 0
    assert (await state(db, "mine"))[1] == 1
    assert await due(db, NOW + LEASE) == [lost.id, mine.id]


async def test_what_was_held_up_by_one_cause_is_due_when_that_is_gone(db: Database) -> None:
    waiting = await claim_added_job(db, "waiting", kind="seal")
    await db.write(lambda tx: outbox.postpone(tx, waiting, NOW + DAY, "no key"))
    await claim_added_job(db, "running", kind="seal")
    other = await claim_added_job(db, "other")
    await db.write(lambda tx: outbox.postpone(tx, other, NOW + DAY, "busy"))
    assert await db.write(lambda tx: outbox.hasten(tx, "seal", NOW + 1)) == 1
    assert await due(db, NOW + 1, "seal") == [waiting.id]
    assert await due(db, NOW + 1, "mail") == []


async def test_what_failed_for_the_same_cause_as_one_that_is_done_now_is_due(db: Database) -> None:
    for key, reason in (("a", "no key"), ("b", "no key"), ("c", "too slow"), ("d", None)):
        job = await claim_added_job(db, key, kind="seal")
        if reason is not None:
            await db.write(lambda tx, job=job, why=reason: outbox.postpone(tx, job, NOW + DAY, why))  # type: ignore[misc]
    done = await claim(db, 1, NOW + DAY)
    assert done is not None
    assert await db.write(lambda tx: outbox.hasten_alike(tx, done, NOW + 1)) == 1
    assert await due(db, NOW + 1, "seal") == [2]


async def test_a_job_that_waits_for_a_time_stamp_is_tried_even_alone(db: Database) -> None:
    job = await claim_added_job(db, "alone", kind="seal")
    assert not await outbox.has_failed_for(db, "seal", outbox.NO_TIME_STAMPS)
    await db.write(lambda tx: outbox.postpone(tx, job, NOW + DAY, outbox.NO_TIME_STAMPS))
    assert await outbox.has_failed_for(db, "seal", outbox.NO_TIME_STAMPS)
    assert await db.write(lambda tx: outbox.hasten_one_per_cause(tx, "seal", NOW + 1)) == 1
    await db.write(lambda tx: outbox.finish(tx, job, NOW + 2))
    assert not await outbox.has_failed_for(db, "seal", outbox.NO_TIME_STAMPS)


async def test_of_the_jobs_that_share_a_cause_one_is_tried_and_who_failed_alone_waits(db: Database) -> None:
    for key, reason in (("a", "no key"), ("b", "no key"), ("alone", "too slow"), ("c", "no key")):
        job = await claim_added_job(db, key, kind="seal")
        await db.write(lambda tx, job=job, why=reason: outbox.postpone(tx, job, NOW + DAY, why))  # type: ignore[misc]
    assert await db.write(lambda tx: outbox.hasten_one_per_cause(tx, "seal", NOW + 1)) == 1
    assert await due(db, NOW + 1, "seal") == [1]
    assert await db.write(lambda tx: outbox.hasten_one_per_cause(tx, "seal", NOW + 2)) == 0
    assert await db.write(lambda tx: outbox.hasten_one_per_cause(tx, "mail", NOW + 2)) == 0


async def test_a_kind_is_stuck_while_a_job_of_it_fails_and_no_later_one_is_done(db: Database) -> None:
    job = await claim_added_job(db, "a")
    await db.write(lambda tx: outbox.postpone(tx, job, NOW + MINUTE, "busy"))
    assert not await outbox.is_stuck(db, "mail", 2)
    assert await outbox.is_stuck(db, "mail", 1)
    assert not await outbox.is_stuck(db, "seal", 1)
    other = await claim_added_job(db, "b", NOW + 1)
    await db.write(lambda tx: outbox.finish(tx, other, NOW + 2, "refused"))
    assert await outbox.is_stuck(db, "mail", 1)
    third = await claim_added_job(db, "c", NOW + 3)
    await db.write(lambda tx: outbox.finish(tx, third, NOW + 4))
    assert not await outbox.is_stuck(db, "mail", 1)


@pytest.mark.parametrize("before", ["never queued", "waiting", "running", "done", "failed"])
async def test_a_document_that_waits_for_its_seal_always_has_one_job_for_it(
    db: Database, before: str
) -> None:
    if before == "waiting":
        await add(db, "seal:doc_1", kind="seal")
    elif before != "never queued":
        job = await claim_added_job(db, "seal:doc_1", kind="seal")
        if before != "running":
            error = "gave up" if before == "failed" else None
            await db.write(lambda tx: outbox.finish(tx, job, NOW, error))
    await db.write(lambda tx: outbox.requeue_seal(tx, "doc_1", NOW + 1))
    assert len(await outbox.find_pending(db, "seal")) == 1
    expected = [] if before == "running" else [1]
    assert await due(db, NOW + 1, "seal") == expected
    assert await due(db, NOW + LEASE, "seal") == [1]


async def test_only_what_ended_long_ago_is_forgotten(db: Database) -> None:
    old, recent = await claim_added_job(db, "old"), await claim_added_job(db, "recent")
    await add(db, "waiting", NOW - 99 * DAY)
    await db.write(lambda tx: outbox.finish(tx, old, NOW - 1))
    await db.write(lambda tx: outbox.finish(tx, recent, NOW))
    assert await db.write(lambda tx: outbox.prune(tx, NOW, 10)) == 1
    assert [row["key"] for row in await db.all("SELECT key FROM outbox ORDER BY id")] == ["recent", "waiting"]


async def test_forgetting_takes_no_more_than_asked(db: Database) -> None:
    for n in range(5):
        job = await claim_added_job(db, str(n))
        await db.write(lambda tx, job=job: outbox.finish(tx, job, NOW - 1))  # type: ignore[misc]
    assert await db.write(lambda tx: outbox.prune(tx, NOW, 3)) == 3
    assert await db.write(lambda tx: outbox.prune(tx, NOW, 3)) == 2


async def test_a_kind_without_work_has_no_next_date(db: Database) -> None:
    assert await outbox.find_next_due(db, "mail") is None
    assert await outbox.find_pending(db, "mail") == []


QUERIES: dict[str, Callable[[Transaction], Awaitable[object]]] = {
    "due": lambda tx: due_jobs.find_due(tx, "mail", NOW, 4),
    "claim": lambda tx: outbox.claim(tx, 1, NOW, LEASE, "first"),
    "release": lambda tx: set_aside.note_cut_offs(tx, "first", NOW),
    "suspects": lambda tx: set_aside.find_suspects(tx, NOW),
    "return": lambda tx: set_aside.return_claims(tx, "first", NOW),
    "hasten": lambda tx: outbox.hasten(tx, "seal", NOW),
    "hasten alike": lambda tx: outbox.hasten_alike(tx, Job(1, "seal", "a", None, b"", 1), NOW),
    "waits": lambda tx: outbox.has_failed_for(tx, "seal", "no key"),
    "hasten one": lambda tx: outbox.hasten_one_per_cause(tx, "seal", NOW),
    "stuck": lambda tx: outbox.is_stuck(tx, "mail", 3),
    "requeue": lambda tx: outbox.requeue_seal(tx, "doc_1", NOW),
    "next": lambda tx: outbox.find_next_due(tx, "mail"),
    "pending": lambda tx: outbox.find_pending(tx, "mail"),
    "prune": lambda tx: outbox.prune(tx, NOW, 10),
}


@pytest.mark.parametrize("name", QUERIES)
async def test_no_look_at_the_queue_walks_through_it(db: Database, name: str) -> None:
    assert await walks(db, QUERIES[name]) == []


async def test_a_mail_is_new_until_it_was_tried_and_only_to_its_owner_in_test_mode(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    tested = await store(db, vault, a_document(mode=Mode.TEST))
    live = await store(db, vault, a_document())
    for document in (tested, live):
        await add(db, f"mail:{document.id}", document_id=document.id)
        await add(db, f"webhook:{document.id}", kind="webhook", document_id=document.id)
    assert await outbox.has_new_mail(db, organisation.id, tested.id)
    assert not await outbox.has_new_mail(db, organisation.id, live.id)
    assert not await outbox.has_new_mail(db, "org_other", tested.id)
    job = await claim(db, (await due(db, NOW))[0])
    assert job is not None and await outbox.has_new_mail(db, organisation.id, tested.id)
    await db.write(lambda tx: outbox.postpone(tx, job, NOW + 5, "busy"))
    assert not await outbox.has_new_mail(db, organisation.id, tested.id)
    plan = await steps(db, lambda tx: outbox.has_new_mail(tx, "org_1", "doc_1"))
    assert not any("SCAN" in step for step in plan), plan


async def test_a_seal_that_is_queued_belongs_to_the_organisation_of_its_document(
    db: Database, organisation: Organisation, vault: Vault
) -> None:
    document = await store(db, vault, a_document())
    await db.write(lambda tx: outbox.requeue_seal(tx, document.id, NOW))
    row = await db.one("SELECT organisation_id FROM outbox WHERE kind = 'seal'")
    assert row is not None and row["organisation_id"] == document.organisation_id
    assert await due_jobs.find_due_seals(db, NOW, 1) == [1]


async def test_workers_wake_after_a_commit_that_made_work_and_after_no_other(
    db: Database, organisation: Organisation
) -> None:
    woken: list[int] = []

    def wake() -> None:
        woken.append(len(woken))

    db.on_work = wake
    await db.write(lambda tx: outbox.add(tx, NewJob("mail", "first"), NOW))
    assert woken == [0]
    await db.write(lambda tx: outbox.add(tx, NewJob("mail", "first"), NOW))
    assert woken == [0], "it was queued before"
    await db.write(lambda tx: organisations.save(tx, organisation))
    assert woken == [0], "nothing for a worker"
    assert await db.write(lambda tx: outbox.hasten(tx, "mail", NOW)) == 0
    assert woken == [0], "nothing was brought forward"
    [waiting] = await due_jobs.find_due(db, "mail", NOW, 5)
    assert await db.write(lambda tx: outbox.claim(tx, waiting, NOW, 5, "boot_1"))
    assert woken == [0], "a claim is the work of a worker"
    assert await db.write(lambda tx: set_aside.note_cut_offs(tx, "boot_2", NOW)) == []
    assert woken == [0, 1]
