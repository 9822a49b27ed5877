from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esign.core.actor import Actor, Mode, Origin, Owner
from esign.core.document.document import (
    Document,
    Field,
    FieldType,
    File,
    Ink,
    MailDelivery,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Role,
    Seal,
    Status,
)
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people.account import Organisation, Reminders
from esign.store.document import documents, due_documents
from esign.store.engine.database import Database, Transaction
from esign.system.entropy import make_id
from tests.factories import NOW, a_document, a_recipient, an_organisation, store_organisation
from tests.store.plans import steps, walks

# ---------- anything that may stand in a document ----------

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
instants = st.integers(0, 2**53)
numbers = st.integers(0, 100) | st.floats(0, 100, allow_nan=False)
hashes = st.from_regex(r"[0-9a-f]{8}", fullmatch=True)
json_values = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | words | st.lists(words, max_size=3)
)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


inks = st.builds(
    Ink, words, maybe(hashes), st.integers(0, 999), st.integers(0, 999), maybe(words), maybe(words)
)
fields = st.builds(
    Field,
    id=words,
    type=st.sampled_from(FieldType),
    page=st.integers(1, 500),
    x=numbers,
    y=numbers,
    width=numbers,
    height=numbers,
    required=st.booleans(),
    key=maybe(words),
    label=maybe(words),
    placeholder=maybe(words),
    read_only=st.booleans(),
    value=maybe(words | st.booleans() | inks),
    font_size=maybe(numbers),
    align=maybe(words),
    options=st.dictionaries(words, json_values, max_size=3),
    filled_at=maybe(instants),
)
recipients = st.builds(
    Recipient,
    id=st.builds(make_id, st.just("rcp"), st.just(NOW)),
    email=words,
    name=words,
    role=st.sampled_from(Role),
    order=st.integers(1, 100),
    status=st.sampled_from(RecipientStatus),
    authentication=words,
    locale=maybe(words),
    fields=st.lists(fields, max_size=3).map(tuple),
    sent_at=maybe(instants),
    viewed_at=maybe(instants),
    completed_at=maybe(instants),
    declined_at=maybe(instants),
    decline_reason=maybe(words),
    reminders_sent=st.integers(0, 10),
    last_reminded_at=maybe(instants),
    next_reminder_at=maybe(instants),
    delivery=st.sampled_from(MailDelivery),
    delivery_at=maybe(instants),
    delivery_error=maybe(words),
    ink=maybe(inks),
    consent=maybe(words),
    origin=st.builds(Origin, maybe(words), maybe(words)),
)
pages = st.builds(PageGeometry, numbers, numbers, st.sampled_from([0, 90, 180, 270]))
contents = st.builds(
    Document,
    id=st.builds(make_id, st.just("doc"), st.just(NOW)),
    organisation_id=st.just(a_document().organisation_id),
    mode=st.sampled_from(Mode),
    title=words,
    file=st.builds(
        File,
        words,
        hashes,
        hashes,
        st.lists(pages, max_size=3).map(tuple),
        st.booleans(),
        st.lists(words, max_size=3).map(tuple),
    ),
    created_by=st.builds(Actor, words, maybe(words), maybe(words), maybe(words)),
    created_at=st.integers(0, 2**50),
    updated_at=instants,
    status=st.sampled_from(Status),
    revision=st.integers(1, 1000),
    recipients=st.just(()),
    subject=maybe(words),
    message=maybe(words),
    locale=maybe(words),
    expires_in_days=st.integers(1, 365),
    expires_at=maybe(instants),
    reminders=st.builds(Reminders, st.booleans(), *[st.integers(0, 90)] * 4),
    redirect_url=maybe(words),
    external_id=maybe(words),
    metadata=st.dictionaries(words, words, max_size=3),
    template_id=maybe(words),
    sent_at=maybe(instants),
    completed_at=maybe(instants),
    closed_at=maybe(instants),
    close_reason=maybe(words),
    seal=maybe(
        st.builds(
            Seal,
            words,
            instants,
            hashes,
            st.integers(0, 2**40),
            st.integers(1, 99),
            hashes,
            st.booleans(),
            hashes,
        )
    ),
    seal_error=maybe(words),
    seal_attempts=st.integers(0, 99),
)
people = st.integers(0, 3).flatmap(
    lambda n: st.lists(st.lists(recipients, min_size=n, max_size=n), min_size=2, max_size=2)
)


@pytest.mark.slow
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(one=contents, other=contents, people=people)
async def test_any_document_comes_back_as_it_was_added_and_as_it_was_saved(
    db: Database, one: Document, other: Document, people: list[list[Recipient]]
) -> None:
    if not await db.all("SELECT 1 FROM organisation"):
        await store_organisation(db, an_organisation())
    one = replace(one, recipients=tuple(people[0]))
    renamed = tuple(replace(new, id=old.id) for old, new in zip(*people, strict=True))
    changed = replace(other, id=one.id, recipients=renamed)

    await db.write(lambda tx: documents.add(tx, one))
    assert await documents.get(db, one.id) == one
    assert await documents.get_own(db, Owner(one.organisation_id, one.mode), one.id) == one

    await db.write(lambda tx: documents.save(tx, changed, before=one))
    assert await documents.get(db, one.id) == changed


# ---------- whose documents ----------


async def add(db: Database, *made: Document) -> None:
    async def write(tx: Transaction) -> None:
        for document in made:
            await documents.add(tx, document)

    await db.write(write)


async def test_recipients_and_fields_keep_their_order(db: Database, organisation: Organisation) -> None:
    document = a_document(*[a_recipient(f"N{n}", order=9 - n) for n in range(9)])
    await add(db, document)
    assert [r.name for r in (await documents.get(db, document.id)).recipients] == [f"N{n}" for n in range(9)]


async def test_a_document_of_another_organisation_or_mode_is_not_found(
    db: Database, organisation: Organisation
) -> None:
    document = a_document()
    await add(db, document)
    assert await documents.get_own(db, Owner(organisation.id, Mode.LIVE), document.id) == document
    for own, mode, wanted in (
        ("org_other", Mode.LIVE, document.id),
        (organisation.id, Mode.TEST, document.id),
        (organisation.id, Mode.LIVE, "doc_other"),
    ):
        with pytest.raises(Problem, match="not_found"):
            await documents.get_own(db, Owner(own, mode), wanted)
    with pytest.raises(Problem, match="not_found"):
        await documents.get(db, "doc_other")


# ---------- the guarded update ----------


@pytest.mark.parametrize("status", Status)
async def test_who_loses_a_race_gets_a_409_with_the_state_the_winner_left(
    db: Database, organisation: Organisation, status: Status
) -> None:
    before = a_document()
    await add(db, before)
    winner = replace(before, status=status, revision=2)
    loser = replace(
        before, status=Status.EXPIRED, revision=2, recipients=(replace(before.recipients[0], name="X"),)
    )
    await db.write(lambda tx: documents.save(tx, winner, before))
    with pytest.raises(Problem) as lost:
        await db.write(lambda tx: documents.save(tx, loser, before))
    assert (lost.value.status, lost.value.current_status) == (409, status)
    assert await documents.get(db, before.id) == winner


@pytest.mark.parametrize("stale", [{"status": Status.SENT}, {"revision": 2}])
async def test_an_update_needs_both_the_status_and_the_revision_it_was_decided_on(
    db: Database, organisation: Organisation, stale: dict[str, Any]
) -> None:
    there = a_document()
    await add(db, there)
    with pytest.raises(Problem, match="revision_mismatch"):
        await db.write(lambda tx: documents.save(tx, replace(there, title="new"), replace(there, **stale)))
    assert await documents.get(db, there.id) == there


async def test_a_document_that_is_gone_cannot_be_saved(db: Database, organisation: Organisation) -> None:
    document = a_document()
    with pytest.raises(Problem, match="not_found"):
        await db.write(lambda tx: documents.save(tx, document, document))


# ---------- what is late ----------


@pytest.mark.parametrize("status", Status)
async def test_only_sent_documents_at_or_past_their_date_are_due_to_expire(
    db: Database, organisation: Organisation, status: Status
) -> None:
    late, sooner, later = (a_document(status=status, expires_at=NOW + n) for n in (0, -5, 1))
    await add(db, late, sooner, later)
    expected = [sooner.id, late.id] if status is Status.SENT else []
    assert await due_documents.find_expired(db, NOW, 10) == expected
    assert await due_documents.find_expired(db, NOW, 1) == expected[:1]


@pytest.mark.parametrize("status", Status)
async def test_every_document_that_waits_for_its_seal_is_found_by_its_status(
    db: Database, organisation: Organisation, status: Status
) -> None:
    document = a_document(status=status)
    await add(db, document)
    assert await due_documents.find_sealing(db) == ([document.id] if status is Status.SEALING else [])


async def test_reminders_are_due_from_their_date_on_the_oldest_first(
    db: Database, organisation: Organisation
) -> None:
    document = a_document(*(a_recipient(next_reminder_at=at) for at in (NOW, None, NOW + 1, NOW - DAY)))
    await add(db, document)
    now, _, _, before = (r.id for r in document.recipients)
    assert await due_documents.find_reminders_due(db, NOW, 10) == [(document.id, before), (document.id, now)]
    assert await due_documents.find_reminders_due(db, NOW, 1) == [(document.id, before)]


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.CANCELLED])
async def test_what_ended_by_then_is_found_the_oldest_first_and_by_how_it_ended(
    db: Database, organisation: Organisation, status: Status
) -> None:
    ends: list[Literal["completed_at", "closed_at"]] = ["completed_at", "closed_at"]
    when, never = ends if status is Status.COMPLETED else reversed(ends)
    made = [a_document(status=status, **{when: NOW + n}) for n in (0, -5, 1)]
    other = a_document(status=status, mode=Mode.TEST, **{when: NOW})
    await add(db, *made, other, a_document())
    assert await due_documents.find_ended(db, Owner(organisation.id, Mode.LIVE), when, NOW, 10) == [
        made[1].id,
        made[0].id,
    ]
    assert await due_documents.find_ended(db, Owner(organisation.id, Mode.LIVE), when, NOW, 1) == [made[1].id]
    assert await due_documents.find_ended(db, Owner(organisation.id, Mode.TEST), when, NOW, 10) == [other.id]
    assert await due_documents.find_ended(db, Owner(organisation.id, Mode.LIVE), never, NOW, 10) == []


# ---------- plans; those of lists are in test_plans ----------

ORG = a_document().organisation_id
QUERIES: dict[str, tuple[str, Callable[[Transaction], Awaitable[object]]]] = {
    "expired": ("document_expiring", lambda tx: due_documents.find_expired(tx, NOW, 500)),
    "completed": (
        "document_completed",
        lambda tx: due_documents.find_ended(tx, Owner(ORG, Mode.LIVE), "completed_at", NOW, 100),
    ),
    "closed": (
        "document_closed",
        lambda tx: due_documents.find_ended(tx, Owner(ORG, Mode.LIVE), "closed_at", NOW, 100),
    ),
    "reminders": ("recipient_to_remind", lambda tx: due_documents.find_reminders_due(tx, NOW, 500)),
}


@pytest.mark.parametrize("name", QUERIES)
async def test_due_dates_are_read_along_an_index(db: Database, name: str) -> None:
    index, query = QUERIES[name]
    plan = await steps(db, query)
    assert any(f"USING INDEX {index}" in step or f"USING COVERING INDEX {index}" in step for step in plan), (
        plan
    )
    assert not [step for step in plan if step.startswith(("SCAN document", "SCAN recipient", "SCAN r"))], plan


async def test_one_document_is_read_by_its_key(db: Database) -> None:
    async def get(tx: Transaction) -> None:
        with pytest.raises(Problem, match="not_found"):
            await documents.get_own(tx, Owner(ORG, Mode.LIVE), "doc_1")

    assert await walks(db, get) == []
    assert len(await steps(db, get)) <= 3


async def test_documents_waiting_for_their_seal_are_not_searched_among_all(db: Database) -> None:
    first, *rest = await steps(db, due_documents.find_sealing)
    assert "document_sealing" in first and not any(
        "SCAN" in step and "CONSTANT" not in step for step in rest
    ), rest


async def test_the_document_of_a_sealed_file_is_found_by_its_hash(db: Database) -> None:
    plan = await steps(db, lambda tx: documents.find_sealed(tx, Owner(ORG, Mode.LIVE), "00"))
    assert any("document_of_blob" in step for step in plan) and not any("SCAN" in step for step in plan), plan
