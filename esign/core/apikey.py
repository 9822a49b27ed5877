"""API keys: how they are written, checked and shown, and what one may do (contract 8)."""

import hashlib
import re
import zlib
from dataclasses import dataclass
from enum import StrEnum

from esign.core.document import Actor, Mode
from esign.core.instant import Instant

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


COMMAND_LINE = Actor("system", name="command line")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret; `plan` is its organisation's own, None where the installation's counts.

    `expiry_notice` is how many days ahead the last notice of its expiry was; `unused_notices` counts those of
    its end for want of use, the last of them at `unused_noticed_at`.
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

    def allows(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ALL in self.scopes


def compose(mode: Mode, random: str) -> str:
    """The key made of 30 random characters of `ALPHABET`."""
    if len(random) != RANDOM or not set(random) <= set(ALPHABET):
        raise ValueError("a key is made of 30 characters of the alphabet")
    stem = f"esk_{mode}_{random}"
    return stem + checksum(stem)


def checksum(stem: str) -> str:
    """CRC-32 of prefix and random part in base 62: shows a typing error without a look at the database."""
    number = zlib.crc32(stem.encode("ascii"))
    digits = ""
    for _ in range(CHECK):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def mode_of(key: str) -> Mode | None:
    """The mode of a key of right shape and checksum, else None."""
    shape = SHAPE.fullmatch(key)
    if shape is None or checksum(key[:-CHECK]) != key[-CHECK:]:
        return None
    return Mode(shape[1])


def digest(key: str) -> bytes:
    """What is stored of a key; 178 random bits need no slow hash."""
    return hashlib.sha256(key.encode("ascii")).digest()


def hint(key: str) -> str:
    """`esk_live_ab12…wxyz`: enough to recognise a key, too little to use it."""
    prefix, random = key[: -RANDOM - CHECK], key[-RANDOM - CHECK : -CHECK]
    return f"{prefix}{random[:4]}…{random[-4:]}"
