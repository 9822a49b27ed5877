"""Known browsers: those in which a user has completed a sign-in during the last 400 days (contract 3.7).

A browser is recognised by a random token in a cookie that opens nothing. Two rules use it: attempts from a
known browser are counted apart from those of strangers, and the user is notified by e-mail of a sign-in from an
unknown one.
"""

from dataclasses import dataclass

from esign.runtime import Runtime
from esign.store.people import known_browsers, users
from esign.system.entropy import make_token


@dataclass(frozen=True, slots=True)
class Browser:
    """The browser of a request: its token, and whether it is known to the account that is asked for."""

    token: str
    is_known: bool = False

    @property
    def lane(self) -> str | None:
        """Return the key under which the browser's attempts are counted, or None while it is unknown."""
        return self.token if self.is_known else None


async def recognise(runtime: Runtime, cookie: str | None, email: str) -> Browser:
    """Return the browser that sent this cookie, as the account of this address sees it.

    A token that was not issued here is replaced by a new one, so that an attacker cannot plant a token that
    they know.
    """
    if cookie is None or not await known_browsers.is_issued(runtime.db, cookie):
        return Browser(make_token())
    user = await users.find(runtime.db, email)
    now = runtime.clock.now()
    known = user is not None and await known_browsers.is_known(runtime.db, user.id, cookie, now)
    return Browser(cookie, known)
