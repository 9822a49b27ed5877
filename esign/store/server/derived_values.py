"""Checks what is derived from other rows: jobs, counters, marks and the index of words."""

from collections.abc import Iterator, Mapping, Set

from esign.core.actor import Mode
from esign.core.instant import MINUTE
from esign.store.engine.search_words import make_label
from esign.store.engine.snapshot_reader import SnapshotReader
from esign.store.server.fault import Check, Fault, Inspection, Repair

LEASE_OVER = 10 * MINUTE  # no worker works on a job whose lease ended so long ago
LONGEST_LEASE = 15 * MINUTE  # no worker claims a job for longer

Counts = dict[tuple[str, str, str], tuple[int, int]]


def check_jobs(found: Inspection) -> Iterator[Fault]:
    """Find jobs and deliveries of what does not exist, and leases that nobody holds any more."""
    read = found.reader.all
    for row in read(
        "SELECT id, kind, document_id FROM outbox o WHERE state = 'pending' AND document_id IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM document d WHERE d.id = o.document_id)"
    ):
        yield Fault(
            Check.JOBS,
            f"job {row['id']}",
            f"a {row['kind']} of document {row['document_id']}, which does not exist",
        )
    for row in read(
        "SELECT number, webhook_id FROM delivery WHERE status = 'pending'"
        " AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.id = delivery.webhook_id)"
    ):
        yield Fault(
            Check.JOBS, f"delivery {row['number']}", f"to webhook {row['webhook_id']}, which does not exist"
        )
    for table, key, waits in (("outbox", "id", "state"), ("delivery", "number", "status")):
        for row in read(
            f"SELECT {key} AS id FROM {table} WHERE {waits} = 'pending' AND boot IS NOT NULL"
            " AND (due_at < :over OR due_at > :latest)",
            over=found.now - LEASE_OVER,
            latest=found.now + LONGEST_LEASE,
        ):
            name = "job" if table == "outbox" else "delivery"
            yield Fault(Check.JOBS, f"{name} {row['id']}", "a worker that is gone holds it", Repair.LEASE)


def check_counts(found: Inspection) -> Iterator[Fault]:
    """Count the documents, and compare with what lists say. An index has all that is counted."""
    with found.reader.snapshot():
        kept, counted = read_counts(found.reader)
    for key in sorted(kept.keys() | counted.keys()):
        if kept.get(key, (0, 0)) != counted.get(key, (0, 0)):
            organisation, mode, status = key
            said, true = kept.get(key, (0, 0)), counted.get(key, (0, 0))
            yield Fault(
                Check.COUNTERS,
                f"{organisation} {mode} {status}",
                f"{said[0]} documents, {said[1]} of them for attention, are said to exist, and {true[0]}, {true[1]} do",
                Repair.COUNT,
            )


def read_counts(reader: SnapshotReader) -> tuple[Counts, Counts]:
    """Return the numbers of documents, and of those that need attention: as they are kept, and as they are."""
    group = "organisation_id, mode, status"
    kept = {
        (row[0], row[1], row[2]): (row[3], row[4])
        for row in reader.all(f"SELECT {group}, documents, attention FROM document_count")
        if row[3] or row[4]
    }
    all_of_them = reader.all(f"SELECT {group}, count(*) FROM document GROUP BY {group}")
    troubled = reader.all(f"SELECT {group}, count(*) FROM document WHERE attention = 1 GROUP BY {group}")
    attention = {(row[0], row[1], row[2]): row[3] for row in troubled}
    return kept, {
        (row[0], row[1], row[2]): (row[3], attention.get((row[0], row[1], row[2]), 0)) for row in all_of_them
    }


def check_loose(found: Inspection) -> Iterator[Fault]:
    """Check that exactly the content that nothing refers to is marked so: marked content is deleted."""
    columns = """sha256, loose,
        EXISTS (SELECT 1 FROM document_blob d WHERE d.sha256 = blob.sha256)
        OR EXISTS (SELECT 1 FROM template_blob t WHERE t.sha256 = blob.sha256) AS kept"""
    for rows in found.reader.walk("blob", columns):
        for row in rows:
            if bool(row["loose"]) == bool(row["kept"]):
                words = (
                    "is in use and marked for deletion" if row["kept"] else "is not in use and never deleted"
                )
                yield Fault(Check.COUNTERS, f"blob {row['sha256']}", words, Repair.LOOSE)


def check_index(found: Inspection) -> Iterator[Fault]:
    """Check that the index of words has the number of each document, and no other."""
    labels = list_labels(found)
    place = 0
    while True:
        with found.reader.snapshot():
            rows = found.reader.all(
                "SELECT number, document_id, labels FROM search WHERE number > :place ORDER BY number LIMIT 2000",
                place=place,
            )
            until = rows[-1]["number"] if rows else 2**62
            wanted: dict[str, dict[int, str]] = {label: {} for label in labels}
            for row in rows:
                wanted.setdefault(str(row["labels"]).partition(" ")[0], {})[row["number"]] = str(
                    row["document_id"]
                )
            faults = [
                fault
                for label, numbers in wanted.items()
                for fault in compare_index(found, label, numbers, place, until)
            ]
        yield from faults
        if not rows:
            return
        place = until


def compare_index(
    found: Inspection, label: str, numbers: Mapping[int, str], place: int, until: int
) -> Iterator[Fault]:
    """Compare the numbers of the documents of one owner with those that the index has."""
    if not label:
        return
    indexed = set(found.reader.find_indexed_numbers(label, place, until))
    for number in sorted(numbers.keys() - indexed):
        yield Fault(Check.SEARCH, numbers[number], "the index does not find it", Repair.INDEX)
    for number in sorted(indexed - numbers.keys()):
        yield Fault(
            Check.SEARCH, f"number {number}", "the index finds a document that does not exist", Repair.INDEX
        )


def list_labels(found: Inspection) -> Set[str]:
    """Return the label of all documents of each owner."""
    ids = [str(row["id"]) for row in found.reader.all("SELECT id FROM organisation")]
    return {make_label(f"{each} {mode.value}", "all", "") for each in ids for mode in Mode}
