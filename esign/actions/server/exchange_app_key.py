"""Exchanges the application key, beside a running server: the command's side, and the server's.

The next key is in the database, encrypted with the present one, before anything is written with it, and the present one
encrypted with the next. So whichever of the two is in the key file, the program has both, and the command can be
killed at any point: the next one goes on. The file is replaced when nothing needs the present key any more.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.server import clock_watch
from esign.core.actor import COMMAND
from esign.core.errors import Problem
from esign.core.instant import HOUR, SECOND
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.engine.locks import is_served
from esign.store.server import installation, key_exchange
from esign.store.server.key_exchange import PASSING, STORED, ExchangeCount
from esign.system import app_key
from esign.system.app_key import KeySource
from esign.system.clock import Clock
from esign.system.vault import KEY_BYTES, UnusableKey, Vault, write_once

T = TypeVar("T")

log = logging.getLogger("esign")

KEPT_SECONDS = HOUR // SECOND  # for what was handed out before, such as cursors and pages in a browser
ADOPTING_SECONDS = 60.0  # a server looks every second
SETTLING_SECONDS = 5.0  # a server may still write what it encrypted just before it adopted the key
POLL_SECONDS = 0.1
PAUSE_SECONDS = 0.015  # longer than a writer waits before it tries again for the lock
TRIES = 20  # of 1.5 seconds


class ExchangeStep(StrEnum):
    """What is done; the exchange goes on from there after a crash."""

    BEGUN = "begun"
    ADOPTED = "adopted"
    RENEWED = "renewed"
    CHECKED = "checked"
    HANDED_OUT = "handed out"
    REPLACED = "replaced"
    ENDED = "ended"


@dataclass
class KeyExchange:
    """An exchange on one installation.

    `present` is the key in the key file, `passphrase` the one of the file if it is protected. With `new_file` the next
    key is put there, for the administrator to put in place. `wiped` says at the end whether the old file could be
    overwritten. `account` is the user of the machine that runs the command, for the audit log.
    """

    db: Database
    source: KeySource
    present: bytes
    passphrase: str | None
    clock: Clock
    new_file: Path | None = None
    wiped: bool = True
    account: str | None = None

    def __post_init__(self) -> None:
        self.vault = Vault(self.present)
        self.count = ExchangeCount()

    async def run(self) -> AsyncIterator[ExchangeStep]:
        """Exchange the key, and yield each step when it is on the disk. Raises UnusableKey where it cannot go on."""
        await installation.confirm_key(self.db, self.vault)
        next_key = await self._begin()
        is_in_file = next_key == self.present
        yield ExchangeStep.BEGUN
        adopted_at = await self._wait_for_server(next_key)
        yield ExchangeStep.ADOPTED
        while True:
            began_at, self.count = self.clock.monotonic(), ExchangeCount()
            async for _ in self._renew_all():
                yield ExchangeStep.RENEWED
            if not self.count.renewed and began_at >= adopted_at:
                break
            await asyncio.sleep(min(max(adopted_at - self.clock.monotonic(), 0), SETTLING_SECONDS))
        await self._check_all(Vault(next_key))
        yield ExchangeStep.CHECKED
        if self.new_file is not None and not is_in_file:
            yield ExchangeStep.HANDED_OUT
            return
        if not is_in_file:
            self.wiped = app_key.replace_file(self.source, self._compose_file(next_key))
        yield ExchangeStep.REPLACED
        await self._end(Vault(next_key))
        yield ExchangeStep.ENDED

    async def _begin(self) -> bytes:
        """Return the next key, which is new unless an exchange is under way."""
        present = Vault(self.present)
        if (sealed := await installation.find(self.db, installation.NEXT)) is not None:
            is_in_file = installation.compute_key_mac(present) != await installation.find(
                self.db, installation.KEY
            )
            next_key = self.present if is_in_file else present.decrypt(installation.EXCHANGE, sealed)
            if not is_in_file:
                self._keep_new_file(next_key)
            return next_key
        next_key = self._keep_new_file(os.urandom(KEY_BYTES))
        if next_key == self.present:
            raise UnusableKey(f"{self.new_file} is the key that is in use; name another file")
        act = await self._make_entry("app_key.exchange_begun")

        async def begin(tx: Transaction) -> None:
            await key_exchange.begin(tx, present, next_key, self.present)
            await audit_log.log_of_installation(tx, present, COMMAND, act)

        await self._write(begin)
        self.vault.adopt_key(next_key)
        return next_key

    async def _end(self, newest: Vault) -> None:
        act = await self._make_entry("app_key.exchanged")

        async def end(tx: Transaction) -> None:
            await key_exchange.end(tx, newest)
            await audit_log.log_of_installation(tx, newest, COMMAND, act)

        await self._write(end)

    async def _make_entry(self, act: str) -> AdminAct:
        detail = None if self.account is None else {"account": self.account}
        return AdminAct(act, await clock_watch.read_now(self.db), {}, detail)

    def _keep_new_file(self, next_key: bytes) -> bytes:
        """Write the key to the file for the administrator, and return what is in it. Raises UnusableKey.

        A file that is there already holds the key of an earlier call that was stopped.
        """
        path = self.new_file
        if path is None:
            if (obstacle := app_key.find_obstacle(self.source)) is not None:
                raise UnusableKey(
                    f"{obstacle}; let esign keys rotate-app --new-key FILE write the new key to a file,"
                    " and put it in place as it says"
                )
            return next_key
        try:
            is_made = not path.exists()
            if not is_made and not self.vault.is_exchanging:  # somebody else may know what is in it
                raise UnusableKey(
                    f"{path} is there already; name a new file, or delete this one if it is of an exchange that was"
                    " ended before it began"
                )
            write_once(path, self._compose_file(next_key))
            content = path.read_bytes()
        except OSError as error:
            raise UnusableKey(f"{path} cannot be written: {error.strerror}; name another file") from None
        found = content
        if app_key.is_protected(content):
            found = app_key.unlock(content, self.passphrase or "", path)
        if len(found) != KEY_BYTES or (not is_made and self.vault.is_exchanging and found != next_key):
            raise UnusableKey(f"{path} is not the new key of this exchange; name another file")
        return found

    def _compose_file(self, key: bytes) -> bytes:
        return key if self.passphrase is None else app_key.protect(key, self.passphrase)

    async def _wait_for_server(self, next_key: bytes) -> float:
        """Return the monotonic time from which on nothing is written with the present key. Raises UnusableKey.

        A server that starts from now on finds both keys.
        """
        folder, until = self.source.database.parent, self.clock.monotonic() + ADOPTING_SECONDS
        while is_served(folder):
            adopted = await installation.find(self.db, installation.ADOPTED)
            if adopted is not None and adopted.endswith(installation.compute_key_mac(Vault(next_key))):
                return self.clock.monotonic() + SETTLING_SECONDS
            if self.clock.monotonic() >= until:
                raise UnusableKey(
                    "the running server has not taken over the new key, and nothing was encrypted with it;"
                    " restart the server, then run esign keys rotate-app again"
                )
            await asyncio.sleep(POLL_SECONDS)
        return self.clock.monotonic()

    async def _renew_all(self) -> AsyncIterator[None]:
        """Make everything that is stored anew, and yield after each batch that changed something."""
        for secret in STORED:
            place = None
            while True:
                before = self.count.renewed + self.count.wrapped
                place = await self._repeat(
                    lambda secret=secret, place=place: key_exchange.renew_batch(  # type: ignore[misc]
                        self.db, secret, self.vault, place, self.count
                    )
                )
                if place is None:
                    break
                if self.count.renewed + self.count.wrapped > before:
                    await asyncio.sleep(PAUSE_SECONDS)
                    yield

    async def _check_all(self, newest: Vault) -> None:
        """Try all that is stored with the next key alone. Raises UnusableKey if a value needs the present one."""
        count = ExchangeCount()
        for secret in STORED:
            place = None
            while rows := await key_exchange.find_rows(self.db, secret, place):
                list(key_exchange.find_changes(secret, newest, rows, count))
                place = [rows[-1][name] for name in secret.keys]
        if count.unreadable > self.count.unreadable:
            raise UnusableKey(
                f"{count.unreadable - self.count.unreadable} values still need the present key; run"
                " esign keys rotate-app again, which goes on from here"
            )

    async def _write(self, write: Callable[..., Awaitable[None]]) -> None:
        await self._repeat(lambda: self.db.write(write))

    async def _repeat(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work, again while another process holds the lock for long."""
        for _ in range(TRIES - 1):
            try:
                return await work()
            except Problem as problem:
                if problem.code != "unavailable":
                    raise
        return await work()


async def follow_exchange(runtime: Runtime) -> int:
    """Take over a key that a command is exchanging, and forget the one before at the end. Return 1 for a change."""
    db, vault, now = runtime.db, runtime.vault, runtime.clock.monotonic()
    sealed = await installation.find(db.points, installation.NEXT)
    if sealed is None:
        vault.forget_retired_keys(now)
        if not vault.is_exchanging:
            return 0
        vault.retire_older_keys(PASSING, now + KEPT_SECONDS)
        log.info("the application key was exchanged, and the one before is forgotten")
        return 1
    next_key = vault.decrypt(installation.EXCHANGE, sealed)
    mac = installation.compute_key_mac(Vault(next_key))
    if (
        installation.compute_key_mac(vault) != mac
    ):  # also where one exchange ended and the next began in between
        vault.adopt_key(next_key)
        log.info("a new application key is used from now on; the one before still reads")
    own = runtime.boot.encode() + mac
    if await installation.find(db.points, installation.ADOPTED) == own:
        return 0
    await db.write(lambda tx: installation.save(tx, installation.ADOPTED, own))
    return 1
