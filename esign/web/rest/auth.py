"""The API key of a request, and the reasons to refuse it (contract 3.1, 8)."""

import asyncio
import hashlib
import logging
import re

from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import MINUTE, Instant
from esign.core.people import api_key
from esign.core.people.account import may_use_api
from esign.core.people.api_key import ApiKey, Scope, explain_act, explain_refusal
from esign.core.people.permission import Permission
from esign.store.engine.database import Database, Transaction
from esign.store.people import api_keys
from esign.system.clock import Clock
from esign.web.http.errors import CHALLENGE
from esign.web.http.ratelimit import RateWindows

log = logging.getLogger("esign.web")

BEARER = re.compile(rb"(?i:bearer) +(\S+) *")
FAILURES = "authentication"
REMEMBERED = 1_000  # keys


class Authentication:
    """Finds the API key of a request.

    Failed attempts are counted by address. A valid key is accepted even from an address that is throttled.
    """

    def __init__(self, db: Database, clock: Clock, *, failures: int, plan: str, test_only: bool) -> None:
        self._db = db
        self._clock = clock
        self._failures = RateWindows(clock, {FAILURES: failures})
        self._plan = plan
        self._test_only = test_only
        self._last_use = LastUse(db)
        self._version = -1
        self._found: dict[bytes, ApiKey] = {}  # by hash, so that no secret stays in memory

    async def key(self, authorization: list[bytes], address: str) -> ApiKey:
        """Return the valid key in the Authorization headers.

        Raise any 401 of contract 6 except `insufficient_scope`, or `too_many_auth_failures`.
        """
        text = read_token(authorization)
        key = await self._find_key(text)
        now = self._clock.now()
        if key is None:
            raise self._count_failure("invalid_api_key", address)
        if lapsed := find_lapse(key, now):
            raise self._count_failure(lapsed, address)
        self._last_use.note(key, address, now)
        if not may_use_api(key.plan or self._plan):
            raise Problem("plan_required")
        return key

    async def _find_key(self, text: str) -> ApiKey | None:
        """Return the stored key, or None. Raise `invalid_api_key` for a text that is no key.

        A key that was found is kept until the next commit of any program, so that each request uses the key, the
        plan and the role of its maker as they are stored.
        """
        digest = hashlib.sha256(text.encode("latin-1")).digest()
        kept = self._found.get(digest)
        mode = kept.mode if kept is not None else api_key.parse_mode(text)
        if mode is None:
            raise Problem("invalid_api_key", "This is not an API key: its shape or checksum is wrong.")
        if self._test_only and mode is Mode.LIVE:
            return None
        version = await self._db.points.read_data_version()
        if version != self._version or len(self._found) >= REMEMBERED:
            self._version = version
            self._found.clear()
            kept = None
        key = kept or await api_keys.find_by_hash(self._db.points, api_key.hash_key(text))
        if key is not None:
            self._found[digest] = key
        return key

    async def reload_key(self, authorization: list[bytes]) -> ApiKey:
        """Return the key that `key` has accepted, as it is stored now.

        Raise `api_key_revoked` or `api_key_expired` if it has become invalid.
        """
        found = await self._find_key(read_token(authorization))
        if found is None:
            raise Problem("invalid_api_key")
        if lapsed := find_lapse(found, self._clock.now()):
            raise Problem(lapsed)
        return found

    def _count_failure(self, code: str, address: str) -> Problem:
        """Count a failed attempt of the address.

        Return the problem with this code, or `too_many_auth_failures` when the limit is exceeded.
        """
        standing = self._failures.count_address(FAILURES, address)
        if standing is not None and standing.is_exceeded:
            return Problem("too_many_auth_failures", retry_after=standing.reset)
        return Problem(code)

    async def settle(self) -> None:
        """Wait until every noted use is written."""
        await self._last_use.settle()


def read_token(authorization: list[bytes]) -> str:
    """Return the text after `Bearer` in the only Authorization header. Raise `missing_api_key` if there is none."""
    bearer = BEARER.fullmatch(authorization[0]) if len(authorization) == 1 else None
    if bearer is None:
        raise Problem("missing_api_key")
    return bearer[1].decode("latin-1")


def find_lapse(key: ApiKey, now: Instant) -> str | None:
    """Return the error code if the key is revoked or expired, or None while it is valid."""
    if key.revoked_at is not None:
        return "api_key_revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "api_key_expired"
    return None


def require_scope(key: ApiKey, scope: Scope) -> None:
    """Raise `insufficient_scope` unless the key has `scope` today; message and header name the scope."""
    if (sentence := explain_refusal(key, scope)) is not None:
        raise Problem(
            "insufficient_scope",
            sentence,
            headers={"WWW-Authenticate": f'{CHALLENGE}, error="insufficient_scope", scope="{scope}"'},
        )


def require_act(key: ApiKey, act: Permission) -> None:
    """Raise `insufficient_scope` if the maker of the key may not do `act` today."""
    if (sentence := explain_act(key, act, "this")) is not None:
        raise Problem("insufficient_scope", sentence)


class LastUse:
    """Writes when and from where a key was last used, at most once a minute, and no request waits for it."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._noted: dict[str, Instant] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, key: ApiKey, address: str, now: Instant) -> None:
        """Start writing the use of a key, unless one was noted less than a minute ago."""
        last = self._noted.get(key.id, key.last_used_at)
        if last is not None and abs(now - last) < MINUTE:
            return
        self._noted[key.id] = now
        task = asyncio.create_task(self._write(key.id, address, now))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, key_id: str, address: str, now: Instant) -> None:
        """Write one use. A failure is logged only, because the request does not depend on it."""

        async def write(tx: Transaction) -> None:
            await api_keys.touch(tx, key_id, now, address)

        try:
            await self._db.write(write)
        except Problem as problem:
            log.warning("the last use of key %s was not noted: %s", key_id, problem)

    async def settle(self) -> None:
        """Wait until every noted use is written."""
        while self._writing:
            await asyncio.wait(self._writing)
