from dataclasses import replace

import pytest

from esign.core.actor import NOWHERE
from esign.core.document.document import Document, RecipientStatus, Status
from esign.core.document.state import renew_link
from esign.core.errors import Problem
from esign.core.instant import HOUR
from tests.web.signing.site import NOW, a_document, a_recipient

EXPIRED = a_document(a_recipient(()), status=Status.EXPIRED, closed_at=NOW)
CONTACT = "office@northlight.example"


def change_document(**members: object) -> Document:
    return EXPIRED.with_recipient(replace(EXPIRED.recipients[0], **members))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("document", "contact", "may"),
    [
        (EXPIRED, CONTACT, True),
        (EXPIRED, None, False),
        (replace(EXPIRED, status=Status.CANCELLED), CONTACT, False),
        (replace(EXPIRED, status=Status.SENT), CONTACT, False),
        (change_document(status=RecipientStatus.COMPLETED, completed_at=NOW), CONTACT, False),
        (change_document(status=RecipientStatus.CREATED, sent_at=None), CONTACT, False),
    ],
)
def test_who_was_asked_and_has_not_finished_may_ask_if_somebody_is_told(
    document: Document, contact: str | None, may: bool
) -> None:
    person = document.recipients[0]
    assert renew_link.may_ask(document, person, contact) is may
    if may:
        outcome = renew_link.ask_for_link(document, person, contact, NOWHERE, NOW)
        assert outcome.document == document
        assert [event.type for event in outcome.events] == ["recipient.link_requested"]
        assert [(job.letter, job.recipient_id, job.about) for job in outcome.jobs] == [  # type: ignore[union-attr]
            ("renewal", None, person.id)
        ]
    else:
        with pytest.raises(Problem):
            renew_link.ask_for_link(document, person, contact, NOWHERE, NOW)


def test_an_hour_lies_between_two_mails() -> None:
    assert not renew_link.is_recent(None, NOW)
    assert renew_link.is_recent(NOW, NOW) and renew_link.is_recent(NOW, NOW + HOUR - 1)
    assert not renew_link.is_recent(NOW, NOW + HOUR)
