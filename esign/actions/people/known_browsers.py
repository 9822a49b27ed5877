"""Known browsers: those in which a person has completed a sign-in during the last 400 days (contract 3.7).

A browser is recognised by a random token in a cookie that opens nothing. Two rules ask for it: tries from a known
browser are counted apart from those of strangers, and a sign-in from any other browser is told to the person by mail.
"""

from dataclasses import dataclass

from esign.runtime import Runtime
from esign.store.people import known_browsers, users
from esign.system.entropy import new_token


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that is at an entrance: its token, and whether the account that is asked for knows it."""

    token: str
    is_known: bool = False

    @property
    def lane(self) -> str | None:
        """Return what its tries are counted under, apart from those of strangers; None while it is unknown."""
        return self.token if self.is_known else None


async def recognise(runtime: Runtime, cookie: str | None, email: str) -> Browser:
    """Return the browser that sent this cookie, as the account of this address sees it.

    A token that was not made here is replaced by a new one, so that nobody can plant a token that they know.
    """
    if cookie is None or not await known_browsers.is_issued(runtime.db, cookie):
        return Browser(new_token())
    user = await users.find(runtime.db, email)
    now = runtime.clock.now()
    known = user is not None and await known_browsers.is_known(runtime.db, user.id, cookie, now)
    return Browser(cookie, known)
