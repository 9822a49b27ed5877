"""One deed for several documents: which of them it would work for, and doing it to each by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from esign.actions import documents, ending, reminding
from esign.actions.documents import Owner
from esign.actions.editing import Asking
from esign.core import ending as rules
from esign.core import nudging, retention
from esign.core.account import Organisation
from esign.core.document import NOWHERE, SYSTEM, Actor, Document, Origin
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.runtime import Runtime


class Deed(StrEnum):
    REMIND = "remind"
    CANCEL = "cancel"
    DELETE = "delete"
    SEAL = "seal"


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


def against(deed: Deed, document: Document, organisation: Organisation, now: Instant) -> Problem | None:
    """What the rules say against it now; None where it would be done."""
    try:
        match deed:
            case Deed.REMIND:
                nudging.nudge(document, None, None, SYSTEM, NOWHERE, now)
            case Deed.CANCEL:
                rules.cancel(document, None, True, SYSTEM, NOWHERE, now)
            case Deed.DELETE:
                retention.require_unlocked(document, organisation, now)
                rules.delete(document, SYSTEM, NOWHERE, now)
            case Deed.SEAL:
                rules.retry_seal(document, SYSTEM, NOWHERE, now)
    except Problem as problem:
        return problem
    return None


async def weigh(
    runtime: Runtime, deed: Deed, owner: Owner, organisation: Organisation, ids: Sequence[str]
) -> list[Result]:
    """For each id what would come of it; nothing is done."""
    now = runtime.clock.now()
    found = [await find(runtime, owner, id) for id in ids]
    return [
        one
        if one.document is None
        else Result(one.id, one.document, against(deed, one.document, organisation, now))
        for one in found
    ]


async def find(runtime: Runtime, owner: Owner, id: str) -> Result:
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
                await reminding.remind_by_hand(runtime, asking, None, doing.words)
            case Deed.CANCEL:
                await ending.cancel(runtime, owner, id, doing.words, doing.notify, actor, origin)
            case Deed.DELETE:
                await ending.delete(runtime, owner, id, actor, origin)
            case Deed.SEAL:
                await ending.retry_seal(runtime, owner, id, actor, origin)
    except Problem as problem:
        return Result(id, found.document, problem)
    return found
