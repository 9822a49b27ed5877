"""The recipients of a document, grouped by step: how far each has come, and what can be done about each."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from esign.core.document.challenge import Method
from esign.core.document.document import (
    INVITED,
    Document,
    MailDelivery,
    Recipient,
    RecipientStatus,
    Role,
    Status,
)
from esign.core.instant import Instant
from esign.core.language import LANGUAGES
from esign.web.office.document import possible_actions
from esign.web.office.editor import editor
from esign.web.office.frame.formats import Times, format_field_count

ROLES = {Role.SIGNER: "Signer", Role.APPROVER: "Approver", Role.VIEWER: "Reader", Role.CC: "Copy"}
LAST = {Role.SIGNER: ("Signed", "To sign"), Role.APPROVER: ("Approved", "To approve")}
PROOFS = {Method.EMAIL_CODE.value: "code by mail", Method.ACCESS_CODE.value: "access code"}


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """A step of a recipient's progress. `state` is on, cur or no, or empty for a step that is still to come."""

    state: str
    word: str


@dataclass(frozen=True, slots=True)
class RecipientCard:
    """One recipient. `acts` holds the actions that work for them now."""

    recipient: Recipient
    colour: int | None
    steps: tuple[ProgressStep, ...]
    line: str
    failed: str | None
    acts: frozenset[str]


@dataclass(frozen=True, slots=True)
class RecipientGroup:
    """The recipients who act at the same time. `state` is done, now, later or copy."""

    title: str
    state: str
    number: int
    people: tuple[RecipientCard, ...]


def group_recipients(
    document: Document,
    times: Times,
    now: Instant,
    blocked: frozenset[str] = frozenset(),
    *,
    mails: bool = True,
) -> list[RecipientGroup]:
    """Return the recipients grouped by step. Those who only get a copy come last.

    `blocked` holds the ids of recipients whose code was tried too often; `mails` says whether mails leave now.
    """
    made = CardBuilder(
        document, times, now, editor.assign_colours(document.recipients), blocked, mails
    ).person
    acting = sorted((r for r in document.recipients if r.role in INVITED), key=lambda r: r.order)
    steps = [list(found) for _, found in groupby(acting, key=lambda r: r.order)]
    found = [
        RecipientGroup(
            write_title(n, len(steps), len(step)),
            find_group_state(document, step),
            n,
            tuple(map(made, step)),
        )
        for n, step in enumerate(steps, 1)
    ]
    if copies := [r for r in document.recipients if r.role not in INVITED]:
        found.append(RecipientGroup("Receives the sealed copy", "copy", 0, tuple(map(made, copies))))
    return found


def write_title(number: int, of: int, size: int) -> str:
    if of == 1:
        return "Together" if size > 1 else ""
    return f"Step {number}{', together' if size > 1 else ''}"


def find_group_state(document: Document, people: list[Recipient]) -> str:
    done = {RecipientStatus.COMPLETED}
    if all(r.status in done for r in people if r.acting) and any(r.sent_at for r in people):
        return "done"
    return "now" if document.status is Status.SENT and any(r.is_active for r in people) else "later"


@dataclass(frozen=True, slots=True)
class CardBuilder:
    """Builds what the page shows of each recipient."""

    document: Document
    times: Times
    now: Instant
    colours: Mapping[str, int]
    blocked: frozenset[str]
    mails: bool

    def describe_failure(self, reason: str | None) -> str:
        """Return why a mail was not delivered, mostly in the words of the mail server."""
        return self.times.words.recognise(reason) if reason else "No reason was given."

    def person(self, recipient: Recipient) -> RecipientCard:
        failed = recipient.delivery is MailDelivery.FAILED
        return RecipientCard(
            recipient,
            self.colours.get(recipient.id),
            list_steps(self.document, recipient, self.mails),
            self.line(recipient),
            self.describe_failure(recipient.delivery_error) if failed else None,
            frozenset(act for act in possible_actions.ACTS_ON_ONE if self.is_possible(act, recipient))
            | ({"unblock"} if recipient.id in self.blocked else set()),
        )

    def is_possible(self, act: str, recipient: Recipient) -> bool:
        return possible_actions.find_recipient_refusal(act, self.document, recipient, self.now) is None

    def line(self, recipient: Recipient) -> str:
        """Return the line below the name, such as `Signer · opened on 20 Nov 2026 · reminded twice`."""
        words = [ROLES[recipient.role]]
        if recipient.acting:
            words.append(format_field_count(len(recipient.fields)))
        if proof := PROOFS.get(recipient.authentication):
            words.append(proof)
        if recipient.locale:
            words.append(LANGUAGES[recipient.locale].name)
        if when := self.describe_newest(recipient):
            words.append(when)
        if recipient.reminders_sent and recipient.completed_at is None:
            times = {1: "once", 2: "twice"}.get(recipient.reminders_sent, f"{recipient.reminders_sent} times")
            words.append(f"reminded {times}")
        if recipient.id in self.blocked:
            words.append("locked: the code was tried too often")
        return " · ".join(words)

    def describe_newest(self, recipient: Recipient) -> str | None:
        """Return the last thing that happened to the recipient, with its time, or None."""
        at = recipient.completed_at or recipient.declined_at
        if at is not None:
            return self.times.near(at)
        if recipient.viewed_at is not None:
            return f"opened {self.times.near(recipient.viewed_at)}"
        if recipient.role is Role.CC and recipient.sent_at is not None:
            return self.times.near(recipient.sent_at)
        return f"invited {self.times.near(recipient.sent_at)}" if recipient.sent_at is not None else None


def describe_mailing(recipient: Recipient, mails: bool) -> ProgressStep:
    """Return how far the newest mail to the recipient has come. Sent means that a mail server accepted it."""
    if recipient.sent_at is None:
        return ProgressStep("", "Sent")
    late = recipient.viewed_at is None and recipient.completed_at is None
    return {
        MailDelivery.ACCEPTED: ProgressStep("on", "Sent"),
        MailDelivery.FAILED: ProgressStep("no", "Refused"),
        MailDelivery.KEPT: ProgressStep("no" if late else "on", "Not mailed"),
        MailDelivery.QUEUED: ProgressStep("cur", "Being mailed")
        if mails
        else ProgressStep("no" if late else "on", "Not mailed"),
        MailDelivery.NONE: ProgressStep("on", "Invited"),
    }[recipient.delivery]


def list_steps(document: Document, recipient: Recipient, mails: bool) -> tuple[ProgressStep, ...]:
    if document.status is Status.DRAFT:
        return ()
    if recipient.role is Role.CC:
        done = recipient.sent_at is not None
        ended = document.status in (Status.DECLINED, Status.EXPIRED, Status.CANCELLED)
        if not done:
            return (ProgressStep("", "No copy" if ended else "After sealing"),)
        step = describe_mailing(recipient, mails)
        return (
            ProgressStep(
                step.state, {"Sent": "Copy sent", "Not mailed": "Copy not mailed"}.get(step.word, step.word)
            ),
        )
    sent = describe_mailing(recipient, mails)
    viewed = ProgressStep("on" if recipient.viewed_at else "", "Viewed")
    return (sent, viewed, *find_last_step(document, recipient))


def find_last_step(document: Document, recipient: Recipient) -> tuple[ProgressStep, ...]:
    if recipient.role not in LAST:
        return ()
    if recipient.status is RecipientStatus.DECLINED:
        return (ProgressStep("no", "Declined"),)
    done, awaited = LAST[recipient.role]
    if recipient.status is RecipientStatus.COMPLETED:
        return (ProgressStep("on", done),)
    return (ProgressStep("cur" if document.status is Status.SENT and recipient.is_invited else "", awaited),)
