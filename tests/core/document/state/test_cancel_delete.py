"""What a sender may end, over every status, and what it leaves behind."""

import pytest

from esign.core.document.document import Document, RecipientStatus, Status
from esign.core.document.state import cancel_delete
from esign.core.document.state.outcome import MailJob, Outcome, SealJob
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR
from tests.factories import AUTHOR, NOW, SENDER, a_document, a_recipient

LATER = NOW + HOUR
ENDED = {Status.COMPLETED, Status.DECLINED, Status.EXPIRED, Status.CANCELLED}


def cancel(document: Document, reason: str | None = None, notify: bool = True) -> Outcome:
    return cancel_delete.cancel(document, reason, notify, AUTHOR, LATER)


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
        outcome = cancel_delete.delete(document, AUTHOR, LATER)
        (event,) = outcome.events
        assert (event.type, event.data, event.actor) == ("document.deleted", {"status": status}, SENDER)
        return
    with pytest.raises(Problem) as refused:
        cancel_delete.delete(document, AUTHOR, LATER)
    assert (refused.value.code, refused.value.current_status) == ("document_in_progress", status)


@pytest.mark.parametrize("error", [None, "no disk"])
@pytest.mark.parametrize("status", Status)
def test_only_a_seal_that_failed_is_tried_again(status: Status, error: str | None) -> None:
    document = a_document(status=status, seal_error=error)
    if status is Status.SEALING and error:
        outcome = cancel_delete.retry_seal(document, AUTHOR, LATER)
        assert outcome.document == document and outcome.jobs == (SealJob(),)
        return
    with pytest.raises(Problem) as refused:
        cancel_delete.retry_seal(document, AUTHOR, LATER)
    assert (refused.value.code, refused.value.current_status) == ("seal_not_failed", status)


def test_a_document_past_its_expiry_is_not_cancelled_any_more() -> None:
    with pytest.raises(Problem) as refused:
        cancel_delete.cancel(a_document(status=Status.SENT), None, True, AUTHOR, NOW + 30 * DAY)
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
