"""The page with the background loops and what is set aside, and its button."""

import re
from pathlib import Path

from esign.core.people.member import MemberRole
from esign.jobs import expire, patrol, schedule, worker
from esign.jobs.schedule import ScheduledTick
from esign.store.queue import outbox, set_aside
from tests.factories import an_organisation, store_organisation
from tests.journeys.api import until
from tests.web.office.visitor import Office, an_office

HERE = "/server/status"
SEAL = next(kind for kind in worker.KINDS if kind.name == "seal")


async def a_seal_aside(office: Office) -> str:
    """Set the seal of a signed document aside, and return the id of the document."""
    document = await office.site.api.send_document()
    await office.site.all_sign(document)
    [job] = await worker.claim_due(office.runtime, SEAL, 1)
    now = office.clock.now()
    await office.runtime.db.write(lambda tx: set_aside.put_aside(tx, job, now, set_aside.CUT_OFF))
    return document


async def test_an_owner_sees_what_is_set_aside_and_tries_it_again(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert "Nothing is set aside." in (await ada.get(HERE)).said
    document = await a_seal_aside(office)
    page = await ada.get(HERE)
    assert "The server stopped three times while working on this." in page.said
    title = (await office.site.api.get(document))["title"]
    assert (
        f'<a href="/documents/{document}"><bdi>{title}</bdi></a>' in page.text and document not in page.said
    )
    number = page.value("number")
    assert (await ada.post(HERE, kind="seal", number=number)).to == f"{HERE}?done=retried"
    await office.site.work("seal")
    assert (await office.site.api.get(document))["status"] == "completed"
    assert (await ada.post(HERE, kind="seal", number=number)).to == f"{HERE}?done=not-retried"
    [entry] = (await office.site.api.ok("GET", "/audit?type=job.retried"))["data"]
    assert entry["data"] == {"kind": "seal", "mode": "live", "documentId": document}
    assert entry["actor"]["email"] == "ada@example.test"
    for kind, given in (("other", "1"), ("seal", "-1"), ("seal", "x")):
        assert (await ada.post(HERE, kind=kind, number=given)).status < 500


async def test_a_mail_that_is_set_aside_says_so_in_the_outbox_and_is_tried_again(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.send_document()
    mail = next(kind for kind in worker.KINDS if kind.name == "mail")
    [job] = await worker.claim_due(office.runtime, mail, 1)
    now = office.clock.now()
    await office.runtime.db.write(lambda tx: set_aside.put_aside(tx, job, now, set_aside.CUT_OFF))
    assert "Set aside" in (await ada.get("/settings/outbox")).said
    assert (await ada.post(HERE, kind="mail", number=str(job.id))).to == f"{HERE}?done=retried"
    await office.site.work("mail")
    row = await office.runtime.db.one("SELECT state FROM outbox WHERE id = :id", id=job.id)
    assert row is not None and row["state"] == "done"


async def test_owners_of_another_organisation_see_and_retry_only_their_own(tmp_path: Path) -> None:
    async with an_office(tmp_path / "data") as office:
        ada = await office.signed_in("Ada")
        later = an_organisation(id="org_two", name="Second", created_at=office.clock.now() + 1)
        other = await store_organisation(office.runtime.db, later)
        stranger = await office.signed_in("Stranger", MemberRole.OWNER, other.id)
        now = office.clock.now()

        async def write(tx: object) -> None:
            await outbox.add(tx, outbox.NewJob("mail", "a mail of the first"), now)  # type: ignore[arg-type]

        await office.runtime.db.write(write)
        await office.runtime.db.write(
            lambda tx: tx.run("UPDATE outbox SET state = 'aside' WHERE key = 'a mail of the first'")
        )
        page = await ada.get(HERE)
        number = page.value("number")
        seen = await stranger.get(HERE)
        assert 'name="number"' not in seen.text and "Nothing is set aside." in seen.said
        assert (await stranger.post(HERE, kind="mail", number=number)).to == f"{HERE}?done=not-retried"
        assert await set_aside.count(office.runtime.db) == {"mail": 1}
        document = await a_seal_aside(office)
        await office.runtime.db.write(
            lambda tx: tx.run(
                "UPDATE outbox SET organisation_id = 'org_two' WHERE document_id = :id", id=document
            )
        )
        title = (await office.site.api.get(document))["title"]
        elsewhere = await ada.get(HERE)
        assert document in elsewhere.said and title not in elsewhere.said, (
            "a document of another organisation"
        )
        assert (await ada.post(HERE, kind="mail", number=number)).to == f"{HERE}?done=retried"


async def test_each_loop_is_shown_with_its_state_and_its_last_restart(office: Office) -> None:
    ada, loops = await office.signed_in("Ada"), office.runtime.loops
    ticks = [ScheduledTick(expire.tick, 3600), ScheduledTick(patrol.recheck, 3600)]
    async with schedule.run_jobs(office.runtime, ticks, []):

        async def was_restarted() -> bool | None:
            return loops.beats["expire"].restarts == 1 or None

        task = loops.beats["expire"].task
        assert task is not None
        task.cancel()
        await until(was_restarted, "restart")
        loops.beats["webhook worker"].failures = 3
        text = (await ada.get(HERE)).text
        rows = dict(re.findall(r'<tr><td><code dir="ltr">([^<]+)</code></td>(.*?)</tr>', text))
        assert {"expire", "patrol recheck", "webhook worker", "database writer"} <= set(rows)
        assert "<time" in rows["expire"] and "<time" not in rows["patrol recheck"]
        assert "Keeps failing" in rows["webhook worker"] and "Running" in rows["expire"]
