"""Performs one action on several documents. Each document has a transaction of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from esign.actions.document import cancel_delete, documents, reminders
from esign.actions.document.edit_document import ChangeRequest
from esign.core.actor import Actor, Origin, Owner
from esign.core.document.document import Document
from esign.core.errors import Problem
from esign.runtime import Runtime


class BulkAction(StrEnum):
    """The actions that can be performed on several documents."""

    REMIND = "remind"
    CANCEL = "cancel"
    DELETE = "delete"
    SEAL = "retry-seal"


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """An action and who requests it. `words` is the message of a reminder, or the reason of a cancellation."""

    deed: BulkAction
    owner: Owner
    actor: Actor
    origin: Origin
    words: str | None = None
    notify: bool = True


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of one document.

    `document` is the document as it was before, or None if it does not exist. `problem` says why the action was
    refused.
    """

    id: str
    document: Document | None
    problem: Problem | None


async def find(runtime: Runtime, owner: Owner, id: str) -> BulkResult:
    """Return the document of this id, or the `not_found` problem. Nothing is changed."""
    try:
        return BulkResult(id, await documents.get(runtime, owner, id), None)
    except Problem as problem:
        if problem.code != "not_found":
            raise
        return BulkResult(id, None, problem)


async def perform_all(runtime: Runtime, doing: BulkRequest, ids: Sequence[str]) -> list[BulkResult]:
    """Perform the action on each document, and return the results in the order of `ids`.

    The refusal of one document does not keep the others from being worked.
    """
    return [await perform_one(runtime, doing, id) for id in ids]


async def perform_one(runtime: Runtime, doing: BulkRequest, id: str) -> BulkResult:
    """Perform the action on one document, and return its result."""
    found = await find(runtime, doing.owner, id)
    if found.document is None:
        return found
    owner, actor, origin = doing.owner, doing.actor, doing.origin
    try:
        match doing.deed:
            case BulkAction.REMIND:
                asking = ChangeRequest(owner, id, actor, origin)
                await reminders.remind_by_hand(runtime, asking, None, doing.words)
            case BulkAction.CANCEL:
                await cancel_delete.cancel(runtime, owner, id, doing.words, doing.notify, actor, origin)
            case BulkAction.DELETE:
                await cancel_delete.delete(runtime, owner, id, actor, origin)
            case BulkAction.SEAL:
                await cancel_delete.retry_seal(runtime, owner, id, actor, origin)
    except Problem as problem:
        return BulkResult(id, found.document, problem)
    return found
