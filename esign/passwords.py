"""Passwords: hashed with argon2id (RFC 9106) beside the event loop, and refused where they are easy to guess."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from esign.core import password as rules
from esign.core.errors import Problem

AT_ONCE = 2
WAITING = 20  # reliability.md 6.5: whoever comes after them is asked to come back
GUESSABLE = 3  # of zxcvbn's 0 to 4: below it fewer than 10^8 guesses are enough

TOO_EASY = (
    "This password is easy to guess: many people use it, or one like it. "
    "Take several words that do not belong together."
)

T = TypeVar("T")


class Passwords:
    """Makes and compares hashes; each takes some 50 ms of a core and 19 MiB (OWASP's least)."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._nobody: str | None = None

    async def hash(self, text: str) -> str:
        return await self._work(self._hasher.hash, rules.normal(text))

    async def fits(self, stored: str | None, text: str) -> bool:
        """Whether it is the password; where there is none (`stored` None) the answer takes as long."""
        nobody = await self._of_nobody()  # before it is known whether it is needed
        against = stored or nobody
        return await self._work(self._compare, against, rules.normal(text)) and stored is not None

    async def complaint(self, text: str, about: Sequence[str], *, with_totp: bool) -> str | None:
        """What is wrong with a new password, as a sentence; `about` are words that others know of the person."""
        chosen = rules.normal(text)
        if wrong := rules.complaint(chosen, with_totp=with_totp):
            return wrong
        return TOO_EASY if await self._work(is_guessable, chosen, about) else None

    async def _of_nobody(self) -> str:
        if self._nobody is None:
            self._nobody = await self._work(self._hasher.hash, "the password of nobody")
        return self._nobody

    def _compare(self, stored: str, text: str) -> bool:
        try:
            return self._hasher.verify(stored, text)
        except (VerificationError, InvalidHashError):
            return False

    async def _work(self, work: Callable[..., T], *given: Any) -> T:
        """Its answer, from a thread; raises `rate_limited` where too many wait."""
        if self._waiting >= WAITING:
            raise Problem("rate_limited", "Many people sign in at this moment; try again.", retry_after=5)
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            return await asyncio.to_thread(work, *given)
        finally:
            self._places.release()


def is_guessable(chosen: str, about: Sequence[str]) -> bool:
    from zxcvbn import zxcvbn  # megabytes of words, which a server that changes no password spares

    return bool(zxcvbn(chosen[: rules.JUDGED], user_inputs=list(about))["score"] < GUESSABLE)
