"""What may be changed in which status, and what a change leaves behind."""

from dataclasses import replace
from typing import Any

import pytest

from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus, Status
from esign.core.document.state import edit as editing
from esign.core.document.state.edit import correct
from esign.core.document.state.outcome import MailJob, Outcome, RevokeLinks
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR
from esign.core.people.account import Reminders
from tests.factories import AUTHOR, NOW, a_document, a_file, a_recipient, a_sent_document

LATER = NOW + HOUR
VALUES: dict[str, Any] = {
    "title": "New",
    "recipients": (),
    "file": a_file(2),
    "external_id": "x-1",
    "metadata": {"a": "b"},
    "expires_at": NOW + 40 * DAY,
    "reminders": Reminders(enabled=False),
}
WHILE_SENT = {"external_id", "metadata", "expires_at", "reminders"}


def edit(document: Document, **changes: Any) -> Outcome:
    return editing.edit(document, changes, AUTHOR, LATER)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("member", VALUES)
def test_each_member_can_be_changed_only_in_its_statuses(member: str, status: Status) -> None:
    document, code = a_document(status=status), None
    if status is Status.DRAFT:
        code = "document_not_sent" if member == "expires_at" else None
    elif member not in (WHILE_SENT if status is Status.SENT else {"external_id", "metadata"}):
        code = "document_not_draft"
    if code is None:
        edited = edit(document, **{member: VALUES[member]}).document
        assert getattr(edited, member) == VALUES[member] and edited.updated_at == LATER
        return
    with pytest.raises(Problem) as refused:
        edit(document, **{member: VALUES[member]})
    assert (refused.value.code, refused.value.current_status) == (code, status)


def test_the_trail_names_the_members_that_changed_and_the_hashes_of_a_new_file() -> None:
    document = a_document()
    (event,) = edit(document, title="New", subject=document.subject, external_id="x").events
    assert (event.type, event.data) == ("document.updated", {"members": ["externalId", "title"]})
    (event,) = edit(document, file=a_file(uploaded="a" * 64)).events
    assert event.data["members"] == ["file"] and event.data["fileSha256"] == "a" * 64


def test_a_change_of_nothing_is_none() -> None:
    document = a_document()
    assert edit(document, title=document.title) == Outcome(document)


@pytest.mark.parametrize("at", [LATER, NOW, NOW + 365 * DAY + 1])
def test_an_expiry_is_later_than_now_and_within_a_year_of_sending(at: int) -> None:
    with pytest.raises(Problem) as refused:
        edit(a_sent_document(), expires_at=at)
    assert [d.path for d in refused.value.details] == ["/expiresAt"]


def test_a_cleared_expiry_is_the_one_it_was_sent_with() -> None:
    document = a_sent_document(expires_in_days=7)
    moved = edit(document, expires_at=NOW + 50 * DAY).document
    assert edit(moved, expires_at=None).document.expires_at == NOW + 7 * DAY


def test_a_change_of_anything_else_leaves_the_next_reminder_where_it_is() -> None:
    document = a_sent_document(a_recipient("Ana"))
    soon = document.with_recipient(replace(document.recipients[0], next_reminder_at=LATER + HOUR // 2))
    (ana,) = edit(soon, metadata={"a": "b"}).document.recipients
    assert ana.next_reminder_at == LATER + HOUR // 2


@pytest.mark.parametrize("last, due", [(None, NOW + DAY), (NOW + DAY - HOUR // 2, NOW + 5 * DAY)])
def test_a_new_expiry_keeps_a_reminder_of_the_next_hour_unless_one_was_just_sent(
    last: int | None, due: int
) -> None:
    plan = Reminders(first_after_days=1)
    document = a_sent_document(a_recipient("Ana", last_reminded_at=last), reminders=plan)
    changes = {"expires_at": NOW + 40 * DAY}
    (ana,) = editing.edit(document, changes, AUTHOR, NOW + DAY - HOUR // 4).document.recipients
    assert ana.next_reminder_at == due


def test_a_new_plan_or_expiry_moves_the_reminders_of_those_who_were_asked() -> None:
    document = a_sent_document(a_recipient("Ana"), a_recipient("Bo", order=2))
    ana, bo = edit(document, reminders=Reminders(first_after_days=9)).document.recipients
    assert (ana.next_reminder_at, bo.next_reminder_at) == (NOW + 9 * DAY, None)
    ana, bo = edit(document, reminders=Reminders(enabled=False)).document.recipients
    assert ana.next_reminder_at is None
    ana, bo = edit(document, expires_at=NOW + 2 * DAY + HOUR).document.recipients
    assert ana.next_reminder_at == NOW + DAY + HOUR


# ---------- correcting ----------


def correction(document: Document, email: str = "new@example.com", name: str = "New") -> Outcome:
    return correct(document, replace(document.recipients[0], email=email, name=name), AUTHOR, LATER)


@pytest.mark.parametrize("status", Status)
def test_only_while_it_is_out_is_somebody_corrected(status: Status) -> None:
    document = a_document(status=status)
    if status is Status.SENT:
        assert correction(document).document.recipients[0].name == "New"
        return
    with pytest.raises(Problem):
        correction(document)


@pytest.mark.parametrize("status", RecipientStatus)
def test_who_was_asked_is_asked_anew_and_who_was_not_is_only_corrected(status: RecipientStatus) -> None:
    old = a_recipient(status=status, reminders_sent=2)
    document = a_document(old, a_recipient("Bo", status=RecipientStatus.SENT), status=Status.SENT)
    if status is RecipientStatus.COMPLETED:
        with pytest.raises(Problem, match="recipient_already_completed"):
            correction(document)
        return
    outcome = correction(document)
    new = outcome.document.recipients[0]
    assert (new.id, new.email, new.name) == (old.id, "new@example.com", "New")
    assert outcome.events[0].type == "recipient.corrected"
    assert outcome.events[0].detail == {
        "old": {"email": old.email, "name": old.name},
        "new": {"email": "new@example.com", "name": "New"},
    }
    if status is RecipientStatus.CREATED:
        assert (new.status, outcome.jobs, len(outcome.events)) == (RecipientStatus.CREATED, (), 1)
        return
    assert (new.status, new.sent_at, new.viewed_at) == (RecipientStatus.SENT, LATER, None)
    assert (new.delivery, new.reminders_sent) == (MailDelivery.QUEUED, 2)
    assert [e.type for e in outcome.events] == ["recipient.corrected", "recipient.sent"]
    assert outcome.jobs == (
        RevokeLinks(old.id),
        MailJob("invitation", f"invite:{old.id}:{document.revision + 1}", old.id),
        *told_that_it_is_over(old, document),
    )


def told_that_it_is_over(old: Recipient, document: Document) -> list[MailJob]:
    """Whoever has seen it."""
    key = f"corrected:{old.id}:{document.revision + 1}"
    return [MailJob("corrected", key, about=old.id, to=(old.email, old.name))] if old.viewed_at else []


@pytest.mark.parametrize(
    ("before", "email", "told"),
    [
        ({"delivery": MailDelivery.ACCEPTED}, "new@example.com", True),
        ({"viewed_at": NOW, "delivery": MailDelivery.QUEUED}, "new@example.com", True),
        ({"delivery": MailDelivery.FAILED}, "new@example.com", False),
        ({"delivery": MailDelivery.QUEUED}, "new@example.com", False),
        ({"delivery": MailDelivery.ACCEPTED}, "JO@example.com", False),
    ],
)
def test_who_was_reached_by_mistake_is_told_that_it_is_over(
    before: dict[str, Any], email: str, told: bool
) -> None:
    old = a_recipient(status=RecipientStatus.SENT, **before)
    outcome = correction(a_document(old, status=Status.SENT), email=email)
    letters = [job for job in outcome.jobs if isinstance(job, MailJob) and job.letter == "corrected"]
    assert [(job.to, job.recipient_id, job.about) for job in letters] == (
        [((old.email, old.name), None, old.id)] if told else []
    )


def test_a_correction_of_nothing_asks_nobody() -> None:
    document = a_sent_document()
    person = document.recipients[0]
    assert correction(document, email=person.email, name=person.name) == Outcome(document)
