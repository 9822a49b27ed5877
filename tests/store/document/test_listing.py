"""Every filter, any combination and each order against a filter in plain Python."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeVar

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esign.core.actor import Actor, Mode, Owner
from esign.core.document.attention import find_trouble
from esign.core.document.document import (
    Document,
    MailDelivery,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Role,
    Status,
)
from esign.core.document.document_filters import ALWAYS, EVERYTHING, DocumentFilters, Sort, Span
from esign.core.document.summary import summarize
from esign.core.fold_text import fold
from esign.core.people.account import Organisation, Reminders
from esign.store.document import documents, listing, summaries
from esign.store.engine import document_pages
from esign.store.engine.database import Database, Transaction
from esign.store.engine.document_list_statements import PageRequest
from esign.store.engine.document_pages import EFFORT, ListEffort
from esign.store.engine.paging import PageStart
from esign.store.engine.unreadable_rows import has_more
from esign.system.entropy import make_id
from esign.web.api.document_list_reply import PIECE, present_page, write_ahead, write_summary
from esign.web.api.paging import FoundPage
from tests.factories import NOW, a_document, a_file, a_recipient, a_seal, an_organisation, store_organisation

T = TypeVar("T")

# ---------- the same question in plain Python ----------


def fits(document: Document, asked: DocumentFilters) -> bool:
    texts = [document.title, document.file.name, document.external_id or ""]
    texts += [text for recipient in document.recipients for text in (recipient.name, recipient.email)]
    emails = [recipient.email.casefold() for recipient in document.recipients]
    return all(
        [
            not asked.statuses or document.status in asked.statuses,
            asked.q is None or any(fold(asked.q) in fold(text) for text in texts),
            asked.recipient_email is None or asked.recipient_email.casefold() in emails,
            asked.external_id is None or document.external_id == asked.external_id,
            asked.template_id is None or document.template_id == asked.template_id,
            asked.sender_id is None or document.created_by.id == asked.sender_id,
            not asked.attention or find_trouble(document) is not None,
            within(document.created_at, asked.created),
            within(document.updated_at, asked.updated),
            within(document.completed_at, asked.completed),
        ]
    )


def within(at: int | None, span: Span) -> bool:
    if at is None:
        return span == ALWAYS
    return (span.after is None or at >= span.after) and (span.before is None or at < span.before)


def list_expected(made: Sequence[Document], asked: DocumentFilters) -> list[Document]:
    key = "created_at" if "created" in asked.sort else "updated_at"
    found = [document for document in made if fits(document, asked)]
    return sorted(found, key=lambda d: (getattr(d, key), d.id), reverse=asked.sort.startswith("-"))


# ---------- documents and questions that often meet ----------

TITLES = [
    "Lease",
    "LEASE 100%",
    "Große Straße",
    "Ο Σίσυφος",
    "Договір №7",
    "日本語契約",
    "a_b",
    "x",
    '"or" NOT *',
]
PEOPLE = [
    ("Ana Ruiz", "ana@example.com"),
    ("İpek Ünal", "Ana@Example.com"),
    ("Zoë", "zoë@exämple.de"),
    ("李雷", "li@x.cn"),
]
PARTS = [
    "lease",
    "E 1",
    "STRASSE",
    "ΣΊΣ",
    "договір",
    "語契",
    "日",
    "_",
    "%",
    "x",
    "@example",
    "n",
    "ana",
    "  ",
    '"',
    "7",
]
SENDERS = ["mem_1", "mem_2"]
KEYS = ["order-1", "ORDER-1", "a"]
moments = st.integers(NOW, NOW + 3)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def a_person(person: tuple[str, str]) -> Recipient:
    return a_recipient(person[0], email=person[1])


def refuse_address(recipient: Recipient) -> Recipient:
    """Asked under an address that refused the mail."""
    return replace(recipient, status=RecipientStatus.SENT, delivery=MailDelivery.FAILED)


@st.composite
def a_made(draw: st.DrawFn, regular: bool) -> Document:
    """Where `regular`, created ≤ completed ≤ updated."""
    times = [draw(moments) for _ in range(3)]
    created, completed, updated = sorted(times) if regular else times
    status = draw(st.sampled_from(Status))
    people = [*map(a_person, draw(st.lists(st.sampled_from(PEOPLE), max_size=3)))]
    ill = draw(st.booleans())
    return replace(
        a_document(status=status, id=make_id("doc", NOW)),
        title=draw(st.sampled_from(TITLES)),
        file=a_file(name=draw(st.sampled_from(["offer.pdf", "Scan 7.PDF"]))),
        external_id=draw(maybe(st.sampled_from(KEYS))),
        template_id=draw(maybe(st.sampled_from(["tpl_1", "tpl_2"]))),
        created_by=Actor("member", draw(st.sampled_from(SENDERS)), "Ada"),
        recipients=tuple(map(refuse_address, people) if ill else people),
        seal_error="no answer" if ill else None,
        created_at=created,
        completed_at=completed if status is Status.COMPLETED else None,
        updated_at=updated,
    )


many = st.booleans().flatmap(lambda regular: st.lists(a_made(regular), max_size=14))
spans = st.builds(Span, maybe(moments), maybe(moments)) | st.just(ALWAYS)
questions = st.builds(
    DocumentFilters,
    statuses=st.frozensets(st.sampled_from(Status), max_size=3),
    q=maybe(
        st.sampled_from(PARTS) | st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=4)
    ),
    recipient_email=maybe(st.sampled_from(["ANA@example.com", "ZOË@exämple.de", "example.com"])),
    external_id=maybe(st.sampled_from(KEYS)),
    template_id=maybe(st.sampled_from(["tpl_1", "tpl_3"])),
    sender_id=maybe(st.sampled_from(SENDERS)),
    created=spans,
    updated=spans,
    completed=spans,
    sort=st.sampled_from(Sort),
    attention=st.booleans(),
)


EFFORTS = [
    EFFORT,
    ListEffort(few=0, near=0, many=0),
    ListEffort(few=0, near=3, many=5),
    ListEffort(few=3, near=2, many=900),
]


async def add(db: Database, *made: Document) -> None:
    async def write(tx: Transaction) -> None:
        for document in made:
            await documents.add(tx, document)

    await db.write(write)


async def pages(
    db: Database, organisation: str, asked: DocumentFilters, limit: int, effort: ListEffort = EFFORT
) -> list[Document]:
    """Everything that is found, page by page."""
    found: list[Document] = []
    owner, after = Owner(organisation, Mode.LIVE), None
    read = partial(listing.read_documents, db)
    while page := await document_pages.find_page(db, PageRequest(owner, asked, limit, after), read, effort):
        assert len(page) <= limit
        found += page
        after = listing.find_place(page[-1], asked)
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(made=many, asked=st.lists(questions, min_size=4, max_size=4), limit=st.sampled_from([1, 2, 5, 50]))
@pytest.mark.parametrize("effort", EFFORTS)
async def test_a_list_is_what_plain_python_would_find(
    db: Database, made: list[Document], asked: list[DocumentFilters], limit: int, effort: ListEffort
) -> None:
    mine = make_id("org", NOW)
    await store_organisation(db, an_organisation(id=mine))
    made = [replace(document, organisation_id=mine) for document in made]
    await add(db, *made)
    for each in [*asked, *(replace(EVERYTHING, sort=sort, q=asked[0].q) for sort in Sort)]:
        assert await pages(db, mine, each, limit, effort) == list_expected(made, each), each
        summaries = await listing.find_summaries(db, Owner(mine, Mode.LIVE), 100, asked=each)
        counted = await document_pages.count_documents(db, Owner(mine, Mode.LIVE), each, 5, effort)
        number = len(list_expected(made, each))
        assert counted.number == min(number, 5) if counted.exact else counted.number <= number, each
        assert counted.exact or effort is not EFFORT or number > 5
        assert summaries == [summarize(document) for document in list_expected(made, each)], each


# ---------- pages ----------


def number_documents(count: int, **changes: Any) -> list[Document]:
    """Newest first; always three of the same moment."""
    made = [
        a_document(**{"created_at": NOW + n // 3, "updated_at": NOW + n // 3, "title": str(n), **changes})
        for n in range(count)
    ]
    return sorted(made, key=lambda d: (d.created_at, d.id), reverse=True)


@pytest.mark.parametrize("limit", [1, 4, 7, 100])
@pytest.mark.parametrize(
    "asked",
    [
        *(DocumentFilters(sort=sort) for sort in Sort),
        DocumentFilters(q="jo li"),
        DocumentFilters(q="l", sort=Sort.OLDEST),
    ],
)
async def test_a_list_is_read_page_by_page_while_documents_are_added(
    db: Database, organisation: Organisation, limit: int, asked: DocumentFilters
) -> None:
    await store_organisation(db, an_organisation(id="org_other"))
    made = number_documents(20)
    await add(
        db, *made, *number_documents(3, mode=Mode.TEST), *number_documents(3, organisation_id="org_other")
    )
    seen: list[Document] = []
    after: PageStart | None = None
    while page := await listing.find_page(db, Owner(organisation.id, Mode.LIVE), limit, after, asked):
        assert len(page) <= limit
        seen += page
        after = listing.find_place(page[-1], asked)
        at = NOW + 1000 if asked.sort.descending else NOW - 1000
        await add(db, a_document(created_at=at, updated_at=at))
    assert seen == (made if asked.sort.descending else made[::-1])


async def test_a_list_brings_the_recipients_of_each_document_in_order(
    db: Database, organisation: Organisation
) -> None:
    made = [a_document(*[a_recipient(f"{n} {m}") for m in range(n)], created_at=NOW - n) for n in range(1, 4)]
    nobody = replace(a_document(created_at=NOW - 9), recipients=())
    await add(db, *made, nobody)
    assert await listing.find_page(db, Owner(organisation.id, Mode.LIVE), 10) == [*made, nobody]


@pytest.mark.parametrize("status", Status)
async def test_a_summary_has_what_the_document_has(
    db: Database, organisation: Organisation, status: Status
) -> None:
    people = [
        a_recipient(
            status=person, delivery=delivery, role=role, decline_reason='"<b>\\', completed_at=NOW + 2**41
        )
        for person, delivery, role in product(RecipientStatus, MailDelivery, Role)
    ]
    pages = (PageGeometry(595.0, 842.0, 0),) * 3
    document = a_document(
        *people,
        status=status,
        title="\u202eLease \U0001f58b <script>",
        file=replace(a_file(removed=("JavaScript",)), pages=pages),
        seal=replace(a_seal(), stamped_at=NOW, authority="T"),
        metadata={"a": "b"},
        created_by=Actor("member", "mem_1", "Ada", "ada@example.com"),
        reminders=Reminders(enabled=False),
        message="Dear\nall\t…",
    )
    await add(db, document)
    (found,) = await listing.find_summaries(db, Owner(organisation.id, Mode.LIVE), 10)
    assert found == summarize(document)
    assert found.page_count == document.page_count == 3
    for one, same in zip(found.recipients, document.recipients, strict=True):
        assert (one.acting, one.is_active, one.is_invited) == (same.acting, same.is_active, same.is_invited)
    assert find_trouble(found) == find_trouble(document)


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 400])
async def test_documents_of_one_moment_stand_in_the_order_of_their_ids(
    db: Database, organisation: Organisation, count: int
) -> None:
    made = [a_document() for _ in range(count)]
    ordered = sorted(made, key=lambda d: d.id, reverse=True)
    await add(db, *(made if count == 100 else ordered))
    assert await pages(db, organisation.id, DocumentFilters(q="offer"), 30) == ordered


async def test_after_a_clock_was_set_back_one_span_no_longer_bounds_another(
    db: Database, organisation: Organisation
) -> None:
    odd = a_document(status=Status.COMPLETED, created_at=NOW + 9, completed_at=NOW, updated_at=NOW)
    usual = a_document(status=Status.COMPLETED, created_at=NOW, completed_at=NOW + 1, updated_at=NOW + 1)
    await add(db, odd, usual)
    for effort in EFFORTS:
        for asked in (
            DocumentFilters(completed=Span(before=NOW + 1)),
            DocumentFilters(updated=Span(before=NOW + 1)),
        ):
            assert await pages(db, organisation.id, asked, 9, effort) == [odd]
        asked = DocumentFilters(created=Span(after=NOW + 1), sort=Sort.LAST_CHANGED)
        assert await pages(db, organisation.id, asked, 9, effort) == [odd]


# ---------- pages with many recipients ----------


async def count_turns(work: Awaitable[T]) -> tuple[T, int]:
    """The result, and how often other requests could come in between."""
    turns, task = 0, asyncio.ensure_future(work)
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    return task.result(), turns


@pytest.mark.parametrize(
    ("count", "people", "many"),
    [(0, 0, False), (100, 3, False), (12, 50, False), (100, 20, True), (40, 50, True)],
)
async def test_a_page_with_many_recipients_leaves_the_event_loop_free(
    db: Database, organisation: Organisation, count: int, people: int, many: bool
) -> None:
    made = [
        a_document(*[a_recipient(f"{n} {m}") for m in range(people)], created_at=NOW - n)
        for n in range(count)
    ]
    await add(db, *made)
    rows = await db.all(f"{summaries.SELECT} FROM document d")
    pieces = sum(len(row["recipients"]) for row in rows) // listing.PIECE
    found, turns = await count_turns(
        listing.find_summaries(db, Owner(organisation.id, Mode.LIVE), 100, points=db.points)
    )
    assert found == [summarize(document) for document in made]
    assert has_more(found, count) is False and has_more(found, count - 1) is True
    assert turns > pieces + 3 if many else turns <= pieces + 3
    write_summary.cache_clear()
    _, turns = await count_turns(write_ahead(found))
    assert turns >= count * people // PIECE if many else turns <= 2
    written = write_summary.cache_info().misses
    assert written == (count if many else 0)
    assert len(orjson.loads(present_page(FoundPage(found, None)).body)["data"]) == count
    assert write_summary.cache_info().misses == count, "nothing is written twice"
