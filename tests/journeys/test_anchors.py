"""Anchors of the audit trails: made once a day, delivered, and what they show of tampering (T25)."""

import hashlib
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from esign.actions.server import anchor_targets, anchoring
from esign.actions.server.outside_checks import read_facts
from esign.actions.verification.check_anchors import AnchorReport, AnchorWitnesses, check_anchors
from esign.cli.verify_trails import export_anchors
from esign.core.document.anchor import Anchor, Statement, read_file, write_file
from esign.core.instant import DAY, rfc3339
from esign.core.seal_credential import Credential
from esign.jobs import anchor, worker
from esign.mail.failure import TemporaryFailure
from esign.net import DirectClient
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Transaction
from esign.store.queue import held_jobs
from esign.store.server import anchors
from tests.certificates import make_pair
from tests.fakes import FakeClock, FakeMailbox
from tests.journeys.receiver import receiving
from tests.journeys.site import JourneySite, a_site
from tests.pdf.local_seal import load_key
from tests.pki import a_seal, an_authority
from tests.reliability import audit_tampering
from tests.tsa import granting, saying, stamping


async def test_every_tampering_is_found(tmp_path: Path) -> None:
    tally = await audit_tampering.tamper(tmp_path, 39, 7)
    assert tally.tried.total() == 39 and not tally.missed.total()
    assert not tally.by_chains["flip"], "only the anchors show what was chained anew with app.key"


async def test_an_anchor_is_made_once_a_day_and_waits_for_the_authority(
    tmp_path: Path, clock: FakeClock
) -> None:
    (tmp_path / "kept").mkdir()
    audit = {"anchor_to": [tmp_path / "kept"]}
    async with (
        stamping(now=clock.now) as tsa,
        a_site(tmp_path / "data", clock, seal={"tsa_urls": [tsa.url]}, audit=audit) as site,
    ):
        await site.api.create()
        assert await anchor.tick(site.runtime) == 0, "not on the day of the installation"
        clock.advance(days=5)
        tsa.how = saying(b"", 503)
        assert await anchor.tick(site.runtime) == 0 and not [*(tmp_path / "kept").iterdir()]
        tsa.how = granting()
        clock.advance(minutes=5)
        await site.runtime.db.write(lambda tx: held_jobs.hold(tx, clock.now(), clock.now()))
        assert await anchor.tick(site.runtime) == 0, "a copy waits for its administrator"
        await site.runtime.db.write(lambda tx: tx.run("UPDATE restoration SET resumed_at = 1"))
        assert [await anchor.tick(site.runtime) for _ in range(2)] == [1, 0], "one, however many days"
        [file] = (tmp_path / "kept").iterdir()
        assert read_file(file.read_bytes()) == await anchors.find(site.runtime.db, 1)
        await site.api.create()
        clock.advance(days=1)
        (tmp_path / "kept").rename(tmp_path / "gone")
        assert await anchor.tick(site.runtime) == 1
        [told] = (await (await site.session.get(f"{site.base}/readyz")).json())["warnings"]
        assert told == "1 of 1 targets of audit.anchor_to did not take the last anchor"
        (tmp_path / "gone").rename(tmp_path / "kept")
        await anchor.tick(site.runtime)
        second = max((tmp_path / "kept").iterdir())
        assert read_file(second.read_bytes()).statement.number == 2
        assert await anchor_targets.list_warnings(site.runtime) == []


async def test_many_trails_make_several_anchors_and_a_failure_between_them_waits_for_no_day(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with (
        stamping(now=clock.now) as tsa,
        a_site(tmp_path / "data", clock, seal={"tsa_urls": [tsa.url]}) as site,
    ):
        for _ in range(3):
            await site.api.create()
        assert len(await anchors.find_grown(site.runtime.db, 9)) == 4, "with the log of the organisation"
        clock.advance(days=1)
        assert await anchoring.make_due_anchors(site.runtime, 3) == 2
        assert [await anchors.count_leaves(site.runtime.db, number) for number in (1, 2, 3)] == [3, 1, 0]
        await site.api.create()
        assert await anchoring.make_due_anchors(site.runtime, 3) == 0, "the day has its anchor"
        assert await anchoring.make_due_anchors(site.runtime, 1) == 1, "the last one was full"
        await site.api.create()
        clock.advance(days=2)
        tsa.how = saying(b"", 503)
        assert await anchoring.make_due_anchors(site.runtime) == 0
        [told] = await anchor_targets.list_warnings(site.runtime)
        assert "has been due for 2 days" in told


async def test_damaged_anchors_hold_up_neither_new_ones_nor_the_targets(
    tmp_path: Path, clock: FakeClock
) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    async with a_site(tmp_path / "data", clock, audit={"anchor_to": folders}) as site:
        db = site.runtime.db
        for _ in range(3):
            await site.api.create()
            clock.advance(days=1)
            assert await anchoring.make_due_anchors(site.runtime) == 1

        async def damage(tx: Transaction) -> None:
            await tx.run("UPDATE anchor SET leaves = :cut WHERE number = 1", cut=b"[[")
            await tx.run("DELETE FROM anchor WHERE number = 2")
            await tx.run("UPDATE anchor SET statement = :cut WHERE number = 3", cut=b"{")

        await db.write(damage)
        await site.api.create()
        clock.advance(days=1)
        assert await anchor.tick(site.runtime) == 1
        made = await anchors.get(db, 4)
        assert made.statement.previous == hashlib.sha256(b"{").digest(), "the row before, as it lies there"
        for folder in folders:
            [file] = folder.iterdir()
            assert file.read_bytes() == write_file(made)
        assert await anchor_targets.list_warnings(site.runtime) == [], "the targets have what there is"
        [told] = (await (await site.session.get(f"{site.base}/readyz")).json())["warnings"]
        assert all(f"anchor {number}" in told for number in (1, 2, 3))
        await site.api.create()
        clock.advance(days=1)
        assert await anchor.tick(site.runtime) == 1
        assert (await anchors.get(db, 5)).statement.previous == made.statement.hash
        said: list[str] = []
        (tmp_path / "exported").mkdir()
        assert not await export_anchors(site.runtime.config, tmp_path / "exported", said.append)
        assert len(said) == 4 and said[-1].startswith("2 anchors in "), "three are named"
        assert len([*(tmp_path / "exported").iterdir()]) == 2


async def add_owner(site: JourneySite) -> None:
    await site.invite_owner("owner@example.test", "Ada")
    await site.work("mail")
    await site.runtime.db.write(lambda tx: tx.run("UPDATE member SET status = 'active' WHERE role = 'owner'"))


async def test_owners_get_each_anchor_by_mail_and_it_counts_once_a_server_took_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock, audit={"anchor_to": ["owners"]}) as site:
        mailbox = FakeMailbox()
        runtime = replace(site.runtime, mail=mailbox)
        await site.api.create()
        clock.advance(days=1)
        assert await anchor.tick(runtime) == 1
        assert len(await anchor_targets.list_warnings(runtime)) == 1, "nobody could be mailed"
        await add_owner(site)
        clock.advance(days=1)
        assert [await anchor.tick(runtime) for _ in range(2)] == [1, 0]
        mailbox.failure = TemporaryFailure("450 later")
        await worker.drain_jobs(runtime, "mail")
        assert len(mailbox.refused) == 1 and len(await anchor_targets.list_warnings(runtime)) == 1
        facts = await read_facts(runtime.db, runtime.config)
        assert facts.failing == {"owners": "no mail server took the last anchor for 1 of them"}
        mailbox.failure = None
        clock.advance(minutes=2)
        await worker.drain_jobs(runtime, "mail")
        assert await anchor_targets.list_warnings(runtime) == []
        assert (await read_facts(runtime.db, runtime.config)).failing == {}
        [message] = mailbox.messages
        [file] = message.iter_attachments()
        second = await anchors.get(runtime.db, 2)
        assert file.get_content() == write_file(second) and file.get_filename() == second.file_name
        body = message.get_body(("plain",))
        assert body is not None and second.statement.fingerprint in " ".join(body.get_content().split())
        await runtime.db.write(lambda tx: anchoring.queue_mails(tx, runtime, second.statement, clock.now()))
        assert await worker.drain_jobs(runtime, "mail") == 0, "one a day"
        await site.api.create()
        clock.advance(days=1)
        await anchor.tick(site.runtime)
        assert await anchor_targets.list_warnings(runtime) == []
        await site.work("mail")
        [told] = await anchor_targets.list_warnings(runtime)
        assert "1 of 1 targets" in told, "it was kept here, as no mail server is set"


def test_what_follows_the_host_of_an_address_is_kept_nowhere() -> None:
    one, other = (f"https://anchors.example.com/in?token={token}" for token in ("s3cret", "other"))
    named = anchor_targets.name_target(one)
    assert named.startswith("https://anchors.example.com (") and "s3cret" not in named
    assert named != anchor_targets.name_target(other)


async def test_an_https_address_gets_what_it_lacks_in_order(tmp_path: Path, clock: FakeClock) -> None:
    pair = make_pair(tmp_path)
    async with (
        receiving(pair.server) as receiver,
        a_site(tmp_path / "data", clock, audit={"anchor_to": [receiver.url]}) as site,
    ):
        assert await anchor.tick(site.runtime) == 0
        for number, status in ((1, 500), (2, 302), (3, 202)):
            receiver.always(status, location=receiver.url)
            await site.api.create()
            clock.advance(days=1)
            direct = DirectClient(tls=pair.client)
            assert await anchor.tick(replace(site.runtime, direct=direct)) == 1
            await direct.close()
            assert len(await anchor_targets.list_warnings(site.runtime)) == (number < 3)
        sent = [read_file(each.body).statement.number for each in receiver.came]
        assert sent == [1, 1, 1, 2, 3]
        assert site.runtime.measures.anchors == {"made": 3, "undelivered": 2, "delivered": 3}
        stored = await anchors.get(site.runtime.db, 3)
        assert receiver.came[-1].body == write_file(stored)
        await site.api.create()
        clock.advance(days=1)
        await anchor.tick(site.runtime)
        assert len(receiver.came) == 5, "its certificate is not trusted"
        assert len(await anchor_targets.list_warnings(site.runtime)) == 1


def seal_with(credential: Credential, statement: Statement) -> bytes:
    key = load_key(credential)
    digest = hashlib.new(key.public.digest, statement.canonical).digest()
    [signature] = key.sign([digest])
    return key.public.build_cms(key.public.build_signer_info(digest, signature))


async def test_an_anchor_is_judged_by_its_seal_its_times_and_its_authority(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with (
        stamping(now=clock.now) as tsa,
        a_site(tmp_path / "data", clock, seal={"tsa_urls": [tsa.url]}) as site,
    ):
        runtime = site.runtime
        for number in (1, 2):
            await site.api.create()
            clock.advance(days=1)
            await anchoring.make_due_anchors(runtime)
            if number == 1:
                with sqlite3.connect(tmp_path / "data" / FILE) as connection:
                    connection.execute("VACUUM INTO ?", (str(tmp_path / "older.db"),))
        first, second = [await anchors.get(runtime.db, number) for number in (1, 2)]
        known = AnchorWitnesses(runtime.own, (), clock.now())

        async def check(*given: Anchor, known: AnchorWitnesses = known) -> AnchorReport:
            return await check_anchors(runtime.db, given, known)

        async def find_only_fault(given: Anchor, known: AnchorWitnesses = known) -> str:
            [fault] = (await check(given, known=known)).broken
            return fault

        public = next(iter(runtime.credentials.values()))
        own = replace(public, key_der=await runtime.pdf.signer.find_key(public.certificate_der))

        def change(**words: str) -> Anchor:
            statement = replace(second.statement, **words)  # type: ignore[arg-type]
            return replace(second, statement=statement, cms=seal_with(own, statement), token=None)

        whole = await check(second)
        assert whole.broken == [] and whole.anchors == 2
        assert "which leads to no root in seal.trust" in whole.notes[1]
        trusting = replace(known, roots=(tsa.root,))
        assert "which leads to a root" in (await check(second, known=trusting)).notes[1]
        replayed = await check(first)
        assert replayed.broken == [] and "Nothing vouches here" in replayed.notes[-1]
        assert "another installation" in await find_only_fault(change(installation="ins_other"))
        assert "from the future" in await find_only_fault(
            change(at=rfc3339(clock.now() + DAY)), replace(known, now=clock.now())
        )
        assert "time cannot be read" in await find_only_fault(change(at="yesterday"))
        stranger = a_seal(an_authority("Another")).credential
        forged = replace(second, cms=seal_with(stranger, second.statement))
        assert "not sealed by this installation" in await find_only_fault(forged)
        backdated = change(at=rfc3339(clock.now() - 30 * DAY))
        (stamp,) = await runtime.tsa.stamp_signatures([backdated.statement.canonical])
        assert "but its time stamp is of" in await find_only_fault(replace(backdated, token=stamp.token))
        again = await check(change(at=second.statement.at.replace("Z", "0Z")))
        assert any("another one of this number" in fault for fault in again.broken)
    async with open_for_command(tmp_path / "older.db") as older:
        report = await check_anchors(older, [second], known)
    created = next(leaf.document_id for leaf in second.leaves if leaf.document_id.startswith("doc_"))
    assert report.is_older and report.broken[0] == (
        "anchor 2: it is missing; the newest in the database is anchor 1"
    )
    assert f"{created}: the whole trail is missing, which anchor 2 has up to entry 1" in report.broken


async def test_two_servers_with_one_database_do_not_hinder_one_another_and_are_told_apart(
    tmp_path: Path, clock: FakeClock
) -> None:
    (tmp_path / "kept").mkdir()
    audit = {"anchor_to": [tmp_path / "kept"]}

    async def go_on(name: str, other: Sequence[Anchor] = ()) -> tuple[Anchor, AnchorReport | None]:
        async with a_site(tmp_path / name, clock, audit=audit) as site:
            await site.api.create()
            clock.advance(days=1)
            assert await anchor.tick(site.runtime) == 1
            assert await anchor_targets.list_warnings(site.runtime) == []
            number = await anchors.find_last_time(site.runtime.db)
            assert number is not None
            known = AnchorWitnesses(site.runtime.own, (), clock.now())
            report = await check_anchors(site.runtime.db, other, known) if other else None
            return await anchors.get(site.runtime.db, number[0]), report

    await go_on("data")
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    second, _ = await go_on("data")
    _, report = await go_on("copy", [second])
    assert report is not None and not report.is_older
    assert any("another one of this number" in fault for fault in report.broken)
    assert len([*(tmp_path / "kept").iterdir()]) == 3
