import pytest

from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.people.member import MemberRole, require_may_change
from esign.core.people.user import ABSOLUTE, FRESH, IDLE, Session, Stage
from tests.factories import NOW


def a_session(seen_at: int = NOW) -> Session:
    return Session("ses_1", "usr_1", "org_1", Stage.WHOLE, Mode.LIVE, NOW, seen_at, NOW)


def test_a_session_lasts_while_it_is_used_and_no_longer_than_half_a_day() -> None:
    assert not a_session().is_over(NOW + IDLE - 1)
    assert a_session().is_over(NOW + IDLE)
    late = a_session(seen_at=NOW + ABSOLUTE - 1)
    assert not late.is_over(NOW + ABSOLUTE - 1)
    assert late.is_over(NOW + ABSOLUTE)


def test_a_password_counts_as_just_given_for_a_while() -> None:
    assert a_session().is_fresh(NOW + FRESH - 1)
    assert not a_session().is_fresh(NOW + FRESH)


@pytest.mark.parametrize("by", [MemberRole.ADMIN, MemberRole.MEMBER, MemberRole.VIEWER])
def test_only_owners_touch_owners(by: MemberRole) -> None:
    for before, after in (
        (None, MemberRole.OWNER),
        (MemberRole.OWNER, None),
        (MemberRole.OWNER, MemberRole.ADMIN),
    ):
        require_may_change(MemberRole.OWNER, before, after)
        with pytest.raises(Problem, match="Only an owner"):
            require_may_change(by, before, after)
    require_may_change(by, MemberRole.VIEWER, MemberRole.ADMIN)
