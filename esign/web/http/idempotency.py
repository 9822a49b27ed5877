"""Requests that may be repeated: one effect for each Idempotency-Key, and the first answer again afterwards.

The answer is stored in the transaction of its effect, so it exists exactly when the effect does. Requests that
are still running are known only in memory, so a retry after a crash does not have to wait.
"""

import hashlib
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
from esign.store.queue.idempotency import StoredAnswer
from esign.system.clock import Clock
from esign.system.vault import Vault
from esign.web.http.answer import ApiAnswer
from esign.web.http.encoded_file import EncodedFile

VISIBLE = re.compile(rb"[\x21-\x7e]{1,255}")
QUOTED = re.compile(rb'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
LONG = 65_536  # characters from which on a text counts by its hash
SAFE = 2**53  # from here on a double does not hold every whole number


@dataclass(frozen=True, slots=True)
class IdempotencyTicket:
    """One request under one Idempotency-Key of one API key."""

    key_id: str
    key: str
    fingerprint: bytes

    @property
    def associated_data(self) -> bytes:
        """Return the associated data that binds a stored answer to its two keys."""
        return idempotency.compose_context(self.key_id, self.key)


def read_key(headers: list[bytes]) -> str | None:
    """Return the Idempotency-Key, or None without one. Raise `invalid_idempotency_key`.

    A value in quotes is read as a string of RFC 8941.
    """
    if not headers:
        return None
    key = headers[0]
    if key.startswith(b'"'):
        quoted = QUOTED.fullmatch(key)
        key = re.sub(rb"\\(.)", rb"\1", quoted[1]) if quoted else b""
    if len(headers) > 1 or not VISIBLE.fullmatch(key):
        raise Problem("invalid_idempotency_key")
    return key.decode()


def compute_fingerprint(method: str, path: str, value: Any) -> bytes:
    """Return the SHA-256 of method, path and canonical body (RFC 8785)."""
    return hashlib.sha256(f"{method} {path}\n".encode() + rfc8785.dumps(canonicalise(value))).digest()


def canonicalise(value: Any) -> Any:
    """Return the value with large numbers as floats, which RFC 8785 requires, and long texts replaced by their hash."""
    if isinstance(value, EncodedFile):
        return {"sha256": value.sha256}
    if isinstance(value, str) and len(value) > LONG:
        return {"sha256": hashlib.sha256(value.encode()).hexdigest()}
    if isinstance(value, int) and abs(value) >= SAFE:
        return float(value)
    if isinstance(value, dict):
        return {name: canonicalise(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [canonicalise(inner) for inner in value]
    return value


class Replays:
    """The requests that run under an Idempotency-Key now, and the stored answers of earlier ones."""

    def __init__(self, db: Database, vault: Vault, clock: Clock, hours: int) -> None:
        self._db = db
        self._vault = vault
        self._clock = clock
        self._memory = hours * HOUR
        self._running: dict[tuple[str, str], bytes] = {}

    @contextmanager
    def claim(self, ticket: IdempotencyTicket) -> Iterator[None]:
        """Make this the only running request under its key.

        Raise `idempotency_in_progress` if the same request is running, or `idempotency_key_reused` if another
        one is.
        """
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

    async def find(self, ticket: IdempotencyTicket) -> ApiAnswer | None:
        """Return the first answer under this key, byte for byte, or None. Raise `idempotency_key_reused`."""
        stored = await idempotency.find(self._db, ticket.key_id, ticket.key)
        if stored is None or stored.created_at < self._expired_before(self._clock.now()):
            return None
        if not self._vault.is_stored_mac(idempotency.FINGERPRINT, ticket.fingerprint, stored.fingerprint):
            raise Problem("idempotency_key_reused")
        return ApiAnswer(
            stored.status, self._vault.decrypt(idempotency.PURPOSE, stored.body, ticket.associated_data)
        )

    async def add(
        self, tx: Transaction, ticket: IdempotencyTicket, answer: ApiAnswer, about: str | None = None
    ) -> None:
        """Store an answer in the transaction of its effect.

        Raise `store.queue.idempotency.KeyTaken` if the key has an answer already, which undoes both.
        """
        now = self._clock.now()
        body = self._vault.encrypt(idempotency.PURPOSE, answer.body, ticket.associated_data)
        stored = StoredAnswer(self._mac_fingerprint(ticket), answer.status, body, now, about)
        await idempotency.add(tx, ticket.key_id, ticket.key, stored, self._expired_before(now))

    def _mac_fingerprint(self, ticket: IdempotencyTicket) -> bytes:
        """Return a MAC of the fingerprint, which is what the database stores.

        A plain hash of a short body, such as an access code, could be found by trying all values.
        """
        return self._vault.compute_mac(idempotency.FINGERPRINT, ticket.fingerprint)

    def _expired_before(self, now: Instant) -> Instant:
        """Return the time before which stored answers have expired."""
        return now - self._memory
