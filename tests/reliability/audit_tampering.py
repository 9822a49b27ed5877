"""Tamper with audit trails as somebody with the database and app.key can, and count what is found (T25)."""

import argparse
import asyncio
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from esign.actions.server import anchoring
from esign.actions.verification import verify_trails
from esign.actions.verification.check_anchors import check_anchors
from esign.core.document.anchor import Anchor, Leaf, compute_root
from esign.core.document.audit import START, hash_entry
from esign.core.seal_credential import Credential
from esign.store.document import trails
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Transaction
from esign.store.queue import audit_entries
from esign.store.server import anchors
from esign.system.vault import Vault
from tests.fakes import FakeClock
from tests.journeys.site import a_site
from tests.tsa import stamping


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
    """Make documents on two days, of which one was deleted, and an anchor after each day."""
    clock = FakeClock()
    async with (
        stamping(now=clock.now) as tsa,
        a_site(folder / "data", clock, seal={"tsa_urls": [tsa.url]}) as site,
    ):
        for _ in range(2):
            for _ in range(3):
                await site.api.send_document()
            await site.api.create()
            clock.advance(days=1)
            assert await anchoring.make_due_anchors(site.runtime) == 1
        draft = await site.api.create()
        await site.api.call("DELETE", f"/documents/{draft}")
        clock.advance(days=1)
        assert await anchoring.make_due_anchors(site.runtime) == 1
        await site.api.call("DELETE", f"/documents/{await site.api.create()}")
        found = [await anchors.find(site.runtime.db, number) for number in (1, 2, 3)]
        runtime, now = site.runtime, clock.now()
        credential = next(iter(runtime.credentials.values()))
        kept = tuple(anchor for anchor in found if anchor)
        world = World(folder / "data", kept, runtime.own, runtime.vault, credential, now)
    with sqlite3.connect(folder / "data" / FILE) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return world


async def is_found(world: World, database: Path, given: tuple[Anchor, ...]) -> bool:
    """Return whether the chains, or the anchors, show a fault."""
    async with open_for_command(database) as db:
        async for chain in verify_trails.recompute(db, world.vault):
            if chain.broken:
                return True
        return bool((await check_anchors(db, given, world.own)).broken)


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
    first, second = random.sample(range(1, leaf.seq + 1), 2) if leaf.seq > 1 else (1, 9)
    for old, new in ((first, -1), (second, first), (-1, second)):
        sql.execute(
            "UPDATE audit SET seq = ? WHERE document_id = ? AND seq = ?", (new, leaf.document_id, old)
        )


DATABASE: dict[str, Callable[[sqlite3.Connection, Leaf, Random], None]] = {
    "flip": flip, "cut": cut, "remove": remove, "remove document": remove_document, "swap": swap,
}  # fmt: skip


async def tamper_database(world: World, place: Path, name: str, random: Random) -> tuple[Anchor, ...]:
    """Tamper with one anchored trail, often with app.key, sometimes with the anchors too. Return what is kept."""
    leaf = random.choice([leaf for anchor in world.kept for leaf in anchor.leaves])
    sql = sqlite3.connect(place)
    with sql:
        sql.execute("DROP TRIGGER audit_is_never_deleted")
        sql.execute("DROP TRIGGER audit_is_never_changed")
        DATABASE[name](sql, leaf, random)
        if random.random() < 0.3:
            number = random.choice((1, 2, 3))
            sql.execute("DELETE FROM anchor WHERE number >= ?", (number,))
            sql.execute("UPDATE audit_head SET anchored = 0")
    sql.close()
    if not name.startswith("remove"):
        async with open_for_command(place) as db:
            await rechain(db, world.vault, leaf.document_id)
    return world.kept[-1:] if random.random() < 0.5 else world.kept


# ---------- tamperings of the files ----------


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
            cms=anchoring.seal_statement(world.credential, made, world.now),
        ),
    }[name]
    return (*world.kept[:at], forged, *world.kept[at + 1 :])


FILES = ("leaf", "root", "time", "token", "seal", "installation", "sealed anew")


async def run(folder: Path, count: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Tamper `count` times. Return how often each way was tried, and how often it was not found."""
    world = await make_world(folder)
    assert not await is_found(world, world.folder / FILE, world.kept), "what was not tampered with is intact"
    assert not await is_found(world, world.folder / FILE, world.kept[-1:])
    random, tried, missed = Random(seed), Counter[str](), Counter[str]()
    ways = (*DATABASE, *FILES)
    place = folder / "tampered.db"
    for number in range(count):
        name = ways[number % len(ways)]
        for ending in ("", "-wal", "-shm"):
            place.with_name(place.name + ending).unlink(missing_ok=True)
        shutil.copy(world.folder / FILE, place)
        if name in DATABASE:
            given = await tamper_database(world, place, name, random)
        else:
            given = forge(world, name, random)
        tried[name] += 1
        missed[name] += not await is_found(world, place, given)
    return tried, +missed


def main(arguments: list[str]) -> int:
    """Run the tamperings, and print how many were found. Return 1 if any was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability audit")
    parser.add_argument("--tamperings", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tried, missed = asyncio.run(run(Path(folder), options.tamperings, options.seed))
    for name, number in tried.items():
        sys.stdout.write(f"{name}: {number - missed[name]} of {number} found\n")
    sys.stdout.write(f"{tried.total() - missed.total()} of {tried.total()} tamperings found\n")
    return 1 if missed else 0
