"""The patrol: it comes upon what nobody reads, says so once, and goes on where it was."""

import hashlib
from pathlib import Path

from esign.actions.server import patrol
from esign.actions.server.seal_checks import find_seal_fault
from esign.actions.verification import verify_trails
from esign.cli.verify_file import open_verifier
from esign.jobs import patrol as job
from esign.pdf.report import VerificationCase
from esign.pdf.worker.workers import Workers
from esign.store.server import patrol as stored
from tests.fakes import FakeClock
from tests.journeys.site import JourneySite, a_site


async def run_pass(site: JourneySite, clock: FakeClock) -> int:
    """One whole pass, as the ticks of a month make it; how many contents it has read."""
    await job.tick(site.runtime)
    clock.advance(days=26)
    read = 0
    while count := await job.tick(site.runtime):
        read += count
    return read


async def spoil(site: JourneySite, sql: str, **values: object) -> None:
    assert await site.runtime.db.write(lambda tx: tx.run(sql, **values))


async def count_mails(site: JourneySite) -> int:
    rows = await site.runtime.db.all("SELECT 1 FROM outbox WHERE key LIKE 'owners:damage_found:%'")
    return len(rows)


async def add_owner(site: JourneySite) -> None:
    await site.invite_owner("owner@example.test", "Ada")
    await spoil(site, "UPDATE member SET status = 'active' WHERE role = 'owner'")


async def test_a_changed_file_is_found_shown_and_mailed_once(site: JourneySite, clock: FakeClock) -> None:
    await add_owner(site)
    document = await site.complete_document()
    file = (await site.api.get(document))["seal"]["sha256"]
    assert await run_pass(site, clock) > 3
    state = await stored.find(site.runtime.db)
    assert state is not None and state.finished_at == clock.now()
    assert site.runtime.db.damage.entries() == [] and site.runtime.measures.patrolled["seals"] == 2

    row = await site.runtime.db.one("SELECT content FROM blob_chunk WHERE sha256 = :sha256", sha256=file)
    assert row is not None
    flipped = bytes([row["content"][0] ^ 1]) + row["content"][1:]
    change = "UPDATE blob_chunk SET content = :content WHERE sha256 = :sha256"
    await spoil(site, change, content=flipped, sha256=file)
    await run_pass(site, clock)
    assert [entry[:2] for entry in site.runtime.db.damage.entries()] == [("blob", file)]
    async with site.session.get(f"{site.base}/readyz") as answer:
        assert any(file in warning for warning in (await answer.json())["warnings"])
    assert await count_mails(site) == 1
    await run_pass(site, clock)
    assert await count_mails(site) == 1

    await spoil(site, change, content=row["content"], sha256=file)
    assert await job.recheck(site.runtime) == 0
    assert await stored.list_damage(site.runtime.db, 10) == []
    await spoil(site, change, content=flipped, sha256=file)
    await run_pass(site, clock)
    assert await count_mails(site) == 2


async def test_a_file_whose_certificate_expired_is_not_damaged(
    site: JourneySite, clock: FakeClock, tmp_path: Path
) -> None:
    """Without a time stamp, too: it is judged as of the time that its seal names."""
    document = await site.complete_document()
    await run_pass(site, clock)
    later = clock.advance(days=4 * 365)
    before = site.runtime.measures.patrolled["seals"]
    await run_pass(site, clock)
    assert site.runtime.measures.patrolled["seals"] == before + 2
    assert site.runtime.db.damage.entries() == []
    content = await site.api.file(document)
    changed = content.replace(b"/Type", b"/Tipe", 1)
    case = VerificationCase((*site.runtime.roots,), later, tuple(site.runtime.own))
    workers = Workers()
    try:
        assert await find_seal_fault(workers, content, case) is None
        assert await find_seal_fault(workers, changed, case) is not None
    finally:
        await workers.close()
    async with open_verifier(site.runtime.config, as_sealed=True, clock=clock) as verify:
        assert await verify_trails.compare_file(site.runtime.db, await verify(content)) is None
    async with open_verifier(site.runtime.config, clock=clock) as verify:
        assert (await verify(content))["result"] == "indeterminate"


async def test_a_seal_that_no_longer_holds_is_found(site: JourneySite, clock: FakeClock) -> None:
    """Its hash is right: somebody stored another file and named it in the document."""
    await add_owner(site)
    document = await site.complete_document()
    seal = (await site.api.get(document))["seal"]["sha256"]
    rows = await site.runtime.db.all(
        "SELECT content FROM blob_chunk WHERE sha256 = :sha256 ORDER BY number", sha256=seal
    )
    content = b"".join(row["content"] for row in rows)
    place = content.index(b"/Type")
    forged = content[:place] + b"/Tipe" + content[place + 5 :]
    other = hashlib.sha256(forged).hexdigest()
    await spoil(
        site,
        "INSERT INTO blob (sha256, size, created_at) VALUES (:sha256, :size, 0)",
        sha256=other,
        size=len(forged),
    )
    await spoil(site, "INSERT INTO blob_chunk VALUES (:sha256, 0, :content)", sha256=other, content=forged)
    await spoil(site, "INSERT INTO document_blob VALUES (:id, :sha256)", id=document, sha256=other)
    await spoil(
        site,
        "UPDATE document SET seal = json_set(seal, '$.sha256', :sha256) WHERE id = :id",
        sha256=other,
        id=document,
    )
    await run_pass(site, clock)
    [(kind, subject, reason)] = site.runtime.db.damage.entries()
    assert (kind, subject) == ("seal", f"{document} {other}") and "changed" in reason
    assert await count_mails(site) == 1


async def test_it_goes_on_after_a_restart_and_remembers_what_it_found(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        await site.complete_document()
        await job.tick(site.runtime)
        clock.advance(days=12)
        first = await job.tick(site.runtime)
        state = await stored.find(site.runtime.db)
        await spoil(site, "UPDATE blob_chunk SET content = x'00' WHERE sha256 > :place", place=state.place)  # type: ignore[union-attr]
    async with a_site(tmp_path / "data", clock) as site:
        assert await stored.find(site.runtime.db) == state
        clock.advance(days=14)
        second = await job.tick(site.runtime)
        [row] = await site.runtime.db.all("SELECT count(*) AS n FROM blob")
        assert first + second == row["n"]
        assert len(site.runtime.db.damage.entries()) == second > 0
        await job.tick(site.runtime)
    async with a_site(tmp_path / "data", clock) as site:
        assert site.runtime.db.damage.entries() == []
        assert await job.recheck(site.runtime) == second


def test_the_rate_of_a_pass_follows_the_time() -> None:
    state = stored.PatrolState("", 0)
    places = [patrol.find_due_place(state, part * patrol.PASS // 4) for part in range(6)]
    assert places == ["0" * 64, "4" + "0" * 63, "8" + "0" * 63, "c" + "0" * 63, patrol.END, patrol.END]


async def test_what_cannot_be_read_stops_neither_the_pass_nor_the_mail(
    site: JourneySite, clock: FakeClock
) -> None:
    await add_owner(site)
    document = await site.complete_document()
    await job.tick(site.runtime)
    await spoil(site, "UPDATE document SET metadata = '[' WHERE id = :id", id=document)
    await run_pass(site, clock)
    state = await stored.find(site.runtime.db)
    assert state is not None and state.finished_at == clock.now()
    assert site.runtime.db.damage.entries() and await count_mails(site) == 1
