"""Reminding by hand, over every status of document and recipient."""

import pytest

from esign.core.document.document import Document, RecipientStatus, Role, Status
from esign.core.document.state.outcome import MailJob
from esign.core.document.state.remind import RemindersSent, remind_recipients
from esign.core.errors import Problem
from esign.core.instant import HOUR, MINUTE
from tests.factories import AUTHOR, NOW, SENDER, a_document, a_recipient

LATER = NOW + HOUR
SENT = RecipientStatus.SENT


def remind(document: Document, *wanted: str) -> RemindersSent:
    return remind_recipients(document, wanted or None, "Please", AUTHOR, LATER)


@pytest.mark.parametrize("status", Status)
def test_only_of_a_sent_document_is_anybody_reminded(status: Status) -> None:
    document = a_document(status=status)
    if status is Status.SENT:
        assert remind(document).reminded == (document.recipients[0].id,)
        return
    with pytest.raises(Problem) as refused:
        remind(document)
    assert (refused.value.code, refused.value.current_status) == ("document_not_sent", status)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("status", [s for s in RecipientStatus if s is not RecipientStatus.DECLINED])
def test_who_is_not_reminded_is_named_with_the_reason(status: RecipientStatus, role: Role) -> None:
    other = a_recipient("Bo", status=SENT)
    document = a_document(a_recipient(status=status, role=role), other, status=Status.SENT)
    reason = {RecipientStatus.CREATED: "not_invited", RecipientStatus.COMPLETED: "completed"}.get(status)
    if role in (Role.VIEWER, Role.CC):
        reason = "not_acting"
    done = remind(document)
    first = document.recipients[0].id
    assert done.skipped == (((first, reason),) if reason else ())
    assert done.reminded == ((other.id,) if reason else (first, other.id))


def test_each_reminder_is_counted_mailed_with_the_message_and_told() -> None:
    ana, bo = a_recipient("Ana", status=SENT), a_recipient("Bo", status=SENT, reminders_sent=3)
    outcome = remind(a_document(ana, bo, status=Status.SENT)).outcome
    assert [r.reminders_sent for r in outcome.document.recipients] == [1, 4]
    assert [r.last_reminded_at for r in outcome.document.recipients] == [LATER, LATER]
    assert outcome.jobs == (
        MailJob("reminder", f"remind:{ana.id}:1", ana.id, "Please"),
        MailJob("reminder", f"remind:{bo.id}:4", bo.id, "Please"),
    )
    assert [(e.type, e.actor, e.recipient_id) for e in outcome.events] == [
        ("recipient.reminded", SENDER, ana.id),
        ("recipient.reminded", SENDER, bo.id),
    ]


def test_only_those_wanted_are_reminded() -> None:
    ana, bo = a_recipient("Ana", status=SENT), a_recipient("Bo", status=SENT)
    done = remind(a_document(ana, bo, status=Status.SENT), bo.id)
    assert (done.reminded, done.skipped) == ((bo.id,), ())


@pytest.mark.parametrize("ago, too_soon", [(0, True), (HOUR - 1, True), (HOUR, False)])
def test_nobody_is_reminded_twice_within_the_hour(ago: int, too_soon: bool) -> None:
    ana = a_recipient("Ana", status=SENT, last_reminded_at=LATER - ago)
    bo = a_recipient("Bo", status=SENT)
    done = remind(a_document(ana, bo, status=Status.SENT))
    assert done.skipped == (((ana.id, "too_soon"),) if too_soon else ())


def test_where_all_are_too_soon_the_answer_says_how_long_to_wait() -> None:
    early, late = (a_recipient(status=SENT, last_reminded_at=LATER - ago * MINUTE) for ago in (50, 20))
    done = a_recipient(status=RecipientStatus.COMPLETED)
    with pytest.raises(Problem) as refused:
        remind(a_document(early, late, done, status=Status.SENT))
    assert (refused.value.code, refused.value.retry_after) == ("reminder_too_soon", 600)


def test_where_nobody_is_waited_for_nobody_can_be_reminded() -> None:
    done, bo = a_recipient(status=RecipientStatus.COMPLETED), a_recipient("Bo", status=SENT)
    with pytest.raises(Problem) as refused:
        remind(a_document(done, bo, status=Status.SENT), done.id)
    assert (refused.value.code, refused.value.current_status) == ("no_recipient_to_remind", "sent")
