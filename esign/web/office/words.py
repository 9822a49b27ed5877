"""Sentences that tell what was just done, and times as the pages write them."""

from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from esign.core.instant import DAY, HOUR, MINUTE, Instant, rfc3339, to_datetime

DONE: Mapping[str, str] = {
    "signed-out": "You are signed out.",
    "password": "Your new password is set. Sign in with it.",
    "password-changed": "Your password is changed. Other browsers were signed out.",
    "name": "Your name is saved.",
    "factor-off": "The second factor is off. Other browsers were signed out.",
    "session-ended": "That browser is signed out.",
    "sessions-ended": "All other browsers are signed out.",
    "joined": "Welcome. You have joined.",
    "invited": "The invitation is on its way.",
    "invited-again": "A new invitation is on its way. The link before it no longer works.",
    "role": "The role is changed.",
    "removed": "The member is removed and signed out.",
    "mode-live": "You are in live mode.",
    "mode-test": "You are in test mode.",
    "organisation": "You are now in this organisation.",
    "ready": "Everything is set up.",
}


@dataclass(frozen=True, slots=True)
class Times:
    """Writes instants on the clocks of a zone, as somebody would say them at `now`."""

    zone: str
    now: Instant

    def iso(self, at: Instant) -> str:
        return rfc3339(at)

    def day(self, at: Instant) -> str:
        """`22 Nov 2026`."""
        there = to_datetime(at).astimezone(ZoneInfo(self.zone))
        return f"{there.day} {there:%b %Y}"

    def moment(self, at: Instant) -> str:
        """`22 Nov 2026, 05:35`."""
        there = to_datetime(at).astimezone(ZoneInfo(self.zone))
        return f"{there.day} {there:%b %Y}, {there:%H:%M}"

    def ago(self, at: Instant) -> str:
        """`now`, `12 minutes ago`, `3 hours ago`, else the day."""
        age = self.now - at
        if age < 2 * MINUTE:
            return "now"
        if age < HOUR:
            return f"{age // MINUTE} minutes ago"
        if age < DAY:
            return "an hour ago" if age < 2 * HOUR else f"{age // HOUR} hours ago"
        return self.day(at)
