"""The pages about the server: who sees them, the practice seal and the clock."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from esign.actions.sealing import practice_seal
from esign.actions.server import setup_checks
from esign.core.actor import Mode
from esign.core.instant import DAY, rfc3339
from esign.core.people.member import MemberRole
from esign.store.people import organisations
from esign.store.server import backup_schedule
from esign.store.server.backup_schedule import BackupState
from tests.factories import an_organisation, store_organisation
from tests.fakes import FakeClock
from tests.web.office.visitor import Office, an_office


@pytest.mark.parametrize("page", ["address", "mail", "seal", "clock", "status", "backup"])
async def test_only_owners_look_at_the_server(office: Office, page: str) -> None:
    admin = await office.signed_in("Bo", MemberRole.ADMIN)
    assert (await admin.get(f"/server/{page}")).status == 403
    assert f'href="/server/{page}"' not in (await admin.get("/account")).text
    assert (await (await office.signed_in("Ada")).get(f"/server/{page}")).status == 200


async def test_a_practice_page_is_sealed_and_checked(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get("/server/seal")
    assert "This server made the certificate itself." in page.said and "days left" in page.said
    assert "The test page was sealed and verified." in (await ada.post("/server/seal")).said


async def test_a_seal_that_does_not_hold_is_told_with_its_reason(office: Office) -> None:
    ada = await office.signed_in("Ada")
    live = office.runtime.credentials[Mode.LIVE]
    other = office.runtime.credentials[Mode.TEST]
    key = office.runtime.keyring.read_key(other.certificate_der)
    office.runtime.credentials[Mode.LIVE] = replace(live, key_der=key)  # type: ignore[index]
    page = await ada.post("/server/seal")
    assert "The test page couldn’t be sealed and verified." in page.said
    office.runtime.credentials[Mode.LIVE] = live  # type: ignore[index]
    office.clock.advance(days=20 * 365)
    await ada.sign_in("ada@example.test")
    await ada.get("/account")
    page = await ada.post("/server/seal")
    assert "The test page couldn’t be sealed and verified." in page.said and "expired" in page.said


async def test_the_practice_page_is_a_whole_pdf(office: Office) -> None:
    found = await organisations.find_first(office.runtime.db)
    assert found and (await setup_checks.try_seal(office.runtime, found)).fine
    assert base64.b64encode(practice_seal.make_practice_page("x"))[:8] == b"JVBERi0x"


async def test_until_the_first_document_the_pages_are_steps(office: Office) -> None:
    ada = await office.signed_in("Ada")
    for page, following in (("address", "mail"), ("mail", "seal")):
        shown = await ada.get(f"/server/{page}")
        assert 'aria-label="Set-up steps"' in shown.text
        assert f'href="/server/{page}" aria-current="step"' in shown.text
        assert f'href="/server/{following}">Continue' in shown.text
    assert "Set-up steps" not in (await ada.get("/server/clock")).text
    await office.site.api.create()
    for page in ("address", "mail", "seal"):
        shown = await ada.get(f"/server/{page}")
        assert "Set-up steps" not in shown.text and "Continue" not in shown.said


# ---------- the clock ----------


class WrongClock(FakeClock):
    error = 0

    def now(self) -> int:
        return self.at + self.error


async def test_an_owner_sees_a_jump_of_the_clock_and_confirms_it(tmp_path: Path) -> None:
    clock = WrongClock()
    async with an_office(tmp_path / "data", clock=clock) as office:
        ada = await office.signed_in("Ada")
        bo = await office.signed_in("Bo", MemberRole.ADMIN)
        assert "This machine’s clock is steady." in (await ada.get("/server/clock")).said
        assert "jumped" not in (await ada.get("/documents")).said
        clock.error = 31 * DAY
        assert "This server’s clock jumped." in (await ada.get("/documents")).said
        assert "jumped" not in (await bo.get("/documents")).said
        assert "jumped 31 days ahead" in (await ada.get("/server/clock")).said
        assert office.runtime.clock.doubt is not None, "looking at it confirms nothing"
        assert (await ada.post("/server/clock")).to == "/server/clock?done=clock"
        assert office.runtime.clock.doubt is None
        assert office.runtime.clock.now() == clock.now()


async def test_the_clock_is_confirmed_by_owners_of_the_first_organisation_alone(tmp_path: Path) -> None:
    """What is due in every organisation of the server hangs on it."""
    clock = WrongClock()
    async with an_office(tmp_path / "data", clock=clock) as office:
        ada = await office.signed_in("Ada")
        later = an_organisation(id="org_two", name="Second", created_at=office.clock.now() + 1)
        other = await store_organisation(office.runtime.db, later)
        stranger = await office.signed_in("Stranger", MemberRole.OWNER, other.id)
        clock.error = 31 * DAY
        page = await stranger.get("/server/clock")
        assert (
            "Only owners of the first organisation on this server can confirm it." in page.said
            and 'action="/server/clock"' not in page.text
        )
        assert (await stranger.post("/server/clock")).status == 403
        assert office.runtime.clock.doubt is not None
        assert 'action="/server/clock"' in (await ada.get("/server/clock")).text
        assert (await ada.post("/server/clock")).status == 303
        entries = (await office.site.api.ok("GET", "/audit?type=clock.confirmed"))["data"]
        assert [one["actor"]["email"] for one in entries] == ["ada@example.test"]
        assert entries[0]["data"] == {"time": rfc3339(clock.now())}
        await ada.get("/server/clock")
        await ada.post("/server/clock")
        assert (await office.site.api.ok("GET", "/audit?type=clock.confirmed"))["data"] == entries


async def test_without_a_target_no_backups_are_claimed(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert "No backups are scheduled" in (await ada.get("/server/backup")).said


async def test_the_state_of_backups_is_shown(tmp_path: Path, clock: FakeClock) -> None:
    backup = {"to": "/copies", "passphrase": "correct horse battery", "every_hours": 1}
    async with an_office(tmp_path / "data", clock=clock, backup=backup) as office:
        ada, db, now = await office.signed_in("Ada"), office.runtime.db, clock.now()
        assert "The first backup hasn’t been made yet" in (await ada.get("/server/backup")).said
        state = BackupState("0a1b2c3d", "/copies", now, now)
        await db.write(lambda tx: backup_schedule.save(tx, state))
        assert "/copies" in (await ada.get("/server/backup")).said
        made = replace(state, made_at=now, size=5 * 2**20, failures=1, problem="no such <folder>")
        await db.write(lambda tx: backup_schedule.save(tx, made))
        page = await ada.get("/server/backup")
        assert "The last backup is recent" in page.said and "5.2 MB" in page.said
        assert "The last attempt failed: no such <folder>" in page.said and "<folder>" not in page.text
        later = an_organisation(id="org_two", name="Second", created_at=now + 1)
        other = await store_organisation(db, later)
        stranger = await office.signed_in("Stranger", MemberRole.OWNER, other.id)
        page = await stranger.get("/server/backup")
        assert "The last backup is recent" in page.said
        assert "/copies" not in page.said and "no such" not in page.said
        clock.advance(hours=3)
        await ada.sign_in("ada@example.test")
        assert "There is no recent backup" in (await ada.get("/server/backup")).said
