"""Names who asks for an action. An entrance builds one such value for a request and passes it on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from esign.core.actor import Author, Origin, Owner
from esign.core.people.user import User
from esign.store.engine.database import Transaction

StoreAnswer = Callable[[Transaction, Any], Awaitable[None]]
"""Takes the transaction and what the action returns: a document, a webhook, an id."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which organisation and mode, and the conditions of the request.

    `revision` is the revision that the caller has seen (`If-Match`), or None if any will do. `store_answer`
    stores the answer of a request that may be repeated (contract 3.1).
    """

    owner: Owner
    author: Author
    revision: int | None = None
    store_answer: StoreAnswer | None = None

    async def keep(self, tx: Transaction, result: object) -> None:
        """Store the answer that `result` makes, in the transaction of the effect, if the request may be repeated."""
        if self.store_answer is not None:
            await self.store_answer(tx, result)


@dataclass(frozen=True, slots=True)
class UserCaller:
    """A user who changes their own account, whatever organisations they belong to, and from where.

    `session_id` names the session of the request: it goes on where a change ends the others.
    """

    user: User
    origin: Origin
    session_id: str = ""
