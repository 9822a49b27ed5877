"""Make forms that create something idempotent: the same form sent twice finds what it created the first time.

Each such form carries a random name that was made for that page.
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
    """Anything that was created and has an id: a document, a recipient, a webhook."""

    @property
    def id(self) -> str: ...


Keep = Callable[[Transaction, Made], Awaitable[None]]


class Once(Schema):
    """The field that carries the random name of a form."""

    once: Annotated[str, Field(pattern=r"^[\x21-\x7e]{8,200}$")]


def name_of(form: Mapping[str, str]) -> str:
    """Return the random name of the form; raise `invalid_request` for a form without one."""
    return check(Once, {"once": form.get("once", "")}).once


def name_for(call: Call, about: str = "") -> str:
    """Return the name of the form, or a new one if it has none, as when it was sent by hand.

    `about` tells apart the things that one page creates.
    """
    name = name_of(call.form) if "once" in call.form else new_token()
    return f"{name}:{about}" if about else name


async def make(
    call: Call, name: str, path: str, about: Mapping[str, Any], create: Callable[[Keep], Awaitable[Made]]
) -> str:
    """Return the id of what `create` creates, now or when the same form was sent before.

    `about` holds the values of the form. Raise `idempotency_key_reused` if the name was used with other values.
    """
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
    except (Taken, Problem):  # the same form, sent twice at once, may just have created it
        kept = await replays.find(ticket)
        if kept is None:
            raise
        return str(orjson.loads(kept.body)["id"])
