"""Performs one action on several documents. Each document has a transaction of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from esign.actions.base.caller import Caller
from esign.actions.document import cancel_delete, documents, reminders
from esign.core.actor import Owner
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
    """An action on several documents. `words` is the message of a reminder, or the reason of a cancellation."""

    deed: BulkAction
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


async def perform_all(
    runtime: Runtime, caller: Caller, doing: BulkRequest, ids: Sequence[str]
) -> list[BulkResult]:
    """Perform the action on each document, and return the results in the order of `ids`.

    The refusal of one document does not keep the others from being worked.
    """
    return [await perform_one(runtime, caller, doing, id) for id in ids]


async def perform_one(runtime: Runtime, caller: Caller, doing: BulkRequest, id: str) -> BulkResult:
    """Perform the action on one document, and return its result."""
    found = await find(runtime, caller.owner, id)
    if found.document is None:
        return found
    try:
        match doing.deed:
            case BulkAction.REMIND:
                await reminders.remind_by_hand(runtime, caller, id, None, doing.words)
            case BulkAction.CANCEL:
                await cancel_delete.cancel(runtime, caller, id, doing.words, doing.notify)
            case BulkAction.DELETE:
                await cancel_delete.delete(runtime, caller, id)
            case BulkAction.SEAL:
                await cancel_delete.retry_seal(runtime, caller, id)
    except Problem as problem:
        return BulkResult(id, found.document, problem)
    return found
