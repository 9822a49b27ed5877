from dataclasses import replace

import pytest

from esign.core.actor import Mode
from esign.core.document import retention
from esign.core.document.document import Document, Status
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people.account import Organisation
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
    assert retention.find_deletion_time(COMPLETED, an_organisation()) is None
    deletes = an_organisation(delete_closed_after_days=10)
    assert retention.find_deletion_time(COMPLETED, deletes) == NOW + 10 * DAY
    assert retention.find_deletion_time(DECLINED, deletes) == NOW + 10 * DAY
    assert retention.find_deletion_time(a_document(status=Status.SENT), deletes) is None
    both = an_organisation(delete_closed_after_days=10, retain_completed_days=30)
    assert retention.find_deletion_time(COMPLETED, both) == NOW + 30 * DAY
    assert retention.find_deletion_time(DECLINED, both) == NOW + 10 * DAY


TESTED = a_document(status=Status.COMPLETED, completed_at=NOW, mode=Mode.TEST)


def test_a_document_of_test_mode_goes_ninety_days_after_its_end_whatever_else_is_kept() -> None:
    assert retention.find_removal_time(TESTED, an_organisation(), 90) == NOW + 90 * DAY
    keeps = an_organisation(retain_completed_days=3650, delete_closed_after_days=10)
    assert retention.find_removal_time(TESTED, keeps, 90) == NOW + 90 * DAY
    assert (
        retention.find_removal_time(TESTED, an_organisation(delete_closed_after_days=10), 90)
        == NOW + 10 * DAY
    )
    assert retention.find_removal_time(COMPLETED, an_organisation(), 90) is None
    assert retention.find_removal_time(a_document(mode=Mode.TEST), an_organisation(), 90) is None


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("document", [COMPLETED, DECLINED])
@pytest.mark.parametrize(
    "organisation",
    [
        an_organisation(retain_completed_days=kept, delete_closed_after_days=days)
        for kept in (None, 30, 3650)
        for days in (None, 10, 100)
    ],
)
def test_looking_by_date_finds_what_goes_and_nothing_else(
    mode: Mode, document: Document, organisation: Organisation
) -> None:
    document = replace(document, mode=mode)
    goes_at = retention.find_removal_time(document, organisation, 90)
    ended = document.completed_at or document.closed_at or 0
    for now in (NOW, *(NOW + days * DAY + late for days in (10, 30, 90, 100, 3650) for late in (-1, 0))):
        until = retention.find_horizons(organisation, mode, 90, now)
        horizon = until.completed if document.completed_at else until.closed
        assert (horizon is not None and ended <= horizon) == (goes_at is not None and now >= goes_at)
