"""Which invitations are mailed again once there is a mail server, over every status of document and recipient."""

import pytest

from esign.core.document.document import MailDelivery, RecipientStatus, Status
from esign.core.document.state.mail_again import mail_kept_invitations
from esign.core.document.state.outcome import MailJob
from esign.core.errors import Problem
from esign.core.instant import HOUR
from tests.factories import AUTHOR, NOW, SENDER, a_document, a_recipient

LATER = NOW + HOUR
SENT, KEPT = RecipientStatus.SENT, MailDelivery.KEPT


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.SENT])
def test_only_of_a_sent_document_is_an_invitation_mailed_again(status: Status) -> None:
    with pytest.raises(Problem) as refused:
        mail_kept_invitations(a_document(status=status), AUTHOR, LATER)
    assert refused.value.code == "document_not_sent"


@pytest.mark.parametrize("delivery", MailDelivery)
@pytest.mark.parametrize("status", RecipientStatus)
def test_whoever_has_come_or_was_mailed_is_left_alone(
    status: RecipientStatus, delivery: MailDelivery
) -> None:
    ana = a_recipient("Ana", status=SENT, delivery=KEPT)
    bo = a_recipient("Bo", status=status, delivery=delivery)
    outcome = mail_kept_invitations(a_document(ana, bo, status=Status.SENT, revision=7), AUTHOR, LATER)
    both = (status, delivery) == (SENT, KEPT)
    mailed = (ana, bo) if both else (ana,)
    assert outcome.jobs == tuple(MailJob("invitation", f"invite:{one.id}:8", one.id) for one in mailed)
    assert [(e.type, e.actor, e.recipient_id) for e in outcome.events] == [
        ("recipient.sent", SENDER, one.id) for one in mailed
    ]
    first, second = outcome.document.recipients
    assert (first.status, first.delivery, first.delivery_at) == (SENT, MailDelivery.QUEUED, LATER)
    assert both or second == bo


def test_without_a_kept_invitation_there_is_nothing_to_mail() -> None:
    with pytest.raises(Problem) as refused:
        mail_kept_invitations(a_document(a_recipient(status=SENT), status=Status.SENT), AUTHOR, LATER)
    assert refused.value.code == "no_recipient_to_remind"
