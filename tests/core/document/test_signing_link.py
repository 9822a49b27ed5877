import pytest

from esign.core.document import signing_link
from esign.core.document.document import Status
from esign.core.instant import DAY
from tests.factories import NOW, a_document

ENDED = (Status.COMPLETED, Status.DECLINED, Status.EXPIRED, Status.CANCELLED)


@pytest.mark.parametrize("status", Status)
def test_a_link_works_until_so_many_days_after_the_end(status: Status) -> None:
    at = {"completed_at": NOW} if status is Status.COMPLETED else {"closed_at": NOW}
    document = a_document(status=status, **(at if status in ENDED else {}))
    assert signing_link.find_end(document, 30) == (NOW + 30 * DAY if status in ENDED else None)
    assert not signing_link.has_ended(document, 30, NOW + 30 * DAY - 1)
    assert signing_link.has_ended(document, 30, NOW + 30 * DAY) is (status in ENDED)
