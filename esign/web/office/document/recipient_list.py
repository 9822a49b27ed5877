"""The recipients of a document, grouped by step: how far each has come, and what can be done about each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

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
from esign.web.office.document.document_row import BETWEEN
from esign.web.office.editor import editor
from esign.web.office.frame.formats import Times
from esign.web.office.frame.name_lists import isolate_name
from esign.web.office.frame.words import OfficeWords

LAST = {Role.SIGNER: ("signed", "to_sign"), Role.APPROVER: ("approved", "to_approve")}
PROOFS = (Method.EMAIL_CODE.value, Method.ACCESS_CODE.value)


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """A step of a recipient's progress. `state` is on, cur or no, or empty for a step that is still to come.

    `name` is that of its words.
    """

    state: str
    name: str


@dataclass(frozen=True, slots=True)
class RecipientCard:
    """One recipient. `acts` holds the actions that work for them now."""

    recipient: Recipient
    colour: int | None
    steps: tuple[ProgressStep, ...]
    line: Markup
    failed: Markup | None
    acts: frozenset[str]


@dataclass(frozen=True, slots=True)
class RecipientGroup:
    """The recipients who act at the same time. `state` is done, now, later or copy."""

    title: Markup
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
            write_title(n, len(steps), len(step), times.words),
            find_group_state(document, step),
            n,
            tuple(map(made, step)),
        )
        for n, step in enumerate(steps, 1)
    ]
    if copies := [r for r in document.recipients if r.role not in INVITED]:
        found.append(RecipientGroup(times.words("document.group.copy"), "copy", 0, tuple(map(made, copies))))
    return found


def write_title(number: int, of: int, size: int, t: OfficeWords) -> Markup:
    if of == 1:
        return t("document.group.together") if size > 1 else Markup()
    return t("document.group.step_together" if size > 1 else "document.group.step", n=number)


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

    def describe_failure(self, reason: str | None) -> Markup:
        """Return why a mail was not delivered, mostly in the words of the mail server."""
        t = self.times.words
        if not reason:
            return t("document.failure.unknown")
        return t("document.failure.said", reason=isolate_name(t.recall(reason)))

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

    def line(self, recipient: Recipient) -> Markup:
        """Return the line below the name, such as `Signer · Opened on 20 Nov 2026 · Reminded twice`."""
        return BETWEEN.join(self.describe(recipient))

    def describe(self, recipient: Recipient) -> Iterator[Markup | str]:
        t = self.times.words
        yield t(f"document.role.{recipient.role}")
        if recipient.acting and recipient.fields:
            yield t.count("fields", len(recipient.fields))
        if recipient.authentication in PROOFS:
            yield t(f"document.proof.{recipient.authentication}")
        if recipient.locale:
            yield LANGUAGES[recipient.locale].name
        yield from self.describe_newest(recipient)
        if recipient.reminders_sent and recipient.completed_at is None:
            yield t.count("document.recipient.reminded", recipient.reminders_sent)
        if recipient.id in self.blocked:
            yield t("document.recipient.locked")

    def describe_newest(self, recipient: Recipient) -> Iterator[Markup]:
        """Yield the last thing that happened to the recipient, with its time, if anything has."""
        t, near = self.times.words, self.times.near
        if recipient.completed_at is not None:
            yield t("document.recipient.finished", when=near(recipient.completed_at))
        elif recipient.declined_at is not None:
            yield t("document.recipient.declined", when=near(recipient.declined_at))
        elif recipient.viewed_at is not None:
            yield t("document.recipient.opened", when=near(recipient.viewed_at))
        elif recipient.sent_at is not None:
            key = "copied" if recipient.role is Role.CC else "invited"
            yield t(f"document.recipient.{key}", when=near(recipient.sent_at))


def describe_mailing(recipient: Recipient, mails: bool) -> ProgressStep:
    """Return how far the newest mail to the recipient has come. Sent means that a mail server accepted it."""
    if recipient.sent_at is None:
        return ProgressStep("", "sent")
    late = recipient.viewed_at is None and recipient.completed_at is None
    return {
        MailDelivery.ACCEPTED: ProgressStep("on", "sent"),
        MailDelivery.FAILED: ProgressStep("no", "refused"),
        MailDelivery.KEPT: ProgressStep("no" if late else "on", "kept"),
        MailDelivery.QUEUED: ProgressStep("cur", "sending")
        if mails
        else ProgressStep("no" if late else "on", "kept"),
        MailDelivery.NONE: ProgressStep("on", "invited"),
    }[recipient.delivery]


def list_steps(document: Document, recipient: Recipient, mails: bool) -> tuple[ProgressStep, ...]:
    if document.status is Status.DRAFT:
        return ()
    if recipient.role is Role.CC:
        done = recipient.sent_at is not None
        ended = document.status in (Status.DECLINED, Status.EXPIRED, Status.CANCELLED)
        if not done:
            return (ProgressStep("", "copy_none" if ended else "copy_later"),)
        step = describe_mailing(recipient, mails)
        return (ProgressStep(step.state, f"copy_{step.name}"),)
    sent = describe_mailing(recipient, mails)
    viewed = ProgressStep("on" if recipient.viewed_at else "", "viewed")
    return (sent, viewed, *find_last_step(document, recipient))


def find_last_step(document: Document, recipient: Recipient) -> tuple[ProgressStep, ...]:
    if recipient.role not in LAST:
        return ()
    if recipient.status is RecipientStatus.DECLINED:
        return (ProgressStep("no", "declined"),)
    done, awaited = LAST[recipient.role]
    if recipient.status is RecipientStatus.COMPLETED:
        return (ProgressStep("on", done),)
    return (ProgressStep("cur" if document.status is Status.SENT and recipient.is_invited else "", awaited),)
