import pytest

from esign.core import retention
from esign.core.document import Status
from esign.core.errors import Problem
from esign.core.instant import DAY
from tests.factories import NOW, a_document, an_organisation

COMPLETED = a_document(status=Status.COMPLETED, completed_at=NOW)
DECLINED = a_document(status=Status.DECLINED, closed_at=NOW)


def test_a_completed_document_is_locked_to_the_last_millisecond_of_its_retention() -> None:
    keeps = an_organisation(retain_completed_days=30)
    with pytest.raises(Problem, match="2026-12-21") as refused:
        retention.require_unlocked(COMPLETED, keeps, NOW + 30 * DAY - 1)
    assert (refused.value.code, refused.value.current_status) == ("retention_locked", "completed")
    retention.require_unlocked(COMPLETED, keeps, NOW + 30 * DAY)


def test_only_completed_documents_of_organisations_that_keep_them_are_locked() -> None:
    retention.require_unlocked(COMPLETED, an_organisation(), NOW)
    retention.require_unlocked(DECLINED, an_organisation(retain_completed_days=30), NOW)


def test_what_ended_goes_after_its_days_but_never_within_its_retention() -> None:
    assert retention.deletes_at(COMPLETED, an_organisation()) is None
    deletes = an_organisation(delete_closed_after_days=10)
    assert retention.deletes_at(COMPLETED, deletes) == NOW + 10 * DAY
    assert retention.deletes_at(DECLINED, deletes) == NOW + 10 * DAY
    assert retention.deletes_at(a_document(status=Status.SENT), deletes) is None
    both = an_organisation(delete_closed_after_days=10, retain_completed_days=30)
    assert retention.deletes_at(COMPLETED, both) == NOW + 30 * DAY
    assert retention.deletes_at(DECLINED, both) == NOW + 10 * DAY
