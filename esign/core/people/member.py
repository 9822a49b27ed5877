"""The people of an organisation, and what keeps it from being left without an owner (contract 3.5)."""

from dataclasses import dataclass
from enum import StrEnum

from esign.core.errors import Problem
from esign.core.instant import Instant


class MemberRole(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


BY_KEY = MemberRole.ADMIN  # what an API key with `account:admin` is towards members


class MemberStatus(StrEnum):
    INVITED = "invited"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of an organisation; `user_id` is the person who signs in as them, None until they have joined."""

    id: str
    organisation_id: str
    email: str
    name: str
    role: MemberRole
    status: MemberStatus
    created_at: Instant
    user_id: str | None = None

    @property
    def address(self) -> str:
        """What tells members apart: the address without regard to capitals."""
        return self.email.casefold()


OWNERS_ONLY = "Only an owner can make, change or remove an owner, and only in the web application."


def require_may_change(by: MemberRole, before: MemberRole | None, after: MemberRole | None) -> None:
    """Raise `insufficient_scope` where anybody but an owner would make, change or remove an owner.

    An API key is never an owner, whoever made it: its actions pass `BY_KEY`.
    """
    if by is not MemberRole.OWNER and MemberRole.OWNER in (before, after):
        raise Problem("insufficient_scope", OWNERS_ONLY)


def require_owner_left(leaving: Member, role: MemberRole | None, owners: int) -> None:
    """Raises `last_owner` where the only one of `owners` would go (`role` None) or become something less."""
    if leaving.role is MemberRole.OWNER and role is not MemberRole.OWNER and owners <= 1:
        raise Problem("last_owner")
