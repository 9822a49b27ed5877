"""Checks every document against its trail, its events, its contents and its words.

One walk in the order of the ids reads all of it, in batches that are each of one moment.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from esign.core.document.attention import find_trouble
from esign.core.document.audit import Chain, is_organisation
from esign.core.document.document import Document, Field, Ink, RecipientStatus, Status
from esign.core.instant import MINUTE
from esign.core.webhook.webhook import PUBLISHED
from esign.store.document import documents, trails
from esign.store.engine.dialect import read_bytes_as_text, read_text_as_bytes
from esign.store.engine.readers import Row
from esign.store.engine.search_index import collect_words
from esign.store.engine.unreadable_rows import UNREADABLE
from esign.store.server.fault import Check, Fault, Inspection, Repair
from esign.store.server.stored_contents import find_sealed_hash, read_content_here

DOCUMENTS, ENTRIES = 250, 2_500  # in one batch, at most about so many
LATE_SEAL = MINUTE
CUT = "it does not end with the entry that was written last"


@dataclass(slots=True)
class TrailFacts:
    """What a trail says of its document."""

    chain: Chain
    last: trails.TrailRow
    published: int = 0
    completions: Counter[str] = field(default_factory=Counter)
    sealed: str | None = None


def check_documents(found: Inspection) -> Iterator[Fault]:
    """Check every document, its trail, its events and its words, some at a time in the order of their ids."""
    place = b""
    while True:
        end = find_batch_end(found, place)
        with found.reader.snapshot():
            faults = list(check_batch(found, place, end))
        yield from faults
        if end is None:
            return
        place = end


def find_batch_end(found: Inspection, place: bytes) -> bytes | None:
    """Return the id at which the next batch ends, or None if the rest is one."""
    name = read_bytes_as_text(":place")
    ends = [
        row[0]
        for sql, most in (
            (f"SELECT {read_text_as_bytes('id')} FROM document WHERE id > {name} ORDER BY id", DOCUMENTS),
            (
                f"SELECT {read_text_as_bytes('document_id')} FROM audit WHERE document_id > {name}"
                " ORDER BY document_id, seq",
                ENTRIES,
            ),
        )
        for row in found.reader.all(f"{sql} LIMIT 1 OFFSET {most}", place=place)
    ]
    return min(ends, default=None)


def check_batch(found: Inspection, place: bytes, end: bytes | None) -> Iterator[Fault]:
    """Check the documents and trails with ids above `place` and up to `end`."""
    batch = Batch(found, place, end)
    known = batch.read_documents()
    faults, facts = [], dict[str, TrailFacts]()
    for document_id, fact in batch.read_trails():
        facts[document_id] = fact
        if broken := describe_trail(found, fact):
            faults.append(Fault(Check.TRAILS, document_id, broken))
    yield from faults
    heads = batch.list_ids("audit_head", "document_id")
    ids = batch.list_ids("organisation", "id") | known.keys()
    for document_id in sorted((heads | known.keys()) - facts.keys()):
        yield Fault(Check.TRAILS, document_id, "the whole trail is missing")
    for document_id, fact in facts.items():
        is_gone = document_id not in ids
        if (
            is_gone
            and not fact.chain.broken
            and (is_organisation(document_id) or fact.chain.last_type != "document.deleted")
        ):
            yield Fault(
                Check.TRAILS,
                document_id,
                "its row is missing, and the trail does not say that it was deleted",
            )
    yield from batch.check_events(facts)
    kept, words = batch.read_kept(), batch.read_words()
    for document_id, row in known.items():
        if isinstance(row, str):
            yield Fault(Check.ROWS, f"document {document_id}", f"it cannot be read: {row}")
            continue
        yield from check_document(found, row, facts.get(document_id), kept.get(document_id, {}))
        if words.pop(document_id, None) != collect_words(row.document):
            yield Fault(
                Check.SEARCH, document_id, "the words to find it by are missing or others", Repair.WORDS
            )
    for document_id in sorted(kept.keys() - known.keys()):
        yield Fault(Check.REFERENCES, f"document_blob of {document_id}", "the document does not exist")
    for document_id in words:
        yield Fault(Check.SEARCH, document_id, "words of a document that does not exist", Repair.WORDS)


def describe_trail(found: Inspection, fact: TrailFacts) -> str | None:
    """Return what is wrong with a trail, or None."""
    if fact.chain.broken:
        return fact.chain.broken
    if found.vault is not None and not fact.last.is_last(fact.chain.head, found.vault):
        return CUT
    return None


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """A document, and the columns that are derived from it."""

    document: Document
    attention: bool
    sender_id: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Reads what belongs to the ids above `place` and up to `end`."""

    found: Inspection
    place: bytes
    end: bytes | None

    def all(self, select: str, column: str, rest: str = "") -> list[Row]:
        """Return the rows of the batch; `column` holds the id."""
        return self.found.reader.all(f"{select} WHERE {self.where(column)} {rest}", **self.values)

    def where(self, column: str) -> str:
        """Return the condition that an id is of this batch."""
        until = f" AND {column} <= {read_bytes_as_text(':end')}" if self.end is not None else ""
        return f"{column} > {read_bytes_as_text(':place')}{until}"

    @property
    def values(self) -> dict[str, object]:
        """Return the values of the condition."""
        found: dict[str, object] = {"place": self.place}
        return found | {"end": self.end} if self.end is not None else found

    def list_ids(self, table: str, column: str) -> set[str]:
        """Return the ids in a table."""
        return {str(row[0]) for row in self.all(f"SELECT {column} FROM {table}", column)}

    def read_documents(self) -> dict[str, LoadedDocument | str]:
        """Return each document by its id, or why it cannot be read."""
        rows = self.all(
            f"{documents.SELECT}, d.attention, d.sender_id FROM document d {documents.JOIN}",
            "d.id",
            "ORDER BY d.id, r.position",
        )
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(str(row["d_id"]), []).append(row)
        self.found.read["documents"] += len(groups)
        return {document_id: load_document(group) for document_id, group in groups.items()}

    def read_trails(self) -> Iterator[tuple[str, TrailFacts]]:
        """Yield what each trail says, one after the other."""
        fact: TrailFacts | None = None
        sql = f"{trails.LINE} WHERE {self.where('a.document_id')} ORDER BY a.document_id, a.seq"
        for row in self.found.reader.each(sql, **self.values):
            line = trails.load_row(row)
            if fact is None or fact.chain.document_id != line.document_id:
                if fact is not None:
                    yield self._end_trail(fact)
                fact = TrailFacts(Chain(line.document_id), line)
            fact.chain.follow(line.seq, line.entry)
            fact.last = line
            if (entry := line.entry) is not None:
                fact.published += entry.type in PUBLISHED
                if entry.type == "recipient.completed":
                    fact.completions[str(entry.recipient_id)] += 1
                elif entry.type == "document.completed":
                    fact.sealed = entry.data.get("sha256")
        if fact is not None:
            yield self._end_trail(fact)

    def _end_trail(self, fact: TrailFacts) -> tuple[str, TrailFacts]:
        fact.chain.end()
        self.found.read["trails"] += 1
        self.found.read["entries"] += fact.chain.entries
        return fact.chain.document_id, fact

    def check_events(self, facts: Mapping[str, TrailFacts]) -> Iterator[Fault]:
        """Check that the events of each document are numbered without gaps up to the last."""
        rows = self.all(
            "SELECT document_id, count(*) AS events, min(sequence) AS first, max(sequence) AS last FROM event",
            "document_id",
            "GROUP BY document_id",
        )
        for row in rows:
            self.found.read["events"] += row["events"]
            fact = facts.get(str(row["document_id"]))
            if row["first"] is None or row["last"] - row["first"] + 1 != row["events"]:
                yield Fault(Check.EVENTS, str(row["document_id"]), "a number is missing among its events")
            elif fact is not None and not fact.chain.broken and fact.published != row["last"]:
                yield Fault(
                    Check.EVENTS,
                    str(row["document_id"]),
                    f"its last event has number {row['last']}, and its trail {fact.published} of them",
                )

    def read_kept(self) -> dict[str, dict[str, bool]]:
        """Return the hashes that each document keeps, and whether their content has a row."""
        kept: dict[str, dict[str, bool]] = {}
        rows = self.all(
            "SELECT d.document_id, d.sha256, b.sha256 AS there FROM document_blob d"
            " LEFT JOIN blob b ON b.sha256 = d.sha256",
            "d.document_id",
        )
        for row in rows:
            kept.setdefault(str(row["document_id"]), {})[str(row["sha256"])] = row["there"] is not None
        return kept

    def read_words(self) -> dict[str, tuple[str, str]]:
        """Return the words that each document is found by."""
        rows = self.all("SELECT document_id, texts, labels FROM search", "document_id")
        return {str(row["document_id"]): (row["texts"], row["labels"]) for row in rows}


def load_document(group: list[Row]) -> LoadedDocument | str:
    """Return the document of the rows of its join, or why it cannot be read."""
    try:
        return LoadedDocument(documents.load(group), bool(group[0]["attention"]), group[0]["sender_id"])
    except UNREADABLE as error:
        return str(error) or type(error).__name__


def check_document(
    found: Inspection, row: LoadedDocument, fact: TrailFacts | None, kept: Mapping[str, bool]
) -> Iterator[Fault]:
    """Check a document against what its trail says, and against what is kept for it."""
    document = row.document
    needed = set(list_contents(document))
    for sha256 in sorted(needed):
        if not kept.get(sha256, False):
            state = "is missing" if sha256 in kept else "is not kept for it"
            yield Fault(Check.CONTENTS, document.id, f"its content {sha256} {state}")
    if row.attention != (find_trouble(document) is not None) or row.sender_id != document.created_by.id:
        yield Fault(Check.COUNTERS, document.id, "what lists filter it by is not true", Repair.ATTENTION)
    if fact is not None and not fact.chain.broken:
        yield from check_completions(document, fact)
        yield from check_seal(found, document, fact)
    if document.status is Status.SEALING:
        yield from check_sealing(found, document)


def list_contents(document: Document) -> Iterator[str]:
    """Yield the hash of each content that a document refers to."""
    yield document.file.uploaded
    yield document.file.prepared
    if document.seal is not None:
        yield document.seal.sha256
        yield document.seal.certificate_sha256
    for recipient in document.recipients:
        yield from list_pictures(recipient.ink, recipient.fields)


def list_pictures(ink: Ink | None, fields: tuple[Field, ...]) -> Iterator[str]:
    """Yield the hash of each picture of a signature."""
    for each in (ink, *(one.value for one in fields)):
        if isinstance(each, Ink) and each.picture is not None:
            yield each.picture


def check_completions(document: Document, fact: TrailFacts) -> Iterator[Fault]:
    """Check that the trail records exactly once that each recipient has finished who has."""
    finished = {r.id for r in document.recipients if r.status is RecipientStatus.COMPLETED}
    for recipient_id in sorted(finished | fact.completions.keys()):
        number = fact.completions[recipient_id]
        if number != (recipient_id in finished):
            state = "has finished" if recipient_id in finished else "has not finished"
            yield Fault(
                Check.COMPLETIONS,
                document.id,
                f"recipient {recipient_id} {state}, and the trail records {number} times that they did",
            )


def check_seal(found: Inspection, document: Document, fact: TrailFacts) -> Iterator[Fault]:
    """Check that exactly the completed document has a sealed file, which is the one that its trail names."""
    seal = document.seal
    if (document.status is Status.COMPLETED) != (seal is not None):
        words = (
            "it is completed and has no seal"
            if seal is None
            else f"it has a seal and is {document.status.value}"
        )
        yield Fault(Check.SEALS, document.id, words)
        return
    if seal is None:
        return
    if fact.sealed != seal.sha256:
        yield Fault(Check.SEALS, document.id, "its sealed file is not the one that its trail names")
        return
    found.seals[document.id] = (seal.sha256, fact.last.late)


def check_seals(found: Inspection) -> Iterator[Fault]:
    """Check the sealed files of which their content has not shown already that they belong to their trail."""
    for document_id, (sha256, late) in found.seals.items():
        if document_id in found.whole_seals:
            found.read["seals"] += 1
            continue
        with found.reader.snapshot():
            faults = list(compare_file(found, document_id, sha256, late=late))
        yield from faults


def compare_file(found: Inspection, document_id: str, sha256: str, *, late: bool) -> Iterator[Fault]:
    """Compare a sealed file with its trail. One without a head was sealed by a version that wrote none, if `late`."""
    rows = found.reader.all("SELECT seal FROM document WHERE id = :id", id=document_id)
    if not rows or find_sealed_hash(rows[0]["seal"]) != sha256:
        return  # it was deleted meanwhile
    fault, content = read_content_here(found, sha256)
    if fault is not None:
        yield Fault(Check.SEALS, document_id, f"its sealed file cannot be used: {fault}")
        return
    head = found.find_head(content)
    if head is None and late:
        found.read["seals"] += 1
    else:
        yield from compare_head(found, document_id, head)


def compare_head(found: Inspection, document_id: str, head: tuple[str, int, str] | None) -> Iterator[Fault]:
    """Compare the entry that the sealed file names with the trail."""
    if head is None:
        yield Fault(Check.SEALS, document_id, "its sealed file names no entry of its trail")
        return
    named, number, expected = head
    rows = found.reader.all(
        "SELECT hash FROM audit WHERE document_id = :id AND seq = :number", id=document_id, number=number
    )
    if named != document_id:
        yield Fault(Check.SEALS, document_id, f"its sealed file is that of {named}")
    elif not rows or bytes(rows[0]["hash"]).hex() != expected:
        yield Fault(Check.SEALS, document_id, f"entry {number} is not the one that its sealed file names")
    else:
        found.read["seals"] += 1


def check_sealing(found: Inspection, document: Document) -> Iterator[Fault]:
    """Check that a document that waits for its seal has a job, or one that a restore holds back."""
    if document.updated_at > found.now - LATE_SEAL:
        return
    if not found.reader.all(
        "SELECT 1 FROM outbox WHERE key = :key AND state IN ('pending', 'held')", key=f"seal:{document.id}"
    ):
        yield Fault(Check.SEALING, document.id, "it waits for its seal, and no job makes it", Repair.SEAL_JOB)
