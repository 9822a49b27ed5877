from dataclasses import replace

import pytest

from esign.core.document import mail_delivery as rules
from esign.core.document.document import MailDelivery, RecipientStatus, Status
from esign.core.instant import HOUR
from tests.factories import NOW, a_document, a_recipient

LATER = NOW + HOUR


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("recipient_status", RecipientStatus)
def test_trouble_with_a_mail_changes_no_status(status: Status, recipient_status: RecipientStatus) -> None:
    document = a_document(a_recipient(status=recipient_status), status=status)
    recipient = document.recipients[0]
    failed = rules.record_failed_delivery(document, recipient, "550 no such user", LATER)
    assert failed.document.status is status
    assert failed.document.recipients[0] == replace(
        recipient, delivery=MailDelivery.FAILED, delivery_at=LATER, delivery_error="550 no such user"
    )
    assert [event.type for event in failed.events] == ["recipient.delivery_failed"]
    assert (failed.events[0].recipient_id, failed.events[0].data) == (recipient.id, {})
    assert failed.events[0].detail == {"reason": "550 no such user"}

    taken = rules.record_delivery(
        failed.document, failed.document.recipients[0], MailDelivery.ACCEPTED, LATER + 1
    )
    assert taken.document.recipients[0] == replace(
        recipient, delivery=MailDelivery.ACCEPTED, delivery_at=LATER + 1, delivery_error=None
    )
    assert (taken.document.status, taken.events, taken.jobs) == (status, (), ())
