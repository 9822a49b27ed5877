"""What a document is waiting for, in one sentence, and the one action that moves it on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from esign.actions.mail.mail_breaker import Outage
from esign.actions.sealing import seal_levels
from esign.core.document import attention
from esign.core.document.document import (
    Document,
    MailDelivery,
    Recipient,
    RecipientStatus,
    Role,
    Status,
)
from esign.core.document.summary import AnyRecipient
from esign.core.instant import DAY, Instant
from esign.web.office.document import possible_actions
from esign.web.office.document.forms import get_document_path
from esign.web.office.frame.formats import Times
from esign.web.office.frame.name_lists import NAMED, isolate_name, list_names
from esign.web.office.frame.words import OfficeWords

LONGEST_NAME = 24
SOON = 3 * DAY


@dataclass(frozen=True, slots=True)
class StepButton:
    """A link, or a form with the fields of `form` if that is given.

    `work`: only members who may work with documents get it. `ask`: it leads to a question page. `aside`: what it
    leads to opens in a tab of its own, and the page of the document stays.
    """

    words: Markup
    to: str
    icon: str
    form: Mapping[str, str] | None = None
    busy: str = ""
    work: bool = True
    ask: bool = False
    aside: bool = False


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the document is waiting for.

    `tone` is ok, warn, fail or empty; the first of `buttons` is the action that moves the document on.
    """

    title: Markup
    words: Markup
    icon: str
    tone: str = ""
    buttons: tuple[StepButton, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSituation:
    """What the sentence is made of.

    `seal_due` is when the seal is tried next, `missing` what a draft lacks, `asked_anew` the recipients who
    asked for a new link. `outage` says why no mail leaves, or is None. `own` is the reader as a recipient whose
    turn it is, or None.
    """

    document: Document
    times: Times
    now: Instant
    seal_due: Instant | None
    missing: Sequence[str]
    asked_anew: Sequence[str] = ()
    outage: Outage | None = None
    own: Recipient | None = None

    @property
    def t(self) -> OfficeWords:
        """Return the sentences of the reader's language."""
        return self.times.words

    @property
    def home(self) -> str:
        """Return the path of the document's page."""
        return get_document_path(self.document.id)


def find_next_step(scene: DocumentSituation) -> NextStep:
    """Return what the document waits for in its present status."""
    return STEPS[scene.document.status](scene)


def describe_draft(scene: DocumentSituation) -> NextStep:
    t = scene.t
    if not scene.missing:
        review = StepButton(t("document.act.review"), f"{scene.home}/review", "send")
        return NextStep(t("document.next.ready"), t("document.next.ready_text"), "send", "ok", (review,))
    if not scene.document.recipients:  # nothing else can be done before
        add = StepButton(t("draft.edit.add"), f"{scene.home}/edit#people", "plus")
        return NextStep(t("document.next.not_ready"), t("document.next.nobody"), "users", "", (add,))
    button = StepButton(t("document.act.finish"), f"{scene.home}/edit", "edit")
    items = Markup().join(Markup("<li>{}</li>").format(one) for one in scene.missing)
    return NextStep(t("document.next.not_ready"), Markup("<ul>{}</ul>").format(items), "edit", "", (button,))


def describe_sent(scene: DocumentSituation) -> NextStep:
    waiting = [r for r in scene.document.recipients if r.is_invited]
    if refused := attention.find_refused_recipients(scene.document):
        return describe_undelivered(scene, refused[0])
    if scene.own is not None:
        return describe_own_turn(scene, scene.own, waiting)
    return describe_waiting(scene, waiting)


def describe_own_turn(scene: DocumentSituation, own: Recipient, waiting: Sequence[Recipient]) -> NextStep:
    """Offer the reader their own signing page; what the others are waited for stands behind it."""
    t = scene.t
    others = [one for one in waiting if one.id != own.id]
    rest = describe_waiting(scene, others) if others else None
    act = "approve" if own.role is Role.APPROVER else "sign"
    words = (
        Markup("<p>{}</p><p>{}</p>").format(rest.title, rest.words) if rest else t("document.next.own_text")
    )
    button = StepButton(t(f"document.act.{act}"), f"{scene.home}/sign", "signature", {}, aside=True)
    buttons = (button, *(rest.buttons if rest else ()))
    return NextStep(t(f"document.next.own_{act}"), words, "signature", "", buttons)


def describe_waiting(scene: DocumentSituation, waiting: Sequence[Recipient]) -> NextStep:
    """Say whom the document waits for, and offer a reminder, or signing links where no mail was sent."""
    if unmailed := [r for r in waiting if is_without_mail(scene, r)]:
        return describe_unmailed(scene, waiting, unmailed)
    buttons = [] if len(waiting) != 1 else [make_link_button(scene, waiting[0])]
    too_soon = all(
        possible_actions.find_recipient_refusal("remind", scene.document, r, scene.now) for r in waiting
    )
    if not too_soon:
        buttons.insert(0 if scene.outage is None else len(buttons), make_remind_button(scene, waiting))
    title = scene.t("document.next.waiting", names=join_recipients(waiting, scene.t))
    return NextStep(title, Markup(" ").join(describe_progress(scene, waiting)), "clock", "", tuple(buttons))


def describe_undelivered(scene: DocumentSituation, recipient: AnyRecipient) -> NextStep:
    t = scene.t
    to = f"{scene.home}/recipients/{recipient.id}"
    button = StepButton(t("document.act.correct"), to, "edit", ask=True)
    return NextStep(
        t("document.next.refused", name=isolate_name(recipient.name)),
        t("document.next.refused_text", email=isolate_name(recipient.email)),
        "warn",
        "warn",
        (button,),
    )


def is_without_mail(scene: DocumentSituation, recipient: Recipient) -> bool:
    """Return whether no mail has brought the recipient a link and none is about to."""
    if recipient.viewed_at is not None:
        return False
    waits = scene.outage is not None and recipient.delivery is MailDelivery.QUEUED
    return waits or recipient.delivery is MailDelivery.KEPT


def describe_unmailed(
    scene: DocumentSituation, waiting: Sequence[Recipient], unmailed: Sequence[Recipient]
) -> NextStep:
    """Offer the signing links first, because they work without any mail."""
    t = scene.t
    words = [t.count("document.next.unmailed_text", len(unmailed))]
    if scene.outage is None:  # during an outage the head of the page says why
        words.insert(0, t("document.next.kept"))
    buttons = [make_link_button(scene, one, named=len(waiting) > 1) for one in unmailed[:NAMED]]
    too_soon = all(
        possible_actions.find_recipient_refusal("remind", scene.document, r, scene.now) for r in waiting
    )
    if not too_soon:
        buttons.append(make_remind_button(scene, waiting))
    title = t("document.next.unmailed", names=join_recipients(unmailed, t))
    return NextStep(title, Markup(" ").join(words), "warn", "fail", tuple(buttons))


def make_link_button(scene: DocumentSituation, recipient: Recipient, *, named: bool = False) -> StepButton:
    """Return the button for a signing link. With `named` it says whose."""
    name = isolate_name(recipient.name)
    words = scene.t("document.act.link_of", name=name) if named else scene.t("document.act.link")
    return StepButton(words, f"{scene.home}/recipients/{recipient.id}/link", "link", ask=True)


def make_remind_button(scene: DocumentSituation, waiting: Sequence[Recipient]) -> StepButton:
    t = scene.t
    if len(waiting) != 1:
        words = t.count("document.act.remind_all", len(waiting))
    elif len(waiting[0].name) <= LONGEST_NAME:
        words = t("document.act.remind_one", name=isolate_name(waiting[0].name))
    else:
        words = t("document.act.remind")
    return StepButton(words, f"{scene.home}/remind", "bell", {}, t("sending"))


def describe_progress(scene: DocumentSituation, waiting: Sequence[Recipient]) -> Iterator[Markup]:
    """Yield sentences on how far the awaited recipient has come, and on the next reminder and the deadline."""
    document, times, t = scene.document, scene.times, scene.t
    if len(waiting) == 1:
        one = waiting[0]
        if one.viewed_at is not None:
            yield t("document.next.opened", when=times.near(one.viewed_at))
        elif one.sent_at is not None:
            yield t("document.next.invited", when=times.near(one.sent_at))
    due = min((r.next_reminder_at for r in waiting if r.next_reminder_at is not None), default=None)
    reminded = max((r.last_reminded_at for r in waiting if r.last_reminded_at is not None), default=None)
    if reminded is not None:
        yield t("document.next.reminded", when=times.near(reminded))
    yield t("document.next.reminder", when=times.near(due)) if due else t("document.next.no_reminder")
    if document.expires_at is not None and document.expires_at - scene.now < SOON:
        yield t("document.next.deadline", when=times.near(document.expires_at))


def describe_sealing(scene: DocumentSituation) -> NextStep:
    document, t = scene.document, scene.t
    if document.seal_error is None:
        look = StepButton(t("document.act.refresh"), scene.home, "refresh", work=False)
        return NextStep(t("document.next.sealing"), t("document.next.sealing_text"), "seal", "", (look,))
    due = scene.seal_due
    words = [
        t.recognise(seal_levels.explain_error(document.seal_error)),
        t.count("document.next.attempts", document.seal_attempts),
        t("document.next.not_again")
        if due is None
        else t("document.next.attempt", when=scene.times.near(due))
        if due > scene.now
        else t("document.next.attempt_now"),
        t("document.next.unsealed_text"),
    ]
    again = StepButton(
        t("document.act.retry"), f"{scene.home}/retry-seal", "refresh", {}, t("document.act.retrying")
    )
    return NextStep(t("document.next.unsealed"), Markup(" ").join(words), "warn", "fail", (again,))


def describe_completed(scene: DocumentSituation) -> NextStep:
    at, t = scene.document.completed_at, scene.t
    assert at is not None
    words = t("document.next.completed_text", when=scene.times.near(at))
    button = StepButton(t("document.act.sealed"), f"{scene.home}/files/sealed", "download", work=False)
    return NextStep(t("document.next.completed"), words, "verify", "ok", (button,))


def describe_declined(scene: DocumentSituation) -> NextStep:
    t = scene.t
    by = [r for r in scene.document.recipients if r.status is RecipientStatus.DECLINED]
    title = (
        t("document.next.declined_by", name=isolate_name(by[0].name)) if by else t("document.next.declined")
    )
    words = [*quote_close_reason(scene), t("document.next.closed")]
    return NextStep(title, Markup(" ").join(words), "stop", "fail", (make_copy_button(scene),))


def describe_expired(scene: DocumentSituation) -> NextStep:
    asked, t = scene.asked_anew, scene.t
    words = [*quote_close_reason(scene), t("document.next.expired_text")]
    if asked:
        words.insert(
            0,
            t.count(
                "document.next.asked_anew", len(asked), names=list_names(list(map(isolate_name, asked)), t)
            ),
        )
    return NextStep(
        t("document.next.expired"), Markup(" ").join(words), "clock", "warn", (make_copy_button(scene),)
    )


def describe_cancelled(scene: DocumentSituation) -> NextStep:
    words = [*quote_close_reason(scene), scene.t("document.next.closed")]
    return NextStep(
        scene.t("document.next.cancelled"), Markup(" ").join(words), "stop", "", (make_copy_button(scene),)
    )


def quote_close_reason(scene: DocumentSituation) -> Iterator[Markup]:
    if reason := scene.document.close_reason:
        yield Markup("<q><bdi>{}</bdi></q>").format(reason)


def make_copy_button(scene: DocumentSituation) -> StepButton:
    t = scene.t
    return StepButton(t("document.act.copy"), f"{scene.home}/duplicate", "copy", {}, t("copying"))


def join_recipients(people: Sequence[Recipient], t: OfficeWords) -> Markup:
    """Return the names as `Ada, Bo and 3 others`."""
    return list_names([isolate_name(recipient.name) for recipient in people], t)


def list_missing(document: Document, details: Sequence[str], t: OfficeWords) -> list[str]:
    """Return what a draft lacks, each item once. Without recipients that is the only item."""
    if not document.recipients:
        return [t("document.next.nobody")]
    return list(dict.fromkeys(details))


STEPS: Mapping[Status, Callable[[DocumentSituation], NextStep]] = {
    Status.DRAFT: describe_draft,
    Status.SENT: describe_sent,
    Status.SEALING: describe_sealing,
    Status.COMPLETED: describe_completed,
    Status.DECLINED: describe_declined,
    Status.EXPIRED: describe_expired,
    Status.CANCELLED: describe_cancelled,
}
