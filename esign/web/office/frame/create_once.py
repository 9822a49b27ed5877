"""Make forms that create something idempotent: the same form sent twice finds what it created the first time.

Each such form carries a random name that was made for that page.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Protocol

import orjson
from pydantic import Field

from esign.actions.base.caller import Caller
from esign.core.errors import Problem
from esign.store.engine.database import Transaction
from esign.store.queue.idempotency import KeyTaken
from esign.system.entropy import make_token
from esign.web.http.answer import ApiAnswer
from esign.web.http.idempotency import IdempotencyTicket, Replays, compute_fingerprint
from esign.web.http.validation import check
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.schema import Schema

CREATED = 201


class CreatedObject(Protocol):
    """Anything that was created and has an id: a document, a recipient, a webhook."""

    @property
    def id(self) -> str: ...


class FormName(Schema):
    """The field that carries the random name of a form."""

    once: Annotated[str, Field(pattern=r"^[\x21-\x7e]{8,200}$")]


def read_form_name(form: Mapping[str, str]) -> str:
    """Return the random name of the form; raise `invalid_request` for a form without one."""
    return check(FormName, {"once": form.get("once", "")}).once


def choose_form_name(call: OfficeCall, about: str = "") -> str:
    """Return the name of the form, or a new one if it has none, as when it was sent by hand.

    `about` tells apart the things that one page creates.
    """
    name = read_form_name(call.form) if "once" in call.form else make_token()
    return f"{name}:{about}" if about else name


async def create_once(
    call: OfficeCall,
    name: str,
    path: str,
    about: Mapping[str, object],
    create: Callable[[Caller], Awaitable[CreatedObject]],
) -> str:
    """Return the id of what `create` creates, now or when the same form was sent before.

    `create` takes the caller that stores the id in the transaction of the effect. `about` holds the values of the
    form. Raise `idempotency_key_reused` if the name was used with other values.
    """
    limits = call.runtime.config.limits
    replays = Replays(call.runtime.db, call.runtime.vault, call.runtime.clock, limits.idempotency_hours)
    who = f"{call.signed_in.member.id}:{call.owner.mode}"
    ticket = IdempotencyTicket(who, name, compute_fingerprint("POST", path, dict(about)))

    async def store_answer(tx: Transaction, made: CreatedObject) -> None:
        await replays.add(tx, ticket, ApiAnswer(CREATED, orjson.dumps({"id": made.id})), made.id)

    if kept := await replays.find(ticket):
        return str(orjson.loads(kept.body)["id"])
    try:
        return (await create(replace(call.caller, store_answer=store_answer))).id
    except (KeyTaken, Problem):  # the same form, sent twice at once, may just have created it
        kept = await replays.find(ticket)
        if kept is None:
            raise
        return str(orjson.loads(kept.body)["id"])
