"""A request that may be sent again: one effect per key, and the first answer ever after (docs/dev/security.md 8).

The answer is stored in the transaction of its effect, so it exists exactly when the effect does; what still
runs is known in memory alone, so after a crash a retry need not wait.
"""

import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import rfc8785

from esign.core.errors import Problem
from esign.core.instant import HOUR, Instant
from esign.store.engine.database import Database, Transaction
from esign.store.queue import idempotency
from esign.system.clock import Clock
from esign.system.vault import Vault
from esign.web.http.answer import Answer

VISIBLE = re.compile(rb"[\x21-\x7e]{1,255}")
QUOTED = re.compile(rb'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
LONG = 65_536
SAFE = 2**53


@dataclass(frozen=True, slots=True)
class Ticket:
    """One request under one Idempotency-Key of one API key."""

    key_id: str
    key: str
    fingerprint: bytes

    @property
    def bound(self) -> bytes:
        return idempotency.bound(self.key_id, self.key)


def read(headers: list[bytes]) -> str | None:
    """The key of a request, unquoted where it is a string of RFC 8941; raises `invalid_idempotency_key`."""
    if not headers:
        return None
    key = headers[0]
    if key.startswith(b'"'):
        quoted = QUOTED.fullmatch(key)
        key = re.sub(rb"\\(.)", rb"\1", quoted[1]) if quoted else b""
    if len(headers) > 1 or not VISIBLE.fullmatch(key):
        raise Problem("invalid_idempotency_key")
    return key.decode()


def fingerprint(method: str, path: str, value: Any) -> bytes:
    """SHA-256 of method, path and canonical body (RFC 8785)."""
    return hashlib.sha256(f"{method} {path}\n".encode() + rfc8785.dumps(canonical(value))).digest()


def canonical(value: Any) -> Any:
    """The same value in numbers that JSON shares with everybody; a long text, such as a file, by its hash."""
    if isinstance(value, str) and len(value) > LONG:
        return {"sha256": hashlib.sha256(value.encode()).hexdigest()}
    if isinstance(value, int) and abs(value) >= SAFE:
        return float(value)
    if isinstance(value, dict):
        return {name: canonical(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [canonical(inner) for inner in value]
    return value


class Replays:
    """What runs under a key now, and what ran under it before."""

    def __init__(self, db: Database, vault: Vault, clock: Clock, hours: int) -> None:
        self._db = db
        self._vault = vault
        self._clock = clock
        self._memory = hours * HOUR
        self._running: dict[tuple[str, str], bytes] = {}

    @contextmanager
    def claim(self, ticket: Ticket) -> Iterator[None]:
        """Be the only request under this key; raises the two 409s of idempotency."""
        place = (ticket.key_id, ticket.key)
        if place in self._running:
            if self._running[place] != ticket.fingerprint:
                raise Problem("idempotency_key_reused")
            raise Problem("idempotency_in_progress", retry_after=1)
        self._running[place] = ticket.fingerprint
        try:
            yield
        finally:
            del self._running[place]

    async def find(self, ticket: Ticket) -> Answer | None:
        """The first answer under this key, byte for byte; raises `idempotency_key_reused`."""
        stored = await idempotency.find(self._db, ticket.key_id, ticket.key)
        if stored is None or stored.created_at < self._expired_before(self._clock.now()):
            return None
        if not hmac.compare_digest(stored.fingerprint, self._kept(ticket)):
            raise Problem("idempotency_key_reused")
        return Answer(stored.status, self._vault.decrypt(idempotency.PURPOSE, stored.body, ticket.bound))

    async def add(self, tx: Transaction, ticket: Ticket, answer: Answer, about: str | None = None) -> None:
        """Keep an answer beside its effect; raises store.idempotency.Taken, which undoes both."""
        now = self._clock.now()
        body = self._vault.encrypt(idempotency.PURPOSE, answer.body, ticket.bound)
        await idempotency.add(
            tx,
            ticket.key_id,
            ticket.key,
            self._kept(ticket),
            answer.status,
            body,
            now,
            self._expired_before(now),
            about,
        )

    def _kept(self, ticket: Ticket) -> bytes:
        """A mac of the fingerprint: of a short body, such as an access code, a plain hash could be guessed."""
        return self._vault.mac("fingerprint", ticket.fingerprint)

    def _expired_before(self, now: Instant) -> Instant:
        return now - self._memory
