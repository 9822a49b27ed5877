"""Forms that make something: one that is sent again, as its first answer was lost, finds what it made then.

The browser sends with each such form a name that it made up.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Protocol

import orjson
from pydantic import Field

from esign.core.errors import Problem
from esign.store.engine.database import Transaction
from esign.store.queue.idempotency import Taken
from esign.system.entropy import new_token
from esign.web.http.answer import Answer
from esign.web.http.validation import check
from esign.web.office.frame.call import Call
from esign.web.rest.idempotency import Replays, Ticket, fingerprint
from esign.web.rest.schema import Schema

CREATED = 201


class Made(Protocol):
    """A document, a recipient, a webhook: whatever has an id."""

    @property
    def id(self) -> str: ...


Keep = Callable[[Transaction, Made], Awaitable[None]]


class Once(Schema):
    once: Annotated[str, Field(pattern=r"^[\x21-\x7e]{8,200}$")]


def name_of(form: Mapping[str, str]) -> str:
    """The name that the form made up; raises `invalid_request` for one without."""
    return check(Once, {"once": form.get("once", "")}).once


def name_for(call: Call, about: str = "") -> str:
    """The same where a form may lack one, as it is sent by hand; `about`: which of the things that one page makes."""
    name = name_of(call.form) if "once" in call.form else new_token()
    return f"{name}:{about}" if about else name


async def make(
    call: Call, name: str, path: str, about: Mapping[str, Any], create: Callable[[Keep], Awaitable[Made]]
) -> str:
    """The id of what `create` makes, now or when the same was sent before; `about` tells one form from another."""
    limits = call.runtime.config.limits
    replays = Replays(call.runtime.db, call.runtime.vault, call.runtime.clock, limits.idempotency_hours)
    who = f"{call.signed.member.id}:{call.owner.mode}"
    ticket = Ticket(who, name, fingerprint("POST", path, dict(about)))

    async def keep(tx: Transaction, made: Made) -> None:
        await replays.add(tx, ticket, Answer(CREATED, orjson.dumps({"id": made.id})), made.id)

    if kept := await replays.find(ticket):
        return str(orjson.loads(kept.body)["id"])
    try:
        return (await create(keep)).id
    except (Taken, Problem):  # the same may have been faster by a moment, and be what is in the way
        kept = await replays.find(ticket)
        if kept is None:
            raise
        return str(orjson.loads(kept.body)["id"])
