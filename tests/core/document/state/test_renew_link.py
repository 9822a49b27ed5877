from dataclasses import replace

import pytest

from esign.core.actor import NOWHERE, Actor
from esign.core.document.document import Document, RecipientStatus, Status
from esign.core.document.state import renew_link
from esign.core.errors import Problem
from esign.core.instant import HOUR
from tests.web.signing.site import NOW, ORGANISATION, a_document, a_recipient

EXPIRED = a_document(a_recipient(()), status=Status.EXPIRED, closed_at=NOW)
PROGRAM = replace(EXPIRED, created_by=Actor("api_key", "key_1", "CRM", None))
NOBODY = replace(ORGANISATION, reply_to=None)


def change_document(**members: object) -> Document:
    return EXPIRED.with_recipient(replace(EXPIRED.recipients[0], **members))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("document", "organisation", "may"),
    [
        (EXPIRED, ORGANISATION, True),
        (EXPIRED, NOBODY, True),
        (PROGRAM, ORGANISATION, True),
        (PROGRAM, NOBODY, False),
        (replace(EXPIRED, status=Status.CANCELLED), ORGANISATION, False),
        (replace(EXPIRED, status=Status.SENT), ORGANISATION, False),
        (change_document(status=RecipientStatus.COMPLETED, completed_at=NOW), ORGANISATION, False),
        (change_document(status=RecipientStatus.CREATED, sent_at=None), ORGANISATION, False),
    ],
)
def test_who_was_asked_and_has_not_finished_may_ask_if_somebody_is_told(
    document: Document, organisation: object, may: bool
) -> None:
    person = document.recipients[0]
    assert renew_link.may_ask(document, person, organisation) is may  # type: ignore[arg-type]
    if may:
        outcome = renew_link.ask_for_link(document, person, organisation, NOWHERE, NOW)  # type: ignore[arg-type]
        assert outcome.document == document
        assert [event.type for event in outcome.events] == ["recipient.link_requested"]
        assert [(job.letter, job.recipient_id, job.about) for job in outcome.jobs] == [  # type: ignore[union-attr]
            ("renewal", None, person.id)
        ]
    else:
        with pytest.raises(Problem):
            renew_link.ask_for_link(document, person, organisation, NOWHERE, NOW)  # type: ignore[arg-type]


def test_an_hour_lies_between_two_mails() -> None:
    assert not renew_link.is_recent(None, NOW)
    assert renew_link.is_recent(NOW, NOW) and renew_link.is_recent(NOW, NOW + HOUR - 1)
    assert not renew_link.is_recent(NOW, NOW + HOUR)
