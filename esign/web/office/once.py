"""Forms that make something: one that is sent again, as its first answer was lost, finds what it made then.

The browser sends with each such form a name that it made up.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Protocol

import orjson
from pydantic import Field

from esign.store.database import Transaction
from esign.store.idempotency import Taken
from esign.web.answer import Answer
from esign.web.idempotency import Replays, Ticket, fingerprint
from esign.web.office.call import Call
from esign.web.schema import Schema
from esign.web.validation import check

CREATED = 201


class Made(Protocol):
    """A document or a template."""

    @property
    def id(self) -> str: ...


Keep = Callable[[Transaction, Made], Awaitable[None]]


class Once(Schema):
    once: Annotated[str, Field(pattern=r"^[\x21-\x7e]{8,200}$")]


def name_of(form: Mapping[str, str]) -> str:
    """The name that the form made up; raises `invalid_request` for one without."""
    return check(Once, {"once": form.get("once", "")}).once


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
    except Taken:
        kept = await replays.find(ticket)
        assert kept is not None, "somebody was faster by a moment"
        return str(orjson.loads(kept.body)["id"])
