"""What can be done with a document now, and why the rest cannot.

Each rule runs the check that the state transition begins with, or the transition itself without its outcome, so that
the pages cannot differ from the actions.
"""

from collections.abc import Callable, Mapping
from math import ceil

from esign.core.actor import PROGRAM
from esign.core.document import retention
from esign.core.document.document import Document, Recipient
from esign.core.document.state import Act, edit, lifecycle, remind, require
from esign.core.document.state.edit import correct
from esign.core.document.summary import AnyDocument
from esign.core.errors import SEAL_HELD, Problem
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.core.sentence import say
from esign.web.office.frame.formats import Times

Rule = Callable[[Document, Organisation, Instant], object]
BulkRule = Callable[[AnyDocument, Organisation, Instant], object]
RuleOfOne = Callable[[Document, Recipient, Instant], object]


def may_change(*members: str) -> Rule:
    """Return the rule for changing these members."""
    return lambda document, organisation, now: edit.check_may_change(document, members)


def may_remind(document: AnyDocument, organisation: Organisation, now: Instant) -> object:
    return remind.check_may_remind(document, None, now)


def may_cancel(document: AnyDocument, organisation: Organisation, now: Instant) -> None:
    require(document, Act.CANCEL, now)


def may_delete(document: AnyDocument, organisation: Organisation, now: Instant) -> None:
    retention.require_unlocked(document, organisation, now)
    require(document, Act.DELETE)


def may_retry(document: AnyDocument, organisation: Organisation, now: Instant) -> None:
    lifecycle.require_failed_seal(document)


def may_link(document: Document, recipient: Recipient, now: Instant) -> None:
    require(document, Act.LINK, now)
    lifecycle.require_active(document, recipient)


def may_correct(document: Document, recipient: Recipient, now: Instant) -> object:
    return correct(document, recipient, PROGRAM, now)


def may_nudge(document: Document, recipient: Recipient, now: Instant) -> object:
    return remind.remind_recipients(document, {recipient.id}, None, PROGRAM, now)


BULK: Mapping[str, BulkRule] = {
    "remind": may_remind,
    "cancel": may_cancel,
    "delete": may_delete,
    "retry-seal": may_retry,
}
ACTS: Mapping[str, Rule] = {
    **BULK,
    "expiry": may_change("expires_at"),
    "reminders": may_change("reminders"),
    "reference": may_change("external_id", "metadata"),
    "recipients": may_change("recipients"),
}
ACTS_ON_ONE: Mapping[str, RuleOfOne] = {"link": may_link, "correct": may_correct, "remind": may_nudge}


def catch_refusal(ask: Callable[..., object], *asked: object) -> Problem | None:
    """Return the problem that the rule raises, or None if it allows the action."""
    try:
        ask(*asked)
    except Problem as problem:
        return problem
    return None


def find_refusal(act: str, document: Document, organisation: Organisation, now: Instant) -> Problem | None:
    """Return why an action on the document is refused now, or None."""
    return catch_refusal(ACTS[act], document, organisation, now)


def is_possible(act: str, document: AnyDocument, organisation: Organisation, now: Instant) -> bool:
    """Return whether one of the actions on several documents would work on this one now."""
    return catch_refusal(BULK[act], document, organisation, now) is None


def find_recipient_refusal(
    act: str, document: Document, recipient: Recipient, now: Instant
) -> Problem | None:
    """Return why an action on one recipient is refused now, or None."""
    return catch_refusal(ACTS_ON_ONE[act], document, recipient, now)


SENTENCES: Mapping[str, str] = {
    "document_not_draft": "This document has been sent, so you can no longer change this.",
    "document_not_sent": "This document isn’t out for signature, so you can’t do this now.",
    "document_not_completed": "There is no sealed PDF yet.",
    "document_in_progress": "This document is still in progress. Cancel it first, or wait until it is sealed.",
    "seal_not_failed": "There is no failed seal to retry.",
    "recipient_not_active": "It isn’t this recipient’s turn, or there is nothing for them to do.",
    "recipient_already_completed": "This recipient has already finished.",
    "no_recipient_to_remind": "There is no recipient to remind now.",
    "revision_mismatch": "Someone else has changed this document. Review their changes, then try again.",
}


def explain_refusal(problem: Problem, times: Times, document: Document, organisation: Organisation) -> str:
    """Return a refusal as a sentence for the user."""
    if problem.code == "reminder_too_soon":
        minutes = ceil((problem.retry_after or 60) / 60)
        return say(
            "The last reminder is less than an hour old. You can send the next one in {n} minutes.",
            one="The last reminder is less than an hour old. You can send the next one in a minute.",
            n=minutes,
        )
    until = retention.find_lock_end(document, organisation)
    if problem.code == "retention_locked" and until is not None:
        return say(
            "Your organisation keeps completed documents. You can delete this one {when}.",
            when=times.near(until),
        )
    if problem.message == SEAL_HELD:
        return SEAL_HELD
    return SENTENCES.get(problem.code, problem.message)
