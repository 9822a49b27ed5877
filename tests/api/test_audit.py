import hashlib
import io
import json
from dataclasses import replace
from typing import Any

import aiosqlite
import pikepdf
import pytest
import pytest_asyncio
import rfc8785

from esign.actions.verification import verify_trails
from esign.core.actor import Actor
from esign.core.document.state.outcome import Event
from esign.core.instant import rfc3339
from esign.pdf.report import Verification, VerificationCase
from esign.store.document import outcomes
from esign.store.engine.connections import FILE
from esign.store.queue import audit_entries
from tests.api.site import Site, a_request, b64, encode_file
from tests.journeys.api import a_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def signed(site: Site) -> Any:
    """A document that two people signed, downloaded once."""
    first, second = site.signer(order=1), site.signer(order=2)
    document = await site.send_document(recipients=[first, second])
    for signer in (first, second):
        person = await site.person(signer["email"])
        site.clock.advance(minutes=1)
        await person.sign()
    sealed = await site.wait_until_sealed(document["id"])
    await site.bytes_of(document["id"], "sealed")
    return sealed


async def test_the_trail_tells_what_happened_oldest_first(site: Site, signed: Any) -> None:
    assert await site.list_events(signed["id"]) == [
        "document.created",
        "document.sent",
        "recipient.sent",
        "recipient.authenticated",
        "recipient.viewed",
        "recipient.consented",
        "recipient.completed",
        "recipient.sent",
        "recipient.authenticated",
        "recipient.viewed",
        "recipient.consented",
        "recipient.completed",
        "document.completed",
        "document.downloaded",
    ]


async def test_the_first_entry_says_who_where_and_what(site: Site) -> None:
    created = await site.ask("POST", "/documents", a_request(), headers={"User-Agent": "client/1"})
    [entry] = await site.trail(created.body["id"])
    document = await site.get(created.body["id"])
    assert entry == {
        "seq": 1,
        "at": rfc3339(site.clock.now()),
        "type": "document.created",
        "actor": {"kind": "api_key", "id": document["createdBy"]["id"], "name": "ci", "email": None},
        "recipientId": None,
        "ip": "127.0.0.1",
        "userAgent": "client/1",
        "data": {
            "fileSha256": document["fileSha256"],
            "preparedSha256": entry["data"]["preparedSha256"],
            "pageCount": 1,
        },
        "detail": None,
        "salt": entry["salt"],
        "personalHash": entry["personalHash"],
        "prevHash": "0" * 64,
        "hash": entry["hash"],
    }


async def test_a_recipient_s_acts_are_their_own(site: Site, signed: Any) -> None:
    first = signed["recipients"][0]
    acts = [entry for entry in await site.trail(signed["id"]) if entry["recipientId"] == first["id"]]
    own = [entry for entry in acts if entry["type"] != "recipient.sent"]
    assert len(own) == 4
    for entry in own:
        assert entry["actor"] == {
            "kind": "recipient", "id": first["id"], "name": first["name"], "email": first["email"]
        }  # fmt: skip
        assert entry["ip"] == "127.0.0.1"
    assert acts[0]["detail"] == {"email": first["email"]} and acts[0]["actor"]["kind"] == "system"


def verify(document_id: str, entries: list[Any]) -> str:
    """The chain as the contract describes it, from nothing but the JSON; the head."""
    previous = bytes(32)
    for number, entry in enumerate(entries, 1):
        personal = {
            "actor": {"name": entry["actor"]["name"], "email": entry["actor"]["email"]},
            "ip": entry["ip"],
            "userAgent": entry["userAgent"],
            "detail": entry["detail"],
        }
        public = {
            "seq": entry["seq"],
            "at": entry["at"],
            "type": entry["type"],
            "documentId": document_id,
            "actor": {"kind": entry["actor"]["kind"], "id": entry["actor"]["id"]},
            "recipientId": entry["recipientId"],
            "data": entry["data"],
        }
        own = hashlib.sha256(bytes.fromhex(entry["salt"]) + rfc8785.dumps(personal)).digest()
        chained = hashlib.sha256(previous + rfc8785.dumps(public) + own).digest()
        assert entry["seq"] == number and len(bytes.fromhex(entry["salt"])) == 16
        assert entry["personalHash"] == own.hex()
        assert entry["prevHash"] == previous.hex()
        assert entry["hash"] == chained.hex()
        previous = chained
    return previous.hex()


async def test_the_chain_verifies_from_the_answer_alone(site: Site, signed: Any) -> None:
    entries = await site.trail(signed["id"])
    assert verify(signed["id"], entries) == entries[-1]["hash"]


async def test_a_changed_entry_breaks_the_chain(site: Site, signed: Any) -> None:
    entries = await site.trail(signed["id"])
    entries[4]["ip"] = "192.0.2.1"
    with pytest.raises(AssertionError):
        verify(signed["id"], entries)


async def test_every_salt_is_its_own(site: Site, signed: Any) -> None:
    salts = [entry["salt"] for entry in await site.trail(signed["id"])]
    assert len(set(salts)) == len(salts)


async def test_pages_of_the_trail_follow_each_other(site: Site, signed: Any) -> None:
    path, whole = f"/documents/{signed['id']}/audit", await site.trail(signed["id"])
    found, query = [], "?limit=5"
    while query:
        page = await site.ok("GET", path + query)
        found.append([entry["seq"] for entry in page["data"]])
        query = f"?limit=5&cursor={page['nextCursor']}" if page["hasMore"] else ""
    assert found == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], list(range(11, len(whole) + 1))]


async def test_a_cursor_belongs_to_its_document(site: Site, signed: Any) -> None:
    other = (await site.send_document())["id"]
    cursor = (await site.ok("GET", f"/documents/{signed['id']}/audit?limit=1"))["nextCursor"]
    listed = (await site.ok("GET", "/documents?limit=1"))["nextCursor"]
    for wrong in (cursor, listed, "x"):
        answer = await site.ask("GET", f"/documents/{other}/audit?cursor={wrong}")
        assert answer.code == "invalid_cursor"
    assert (await site.ask("GET", f"/documents/{other}/audit?limit=0")).places == {("?limit", "range")}
    assert (await site.ask("GET", f"/documents/{other}/audit?status=sent")).places == {
        ("?status", "unknown_member")
    }


async def test_whoever_reads_the_trail_of_a_document_past_its_time_meets_it_expired(site: Site) -> None:
    document = await site.send_document(expiresInDays=1)
    site.clock.advance(days=1)
    assert (await site.list_events(document["id"]))[-1] == "document.expired"


async def test_what_was_dropped_from_the_file_stands_in_the_trail(site: Site) -> None:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.Launch, F=pikepdf.String("cmd.exe"))
        document = await site.create(file=encode_file(pdf))
    [entry] = await site.trail(document)
    assert entry["data"]["removed"] == ["actions"]


# ---------- the head in the sealed file ----------


async def verify_file(site: Site, content: bytes) -> Verification:
    return await site.runtime.pdf.verify(content, VerificationCase((), site.clock.now(), site.runtime.roots))


async def test_the_head_in_the_sealed_files_is_the_one_after_the_last_recipient_s_act(
    site: Site, signed: Any
) -> None:
    entries = await site.trail(signed["id"])
    last = max(n for n, entry in enumerate(entries) if entry["type"] == "recipient.completed")
    for variant in ("sealed", "certificate"):
        content = await site.bytes_of(signed["id"], variant)
        told = await site.ok("POST", "/verify", {"file": b64(content)})
        expected = {
            "documentId": signed["id"],
            "entries": last + 1,
            "hash": entries[last]["hash"],
            "embedded": True,
        }
        assert told["audit"] == expected and entries[last + 1]["type"] == "document.completed"
        assert await verify_trails.compare_file(site.runtime.db, await verify_file(site, content)) is None


async def test_the_sealed_files_carry_the_trail_up_to_there_as_the_api_tells_it(
    site: Site, signed: Any
) -> None:
    entries = await site.trail(signed["id"])
    for variant in ("sealed", "certificate"):
        with pikepdf.open(io.BytesIO(await site.bytes_of(signed["id"], variant))) as pdf:
            [(name, file)] = pdf.attachments.items()
            held = json.loads(file.get_file().read_bytes())
        assert name == "audit.json"
        assert (
            held["data"] == entries[: held["entries"]]
            and entries[held["entries"] - 1]["hash"] == held["head"]
        )
        assert verify(held["documentId"], held["data"]) == held["head"]  # with nothing but the file


async def test_a_trail_written_anew_with_the_application_key_does_not_fit_the_sealed_file(site: Site) -> None:
    """One word of one entry, every hash after it made again, the mac of the end too: only the seal knows better."""
    document = await site.complete_document()
    runtime, lines = site.runtime, await audit_entries.find_entries(site.runtime.db, document["id"])
    async with aiosqlite.connect(runtime.config.storage.data_dir / FILE) as tamper:
        await tamper.execute("DROP TRIGGER audit_is_never_deleted")
        await tamper.execute("DELETE FROM audit WHERE document_id = ?", (document["id"],))
        await tamper.execute(
            "CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit"
            " BEGIN SELECT RAISE(ABORT, 'the audit trail only grows'); END"
        )
        await tamper.commit()
    facts = [
        Event(
            line.type,
            line.at,
            Actor(line.actor_kind, line.actor_id, (line.personal or {})["actor"]["name"]),
            line.recipient_id,
            data=line.data,
        )
        for line in lines
    ]
    facts[1] = replace(facts[1], at=facts[1].at - 1)
    await runtime.db.write(lambda tx: outcomes.record(tx, document["id"], tuple(facts), runtime.vault))
    [chain] = [c async for c in verify_trails.recompute(runtime.db, runtime.vault, document["id"])]
    assert (chain.broken, chain.entries) == (None, len(lines))
    sealed, wrong = await verify_trails.compare_own_file(
        runtime.db, document["id"], lambda content: verify_file(site, content)
    )
    assert sealed and wrong is not None and "not the one that the sealed file names" in wrong


async def test_the_trails_of_everything_that_happened_here_are_intact(site: Site, signed: Any) -> None:
    gone = await site.complete_document()
    await site.ok("DELETE", f"/documents/{gone['id']}")
    chains = [c async for c in verify_trails.recompute(site.runtime.db, site.runtime.vault)]
    assert len(chains) > 3 and [c.broken for c in chains] == [None] * len(chains)
    [erased] = [c for c in chains if c.document_id == gone["id"]]
    assert erased.erased
