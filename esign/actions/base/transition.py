"""Performs one transition of one document: read it, decide, save the outcome in one transaction, wake the workers."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from esign.actions.base.expiry import may_expire
from esign.core.document.document import Document
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Outcome
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.runtime import Runtime
from esign.store.document import outcomes
from esign.store.engine.database import Transaction
from esign.system.vault import Vault

R = TypeVar("R")

Find = Callable[[Transaction], Awaitable[Document]]
Decide = Callable[[Document], Outcome]
Save = Callable[[Transaction, Outcome, Document, Vault, Instant], Awaitable[R]]
Keep = Callable[[Transaction, R], Awaitable[None]]


async def perform_transition(
    runtime: Runtime, find: Find, decide: Decide, save: Save[R], keep: Keep[R] | None = None
) -> R:
    """Return what `save` returns for the outcome; `outcomes.save` returns the document after the transition.

    A document that is past its expiry expires first (D10). That is committed even if `decide` then refuses.
    """
    now = runtime.clock.now()

    async def write(tx: Transaction) -> R | Problem:
        before = await find(tx)
        late = await may_expire(runtime, tx, before)
        if late:
            before = await outcomes.save(tx, lifecycle.expire(before, now), before, runtime.vault, now)
        try:
            outcome = decide(before)
        except Problem as refusal:
            if late:
                return refusal  # returned and raised after the commit, so that the expiry stays
            raise
        result = await save(tx, outcome, before, runtime.vault, now)
        if keep is not None:
            await keep(tx, result)
        return result

    result = await runtime.db.write(write)
    if isinstance(result, Problem):
        raise result
    return result


def check_revision(document: Document, revision: int | None) -> None:
    """Refuse when the caller has seen another revision than this one (`If-Match`)."""
    if revision is not None and revision != document.revision:
        raise Problem("revision_mismatch", current_status=document.status)
