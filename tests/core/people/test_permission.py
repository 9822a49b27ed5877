from itertools import pairwise

from esign.core.people.member import MemberRole
from esign.core.people.permission import Permission, has_permission


def test_each_role_may_what_the_one_below_it_may_and_something_more() -> None:
    order = [MemberRole.VIEWER, MemberRole.MEMBER, MemberRole.ADMIN, MemberRole.OWNER]
    allowed = [{act for act in Permission if has_permission(role, act)} for role in order]
    assert allowed[0] == {Permission.READ} and allowed[-1] == set(Permission)
    assert all(less < more for less, more in pairwise(allowed))
