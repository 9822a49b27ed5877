"""What each role may do (contract 3.5)."""

from enum import StrEnum

from esign.core.people.member import MemberRole


class Permission(StrEnum):
    """What a page lets its user do, in the classes that roles distinguish."""

    READ = "read"
    WORK = "work"
    SETTLE = "settle"
    OWN = "own"


MAY: dict[MemberRole, frozenset[Permission]] = {
    MemberRole.OWNER: frozenset(Permission),
    MemberRole.ADMIN: frozenset({Permission.READ, Permission.WORK, Permission.SETTLE}),
    MemberRole.MEMBER: frozenset({Permission.READ, Permission.WORK}),
    MemberRole.VIEWER: frozenset({Permission.READ}),
}


def has_permission(role: MemberRole, act: Permission) -> bool:
    """Return whether the role permits the act."""
    return act in MAY[role]


def is_raised(before: MemberRole, after: MemberRole) -> bool:
    """Return whether the role after allows anything that the role before did not."""
    return not MAY[after] <= MAY[before]
