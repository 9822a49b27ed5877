"""Unblocks a recipient whose code was entered, or requested, too often."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from esign.actions.base.caller import Caller
from esign.actions.document.documents import change_own
from esign.core.document import challenge as rules
from esign.core.document.challenge import Method
from esign.core.document.document import Document, Recipient
from esign.core.document.state import Act, require
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Problem
from esign.core.instant import DAY, SECOND, Instant, Millis
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.document import challenges, outcomes
from esign.store.engine.database import Reader, Transaction
from esign.store.queue import audit_entries
from esign.system.vault import Vault

UNBLOCKED = "recipient.unblocked"
MOST = 3  # most times in 24 hours


@dataclass(frozen=True, slots=True)
class UnblockResult:
    """The result. `unblocked` is False if the recipient could try already: then nothing changed."""

    recipient_id: str
    unblocked: bool


TOO_OFTEN = "This recipient was unblocked {times} times in 24 hours. Agree upon another way to sign."


async def unblock(runtime: Runtime, caller: Caller, document_id: str, recipient_id: str) -> UnblockResult:
    """Forget the attempts and codes of a recipient. An access code stays the same; a mailed code must be
    requested again.

    This also works after the end of the document, when the code opens what is left to see. Raises
    `document_not_sent` for a draft, `recipient_not_active` if no code is needed, and `rate_limited` beyond
    `MOST` times in 24 hours: each time allows as many guesses again, also to a sender who does not know the
    code.
    """

    def decide(document: Document) -> Outcome:
        require_code(document, document.recipient(recipient_id))
        return Outcome(document)

    async def save(
        tx: Transaction, outcome: Outcome, document: Document, vault: Vault, now: Instant
    ) -> UnblockResult:
        recipient, before = document.recipient(recipient_id), await challenges.get(tx, recipient_id)
        if not rules.is_blocked(recipient.authentication, before, now):
            return UnblockResult(recipient_id, unblocked=False)
        earlier = await audit_entries.find_times(tx, document.id, UNBLOCKED, recipient_id, now - DAY + 1)
        if len(earlier) >= MOST:
            raise make_wait_error(earlier[-MOST] + DAY - now)
        await challenges.save(tx, rules.reset_challenge(before))
        data = {"method": recipient.authentication}
        event = Event(UNBLOCKED, now, caller.author.actor, recipient_id, caller.author.origin, data=data)
        await outcomes.record(tx, document.id, (event,), vault)
        return UnblockResult(recipient_id, unblocked=True)

    return await change_own(runtime, caller, document_id, decide, save)


def make_wait_error(wait: Millis) -> Problem:
    """Return the error that says when the recipient may be unblocked again."""
    return Problem("rate_limited", say(TOO_OFTEN, times=MOST), retry_after=max(1, ceil(wait / SECOND)))


def require_code(document: Document, recipient: Recipient) -> None:
    """Raise unless the links of this recipient are out and ask for a code."""
    require(document, Act.UNBLOCK)
    if recipient.authentication == Method.LINK:
        raise Problem("recipient_not_active", "No code is asked for.", current_status=document.status)


async def find_blocked(reader: Reader, recipients: Sequence[Recipient], now: Instant) -> frozenset[str]:
    """Return the ids of the recipients who cannot enter or request a code now."""
    coded = [one for one in recipients if one.authentication != Method.LINK]
    return frozenset(
        [
            one.id
            for one in coded
            if rules.is_blocked(one.authentication, await challenges.get(reader, one.id), now)
        ]
    )
