"""The state machine (contract 2.1 and 2.2): every act over every status, then what each act leaves behind."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus, Role, Status
from esign.core.document.state import is_past_expiry, lifecycle
from esign.core.document.state.outcome import MailJob, Outcome, SealJob
from esign.core.document.state.remind import send_reminder
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR, MINUTE, Instant
from tests.factories import (
    AUTHOR,
    NOW,
    ORIGIN,
    SENDER,
    TYPED,
    a_document,
    a_field,
    a_file,
    a_recipient,
    a_seal,
    a_sent_document,
)

SENT, VIEWED, COMPLETED = RecipientStatus.SENT, RecipientStatus.VIEWED, RecipientStatus.COMPLETED
CREATED, DECLINED = RecipientStatus.CREATED, RecipientStatus.DECLINED
LATER = NOW + HOUR


def complete(document: Document, recipient: Recipient, now: Instant = LATER) -> Outcome:
    return lifecycle.complete(document, recipient, "I agree", ORIGIN, now)


def first(document: Document) -> Recipient:
    return document.recipients[0]


def types(outcome: Outcome) -> list[str]:
    return [event.type for event in outcome.events]


def mails(outcome: Outcome) -> list[tuple[str, str | None]]:
    return [(job.letter, job.recipient_id) for job in outcome.jobs if isinstance(job, MailJob)]


def list_asked(document: Document) -> list[str]:
    """The ids of those who are invited and have not finished."""
    return [r.id for r in document.recipients if r.is_invited]


ENDED = {Status.COMPLETED, Status.DECLINED, Status.EXPIRED, Status.CANCELLED}
Act = Callable[[Document], object]

# What can be done, with the only status it can be done in, the status after it, and the code for every other one.
ACTS: dict[str, tuple[Status, Status, str, Act]] = {
    "send": (
        Status.DRAFT,
        Status.SENT,
        "document_not_draft",
        lambda d: lifecycle.send(d, AUTHOR, LATER),
    ),
    "view": (
        Status.SENT,
        Status.SENT,
        "document_not_sent",
        lambda d: lifecycle.view(d, first(d), ORIGIN, LATER),
    ),
    "complete": (
        Status.SENT,
        Status.SEALING,
        "document_not_sent",
        lambda d: complete(d, first(d)),
    ),
    "decline": (
        Status.SENT,
        Status.DECLINED,
        "document_not_sent",
        lambda d: lifecycle.decline(d, first(d), None, ORIGIN, LATER),
    ),
    "remind": (
        Status.SENT,
        Status.SENT,
        "document_not_sent",
        lambda d: send_reminder(d, first(d), LATER),
    ),
    "expire": (
        Status.SENT,
        Status.EXPIRED,
        "document_not_sent",
        lambda d: lifecycle.expire(d, NOW + 30 * DAY),
    ),
    "seal": (
        Status.SEALING,
        Status.COMPLETED,
        "document_not_completed",
        lambda d: lifecycle.seal(d, a_seal(), LATER),
    ),
    "fail to seal": (
        Status.SEALING,
        Status.SEALING,
        "document_not_completed",
        lambda d: lifecycle.seal_failed(d, "no disk", LATER)[0],
    ),
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("act", ACTS)
def test_each_act_is_possible_in_one_status_and_refused_with_its_code_in_every_other(
    act: str, status: Status
) -> None:
    needed, after, code, run = ACTS[act]
    document = a_document(status=status)
    if status is needed:
        outcome = run(document)
        assert isinstance(outcome, Outcome)
        assert outcome.document.status is after
        return
    with pytest.raises(Problem) as refused:
        run(document)
    assert (refused.value.code, refused.value.current_status) == (code, status)
    assert refused.value.status == 409


@pytest.mark.parametrize("status", RecipientStatus)
@pytest.mark.parametrize("act", ["view", "complete", "decline"])
def test_only_an_invited_recipient_who_has_not_finished_may_act(act: str, status: RecipientStatus) -> None:
    document = a_document(a_recipient(status=status), a_recipient("Bo", status=SENT), status=Status.SENT)
    codes = {
        CREATED: "recipient_not_active",
        COMPLETED: "recipient_already_completed",
        DECLINED: "recipient_not_active",
    }
    if status not in codes:
        ACTS[act][3](document)
        return
    with pytest.raises(Problem) as refused:
        ACTS[act][3](document)
    assert (refused.value.code, refused.value.current_status) == (codes[status], "sent")


@pytest.mark.parametrize(
    ("act", "role"),
    [
        *((act, Role.VIEWER) for act in ("complete", "decline", "remind")),
        *((act, Role.CC) for act in ("view", "complete", "decline", "remind")),
    ],
)
def test_who_only_watches_does_not_act(act: str, role: Role) -> None:
    document = a_document(a_recipient(role=role, status=SENT), status=Status.SENT)
    with pytest.raises(Problem) as refused:
        ACTS[act][3](document)
    assert refused.value.code in ("recipient_not_active", "no_recipient_to_remind")


# ---------- D1, D4 ----------


def test_the_first_entry_names_both_files_and_what_was_changed_in_them() -> None:
    document = a_document(file=a_file(2, removed=("scripts",), repaired=True))
    (event,) = lifecycle.create(document, ORIGIN, NOW).events
    assert (event.type, event.actor, event.origin) == ("document.created", SENDER, ORIGIN)
    assert event.data == {
        "fileSha256": document.file.uploaded,
        "preparedSha256": document.file.prepared,
        "pageCount": 2,
        "removed": ["scripts"],
        "repaired": True,
    }
    assert set(lifecycle.create(a_document(), ORIGIN, NOW).events[0].data) == {
        *("fileSha256", "preparedSha256", "pageCount")
    }


def test_sending_sets_the_dates_and_invites_everybody_of_the_first_group() -> None:
    ana, bo, cy = a_recipient("Ana"), a_recipient("Bo"), a_recipient("Cy", order=2)
    outcome = lifecycle.send(a_document(ana, bo, cy, expires_in_days=10), AUTHOR, LATER)
    document = outcome.document
    assert (document.sent_at, document.expires_at) == (LATER, LATER + 10 * DAY)
    assert document.updated_at == LATER
    assert list_asked(document) == [ana.id, bo.id]
    assert [(e.type, e.recipient_id) for e in outcome.events] == [
        ("document.sent", None),
        ("recipient.sent", ana.id),
        ("recipient.sent", bo.id),
    ]
    assert outcome.events[1].detail == {"email": "ana@example.com"}
    assert mails(outcome) == [("invitation", ana.id), ("invitation", bo.id)]
    invited = document.recipient(ana.id)
    assert (invited.status, invited.sent_at) == (SENT, LATER)
    assert (invited.delivery, invited.delivery_at) == (MailDelivery.QUEUED, LATER)
    assert invited.next_reminder_at == LATER + 3 * DAY
    assert document.recipient(cy.id) == cy


def test_the_lowest_order_begins_whatever_its_number_and_place() -> None:
    late, early = a_recipient("Ana", order=9), a_recipient("Bo", order=4)
    assert list_asked(a_sent_document(late, early)) == [early.id]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.CC])
def test_a_group_of_watchers_does_not_hold_up_the_next(role: Role) -> None:
    watcher, signer = a_recipient("Ana", role=role), a_recipient("Bo", order=2)
    assert list_asked(a_sent_document(watcher, signer)) == [signer.id]


@pytest.mark.parametrize(
    ("document", "path", "rule"),
    [
        (replace(a_document(), recipients=()), "/recipients", "required"),
        (a_document(a_recipient(role=Role.APPROVER)), "/recipients", "required"),
        (a_document(a_recipient(role=Role.CC)), "/recipients", "required"),
        (a_document(a_recipient(), a_recipient(email="")), "/recipients/1/email", "required"),
        (a_document(a_recipient(), replace(a_recipient(), name="")), "/recipients/1/name", "required"),
        (
            a_document(a_recipient(), a_recipient(role=Role.CC, fields=(a_field(),))),
            "/recipients/1/fields/0",
            "reference",
        ),
        (
            a_document(a_recipient(), a_recipient(role=Role.VIEWER, fields=(a_field(),))),
            "/recipients/1/fields/0",
            "reference",
        ),
        (
            a_document(a_recipient(fields=(a_field(), a_field(page=2)))),
            "/recipients/0/fields/1/page",
            "range",
        ),
        (a_document(a_recipient(fields=(a_field(x=99, width=2),))), "/recipients/0/fields/0/width", "range"),
    ],
)
def test_a_draft_that_lacks_something_is_not_sent_and_names_it(
    document: Document, path: str, rule: str
) -> None:
    with pytest.raises(Problem) as refused:
        lifecycle.send(document, AUTHOR, NOW)
    assert (refused.value.code, refused.value.current_status) == ("document_not_ready", "draft")
    assert [(detail.path, detail.rule) for detail in refused.value.details] == [(path, rule)]


def test_everything_a_draft_lacks_is_named_at_once() -> None:
    document = a_document(replace(a_recipient(email="", role=Role.CC), name="", fields=(a_field(),)))
    assert [detail.path for detail in lifecycle.find_missing(document)] == [
        *("/recipients/0/email", "/recipients/0/name", "/recipients", "/recipients/0/fields/0")
    ]


def test_a_signer_without_fields_can_be_sent_and_can_sign() -> None:
    document = a_sent_document(a_recipient(fields=()))
    assert complete(document, first(document)).document.status is Status.SEALING


# ---------- D5, D6 ----------


def test_the_first_view_is_noted_once() -> None:
    document = a_sent_document()
    outcome = lifecycle.view(document, first(document), ORIGIN, LATER)
    seen = first(outcome.document)
    assert (seen.status, seen.viewed_at, outcome.document.updated_at) == (VIEWED, LATER, LATER)
    assert types(outcome) == ["recipient.authenticated", "recipient.viewed"]
    assert outcome.events[0].data == {"method": "link", "result": "passed"}
    assert {event.actor.kind for event in outcome.events} == {"recipient"}

    again = lifecycle.view(outcome.document, seen, ORIGIN, LATER + 1)
    assert again == Outcome(outcome.document)


@pytest.mark.parametrize("method", ["email_code", "access_code"])
def test_a_view_says_nothing_of_a_code_which_was_noted_when_it_was_entered(method: str) -> None:
    document = a_sent_document(a_recipient(authentication=method))
    assert types(lifecycle.view(document, first(document), ORIGIN, LATER)) == ["recipient.viewed"]


def test_finishing_locks_what_the_recipient_gave() -> None:
    document = a_sent_document(a_recipient("Ana", fields=(a_field(),)), a_recipient("Bo"))
    ana = first(document)
    filled = (replace(ana.fields[0], value="words", filled_at=LATER),)
    outcome = lifecycle.complete(document, replace(ana, ink=TYPED, fields=filled), "I agree", ORIGIN, LATER)
    done = first(outcome.document)
    assert (done.status, done.completed_at, done.next_reminder_at) == (COMPLETED, LATER, None)
    assert (done.fields, done.ink, done.consent, done.origin) == (filled, TYPED, "I agree", ORIGIN)
    assert done.viewed_at == LATER
    assert types(outcome) == [
        *("recipient.authenticated", "recipient.viewed", "recipient.consented", "recipient.completed")
    ]
    assert outcome.events[2].data == {"consent": "I agree"}
    with pytest.raises(Problem, match="recipient_already_completed"):
        complete(outcome.document, done)


def test_who_viewed_before_keeps_that_time() -> None:
    document = a_document(a_recipient(status=VIEWED), status=Status.SENT)
    outcome = complete(document, replace(first(document), ink=TYPED))
    assert first(outcome.document).viewed_at == NOW
    assert first(outcome.document).ink == TYPED
    assert types(outcome) == ["recipient.consented", "recipient.completed"]


@pytest.mark.parametrize(
    ("orders", "waves"),
    [
        ([1], [[0]]),
        ([1, 1, 1], [[0, 1, 2]]),
        ([1, 2, 3], [[0], [1], [2]]),
        ([3, 2, 1], [[2], [1], [0]]),
        ([1, 2, 2, 5], [[0], [1, 2], [3]]),
        ([7, 7, 100], [[0, 1], [2]]),
    ],
)
def test_groups_are_invited_one_after_the_other_and_the_last_completion_queues_one_seal(
    orders: list[int], waves: list[list[int]]
) -> None:
    people = [a_recipient(order=order) for order in orders]
    ids = [person.id for person in people]
    outcome = lifecycle.send(a_document(*people), AUTHOR, NOW)
    seals = 0
    for wave in waves:
        assert list_asked(outcome.document) == [ids[n] for n in wave]
        assert mails(outcome) == [("invitation", ids[n]) for n in wave]
        assert [e.recipient_id for e in outcome.events if e.type == "recipient.sent"] == [
            ids[n] for n in wave
        ]
        for n in wave:
            assert outcome.document.status is Status.SENT
            outcome = complete(outcome.document, outcome.document.recipient(ids[n]))
            seals += outcome.jobs.count(SealJob())
    assert outcome.document.status is Status.SEALING
    assert seals == 1
    assert outcome.jobs == (SealJob(),)
    assert outcome.document.completed_at is None


def test_watchers_do_not_hold_up_the_seal() -> None:
    document = a_sent_document(a_recipient("Ana"), a_recipient("Bo", role=Role.CC, order=2))
    assert complete(document, first(document)).document.status is Status.SEALING


def test_an_approver_holds_up_the_seal() -> None:
    document = a_sent_document(a_recipient("Ana"), a_recipient("Bo", role=Role.APPROVER))
    assert complete(document, first(document)).document.status is Status.SENT


# ---------- D7, D8 ----------


def test_a_sealed_document_is_completed_and_everybody_gets_it_by_mail() -> None:
    ana, cy = a_recipient("Ana", status=COMPLETED), a_recipient("Cy", role=Role.CC)
    document = a_document(ana, cy, status=Status.SEALING, seal_error="no disk", seal_attempts=2)
    sealed = a_seal()
    outcome = lifecycle.seal(document, sealed, LATER)
    assert (outcome.document.completed_at, outcome.document.updated_at) == (LATER, LATER)
    assert (outcome.document.seal, outcome.document.seal_error) == (sealed, None)
    assert types(outcome) == ["document.completed"]
    assert outcome.events[0].data == {
        "sha256": sealed.sha256,
        "level": "B-B",
        "certificate": sealed.certificate,
    }
    assert mails(outcome) == [("completed", None), ("completed", ana.id), ("completed", cy.id)]


def test_a_failed_seal_is_tried_again_without_end_and_told_of_once() -> None:
    document = a_document(status=Status.SEALING)
    waits, told = [], []
    for attempt in range(1, 9):
        outcome, due_at = lifecycle.seal_failed(document, f"reason {attempt}", LATER)
        document = outcome.document
        assert (document.seal_attempts, document.seal_error) == (attempt, f"reason {attempt}")
        waits.append((due_at - LATER) // MINUTE)
        told += [(attempt, event.type, event.data) for event in outcome.events]
        assert outcome.jobs == ()
    assert waits == [1, 5, 15, 60, 60, 60, 60, 60]
    assert told == [(3, "document.seal_failed", {"attempts": 3})]


# ---------- D9 ----------


@pytest.mark.parametrize("status", [SENT, VIEWED])
@pytest.mark.parametrize("reason", ["Too dear.", None])
def test_one_refusal_closes_the_document_and_tells_those_who_were_asked(
    status: RecipientStatus, reason: str | None
) -> None:
    ana, bo = a_recipient("Ana", status=COMPLETED), a_recipient("Bo", status=status, order=2)
    cy, di = a_recipient("Cy", status=SENT, order=2, next_reminder_at=LATER), a_recipient("Di", order=3)
    document = a_document(ana, bo, cy, di, status=Status.SENT)
    outcome = lifecycle.decline(document, bo, reason, ORIGIN, LATER)
    closed = outcome.document
    assert (closed.status, closed.closed_at, closed.close_reason) == (Status.DECLINED, LATER, reason)
    refused = closed.recipient(bo.id)
    assert (refused.status, refused.declined_at, refused.decline_reason) == (DECLINED, LATER, reason)
    assert refused.origin == ORIGIN
    assert [r.status for r in closed.recipients] == [COMPLETED, DECLINED, SENT, CREATED]
    assert {r.next_reminder_at for r in closed.recipients} == {None}
    assert mails(outcome) == [("declined", None), *(("declined", r.id) for r in (ana, bo, cy))]
    keys = [job.key for job in outcome.jobs if isinstance(job, MailJob)]
    assert len(set(keys)) == len(keys)


def test_both_events_of_a_refusal_name_who_refused_and_keep_the_reason_erasable() -> None:
    document = a_sent_document()
    outcome = lifecycle.decline(document, first(document), "Too dear.", ORIGIN, LATER)
    assert [(e.type, e.recipient_id) for e in outcome.events] == [
        ("recipient.declined", first(document).id),
        ("document.declined", first(document).id),
    ]
    assert outcome.events[0].detail == {"reason": "Too dear."}
    assert all("Too dear." not in str(event.data) for event in outcome.events)


# ---------- D10 ----------


@pytest.mark.parametrize(
    ("now", "past"), [(NOW + 30 * DAY - 1, False), (NOW + 30 * DAY, True), (NOW + 90 * DAY, True)]
)
def test_a_document_expires_exactly_at_its_date(now: Instant, past: bool) -> None:
    document = a_sent_document()
    assert is_past_expiry(document, now) is past
    if not past:
        with pytest.raises(Problem, match="document_not_sent"):
            lifecycle.expire(document, now)
        return
    outcome = lifecycle.expire(document, now)
    assert (outcome.document.status, outcome.document.closed_at) == (Status.EXPIRED, now)
    assert first(outcome.document).status is SENT
    assert first(outcome.document).next_reminder_at is None
    assert types(outcome) == ["document.expired"]
    assert outcome.events[0].actor.kind == "system"
    assert mails(outcome) == [("expired", None)]


@pytest.mark.parametrize("status", Status)
def test_only_a_sent_document_can_be_past_its_expiry(status: Status) -> None:
    document = a_document(status=status, expires_at=NOW)
    assert is_past_expiry(document, NOW) is (status is Status.SENT)


@pytest.mark.parametrize("act", ["view", "complete", "decline", "remind"])
def test_whoever_meets_a_document_past_its_expiry_is_told_that_it_expired(act: str) -> None:
    document = a_document(status=Status.SENT, expires_at=LATER)
    with pytest.raises(Problem) as refused:
        ACTS[act][3](document)
    assert (refused.value.code, refused.value.current_status) == ("document_not_sent", "expired")
    ACTS[act][3](replace(document, expires_at=LATER + 1))


# ---------- D3, D11, D12, and a seal that is tried again ----------


def cancel(document: Document, reason: str | None = None, notify: bool = True) -> Outcome:
    return lifecycle.cancel(document, reason, notify, AUTHOR, LATER)


@pytest.mark.parametrize("status", Status)
def test_only_a_sent_document_can_be_cancelled(status: Status) -> None:
    document = a_document(status=status)
    if status is Status.SENT:
        assert cancel(document).document.status is Status.CANCELLED
        return
    with pytest.raises(Problem) as refused:
        cancel(document)
    assert (refused.value.code, refused.value.current_status) == ("document_not_sent", status)


@pytest.mark.parametrize("status", Status)
def test_a_draft_and_a_document_that_has_ended_can_be_deleted(status: Status) -> None:
    document = a_document(status=status)
    if status is Status.DRAFT or status in ENDED:
        outcome = lifecycle.delete(document, AUTHOR, LATER)
        (event,) = outcome.events
        assert (event.type, event.data, event.actor) == ("document.deleted", {"status": status}, SENDER)
        return
    with pytest.raises(Problem) as refused:
        lifecycle.delete(document, AUTHOR, LATER)
    assert (refused.value.code, refused.value.current_status) == ("document_in_progress", status)


@pytest.mark.parametrize("error", [None, "no disk"])
@pytest.mark.parametrize("status", Status)
def test_only_a_seal_that_failed_is_tried_again(status: Status, error: str | None) -> None:
    document = a_document(status=status, seal_error=error)
    if status is Status.SEALING and error:
        outcome = lifecycle.retry_seal(document, AUTHOR, LATER)
        assert outcome.document == document and outcome.jobs == (SealJob(),)
        return
    with pytest.raises(Problem) as refused:
        lifecycle.retry_seal(document, AUTHOR, LATER)
    assert (refused.value.code, refused.value.current_status) == ("seal_not_failed", status)


def test_a_document_past_its_expiry_is_not_cancelled_any_more() -> None:
    with pytest.raises(Problem) as refused:
        lifecycle.cancel(a_document(status=Status.SENT), None, True, AUTHOR, NOW + 30 * DAY)
    assert refused.value.current_status == Status.EXPIRED


@pytest.mark.parametrize("notify", [True, False])
def test_cancelling_tells_those_who_were_asked_and_reminds_nobody(notify: bool) -> None:
    ana = a_recipient("Ana", status=RecipientStatus.COMPLETED)
    bo = a_recipient("Bo", status=RecipientStatus.SENT, next_reminder_at=LATER)
    cy = a_recipient("Cy", order=2)
    outcome = cancel(a_document(ana, bo, cy, status=Status.SENT), "too late", notify)
    document = outcome.document
    assert (document.closed_at, document.close_reason, document.updated_at) == (LATER, "too late", LATER)
    assert [r.status for r in document.recipients] == [ana.status, bo.status, cy.status]
    assert not any(r.next_reminder_at for r in document.recipients)
    told = [(job.letter, job.recipient_id) for job in outcome.jobs if isinstance(job, MailJob)]
    assert told == ([("cancelled", ana.id), ("cancelled", bo.id)] if notify else [])
    (event,) = outcome.events
    assert (event.type, event.detail, event.data) == (
        "document.cancelled",
        {"reason": "too late"},
        {"notified": notify},
    )


# ---------- reminders, delivery ----------


def test_each_reminder_is_counted_and_plans_the_next() -> None:
    document = a_sent_document()
    for count, day, following in [
        (1, 3, 7),
        (2, 7, 11),
        (3, 11, 15),
        (4, 15, 19),
        (5, 19, 29),
        (6, 29, None),
    ]:
        now = NOW + day * DAY
        assert first(document).next_reminder_at == now
        outcome = send_reminder(document, first(document), now)
        document = outcome.document
        reminded = first(document)
        assert (reminded.reminders_sent, reminded.last_reminded_at) == (count, now)
        assert reminded.next_reminder_at == (None if following is None else NOW + following * DAY)
        assert (reminded.delivery, reminded.delivery_at) == (MailDelivery.QUEUED, now)
        assert [(e.type, e.recipient_id) for e in outcome.events] == [("recipient.reminded", reminded.id)]
        assert outcome.jobs == (MailJob("reminder", f"remind:{reminded.id}:{count}", reminded.id),)


def test_after_days_without_the_program_one_reminder_leaves_and_the_next_is_in_the_future() -> None:
    document = a_sent_document()
    now = NOW + 16 * DAY
    reminded = first(send_reminder(document, first(document), now).document)
    assert (reminded.reminders_sent, reminded.next_reminder_at) == (1, NOW + 19 * DAY)


@pytest.mark.parametrize("status", RecipientStatus)
def test_only_who_is_asked_and_has_not_finished_is_reminded(status: RecipientStatus) -> None:
    document = a_document(a_recipient(status=status), status=Status.SENT)
    if status in (SENT, VIEWED):
        assert first(send_reminder(document, first(document), LATER).document).status is status
        return
    with pytest.raises(Problem, match="no_recipient_to_remind"):
        send_reminder(document, first(document), LATER)


def test_nothing_leaves_a_closed_document_but_its_own_mails() -> None:
    """An outcome that closes queues no invitation and no seal."""
    document = a_sent_document(a_recipient("Ana"), a_recipient("Bo", order=2))
    for outcome in (
        lifecycle.decline(document, first(document), None, ORIGIN, LATER),
        lifecycle.expire(document, NOW + 30 * DAY),
    ):
        assert SealJob() not in outcome.jobs
        assert "invitation" not in {letter for letter, _ in mails(outcome)}
