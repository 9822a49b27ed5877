"""T25: tamper with audit trails as somebody with the database and app.key can, and count what the anchors show."""

import hashlib
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from esign.actions.base.caller import Caller
from esign.actions.people import erase_person
from esign.actions.server import anchoring
from esign.actions.verification import verify_trails
from esign.actions.verification.check_anchors import AnchorWitnesses, check_anchors
from esign.core.actor import PROGRAM, Mode, Owner
from esign.core.document.anchor import Anchor, Leaf, Statement, compute_root, make_statement
from esign.core.document.audit import START, hash_entry
from esign.core.seal_credential import Credential
from esign.jobs import erase
from esign.store.document import trails
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Transaction
from esign.store.queue import audit_entries
from esign.store.server import anchors
from esign.system.vault import Vault
from tests.fakes import FakeClock
from tests.journeys.site import a_site
from tests.pdf.local_seal import load_key
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.tsa import stamping

GONE = "gone@example.test"
TARGET = "every tampering is found with an anchor that was kept elsewhere"


@dataclass(frozen=True)
class World:
    """A database at rest, its newest anchors as they are kept outside, and what made them."""

    folder: Path
    kept: tuple[Anchor, ...]
    own: tuple[bytes, ...]
    vault: Vault
    credential: Credential
    now: int


async def make_world(folder: Path) -> World:
    """Make documents on two days with an anchor after each, then erase a person, delete a draft, and anchor that."""
    clock = FakeClock()
    async with (
        stamping(now=clock.now) as tsa,
        a_site(folder / "data", clock, seal={"tsa_urls": [tsa.url]}) as site,
    ):
        draft = ""
        for _ in range(2):
            for _ in range(3):
                await site.api.send_document()
            draft = await site.api.create()
            gone = await site.api.send_document(recipients=[{"name": "Eve Gone", "email": GONE}])
            await site.api.ok("POST", f"/documents/{gone}/cancel")
            clock.advance(days=1)
            assert await anchoring.make_due_anchors(site.runtime) == 1
        organisation = (await site.api.ok("GET", "/account"))["organisation"]["id"]
        caller = Caller(Owner(organisation, Mode.LIVE), PROGRAM)
        await erase_person.request_erasure(site.runtime, caller, GONE, False)
        assert await erase.tick(site.runtime) == 2
        assert (await site.api.call("DELETE", f"/documents/{draft}")).status < 300
        clock.advance(days=1)
        assert await anchoring.make_due_anchors(site.runtime) == 1
        found = [await anchors.find(site.runtime.db, number) for number in (1, 2, 3)]
        runtime, now = site.runtime, clock.now()
        public = next(iter(runtime.credentials.values()))
        credential = replace(public, key_der=await runtime.pdf.signer.find_key(public.certificate_der))
        kept = tuple(anchor for anchor in found if anchor)
        world = World(folder / "data", kept, runtime.own, runtime.vault, credential, now)
    with sqlite3.connect(folder / "data" / FILE) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return world


async def list_faults(world: World, database: Path, given: tuple[Anchor, ...]) -> tuple[list[str], list[str]]:
    """Return what the chains alone show, and what the anchors show."""
    async with open_for_command(database) as db:
        chains = [each.broken async for each in verify_trails.recompute(db, world.vault) if each.broken]
        return chains, (await check_anchors(db, given, AnchorWitnesses(world.own, (), world.now))).broken


def read_trails(database: Path) -> list[tuple[object, ...]]:
    """Return every entry of every trail as it is stored."""
    with closing(sqlite3.connect(database)) as sql:
        return sql.execute("SELECT * FROM audit ORDER BY document_id, seq").fetchall()


# ---------- tamperings of the database ----------


async def rechain(db: Database, vault: Vault, document_id: str) -> None:
    """Number and chain the entries of a trail anew, and vouch for the end with app.key."""

    async def write(tx: Transaction) -> None:
        entries, head = await audit_entries.find_entries(tx, document_id, -1), START
        await tx.run("DELETE FROM audit WHERE document_id = :id", id=document_id)
        for seq, entry in enumerate(entries, 1):
            linked = replace(entry, seq=seq, prev_hash=head)
            linked = replace(linked, hash=hash_entry(linked))
            await audit_entries.append(tx, linked)
            head = linked.hash
        await trails.save_head(tx, trails.TrailEnd(document_id, len(entries), head), vault)

    await db.write(write)


def flip(sql: sqlite3.Connection, leaf: Leaf, random: Random) -> None:
    seq = random.randint(1, leaf.seq)
    sql.execute("UPDATE audit SET at = at + 1000 WHERE document_id = ? AND seq = ?", (leaf.document_id, seq))


def cut(sql: sqlite3.Connection, leaf: Leaf, random: Random) -> None:
    seq = random.randint(2, leaf.seq) if leaf.seq > 1 else 1
    sql.execute("DELETE FROM audit WHERE document_id = ? AND seq >= ?", (leaf.document_id, seq))


def remove(sql: sqlite3.Connection, leaf: Leaf, random: Random) -> None:
    sql.execute("DELETE FROM audit WHERE document_id = ?", (leaf.document_id,))
    sql.execute("DELETE FROM audit_head WHERE document_id = ?", (leaf.document_id,))


def remove_document(sql: sqlite3.Connection, leaf: Leaf, random: Random) -> None:
    remove(sql, leaf, random)
    sql.execute("DELETE FROM document WHERE id = ?", (leaf.document_id,))


def swap(sql: sqlite3.Connection, leaf: Leaf, random: Random) -> None:
    first, second = random.sample(range(1, leaf.seq + 1), 2)
    for old, new in ((first, -1), (second, first), (-1, second)):
        sql.execute(
            "UPDATE audit SET seq = ? WHERE document_id = ? AND seq = ?", (new, leaf.document_id, old)
        )


ANEW = "flip, and make the anchors anew"
DATABASE: dict[str, Callable[[sqlite3.Connection, Leaf, Random], None]] = {
    "flip": flip, "cut": cut, "remove": remove, "remove document": remove_document, "swap": swap, ANEW: flip,
}  # fmt: skip


async def tamper_database(
    world: World, place: Path, name: str, random: Random
) -> tuple[str, tuple[Anchor, ...]]:
    """Tamper with one anchored trail, and chain it anew with app.key. Return its id, and which anchors are kept."""
    least = 2 if name == "swap" else 1  # a single entry cannot change places
    leaf = random.choice([each for anchor in world.kept for each in anchor.leaves if each.seq >= least])
    with closing(sqlite3.connect(place)) as sql, sql:
        sql.execute("DROP TRIGGER audit_is_never_deleted")
        sql.execute("DROP TRIGGER audit_is_never_changed")
        DATABASE[name](sql, leaf, random)
    async with open_for_command(place) as db:
        if not name.startswith("remove"):
            await rechain(db, world.vault, leaf.document_id)
        if name == ANEW:
            await make_anchors_anew(db, world)
    # The newest is enough while the database has those before it as they were.
    return leaf.document_id, world.kept if name == ANEW else world.kept[-1:]


async def make_anchors_anew(db: Database, world: World) -> None:
    """Replace the anchors in the database by ones that fit its trails, sealed with the organisation's key."""
    before: Statement | None = None
    made: list[Anchor] = []
    for anchor in world.kept:
        leaves = [
            replace(leaf, hash=await trails.get_hash(db, leaf.document_id, leaf.seq) or START)
            for leaf in anchor.leaves
        ]
        before = replace(
            make_statement(
                anchor.statement.installation,
                (before.number, before.hash) if before else None,
                leaves,
                world.now,
            ),
            at=anchor.statement.at,
        )
        made.append(Anchor(before, tuple(leaves), seal_statement(world, before), None))

    async def write(tx: Transaction) -> None:
        await tx.run("DELETE FROM anchor")
        for anchor in made:
            await anchors.add(tx, anchor, world.now)

    await db.write(write)


# ---------- tamperings of the files ----------


def seal_statement(world: World, statement: Statement) -> bytes:
    """Seal as somebody does who has the organisation's key."""
    key = load_key(world.credential)
    digest = hashlib.new(key.public.digest, statement.canonical).digest()
    [signature] = key.sign([digest])
    return key.public.build_cms(key.public.build_signer_info(digest, signature))


def forge(world: World, name: str, random: Random) -> tuple[Anchor, ...]:
    """Return the kept anchors with a forged one among them."""
    at = random.randrange(len(world.kept))
    anchor, other = world.kept[at], world.kept[at - 1]
    statement, leaves = anchor.statement, list(anchor.leaves)
    chosen = random.randrange(len(leaves))
    leaves[chosen] = replace(leaves[chosen], hash=random.randbytes(32))
    forged = {
        "leaf": replace(anchor, leaves=tuple(leaves)),
        "root": replace(
            anchor, leaves=tuple(leaves), statement=replace(statement, root=compute_root(leaves))
        ),
        "time": replace(anchor, statement=replace(statement, at="2020-01-01T00:00:00.000Z")),
        "token": replace(anchor, token=other.token),
        "seal": replace(anchor, cms=other.cms),
        "installation": replace(anchor, statement=replace(statement, installation="ins_other")),
        "sealed anew": replace(
            anchor,
            leaves=tuple(leaves),
            statement=(made := replace(statement, root=compute_root(leaves))),
            cms=seal_statement(world, made),
        ),
    }[name]
    return (*world.kept[:at], forged, *world.kept[at + 1 :])


FILES = ("leaf", "root", "time", "token", "seal", "installation", "sealed anew")


@dataclass
class Tally:
    """How often each way was tried, was not found, and would have been found by the chains alone."""

    tried: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    by_chains: Counter[str] = field(default_factory=Counter)


async def tamper(folder: Path, count: int, seed: int) -> Tally:
    """Tamper `count` times with what is intact. A changed trail counts as found only if the anchors name it."""
    world = await make_world(folder)
    whole, place = world.folder / FILE, folder / "tampered.db"
    untouched = read_trails(whole)
    for given in (world.kept, world.kept[-1:]):
        assert await list_faults(world, whole, given) == ([], []), "what was not tampered with is intact"
    random, tally = Random(seed), Tally()
    ways = (*DATABASE, *FILES)
    for number in range(count):
        name = ways[number % len(ways)]
        for ending in ("", "-wal", "-shm"):
            place.with_name(place.name + ending).unlink(missing_ok=True)
        shutil.copy(whole, place)
        subject = "anchor"
        if name in DATABASE:
            subject, given = await tamper_database(world, place, name, random)
            assert read_trails(place) != untouched, f"{name} changed nothing"
        else:
            given = forge(world, name, random)
        chains, faults = await list_faults(world, place, given)
        tally.tried[name] += 1
        tally.missed[name] += not any(fault.startswith(subject) for fault in faults)
        tally.by_chains[name] += bool(chains)
    return tally


async def run(given: Sequence[str]) -> Figure:
    """Tamper 1,000 times."""
    asked = arguments.read(given, tamperings=1_000, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        tally = await tamper(Path(folder), asked["tamperings"], asked["seed"])
    tried, missed = tally.tried, tally.missed.total()
    for name, number in tried.items():
        found, alone = number - tally.missed[name], tally.by_chains[name]
        print(f"{name}: {found} of {number} found, {alone} without an anchor")
    measured = f"{tried.total() - missed} of {tried.total()} found"
    return Figure("T25", TARGET, measured, not missed, missed, arguments.write("audit", asked))
