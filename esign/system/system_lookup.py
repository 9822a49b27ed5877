"""Look up the names in the settings (mail server, time-stamp authorities) with the system's resolver.

`getaddrinfo` blocks its thread for as long as the resolver takes, half a minute and more, and cannot be
interrupted. In asyncio's default executor such threads would delay all other work, and the end of the program
as well. So it runs in a few separate daemon threads.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

THREADS = 8  # names that are looked up at the same time
PATIENCE = 10.0  # seconds


class NameUnanswered(OSError):
    """The name servers did not answer, or could not: whether the name has an address is unknown."""


class SystemLookup:
    """Looks up names when called. Simultaneous lookups of the same name share one thread."""

    def __init__(
        self, ask: Callable[..., Sequence[Any]] = socket.getaddrinfo, patience: float = PATIENCE
    ) -> None:
        self._ask = ask
        self._patience = patience
        self._asked: dict[str, asyncio.Future[Sequence[str]]] = {}

    async def __call__(self, host: str) -> Sequence[str]:
        """Return every address in the system's order of preference.

        Raises OSError if there is none, Unanswered if it is late.
        """
        if is_literal(host):
            return [host]
        answer = self._asked.get(host) or self._begin(host)
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.shield(answer)
        except TimeoutError:
            raise NameUnanswered(f"the name server did not answer for {host}") from None

    def _begin(self, host: str) -> asyncio.Future[Sequence[str]]:
        if len(self._asked) >= THREADS:
            raise NameUnanswered("too many names wait for the name server")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[str]] = loop.create_future()
        answer.add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )  # retrieve the error even if nobody waits for it
        self._asked[host] = answer

        def end(found: Sequence[str] | None, error: OSError | None) -> None:
            del self._asked[host]
            if answer.done():
                return
            if error is None:
                answer.set_result(found or [])
            else:
                answer.set_exception(error)

        def work() -> None:
            found, failure = None, None
            try:
                found = [str(entry[4][0]) for entry in self._ask(host, None, type=socket.SOCK_STREAM)]
            except OSError as error:
                failure = error
            except UnicodeError:  # a label that is too long
                failure = OSError(f"{host} is no name")
            with suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(end, found, failure)

        threading.Thread(target=work, name=f"lookup {host}", daemon=True).start()
        return answer


def is_literal(host: str) -> bool:
    """Return whether the host is an IP address already."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
