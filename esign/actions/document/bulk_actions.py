"""Performs one action on several documents. Each document has a transaction of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from esign.actions.document import cancel_delete, documents, reminders
from esign.actions.document.edit_document import Asking
from esign.core.actor import Actor, Origin, Owner
from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.runtime import Runtime


class Deed(StrEnum):
    """The actions that can be performed on several documents."""

    REMIND = "remind"
    CANCEL = "cancel"
    DELETE = "delete"
    SEAL = "retry-seal"


@dataclass(frozen=True, slots=True)
class Doing:
    """An action and who requests it. `words` is the message of a reminder, or the reason of a cancellation."""

    deed: Deed
    owner: Owner
    actor: Actor
    origin: Origin
    words: str | None = None
    notify: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one document.

    `document` is the document as it was before, or None if it does not exist. `problem` says why the action was
    refused.
    """

    id: str
    document: Document | None
    problem: Problem | None


async def find(runtime: Runtime, owner: Owner, id: str) -> Result:
    """Return the document of this id, or the `not_found` problem. Nothing is changed."""
    try:
        return Result(id, await documents.get(runtime, owner, id), None)
    except Problem as problem:
        if problem.code != "not_found":
            raise
        return Result(id, None, problem)


async def do(runtime: Runtime, doing: Doing, ids: Sequence[str]) -> list[Result]:
    """Perform the action on each document, and return the results in the order of `ids`.

    The refusal of one document does not keep the others from being worked.
    """
    return [await do_one(runtime, doing, id) for id in ids]


async def do_one(runtime: Runtime, doing: Doing, id: str) -> Result:
    """Perform the action on one document, and return its result."""
    found = await find(runtime, doing.owner, id)
    if found.document is None:
        return found
    owner, actor, origin = doing.owner, doing.actor, doing.origin
    try:
        match doing.deed:
            case Deed.REMIND:
                asking = Asking(owner, id, actor, origin)
                await reminders.remind_by_hand(runtime, asking, None, doing.words)
            case Deed.CANCEL:
                await cancel_delete.cancel(runtime, owner, id, doing.words, doing.notify, actor, origin)
            case Deed.DELETE:
                await cancel_delete.delete(runtime, owner, id, actor, origin)
            case Deed.SEAL:
                await cancel_delete.retry_seal(runtime, owner, id, actor, origin)
    except Problem as problem:
        return Result(id, found.document, problem)
    return found
