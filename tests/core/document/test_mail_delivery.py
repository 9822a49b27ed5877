from dataclasses import replace

import pytest

from esign.core.document import mail_delivery as rules
from esign.core.document.document import Delivery, RecipientStatus, Status
from esign.core.instant import HOUR
from tests.factories import NOW, a_document, a_recipient

LATER = NOW + HOUR


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("recipient_status", RecipientStatus)
def test_trouble_with_a_mail_changes_no_status(status: Status, recipient_status: RecipientStatus) -> None:
    document = a_document(a_recipient(status=recipient_status), status=status)
    recipient = document.recipients[0]
    failed = rules.delivery_failed(document, recipient, "550 no such user", LATER)
    assert failed.document.status is status
    assert failed.document.recipients[0] == replace(
        recipient, delivery=Delivery.FAILED, delivery_at=LATER, delivery_error="550 no such user"
    )
    assert [event.type for event in failed.events] == ["recipient.delivery_failed"]
    assert (failed.events[0].recipient_id, failed.events[0].data) == (recipient.id, {})
    assert failed.events[0].detail == {"reason": "550 no such user"}

    taken = rules.delivered(failed.document, failed.document.recipients[0], Delivery.ACCEPTED, LATER + 1)
    assert taken.document.recipients[0] == replace(
        recipient, delivery=Delivery.ACCEPTED, delivery_at=LATER + 1, delivery_error=None
    )
    assert (taken.document.status, taken.events, taken.jobs) == (status, (), ())
