"""How long documents are kept: until when deleting is refused, and when they are deleted automatically
(contract 3.5, 8).
"""

from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.document.summary import AnyDocument
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant, rfc3339
from esign.core.people.account import Organisation
from esign.core.sentence import say


def find_lock_end(document: AnyDocument, organisation: Organisation) -> Instant | None:
    """Return the end of a completed document's retention period; None for every other document."""
    days, completed_at = organisation.retain_completed_days, document.completed_at
    return None if days is None or completed_at is None else completed_at + days * DAY


def require_unlocked(document: AnyDocument, organisation: Organisation, now: Instant) -> None:
    """Raise `retention_locked`, naming the end, while the document is within its retention period."""
    until = find_lock_end(document, organisation)
    if until is not None and now < until:
        raise Problem(
            "retention_locked",
            say("The document is kept until {time}.", time=rfc3339(until)),
            current_status=document.status,
        )


def find_deletion_time(document: AnyDocument, organisation: Organisation) -> Instant | None:
    """Return when a document that ended is deleted automatically, never before its retention ends; None if it
    stays.
    """
    days, ended = organisation.delete_closed_after_days, document.completed_at or document.closed_at
    if days is None or ended is None:
        return None
    return max(ended + days * DAY, find_lock_end(document, organisation) or 0)


def find_removal_time(document: AnyDocument, organisation: Organisation, test_days: int) -> Instant | None:
    """Return when the document is deleted by the settings or, in test mode, after `test_days`; None if it
    stays.

    Retention protects no document of test mode from the second limit.
    """
    ended = document.completed_at or document.closed_at
    dates = [find_deletion_time(document, organisation)]
    if ended is not None and document.mode is Mode.TEST:
        dates.append(ended + test_days * DAY)
    return min((at for at in dates if at is not None), default=None)


@dataclass(frozen=True, slots=True)
class Horizons:
    """Documents completed, or closed without a seal, by these instants are deleted now. None: none are."""

    completed: Instant | None
    closed: Instant | None


def find_horizons(organisation: Organisation, mode: Mode, test_days: int, now: Instant) -> Horizons:
    """Return the ends by which documents are deleted at `now`.

    It is the inverse of `find_removal_time`, for queries that find documents by when they ended.
    """
    days, kept = organisation.delete_closed_after_days, organisation.retain_completed_days or 0
    completed = [] if days is None else [max(days, kept)]
    closed = [] if days is None else [days]
    if mode is Mode.TEST:
        completed.append(test_days)
        closed.append(test_days)
    return Horizons(
        now - min(completed) * DAY if completed else None, now - min(closed) * DAY if closed else None
    )
