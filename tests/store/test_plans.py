"""Every list of the program and what the clock looks for: along an index, never through a table, sorted by nothing."""

import inspect
import pkgutil
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import product

import pytest

import esign.store
from esign.core.actor import Mode, Owner
from esign.core.document.document import Status
from esign.core.document.document_filters import DocumentFilters, Sort, Span
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.store.document import (
    blobs,
    challenges,
    due_documents,
    listing,
    phone_handoffs,
    saved_views,
    sealed_files,
    templates,
)
from esign.store.engine import document_pages
from esign.store.engine.database import Database, Transaction
from esign.store.engine.document_list_statements import ListQuery, PageRequest, make_query
from esign.store.engine.paging import PageStart
from esign.store.people import (
    api_keys,
    audit_log,
    contacts,
    erasings,
    known_browsers,
    members,
    organisations,
    sessions,
    tickets,
    usage,
    users,
)
from esign.store.queue import (
    audit_entries,
    deliveries,
    due_jobs,
    held_jobs,
    idempotency,
    kept_mail,
    outbox,
    published_events,
    sent_mail,
    webhooks,
)
from esign.store.queue.deliveries import DeliveryFilter
from esign.store.queue.kept_mail import KeptMailFilter
from esign.store.server import anchors, key_exchange, patrol
from esign.system.vault import Vault
from tests.factories import NOW, ORGANISATION
from tests.store.plans import steps, walks

AFTER = PageStart(NOW, "doc_1")
OWNER = Owner(ORGANISATION, Mode.LIVE)
MEMBER = Member(
    "mem_1", ORGANISATION, "ada@example.test", "Ada", MemberRole.ADMIN, MemberStatus.ACTIVE, NOW, "usr_1"
)
MAIL = PageStart(NOW, "7")
SORT = re.compile(r"USE TEMP B-TREE FOR (ORDER|RIGHT PART OF ORDER|LAST .*OF ORDER) BY")

# ---------- documents ----------

SPAN = Span(NOW, NOW + 1)
FILTERS: dict[str, DocumentFilters] = {
    "nothing": DocumentFilters(),
    "a status": DocumentFilters(statuses=frozenset({Status.SENT})),
    "statuses": DocumentFilters(statuses=frozenset({Status.SENT, Status.COMPLETED, Status.DRAFT})),
    "attention": DocumentFilters(attention=True),
    "attention and a status": DocumentFilters(statuses=frozenset({Status.SENT}), attention=True),
    "q": DocumentFilters(q="lease"),
    "one letter": DocumentFilters(q="e"),
    "two letters": DocumentFilters(q="le"),
    "recipientEmail": DocumentFilters(recipient_email="ana@example.com"),
    "externalId": DocumentFilters(external_id="order-1"),
    "templateId": DocumentFilters(template_id="tpl_1"),
    "senderId": DocumentFilters(sender_id="mem_1"),
    "created": DocumentFilters(created=SPAN),
    "updated": DocumentFilters(updated=SPAN),
    "completed": DocumentFilters(completed=SPAN),
    "everything": DocumentFilters(
        frozenset({Status.SENT}),
        "lease",
        "ana@example.com",
        "order-1",
        "tpl_1",
        SPAN,
        SPAN,
        SPAN,
        attention=True,
        sender_id="mem_1",
    ),
}
WALKED = re.compile(r"SCAN (document|recipient|search|d|r|s)\b(?! USING INDEX document_out_of_time)")
"""Of what is out of time one row is read; `SCAN i VIRTUAL TABLE` is how a lookup in the index of words is called."""
ALONG_CHANGES = ("nothing", "a status", "statuses", "attention", "attention and a status", "updated")
WEIGHED = {"everything"} | {
    (name, sort)
    for name, sort in product(FILTERS, Sort)
    if name in ("completed", "updated" if sort.key == "created_at" else "created")
    or (sort.key == "updated_at" and name not in ALONG_CHANGES)
}


def query(name: str, sort: Sort, after: PageStart | None = AFTER) -> ListQuery:
    asked = replace(FILTERS[name], sort=sort)
    return make_query(PageRequest(OWNER, asked, 25, after), regular=True)


async def plan_of(db: Database, query: ListQuery, way: str) -> list[str]:
    rows = await db.all(f"EXPLAIN QUERY PLAN {way}", **query.parameters, limit=25, most=1)
    return [row["detail"] for row in rows]


@pytest.mark.parametrize("after", [None, AFTER])
@pytest.mark.parametrize(("name", "sort"), [*product(FILTERS, Sort)])
async def test_one_filter_and_the_order_are_in_one_index(
    db: Database, name: str, sort: Sort, after: PageStart | None
) -> None:
    asked = query(name, sort, after)
    way = document_pages.find_single_walk(asked)
    assert (way is None) is bool(WEIGHED & {name, (name, sort)})
    if way is not None:
        plan = await plan_of(db, asked, way)
        assert not [step for step in plan if WALKED.match(step)], plan
        assert name == "statuses" or not [step for step in plan if SORT.match(step)], plan


@pytest.mark.parametrize(("name", "sort"), [*product(FILTERS, Sort)])
async def test_no_way_to_a_page_walks_through_a_table(db: Database, name: str, sort: Sort) -> None:
    asked = query(name, sort)
    filters = [
        *asked.spans,
        *(["status"] if asked.asked.statuses else []),
        *(["attention"] if asked.asked.attention else []),
        *(["words"] if asked.words else []),
        *(["sender"] if asked.asked.sender_id else []),
    ]
    for filter in filters:
        plan = await plan_of(db, asked, document_pages.read_by_filter(asked, filter))
        assert not [step for step in plan if WALKED.match(step)], plan
    plan = await plan_of(db, asked, document_pages.walk_in_order(asked))
    assert not [step for step in plan if WALKED.match(step) or SORT.match(step)], plan
    cut, first, *_ = await plan_of(db, asked, document_pages.walk_in_order(asked, 1_000))
    assert cut.startswith("CO-ROUTINE") and first.startswith(("SEARCH d USING", "SCAN i VIRTUAL")), first

    async def find(tx: Transaction) -> None:
        await listing.find_page(tx, OWNER, 25, AFTER, asked.asked)
        await listing.find_summaries(tx, OWNER, 25, AFTER, asked.asked)

    for step in await steps(db, find):  # what was cut may be walked
        assert step == "SCAN d" or not WALKED.match(step), step


@pytest.mark.parametrize("name", FILTERS)
async def test_a_list_is_counted_along_an_index(db: Database, name: str) -> None:
    async def count(tx: Transaction) -> None:
        await listing.count(tx, OWNER, FILTERS[name], 1_000)

    for step in await steps(db, count):
        assert step == "SCAN d" or not WALKED.match(step), step


async def test_a_page_is_cut_before_its_documents_are_read(db: Database) -> None:
    plan = await steps(db, lambda tx: listing.find_page(tx, OWNER, 25))
    assert plan[0] == "CO-ROUTINE p" and "COVERING INDEX document_newest" in plan[1], plan


# ---------- every other list ----------

WANTED = published_events.EventFilter(ORGANISATION, Mode.LIVE)
LOGGED, LOG_PLACE = audit_log.AuditLogFilter(ORGANISATION), PageStart(NOW, "7")
LISTS: dict[str, Callable[[Transaction], Awaitable[object]]] = {
    "api_keys.find_all": lambda tx: api_keys.find_all(tx, ORGANISATION),
    "api_keys.find_page": lambda tx: api_keys.find_page(tx, Owner(ORGANISATION, Mode.LIVE), 25, AFTER),
    "api_keys.find_active_of": lambda tx: api_keys.find_active_of(tx, MEMBER, NOW),
    "api_keys.find_expiring": lambda tx: api_keys.find_expiring(tx, NOW, NOW + 1),
    "api_keys.find_unused": lambda tx: api_keys.find_unused(tx, NOW, NOW + 1),
    "audit_log.find_page": lambda tx: audit_log.find_page(tx, LOGGED, 25, LOG_PLACE),
    "audit_log.find_page of a type": lambda tx: audit_log.find_page(
        tx, replace(LOGGED, type="member.signed_in"), 25, LOG_PLACE
    ),
    "audit_log.find_page of an actor": lambda tx: audit_log.find_page(
        tx, replace(LOGGED, actor_id="mem_1"), 25, LOG_PLACE
    ),
    "audit_log.find_page of both": lambda tx: audit_log.find_page(
        tx, replace(LOGGED, type="member.signed_in", actor_id="mem_1"), 25, LOG_PLACE
    ),
    "audit_log.prune_failures": lambda tx: audit_log.prune_failures(tx, NOW, 500),
    "blobs.prune": lambda tx: blobs.prune(tx, NOW, 16),
    "challenges.prune": lambda tx: challenges.prune(tx, NOW, 500),
    "deliveries.find_attempts": lambda tx: deliveries.find_attempts(tx, 1),
    "deliveries.claim": lambda tx: deliveries.claim(tx, [1, 2], NOW, "boot"),
    "deliveries.find_page": lambda tx: deliveries.find_page(tx, DeliveryFilter("wh_1"), 25, AFTER),
    "deliveries.find_page of a type": lambda tx: deliveries.find_page(
        tx, DeliveryFilter("wh_1", event_type="document.sent"), 25, AFTER
    ),
    "deliveries.get_many": lambda tx: deliveries.get_many(tx, [1, 2]),
    "due_documents.find_expired": lambda tx: due_documents.find_expired(tx, NOW, 500),
    "due_documents.find_sealing": lambda tx: due_documents.find_sealing(tx),
    "due_documents.find_reminders_due": lambda tx: due_documents.find_reminders_due(tx, NOW, 500),
    "due_documents.find_kept_invitations": lambda tx: due_documents.find_kept_invitations(tx, OWNER, 500),
    "due_documents.find_ended by completion": lambda tx: due_documents.find_ended(
        tx, OWNER, "completed_at", NOW, 500
    ),
    "due_documents.find_ended without a seal": lambda tx: due_documents.find_ended(
        tx, OWNER, "closed_at", NOW, 500
    ),
    "erasings.find_newest": lambda tx: erasings.find_newest(tx, ORGANISATION, Vault(b"k" * 32), 20),
    "published_events.find_received": lambda tx: published_events.find_received(
        tx, WANTED, "wh_1", 25, AFTER
    ),
    "published_events.find_page": lambda tx: published_events.find_page(tx, WANTED, 25, AFTER),
    "published_events.find_page of a type": lambda tx: published_events.find_page(
        tx, replace(WANTED, type="document.sent"), 25, AFTER
    ),
    "published_events.find_page of a document": lambda tx: published_events.find_page(
        tx, replace(WANTED, document_id="doc_1"), 25, AFTER
    ),
    "published_events.find_page of all types but one": lambda tx: published_events.find_page(
        tx, replace(WANTED, hidden="audit.recorded"), 25, AFTER
    ),
    "audit_entries.find_times": lambda tx: audit_entries.find_times(
        tx, "doc_1", "recipient.unblocked", "rcp_1", NOW
    ),
    "audit_entries.find_entries": lambda tx: audit_entries.find_entries(tx, "doc_1", 5, 25),
    "published_events.prune": lambda tx: published_events.prune(tx, NOW, 500),
    "phone_handoffs.prune": lambda tx: phone_handoffs.prune(tx, NOW, 500),
    "idempotency.prune": lambda tx: idempotency.prune(tx, NOW, 500),
    "known_browsers.prune": lambda tx: known_browsers.prune(tx, NOW, 500),
    "kept_mail.find_newest": lambda tx: kept_mail.find_newest(tx, 25),
    "kept_mail.find_test_mails": lambda tx: kept_mail.find_test_mails(
        tx, KeptMailFilter(ORGANISATION), 25, AFTER
    ),
    "kept_mail.prune": lambda tx: kept_mail.prune(tx, NOW, 500),
    "members.find": lambda tx: members.find(tx, ORGANISATION, 25, AFTER),
    "due_jobs.find_due": lambda tx: due_jobs.find_due(tx, "mail", NOW, 25),
    "organisations.find_by_user": lambda tx: organisations.find_by_user(tx, "usr_1"),
    "members.find_by_user": lambda tx: members.find_by_user(tx, "usr_1"),
    "contacts.find_page": lambda tx: contacts.find_page(tx, OWNER, 51, ("ada", "con_1")),
    "contacts.find_by_word": lambda tx: contacts.find_by_word(tx, OWNER, "ada", 200),
    "contacts.get_many": lambda tx: contacts.get_many(tx, ["con_1", "con_2"]),
    "contacts.prune": lambda tx: contacts.prune(tx, NOW, 500),
    "saved_views.find_own": lambda tx: saved_views.find_own(tx, OWNER, "mem_1", 50),
    "saved_views.find_shared": lambda tx: saved_views.find_shared(tx, OWNER, 50),
    "sessions.find": lambda tx: sessions.find(tx, "usr_1", NOW, 51),
    "sessions.prune": lambda tx: sessions.prune(tx, NOW, 500),
    "tickets.prune": lambda tx: tickets.prune(tx, NOW, 500),
    "outbox.prune": lambda tx: outbox.prune(tx, NOW, 500),
    "held_jobs.list_mails": lambda tx: held_jobs.list_mails(tx),
    "held_jobs.list_unsealed": lambda tx: held_jobs.list_unsealed(tx),
    "sent_mail.find_of_document": lambda tx: sent_mail.find_of_document(tx, "doc_1", 5),
    "sent_mail.find_page": lambda tx: sent_mail.find_page(tx, Owner(ORGANISATION, Mode.LIVE), 25, MAIL),
    "sent_mail.find_page of what did not leave": lambda tx: sent_mail.find_page(
        tx, Owner(ORGANISATION, Mode.LIVE), 25, MAIL, undelivered=True
    ),
    "templates.find_page": lambda tx: templates.find_page(tx, OWNER, 25, AFTER, "lease"),
    "templates.find_containing": lambda tx: templates.find_containing(tx, ORGANISATION, "jo@example.com"),
    "templates.find_titles": lambda tx: templates.find_titles(tx, Owner(ORGANISATION, Mode.LIVE), 100),
    "users.list_recovery": lambda tx: users.list_recovery(tx, "usr_1"),
    "users.get_many": lambda tx: users.get_many(tx, ["usr_1", "usr_2"]),
    "usage.find": lambda tx: usage.find(tx, ORGANISATION, Mode.LIVE, 1, 2),
    "webhooks.find_owners": lambda tx: webhooks.find_owners(tx, ["wh_1"]),
    "webhooks.find_failing": lambda tx: webhooks.find_failing(tx, NOW),
    "webhooks.find_page": lambda tx: webhooks.find_page(tx, Owner(ORGANISATION, Mode.LIVE), 25, AFTER),
    "webhooks.get_many": lambda tx: webhooks.get_many(tx, ["wh_1", "wh_2"]),
    "webhooks.find": lambda tx: webhooks.find(tx, Owner(ORGANISATION, Mode.LIVE)),
    "sealed_files.find_after": lambda tx: sealed_files.find_after(tx, "doc_1", 100),
    "sealed_files.find_of_content": lambda tx: sealed_files.find_of_content(tx, "5e" * 32),
    "patrol.find_contents": lambda tx: patrol.find_contents(tx, "5e", "5f", 200),
    **{
        f"key_exchange.find_rows of {one.table}.{one.column}": partial(
            key_exchange.find_rows, secret=one, after=None
        )
        for one in key_exchange.STORED
    },
}
SHORT = {
    "set_aside.count": "a handful, along an index that holds no others",
    "set_aside.find_some": "a hundred at most, along indexes that hold no others",
    "set_aside.find_suspects": "a handful after a crash, along an index that holds no others",
    "set_aside.note_cut_offs": "it writes; what it answers is a handful, along an index of what was cut off",
    "anchors.find_grown": "as many as are asked for, along an index that holds no others; see below",
    "anchors.find_failing": "the settings have ten at most",
    "installation.find_keys": "three names at most",
    "patrol.list_damage": "a whole installation has a handful, and none in most",
    "patrol.list_untold": "the same, along an index that holds no others",
    "outcomes.record": "it writes; what it answers are the few entries that it made",
    "tsa_answers.find_asked": "the settings have ten at most",
    "organisations.find_all": "an installation has a handful",
    "erasings.find_unfinished": "a handful, along an index that holds no others",
    "members.find_administrators": "an organisation has a handful, and is asked for rarely",
    "outbox.find_pending": "for tests alone",
    "trails.find_headless": "once, after the upgrade of a database from before trails had heads",
    "trails.list_documents_without_trail": "for the command line alone, which reads every trail beside it",
    "due_jobs.find_due_mails": "a walk through the few organisations with waiting mails; see test_due_jobs",
    "due_jobs.find_due_seals": "a walk through the few organisations with waiting seals; see test_due_jobs",
    "held_jobs.list_deliveries": "what a restore held back, along an index that holds no others",
    "users.find_all": "for the command line alone",
    "deliveries.find_due": "a walk through the few webhooks, each with its own place in an index; see test_deliveries",
    "deliveries.find_pending": "for tests alone",
    "listing.find_page": "above",
    "listing.find_summaries": "above",
    "document_pages.find_page": "above",
    "document_pages.count_filters": "above",
    "listing.read_documents": "above",
    "listing.read_summaries": "above",
    "listing.load_rows": "it reads nothing",
}
SCAN = re.compile(r"SCAN (?!CONSTANT|\d+ CONSTANT|\(|SUBQUERY|kept_mail USING INDEX kept_mail_newest)")
"""The newest of all kept mails are the beginning of an index, not a walk through it."""


def lists() -> Iterator[str]:
    """Every function of the store that answers a list, or goes through what is old."""
    for module in pkgutil.walk_packages(esign.store.__path__, "esign.store."):
        store = import_module(module.name)
        for name, function in vars(store).items():
            if inspect.iscoroutinefunction(function) and function.__module__ == store.__name__:
                answer = str(inspect.signature(function).return_annotation)
                if name[0] != "_" and (answer.startswith(("list[", "dict[")) or name.startswith("prune")):
                    yield f"{module.name.rpartition('.')[2]}.{name}"


def test_every_list_of_the_store_is_in_the_table() -> None:
    assert {*lists()} == {name.partition(" ")[0] for name in (*LISTS, *SHORT)}, (
        "a new list wants its row in LISTS"
    )


@pytest.mark.parametrize("name", LISTS)
async def test_every_list_is_read_along_an_index_and_sorted_by_nothing(db: Database, name: str) -> None:
    plan = await steps(db, LISTS[name])
    assert not [step for step in plan if SCAN.match(step) or SORT.match(step)], plan


async def test_trails_that_grew_are_found_along_an_index_of_no_others(db: Database) -> None:
    plan = await steps(db, lambda tx: anchors.find_grown(tx, 2_000))
    assert plan[0] == "SCAN h USING INDEX audit_head_grown" and len(plan) == 2 and "SEARCH a" in plan[1], plan


async def test_a_scrape_of_the_metrics_walks_through_no_table(db: Database) -> None:
    for query in (
        lambda tx: outbox.measure_backlog(tx, "mail", 10_000),
        lambda tx: outbox.find_next_due(tx, "mail"),
        lambda tx: deliveries.measure_backlog(tx, 10_000),
        lambda tx: deliveries.find_next_due(tx, 0),
    ):
        assert not await walks(db, query)
