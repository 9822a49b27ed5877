"""`esign verify-audit`: recompute audit trails and administrative logs, and compare trails with the sealed files."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from esign import authority
from esign.actions.verification import verify_trails
from esign.actions.verification.check_anchors import AnchorWitnesses, check_anchors
from esign.cli.installation import open_database, open_with_key
from esign.cli.verify_file import UnreadableInput, open_verifier, read_input, read_trusted_roots
from esign.config import Config
from esign.core.document.anchor import Anchor, UnreadableAnchor, read_file, write_file
from esign.core.document.audit import is_organisation
from esign.core.errors import Problem
from esign.store.document import trails
from esign.store.engine.connections import FILE
from esign.store.engine.database import Database
from esign.store.server import anchors
from esign.system import vault
from esign.system.clock import SystemClock
from esign.system.outside_folder import write_new_file

DOCUMENT = re.compile(r"(doc|org)_[0-9a-z]{1,60}")
MOST = 20  # broken trails that are reported one by one

Say = Callable[[str], None]


async def verify_audit(
    config: Config, what: str | None, chains_only: bool, say: Say, kept: Sequence[Path] = ()
) -> bool:
    """Return whether all is as it was written. Raises `UnreadableInput` without such a file, document or database.

    `kept` are files of anchors, which all trails are compared with as well.
    """
    given = [read_anchor(path) for path in kept]
    data = config.storage.data_dir
    if not (data / FILE).exists():
        raise UnreadableInput(f"there is no database in {data}; choose the configuration with --config")
    async with open_with_key(config) as (db, keys), open_verifier(config, as_sealed=True) as verify:
        await verify_trails.complete_heads(db, keys)
        if what is not None and not DOCUMENT.fullmatch(what):
            return await verify_against_file(db, keys, Path(what), verify, say)
        whole = await verify_all_trails(db, keys, what, None if chains_only else verify, say)
        return await verify_against_anchors(config, db, given, say) and whole


def read_anchor(path: Path) -> Anchor:
    """Return the anchor in a file. Raises `UnreadableInput`."""
    try:
        return read_file(read_input(path))
    except UnreadableAnchor as error:
        raise UnreadableInput(f"{path}: {error}") from None


async def verify_against_anchors(config: Config, db: Database, given: Sequence[Anchor], say: Say) -> bool:
    """Compare all trails with anchors. Return whether they agree; without anchors nothing is compared."""
    if not given:
        return True
    own = authority.find_known_own(config.storage.data_dir, authority.find_configured_seal(config.seal))
    known = AnchorWitnesses(own, read_trusted_roots(config, ()), SystemClock().now())
    report = await check_anchors(db, given, known)
    for line in (*report.notes, *report.broken[:MOST]):
        say(line)
    if report.broken:
        say(
            f"BROKEN: {write_count(len(report.broken), 'fault')} against the anchors. Do not rely on these trails."
        )
        if report.is_older:
            say(
                "The database ends before the newest of these anchors was made. If it was restored from a backup, what"
                " came after the backup is lost. Otherwise an older copy was put in its place, or its end was removed."
            )
        return False
    say(
        f"INTACT: {write_count(report.anchors, 'anchor')} with {write_count(report.trails, 'end')} of audit trails"
        " compared."
    )
    return True


async def export_anchors(config: Config, place: Path, say: Say) -> bool:
    """Write each anchor of the database to a folder. Return whether all are there; no file is replaced."""
    data = config.storage.data_dir
    if not (data / FILE).exists():
        raise UnreadableInput(f"there is no database in {data}; choose the configuration with --config")
    async with open_database(config) as db:
        last = await anchors.find_last_time(db)
        number = last[0] if last else 0
        there = 0
        for each in range(1, number + 1):
            try:
                anchor = await anchors.get(db, each)
            except UnreadableAnchor as error:
                say(f"anchor {each}: {error}")
                continue
            problem = write_new_file(place, anchor.file_name, write_file(anchor))
            if problem is not None:
                say(problem)
                return False
            there += 1
    say(f"{write_count(there, 'anchor')} in {place}.")
    return there == number


def write_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


async def verify_all_trails(
    db: Database, keys: vault.Vault, only: str | None, verify: verify_trails.Verifier | None, say: Say
) -> bool:
    count = entries = files = broken = late = logs = logged = 0
    async for chain in verify_trails.recompute(db, keys, only):
        late += chain.late
        wrong = chain.broken
        if is_organisation(chain.document_id):
            logs, logged = logs + 1, logged + chain.entries
        else:
            count, entries = count + 1, entries + chain.entries
        if verify is not None and not wrong and not is_organisation(chain.document_id):
            sealed, wrong = await verify_trails.compare_own_file(
                db, chain.document_id, verify, late=chain.late
            )
            files += sealed
        if wrong:
            broken += 1
            if broken <= MOST:
                say(f"{chain.document_id}, {wrong}")
    lost = await trails.list_documents_without_trail(db) if only is None else []
    for document_id in lost[:MOST]:
        say(f"{document_id}: the whole trail is missing")
    if only is not None and not count + logs:
        raise UnreadableInput(f"there is no audit trail of {only}")
    if broken or lost:
        share = f"{broken + len(lost)} of {write_count(count + logs + len(lost), 'audit trail')}"
        say(f"BROKEN: {share} changed or missing. Do not rely on them.")
        return False
    held = f", {files} of them compared with their sealed files" if verify is not None else ""
    if count or only is None:
        say(f"INTACT: {write_count(count, 'audit trail')} with {entries} entries recomputed{held}.")
    if logs:
        told = "1 entry" if logged == 1 else f"{logged} entries"
        say(f"INTACT: {write_count(logs, 'administrative log')} with {told} recomputed.")
    if late:
        say(
            f"The ends of {write_count(late, 'audit trail')} are proved only since an upgrade:"
            " the version that began them kept no proof of the last entry."
        )
    return True


async def verify_against_file(
    db: Database, keys: vault.Vault, pdf: Path, verify: verify_trails.Verifier, say: Say
) -> bool:
    """Compare a sealed file, wherever it comes from, with the trail in this installation.

    Return whether they agree.
    """
    try:
        found = await verify(read_input(pdf))
    except Problem as problem:
        raise UnreadableInput(f"{pdf}: {problem.message}") from None
    wrong, head = None, found["audit"]
    if head is not None:
        say(f"The file names entry {head['entries']} of {head['documentId']}: {head['hash']}")
        async for chain in verify_trails.recompute(db, keys, head["documentId"]):
            wrong = chain.broken
    wrong = wrong or await verify_trails.compare_file(db, found)
    if wrong:
        say(f"BROKEN: {wrong}.")
        return False
    say("INTACT: the audit trail here contains the entry that the file names.")
    return True
