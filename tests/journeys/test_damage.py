"""Rows and contents that cannot be read: set aside and shown, and everything behind them goes on."""

import asyncio
from typing import Any

import pytest

from esign.actions.server.data_checks import check_folder
from esign.core.actor import Mode, Owner
from esign.jobs import check_database, disable_webhooks, expire, key_expiry, purge, remind
from esign.store.engine.connections import FILE
from esign.store.engine.unreadable_rows import UnreadableRow
from esign.store.people import members
from esign.store.queue import webhooks
from tests.fakes import FakeClock
from tests.journeys.site import JourneySite

# What a broken disk or a hand leaves: JSON that ends early or has another shape, a word that is none, no UTF-8.
DAMAGE = {
    "cut JSON": ("document", "file", '{"name": "x'),
    "other JSON": ("document", "reminders", '{"never": "known"}'),
    "no JSON": ("recipient", "fields", ""),
    "a role": ("recipient", "role", "emperor"),
    "no UTF-8": ("document", "title", b"\xff\xfe broken"),
    "no UTF-8 in JSON": ("recipient", "origin", b'{"ip": "\xff"}'),
    "no UTF-8 in a name": ("recipient", "name", b"\xff"),
    "a list of metadata": ("document", "metadata", "[]"),
}
UNSEEN = {"no JSON", "no UTF-8 in JSON"}  # in what a list does not show, so that it shows the document


async def spoil(site: JourneySite, table: str, column: str, value: Any, **where: Any) -> None:
    """Write something into a column that the program itself never would; bytes as text."""
    (name, key), given = next(iter(where.items())), value
    place = "CAST(:given AS TEXT)" if isinstance(value, bytes) else ":given"
    sql = f"UPDATE {table} SET {column} = {place} WHERE {name} = :key"
    assert await site.runtime.db.write(lambda tx: tx.run(sql, given=given, key=key))


async def run(site: JourneySite, sql: str, **values: Any) -> None:
    await site.runtime.db.write(lambda tx: tx.run(sql, **values))


async def warnings(site: JourneySite) -> list[str]:
    async with site.session.get(f"{site.base}/readyz") as answer:
        return list((await answer.json()).get("warnings", []))


async def status(site: JourneySite, document: str) -> str:
    return str((await site.api.get(document))["status"])


@pytest.mark.parametrize("kind", list(DAMAGE))
async def test_a_document_that_cannot_be_read_holds_up_neither_expiry_nor_reminder_nor_list(
    site: JourneySite, clock: FakeClock, kind: str
) -> None:
    table, column, value = DAMAGE[kind]
    bad, *others = [await site.api.send_document(expiresInDays=20) for _ in range(4)]
    await spoil(site, table, column, value, **{"id" if table == "document" else "document_id": bad})

    listed = (await site.api.ok("GET", "/documents?limit=2"))["data"]
    assert len(listed) == 2
    found: list[str] = []
    cursor = ""
    while True:
        page = await site.api.ok("GET", f"/documents?limit=2{cursor}")
        found += [each["id"] for each in page["data"]]
        if not page["nextCursor"]:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert sorted(found) == sorted([*others, bad] if kind in UNSEEN else others)

    clock.advance(days=4)
    mails = await pending(site)
    await remind.tick(site.runtime)
    assert await pending(site) == mails + len(others)
    (warning,) = await warnings(site)
    assert f"document {bad}" in warning and "esign doctor" in warning
    clock.advance(days=20)
    await expire.tick(site.runtime)
    assert [await status(site, each) for each in others] == ["expired"] * 3
    listed = (await site.api.ok("GET", "/documents?status=sent,expired"))["data"]
    assert sorted(each["id"] for each in listed) == sorted(others)
    assert (await site.api.call("GET", f"/documents/{bad}")).status == 500
    assert bad in (await warnings(site))[0]


async def pending(site: JourneySite) -> int:
    row = await site.runtime.db.one("SELECT count(*) AS mails FROM outbox WHERE kind = 'mail'")
    assert row is not None
    return int(row["mails"])


async def test_a_row_that_is_mended_is_no_longer_told(site: JourneySite, clock: FakeClock) -> None:
    document = await site.api.send_document()
    row = await site.runtime.db.one("SELECT file FROM document WHERE id = :id", id=document)
    assert row is not None
    await spoil(site, "document", "file", "{", id=document)
    with pytest.raises(UnreadableRow):
        await site.runtime.db.write(lambda tx: documents_get(tx, document))
    assert len(await warnings(site)) == 1
    await spoil(site, "document", "file", row["file"], id=document)
    await site.api.get(document)
    assert await warnings(site) == []


async def documents_get(tx: Any, document: str) -> Any:
    from esign.store.document import documents

    return await documents.get(tx, document)


async def test_a_damaged_document_holds_up_no_purge(site: JourneySite, clock: FakeClock) -> None:
    test = await site.key(mode=Mode.TEST)
    ids = [
        (await test.ok("POST", f"/documents/{await test.send_document()}/cancel", {"reason": "x"}))["id"]
        for _ in range(3)
    ]
    await spoil(site, "document", "metadata", "[", id=ids[0])
    clock.advance(days=400)
    await purge.tick(site.runtime)
    left = [row["id"] for row in await site.runtime.db.all("SELECT id FROM document")]
    assert left == [ids[0]]


async def test_a_damaged_webhook_holds_up_nobody(site: JourneySite, clock: FakeClock) -> None:
    made = [
        (await site.api.ok("POST", "/webhooks", {"url": f"http://127.0.0.1:{port}/", "events": ["*"]}))["id"]
        for port in (1099, 1098)
    ]
    await spoil(site, "webhook", "events", "[", id=made[0])
    document = await site.complete_document()
    assert await status(site, document) == "completed"
    organisation = (await site.runtime.db.all("SELECT id FROM organisation"))[0]["id"]
    found = await webhooks.find(site.runtime.db, Owner(organisation, Mode.LIVE))
    assert [hook.id for hook in found] == made[1:]
    assert await site.work("webhook") > 0
    await site.runtime.db.write(lambda tx: tx.run("UPDATE webhook SET failing_since = 1"))
    clock.advance(days=30)
    await disable_webhooks.tick(site.runtime)
    assert f"webhook {made[0]}" in (await warnings(site))[0]


async def test_a_damaged_job_holds_up_no_other(site: JourneySite) -> None:
    await site.api.send_document()
    await site.api.send_document()
    rows = await site.runtime.db.all("SELECT id FROM outbox WHERE kind = 'mail' ORDER BY id")
    await spoil(site, "outbox", "key", b"\xff\xff", id=rows[0]["id"])
    await site.work("mail")
    states = await site.runtime.db.all("SELECT state, last_error FROM outbox WHERE kind = 'mail' ORDER BY id")
    assert [row["state"] for row in states] == ["failed", *["done"] * (len(rows) - 1)]
    assert states[0]["last_error"] == "this row of the database is damaged"


async def test_damaged_keys_members_and_organisations_hold_up_no_tick(
    site: JourneySite, clock: FakeClock
) -> None:
    for _ in range(2):
        await site.key()
    people = [
        (
            await site.api.ok(
                "POST", "/members", {"email": f"{name}@example.test", "name": name, "role": "member"}
            )
        )
        for name in ("a", "b")
    ]
    rows = await site.runtime.db.all("SELECT id FROM api_key ORDER BY created_at, id")
    await spoil(site, "api_key", "scopes", "{", id=rows[-1]["id"])
    await spoil(site, "member", "role", "emperor", id=people[0]["id"])
    clock.advance(days=360)
    await key_expiry.tick(site.runtime)
    organisation = (await site.runtime.db.all("SELECT id FROM organisation"))[0]["id"]
    assert people[1]["id"] in [each.id for each in await members.find(site.runtime.db, organisation, 10)]
    data = site.runtime.config.storage.data_dir
    told = {line.partition(" ")[0] for line in await asyncio.to_thread(check_folder, data, clock.now())}
    assert told == {"rows:"}


async def test_a_changed_or_missing_chunk_is_noticed_when_it_is_read(site: JourneySite) -> None:
    for change in ("UPDATE blob_chunk SET content = zeroblob(length(content))", "DELETE FROM blob_chunk"):
        document = await site.complete_document()
        sealed = (await site.api.get(document))["seal"]["sha256"]
        await run(site, f"{change} WHERE sha256 = :sha256", sha256=sealed)
        answer = await site.api.call("GET", f"/documents/{document}/files/sealed", Accept="application/pdf")
        assert answer.status == 500 and b"%PDF" not in answer.content
        assert any(f"blob {sealed}" in warning for warning in await warnings(site))


async def test_damaged_pages_are_told_while_the_server_runs(site: JourneySite) -> None:
    assert await check_database.tick(site.runtime) == 0
    path = site.runtime.config.storage.data_dir / FILE
    await site.api.send_document()
    await site.runtime.db.wal.checkpoint("TRUNCATE")
    with path.open("r+b") as file:
        file.seek(4096 * 6)
        file.write(b"\xff" * 4096)
    assert await check_database.tick(site.runtime) > 0
    assert ("database", "pages") in [entry[:2] for entry in site.runtime.db.damage.entries()]
