"""API keys: how they are written, checked and displayed, and what a key may do (contract 8)."""

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from esign.core.actor import COMMAND_LINE, Actor, Mode
from esign.core.instant import Instant
from esign.core.people.member import MemberRole
from esign.core.people.permission import MAY, Permission

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM = 30
CHECK = 6
SHAPE = re.compile(r"esk_(live|test)_[0-9A-Za-z]{36}")


class Scope(StrEnum):
    """What a key may be restricted to; `ALL` is the default."""

    ALL = "*"
    DOCUMENTS_READ = "documents:read"
    DOCUMENTS_WRITE = "documents:write"
    DOCUMENTS_SEND = "documents:send"
    DOCUMENTS_LINKS = "documents:links"
    TEMPLATES_READ = "templates:read"
    TEMPLATES_WRITE = "templates:write"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"
    ACCOUNT_READ = "account:read"
    ACCOUNT_ADMIN = "account:admin"


# What the role of a key's maker must allow for a scope to count: the act of the same pages in the web application.
ACTS: Mapping[Scope, Permission] = {
    Scope.DOCUMENTS_READ: Permission.READ,
    Scope.DOCUMENTS_WRITE: Permission.WORK,
    Scope.DOCUMENTS_SEND: Permission.WORK,
    Scope.DOCUMENTS_LINKS: Permission.WORK,
    Scope.TEMPLATES_READ: Permission.READ,
    Scope.TEMPLATES_WRITE: Permission.WORK,
    Scope.WEBHOOKS_READ: Permission.SETTLE,
    Scope.WEBHOOKS_WRITE: Permission.SETTLE,
    Scope.ACCOUNT_READ: Permission.SETTLE,
    Scope.ACCOUNT_ADMIN: Permission.SETTLE,
}
# Members, settings and keys belong to the organisation, not to a mode: test keys never have these scopes.
LIVE_ONLY = frozenset({Scope.ACCOUNT_ADMIN})


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret. `plan` is its organisation's own, None where the installation's applies.

    `maker_role` is the present role of the member who made it. It is None if they were removed or disabled, and
    for keys made on the command line. `expiry_notice` is how many days ahead the last notice of its expiry was.
    `unused_notices` counts the notices that it will end because it is unused; the last was at
    `unused_noticed_at`.
    """

    id: str
    organisation_id: str
    mode: Mode
    name: str
    hint: str
    scopes: frozenset[Scope]
    created_at: Instant
    expires_at: Instant | None = None
    last_used_at: Instant | None = None
    last_used_ip: str | None = None
    revoked_at: Instant | None = None
    plan: str | None = None
    created_by: Actor = COMMAND_LINE
    expiry_notice: int | None = None
    unused_notices: int = 0
    unused_noticed_at: Instant | None = None
    maker_role: MemberRole | None = None

    @property
    def is_of_operator(self) -> bool:
        """Return whether the operator made it on the command line."""
        return self.created_by.kind == COMMAND_LINE.kind

    @property
    def acts(self) -> frozenset[Permission]:
        """Return what the key may do at most: what its maker may do today; a key of the operator, what an admin
        may.
        """
        if self.is_of_operator:
            return MAY[MemberRole.ADMIN]
        return frozenset() if self.maker_role is None else MAY[self.maker_role]

    @property
    def is_suspended(self) -> bool:
        """Return whether the key may do nothing, because its maker is no longer an active member."""
        return not self.acts

    def is_made_for(self, scope: Scope) -> bool:
        """Return whether the key was made for `scope`, whatever it may do today."""
        return scope in self.scopes or Scope.ALL in self.scopes

    def allows(self, scope: Scope) -> bool:
        """Return whether the key has `scope` today: as made, in its mode, within the present role of its maker."""
        return explain_refusal(self, scope) is None


def explain_refusal(key: ApiKey, scope: Scope) -> str | None:
    """Return why `key` may not use what `scope` opens, as a sentence for its user, or None if it may."""
    if key.mode is Mode.TEST and scope in LIVE_ONLY:
        return f"A test key never has the scope {scope}: members, settings and keys need a live key."
    if not key.is_made_for(scope):
        return f"This API key lacks the scope {scope}."
    return explain_act(key, ACTS[scope], f"the scope {scope}")


def explain_act(key: ApiKey, act: Permission, wanted: str) -> str | None:
    """Return why the maker of `key` may not do `act` today, or None if they may; `wanted` names the act."""
    if key.is_suspended:
        return "The member who made this API key is not active in the organisation any more; use another key."
    if act not in key.acts:
        return f"The member who made this API key is now {key.maker_role}, a role without {wanted}."
    return None


def compose_key(mode: Mode, random: str) -> str:
    """Return the key made of 30 random characters of `ALPHABET`. Raises ValueError for other text."""
    if len(random) != RANDOM or not set(random) <= set(ALPHABET):
        raise ValueError("a key is made of 30 characters of the alphabet")
    stem = f"esk_{mode}_{random}"
    return stem + calculate_checksum(stem)


def calculate_checksum(stem: str) -> str:
    """Return the CRC-32 of prefix and random part in base 62.

    It reveals a typing error without a query to the database.
    """
    number = zlib.crc32(stem.encode("ascii"))
    digits = ""
    for _ in range(CHECK):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def parse_mode(key: str) -> Mode | None:
    """Return the mode of a key whose shape and checksum are right, else None."""
    shape = SHAPE.fullmatch(key)
    if shape is None or calculate_checksum(key[:-CHECK]) != key[-CHECK:]:
        return None
    return Mode(shape[1])


def hash_key(key: str) -> bytes:
    """Return the hash of a key that is stored.

    A plain SHA-256 is enough: 178 random bits need no slow hash.
    """
    return hashlib.sha256(key.encode("ascii")).digest()


def make_hint(key: str) -> str:
    """Return an abbreviation such as `esk_live_ab12…wxyz`: enough to recognise a key, too little to use it."""
    prefix, random = key[: -RANDOM - CHECK], key[-RANDOM - CHECK : -CHECK]
    return f"{prefix}{random[:4]}…{random[-4:]}"
