"""Which documents of a person go: every status, with and without others, under retention and not."""

from dataclasses import replace

import pytest

from esign.core.document.document import Status
from esign.core.document.erasure import Fate, decide_fate, has_others, is_recipient
from esign.core.document.state import lifecycle
from esign.core.instant import DAY
from tests.factories import AUTHOR, NOW, a_document, a_recipient, an_organisation

JO = "jo@example.com"
OPEN = {Status.SENT, Status.SEALING}
KEEPS = an_organisation(retain_completed_days=30)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("status", Status)
def test_open_ones_stay_and_those_with_others_where_it_was_not_said(
    status: Status, others: bool, shared: bool
) -> None:
    people = [a_recipient("Jo Li"), *([a_recipient("Ana Ba")] if others else [])]
    document = a_document(*people, status=status)
    expected = Fate.OPEN if status in OPEN else Fate.OTHERS if others and not shared else Fate.ERASED
    found = decide_fate(document, an_organisation(), JO, shared, NOW)
    assert found is expected
    if found is Fate.ERASED:  # the rules of deleting agree
        assert lifecycle.delete(document, AUTHOR, NOW).events[0].type == "document.deleted"


@pytest.mark.parametrize(("days", "expected"), [(29, Fate.LOCKED), (30, Fate.ERASED)])
def test_a_completed_one_stays_until_its_retention_is_over(days: int, expected: Fate) -> None:
    document = a_document(status=Status.COMPLETED)
    assert document.completed_at is not None
    now = document.completed_at + days * DAY
    assert decide_fate(document, KEEPS, JO, True, now) is expected


@pytest.mark.parametrize("status", [Status.DRAFT, Status.DECLINED, Status.EXPIRED, Status.CANCELLED])
def test_retention_keeps_nothing_that_has_no_seal(status: Status) -> None:
    assert decide_fate(a_document(status=status), KEEPS, JO, True, NOW) is Fate.ERASED


def test_addresses_are_compared_as_people_read_them() -> None:
    jo = a_recipient("Jo Li")
    document = a_document(jo, replace(a_recipient("Jo Again"), email="JO@EXAMPLE.COM"))
    assert is_recipient(document, "Jo@Example.com") and not has_others(document, JO)
    assert not is_recipient(document, "jo@example.co") and has_others(document, "jo@example.co")
