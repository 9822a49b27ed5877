"""What has to be true of everything that is stored, and the faults where it is not.

Reads only, in batches that are each of one moment, so a server may write meanwhile. What is found is a `Fault`, with
the name of the `Repair` that mends it where it can be derived from what is there. `esign doctor` reports the faults,
and so does what restores a backup.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from esign.core.document.anchor import UnreadableAnchor
from esign.store.document import templates
from esign.store.engine.readers import Row
from esign.store.engine.snapshot_reader import SnapshotReader
from esign.store.engine.unreadable_rows import CIPHERTEXTS, UNREADABLE, refuse_bytes
from esign.store.people import api_keys, members, organisations, users
from esign.store.queue import deliveries, webhooks
from esign.store.server import anchors
from esign.store.server.derived_values import check_counts, check_index, check_jobs, check_loose
from esign.store.server.document_invariants import check_documents, check_seals
from esign.store.server.fault import Check, ContentFindings, Fault, Inspection
from esign.store.server.installation import can_decrypt
from esign.store.server.stored_contents import check_contents
from esign.system.vault import DamagedCiphertext, Vault

ANCHORS = 4  # read at once; one may name 100,000 trails
# Large tables whose references are checked where their rows are read anyway.
SEEN_ELSEWHERE = ("blob_chunk", "document_blob")


def find_faults(found: Inspection) -> Iterator[Fault]:
    """Yield every fault that the inspection finds. Raises sqlite3.DatabaseError where pages cannot be read.

    The engine checks its pages in a thread of its own, because it leaves the interpreter to the rest. The contents are
    not read in a thread: two that both run Python code take longer than one after the other.
    """
    path = found.reader.path
    with ThreadPoolExecutor(2, "inspection") as threads:
        pages = threads.submit(list_page_faults, path)
        contents = threads.submit(found.check_elsewhere, path) if found.check_elsewhere is not None else None
        for table, place, parent in found.reader.find_lost_references(*SEEN_ELSEWHERE):
            words = f"it refers to a row of {parent} that is missing"
            yield Fault(Check.REFERENCES, f"{table} row {place}", words)
        for check in (
            check_rows,
            check_anchors,
            check_documents,
            check_jobs,
            check_counts,
            check_loose,
            check_index,
        ):
            yield from check(found)
        findings = contents.result() if contents is not None else None
        yield from check_contents(found) if findings is None else take_over(found, findings)
        yield from pages.result()
    yield from check_seals(found)


def take_over(found: Inspection, findings: ContentFindings) -> list[Fault]:
    """Note what a check of the contents elsewhere has found, and return its faults."""
    found.read.update(findings.read)
    found.whole_seals.update(findings.whole_seals)
    return findings.faults


def list_page_faults(path: Path) -> list[Fault]:
    """Check all pages with a connection of its own."""
    with closing(SnapshotReader(path)) as reader:
        return [Fault(Check.PAGES, "", words) for words in reader.check_pages()]


# By table: what loads a row of it.
LOADERS: Mapping[str, Callable[[Row], object]] = {
    "app_user": users.load,
    "delivery": deliveries.load,
    "member": members.load,
    "organisation": organisations.load,
    "template": templates.load,
    "webhook": webhooks.load,
}


def check_rows(found: Inspection) -> Iterator[Fault]:
    """Read every row that is not a document or an entry, and decrypt what workers will need."""
    for table, load in LOADERS.items():
        for rows in found.reader.walk(table):
            found.read["rows"] += len(rows)
            for row in rows:
                try:
                    refuse_bytes(row, CIPHERTEXTS.get(table, ()))
                    load(row)
                except UNREADABLE as error:
                    yield Fault(Check.ROWS, f"{table} {row['id']}", f"it cannot be read: {error}")
    for row in found.reader.all(api_keys.KEY):
        found.read["rows"] += 1
        try:
            refuse_bytes(row, CIPHERTEXTS["api_key"])
            api_keys.load(row)
        except UNREADABLE as error:
            yield Fault(Check.ROWS, f"api_key {row['id']}", f"it cannot be read: {error}")
    if found.vault is not None:
        yield from check_ciphertexts(found, found.vault)


def check_anchors(found: Inspection) -> Iterator[Fault]:
    """Read every anchor, and miss those whose number is between others."""
    expected = 1
    for rows in found.reader.walk("anchor", at_once=ANCHORS):
        for row in rows:
            for missing in range(expected, row["number"]):
                yield Fault(Check.ANCHORS, f"anchor {missing}", "it is missing")
            expected = row["number"] + 1
            try:
                anchors.load(row)
                found.read["anchors"] += 1
            except (UnreadableAnchor, *UNREADABLE) as error:
                yield Fault(Check.ANCHORS, f"anchor {row['number']}", f"it cannot be read: {error}")


def check_ciphertexts(found: Inspection, vault: Vault) -> Iterator[Fault]:
    """Decrypt the secrets of webhooks, and the mails that wait."""
    for row in found.reader.all("SELECT id, secret FROM webhook"):
        if not can_decrypt(vault, row["secret"], str(row["id"])):
            yield Fault(Check.ROWS, f"webhook {row['id']}", "its secret cannot be decrypted")
    waiting = "SELECT id, key, body FROM outbox WHERE state = 'pending' AND kind = 'mail' AND id > :place"
    place = 0
    while rows := found.reader.all(f"{waiting} ORDER BY id LIMIT 500", place=place):
        place = rows[-1]["id"]
        for row in rows:
            try:
                vault.decrypt("outbox", row["body"], row["key"].encode())
            except (DamagedCiphertext, AttributeError, TypeError):
                yield Fault(Check.ROWS, f"outbox {row['id']}", "the mail in it cannot be decrypted")
