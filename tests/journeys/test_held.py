"""What waits after a restore until an administrator resumes it, while people go on working with the documents."""

from pathlib import Path

from esign.actions.server import restoration
from esign.actions.server.diagnosis import CheckState, Diagnosis
from esign.actions.server.seal_checks import check_seals
from esign.core.errors import SEAL_HELD
from esign.jobs import expire
from esign.pdf.worker.workers import Workers
from esign.store.engine.database import Transaction
from esign.store.queue import held_jobs
from tests.fakes import FakeClock
from tests.journeys.site import JourneySite, a_site


async def hold(site: JourneySite) -> None:
    """Do to the database what a restore does to a copy of it."""
    now = site.runtime.clock.now()
    await restoration.hold_all(site.runtime.db, now, now)


async def resume(site: JourneySite) -> None:
    await restoration.resume(site.runtime.db, site.runtime.clock.now(), drop=False, seal_anew=False)


async def test_a_document_past_its_expiry_waits_though_somebody_opens_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path, clock) as site:
        document = await site.api.send_document(expiresInDays=2)
        await site.work("mail")
        recipients = (await site.api.get(document))["recipients"]
        person = await site.person(recipients[0]["email"])
        await hold(site)
        clock.advance(days=3)
        await expire.tick(site.runtime)
        assert (await site.api.get(document))["status"] == "sent"
        assert (await site.api.ok("GET", "/documents"))["data"][0]["status"] == "sent"
        await person.open()
        await site.api.call("POST", f"/documents/{document}/remind", {})
        assert (await site.api.get(document))["status"] == "sent"
        await resume(site)
        assert (await site.api.get(document))["status"] == "expired"


async def test_a_seal_that_is_held_back_is_not_retried(tmp_path: Path, clock: FakeClock) -> None:
    seal = {"level": "B-T", "tsa_urls": ("http://127.0.0.1:9/",)}
    async with a_site(tmp_path, clock, seal=seal) as site:
        document = await site.api.send_document()
        await site.all_sign(document)
        await site.work("seal")
        assert (await site.api.get(document))["sealError"] is not None
        before = await site.api.trail(document)
        await hold(site)
        answer = await site.api.call("POST", f"/documents/{document}/retry-seal", {})
        assert answer.status == 409 and answer.body["error"]["message"] == SEAL_HELD
        assert await site.api.trail(document) == before
        await restoration.resume(site.runtime.db, clock.now(), drop=False, seal_anew=True)
        await site.api.ok("POST", f"/documents/{document}/retry-seal", {})


async def test_a_recipient_sees_that_the_deadline_has_passed_while_nothing_expires(
    tmp_path: Path, clock: FakeClock
) -> None:
    """The document stays out until an administrator resumes, and nobody is asked to sign what is refused then."""
    first = {"name": "Bob Byrd", "email": "bob@example.test", "order": 1}
    then = {"name": "Ada Lovelace", "email": "ada@example.test", "order": 1}
    async with a_site(tmp_path, clock) as site:
        document = await site.api.send_document(recipients=[first, then])
        await site.work("mail")
        bob, ada = await site.person("bob@example.test"), await site.person("ada@example.test")
        await bob.sign()
        await hold(site)
        clock.advance(days=400)
        assert await site.api.status(document) == "sent"
        page = (await ada.open()).content.decode()
        assert await ada.state() == "expired" and "The deadline has passed" in page
        assert "<form" not in page, "nothing is asked that would be refused"
        assert await bob.state() == "waiting", "the document may yet turn out to have been completed"
        status = await ada.get("/status")
        assert status.content == b'{"state":"expired"}'
        for refused in (await ada.view(), await ada.complete(), await ada.decline()):
            assert refused.status == 409 and b'"currentStatus":"expired"' in refused.content
        assert await site.api.status(document) == "sent"
        await resume(site)
        assert await ada.state() == "expired" and await site.api.status(document) == "expired"
        assert await bob.state() == "expired"


async def test_deliveries_to_webhooks_that_are_gone_or_off_are_left_out(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path, clock) as site:
        hooks = [
            (await site.api.webhook(f"http://127.0.0.1:19999/{name}", "document.sent"))["id"]
            for name in ("on", "off", "gone")
        ]
        await site.api.send_document()
        await hold(site)
        await site.api.ok("PATCH", f"/webhooks/{hooks[1]}", {"enabled": False})

        async def forget(tx: Transaction) -> None:
            await tx.run("DELETE FROM webhook WHERE id = :id", id=hooks[2])

        await site.runtime.db.write(forget)
        held = await restoration.report_held(site.runtime.db, site.runtime.vault)
        assert sorted(item.is_wanted for item in held.deliveries) == [False, False, True]
        await resume(site)
        rows = await site.runtime.db.all("SELECT webhook_id, status, last_error FROM delivery")
        found = {row["webhook_id"]: (row["status"], row["last_error"]) for row in rows}
        assert found == {
            hooks[0]: ("pending", None),
            hooks[1]: ("failed", held_jobs.LEFT_OUT),
            hooks[2]: ("failed", held_jobs.LEFT_OUT),
        }


async def test_a_seal_that_could_not_be_verified_is_no_damage(tmp_path: Path) -> None:
    async with a_site(tmp_path) as site:
        await site.complete_document()
        config = site.runtime.config
        line = await check_seals(config, Workers())
        assert line.state is CheckState.OK, line
        closed = Workers()
        await closed.close()
        line = await check_seals(config, closed)
    assert line.state is CheckState.WARNING and "could not be verified" in line.words, line
    assert Diagnosis([line]).state is CheckState.WARNING
