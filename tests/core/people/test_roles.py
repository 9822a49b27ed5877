"""The four roles (contract 2.2 and 4): who is asked when, who may do what, who holds up whom, who gets a copy."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus, Role, Status
from esign.core.document.state import lifecycle
from esign.core.document.state.edit import correct
from esign.core.document.state.outcome import MailJob, Outcome, SealJob
from esign.core.document.state.remind import send_reminder
from esign.core.errors import Problem
from esign.core.instant import HOUR
from tests.factories import AUTHOR, NOW, ORIGIN, a_document, a_recipient, a_seal, a_sent_document

SIGNER, APPROVER, VIEWER, CC = Role
CREATED, SENT, VIEWED, COMPLETED, DECLINED = RecipientStatus
LATER = NOW + HOUR

Act = Callable[[Document, Recipient], Outcome]


def complete(document: Document, recipient: Recipient) -> Outcome:
    return lifecycle.complete(document, recipient, "I agree", ORIGIN, LATER)


ACTS: dict[str, Act] = {
    "view": lambda d, r: lifecycle.view(d, r, ORIGIN, LATER),
    "complete": complete,
    "decline": lambda d, r: lifecycle.decline(d, r, None, ORIGIN, LATER),
    "remind": lambda d, r: send_reminder(d, r, LATER),
}


def code_for(act: str, role: Role, status: RecipientStatus) -> str | None:
    """What refuses this act to somebody of this role and status of a document that is out; None: nothing."""
    asked = status in (SENT, VIEWED)
    if act == "remind":
        return None if asked and role in (SIGNER, APPROVER) else "no_recipient_to_remind"
    if status is COMPLETED:
        return "recipient_already_completed"
    may = role in ((SIGNER, APPROVER, VIEWER) if act == "view" else (SIGNER, APPROVER))
    return None if asked and may else "recipient_not_active"


@pytest.mark.parametrize("status", RecipientStatus)
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("act", ACTS)
def test_each_act_of_each_role_in_each_status(act: str, role: Role, status: RecipientStatus) -> None:
    person = a_recipient(role=role, status=status)
    document = a_document(person, a_recipient("Bo", status=SENT), status=Status.SENT)
    code = code_for(act, role, status)
    if code is None:
        assert ACTS[act](document, person).document.recipient(person.id) is not None
        return
    with pytest.raises(Problem) as refused:
        ACTS[act](document, person)
    assert (refused.value.code, refused.value.current_status) == (code, "sent")


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.SENT])
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("act", ACTS)
def test_nobody_of_any_role_acts_on_a_document_that_is_not_out(act: str, role: Role, status: Status) -> None:
    document = a_document(a_recipient(role=role, status=SENT), status=status)
    with pytest.raises(Problem) as refused:
        ACTS[act](document, document.recipients[0])
    assert (refused.value.code, refused.value.current_status) == ("document_not_sent", status)


@pytest.mark.parametrize("status", RecipientStatus)
@pytest.mark.parametrize("role", Role)
def test_a_link_opens_the_document_while_its_role_has_something_to_do_or_read(
    role: Role, status: RecipientStatus
) -> None:
    person = a_recipient(role=role, status=status)
    assert person.is_active is (role is not CC and status in (SENT, VIEWED))
    assert person.is_invited is (role in (SIGNER, APPROVER) and status in (SENT, VIEWED))


# ---------- order ----------

# (role, order) of each, and who is asked at sending and after each completion
Wave = list[int]
ORDERS: list[tuple[list[tuple[Role, int]], list[Wave]]] = [
    ([(SIGNER, 1), (VIEWER, 1)], [[0, 1]]),
    ([(SIGNER, 1), (CC, 1)], [[0]]),
    ([(VIEWER, 1), (SIGNER, 2)], [[0, 1]]),
    ([(VIEWER, 1), (VIEWER, 2), (SIGNER, 3)], [[0, 1, 2]]),
    ([(VIEWER, 2), (VIEWER, 1), (SIGNER, 3)], [[1, 0, 2]]),
    ([(CC, 1), (SIGNER, 2)], [[1]]),
    ([(SIGNER, 1), (VIEWER, 2)], [[0]]),
    ([(SIGNER, 1), (VIEWER, 2), (APPROVER, 3)], [[0], [1, 2]]),
    ([(APPROVER, 1), (SIGNER, 2), (VIEWER, 2), (CC, 1)], [[0], [1, 2]]),
    ([(SIGNER, 1), (APPROVER, 1), (SIGNER, 2)], [[0, 1], [2]]),
    ([(SIGNER, 5), (VIEWER, 4), (VIEWER, 6)], [[1, 0]]),
]


@pytest.mark.parametrize(("people", "waves"), ORDERS)
def test_viewers_are_asked_with_their_group_and_hold_up_nobody(
    people: list[tuple[Role, int]], waves: list[Wave]
) -> None:
    recipients = [a_recipient(role=role, order=order) for role, order in people]
    ids = [recipient.id for recipient in recipients]
    outcome = lifecycle.send(a_document(*recipients), AUTHOR, NOW)
    for wave in waves:
        assert outcome.document.status is Status.SENT
        assert [job.recipient_id for job in outcome.jobs if isinstance(job, MailJob)] == [
            ids[n] for n in wave
        ]
        asked = [event.recipient_id for event in outcome.events if event.type == "recipient.sent"]
        assert asked == [ids[n] for n in wave]
        for n in wave:
            person = outcome.document.recipient(ids[n])
            assert (person.status, person.sent_at is not None) == (SENT, True)
            if person.acting:
                outcome = complete(outcome.document, person)
    assert (outcome.document.status, outcome.jobs) == (Status.SEALING, (SealJob(),))


@pytest.mark.parametrize("role", [APPROVER, VIEWER, CC])
def test_without_a_signer_nothing_is_sent(role: Role) -> None:
    missing = lifecycle.find_missing(a_document(a_recipient(role=role)))
    assert [(detail.path, detail.rule) for detail in missing] == [("/recipients", "required")]


def test_a_viewer_is_done_with_the_first_view_and_is_never_reminded() -> None:
    document = a_sent_document(a_recipient("Ana", role=VIEWER), a_recipient("Bo"))
    viewer = document.recipients[0]
    assert viewer.next_reminder_at is None
    outcome = lifecycle.view(document, viewer, ORIGIN, LATER)
    assert [event.type for event in outcome.events] == ["recipient.authenticated", "recipient.viewed"]
    seen = outcome.document.recipients[0]
    assert (seen.status, seen.viewed_at) == (VIEWED, LATER)
    assert lifecycle.view(outcome.document, seen, ORIGIN, LATER + 1) == Outcome(outcome.document)


def test_a_viewer_who_is_corrected_is_asked_anew_and_not_reminded() -> None:
    document = a_sent_document(a_recipient("Ana", role=VIEWER), a_recipient("Bo"))
    outcome = correct(document, replace(document.recipients[0], email="new@example.com"), AUTHOR, LATER)
    corrected = outcome.document.recipients[0]
    assert (corrected.status, corrected.sent_at, corrected.next_reminder_at) == (SENT, LATER, None)
    assert MailJob("invitation", f"invite:{corrected.id}:2", corrected.id) in outcome.jobs


# ---------- the end ----------


def test_the_final_copy_goes_to_everybody_and_is_the_first_that_some_are_sent() -> None:
    ana, bo = a_recipient("Ana", status=COMPLETED), a_recipient("Bo", status=COMPLETED, role=APPROVER)
    cy, di = a_recipient("Cy", role=VIEWER, status=VIEWED), a_recipient("Di", role=VIEWER, order=2)
    ed = a_recipient("Ed", role=CC)
    document = a_document(ana, bo, cy, di, ed, status=Status.SEALING)
    outcome = lifecycle.seal(document, a_seal(), LATER)
    assert [job.recipient_id for job in outcome.jobs if isinstance(job, MailJob)] == [
        None, *(recipient.id for recipient in document.recipients)
    ]  # fmt: skip
    assert [event.type for event in outcome.events] == ["document.completed"]
    assert outcome.document.recipients[:3] == (ana, bo, cy)
    for late in outcome.document.recipients[3:]:
        assert (late.status, late.sent_at, late.delivery, late.delivery_at) == (
            SENT, LATER, MailDelivery.QUEUED, LATER
        )  # fmt: skip


def test_a_refusal_is_told_to_a_viewer_who_was_asked_and_to_no_one_who_was_not() -> None:
    document = a_sent_document(
        a_recipient("Ana"), a_recipient("Bo", role=VIEWER), a_recipient("Cy", role=CC),
        a_recipient("Di", role=VIEWER, order=2),
    )  # fmt: skip
    ana, bo = document.recipients[:2]
    outcome = lifecycle.decline(document, ana, None, ORIGIN, LATER)
    told = [job.recipient_id for job in outcome.jobs if isinstance(job, MailJob)]
    assert told == [None, ana.id, bo.id]


def test_an_approver_s_order_counts_as_a_signer_s() -> None:
    document = a_sent_document(a_recipient("Ana", role=APPROVER), a_recipient("Bo", order=2))
    ana, bo = document.recipients
    assert (ana.is_invited, bo.is_invited) == (True, False)
    after = complete(document, ana).document
    assert after.recipient(ana.id).status is COMPLETED and after.recipient(bo.id).is_invited
    assert after.status is Status.SENT
