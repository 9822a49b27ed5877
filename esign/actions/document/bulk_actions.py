"""One deed for several documents, done to each by itself."""

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
    REMIND = "remind"
    CANCEL = "cancel"
    DELETE = "delete"
    SEAL = "retry-seal"


@dataclass(frozen=True, slots=True)
class Doing:
    """What is to be done by whom; `words` go out with a reminder, or are the reason of a cancellation."""

    deed: Deed
    owner: Owner
    actor: Actor
    origin: Origin
    words: str | None = None
    notify: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """`document` as it was before, None where it is not there (any more); `problem`: why it was not done."""

    id: str
    document: Document | None
    problem: Problem | None


async def find(runtime: Runtime, owner: Owner, id: str) -> Result:
    """The document of this id, if it is there; nothing is done."""
    try:
        return Result(id, await documents.get(runtime, owner, id), None)
    except Problem as problem:
        if problem.code != "not_found":
            raise
        return Result(id, None, problem)


async def do(runtime: Runtime, doing: Doing, ids: Sequence[str]) -> list[Result]:
    """Each in a transaction of its own: what one of them refuses keeps no other from being done."""
    return [await do_one(runtime, doing, id) for id in ids]


async def do_one(runtime: Runtime, doing: Doing, id: str) -> Result:
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
