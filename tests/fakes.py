"""Whole ports to put into a `Runtime` field in place of the real ones."""

from datetime import timedelta
from email.message import EmailMessage

from esign.core.instant import Instant
from esign.mail.failure import MailFailure
from esign.mail.smtp import AcceptedMail
from tests.factories import NOW


class FakeClock:
    """A clock that moves only when it is told to; its durations follow its wall time."""

    def __init__(self, at: Instant = NOW) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

    def monotonic(self) -> float:
        return self.at / 1000

    def advance(self, **span: float) -> Instant:
        """Later by `days=…, hours=…, minutes=…, seconds=…, milliseconds=…`; the new time."""
        self.at += timedelta(**span) // timedelta(milliseconds=1)
        return self.at


class FakeMailbox:
    """A mail server that takes everything, or answers each mail with `failure` while that is set."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.refused: list[EmailMessage] = []
        self.failure: MailFailure | None = None

    async def send(self, message: EmailMessage, lane: str = "") -> AcceptedMail:
        if self.failure is not None:
            self.refused.append(message)
            raise self.failure
        self.messages.append(message)
        return AcceptedMail(f"250 taken as number {len(self.messages)}")

    def to(self, address: str) -> list[EmailMessage]:
        """What this address received, oldest first."""
        return [m for m in self.messages if m["To"].addresses[0].addr_spec == address]

    def subjects(self) -> list[str]:
        return [str(m["Subject"]) for m in self.messages]
