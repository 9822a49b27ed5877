"""The members of an organisation, and the rules that keep it from losing its last owner (contract 3.5)."""

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
    """A person's place in an organisation; `user_id` is the user who signs in as the member, None until they
    joined.
    """

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
        """Return the case-folded email address, by which members are told apart."""
        return self.email.casefold()


OWNERS_ONLY = "Only an owner can make, change or remove an owner, and only in the web application."


def require_may_change(by: MemberRole, before: MemberRole | None, after: MemberRole | None) -> None:
    """Raise `insufficient_scope` if anyone but an owner would make, change or remove an owner.

    An API key is never an owner, not even that of an owner: its actions pass `BY_KEY`.
    """
    if by is not MemberRole.OWNER and MemberRole.OWNER in (before, after):
        raise Problem("insufficient_scope", OWNERS_ONLY)


def require_owner_left(leaving: Member, role: MemberRole | None, owners: int) -> None:
    """Raise `last_owner` if the only one of `owners` would leave (`role` None) or get another role."""
    if leaving.role is MemberRole.OWNER and role is not MemberRole.OWNER and owners <= 1:
        raise Problem("last_owner")
