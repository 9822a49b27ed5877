"""What a document is waiting for, in one sentence, and the one action that moves it on."""

from collections.abc import Callable, Mapping, Sequence
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

MOST_NAMES = 3
LONGEST_NAME = 24
SOON = 3 * DAY


@dataclass(frozen=True, slots=True)
class StepButton:
    """A link, or a form with the fields of `form` if that is given.

    `work`: only members who may work with documents get it. `ask`: it leads to a question page. `aside`: what it
    leads to opens in a tab of its own, and the page of the document stays.
    """

    words: str
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

    `tone` is ok, fail or empty; the first of `buttons` is the action that moves the document on.
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
    def home(self) -> str:
        """Return the path of the document's page."""
        return get_document_path(self.document.id)


def find_next_step(scene: DocumentSituation) -> NextStep:
    """Return what the document waits for in its present status."""
    return STEPS[scene.document.status](scene)


def describe_draft(scene: DocumentSituation) -> NextStep:
    if not scene.missing:
        words = Markup("Nothing is missing. Look it through once more, and send it.")
        review = StepButton("Review and send", f"{scene.home}/review", "send")
        return NextStep(Markup("Ready to be sent"), words, "send", "ok", (review,))
    button = StepButton("Finish the draft", f"{scene.home}/edit", "edit")
    items = Markup().join(Markup("<li>{}</li>").format(one) for one in scene.missing)
    return NextStep(
        Markup("Not ready to be sent yet"), Markup("<ul>{}</ul>").format(items), "edit", "", (button,)
    )


def describe_sent(scene: DocumentSituation) -> NextStep:
    waiting = [r for r in scene.document.recipients if r.is_invited]
    if refused := attention.find_refused_recipients(scene.document):
        return describe_undelivered(scene, refused[0])
    if scene.own is not None:
        return describe_own_turn(scene, scene.own, waiting)
    return describe_waiting(scene, waiting)


def describe_own_turn(scene: DocumentSituation, own: Recipient, waiting: Sequence[Recipient]) -> NextStep:
    """Offer the reader their own signing page; what the others are waited for stands behind it."""
    others = [one for one in waiting if one.id != own.id]
    rest = describe_waiting(scene, others) if others else None
    title = "Your turn to approve" if own.role is Role.APPROVER else "Your turn to sign"
    verb = "Approve now" if own.role is Role.APPROVER else "Sign now"
    words = (
        Markup("{}. {}").format(rest.title, rest.words)
        if rest
        else Markup.escape("You are the recipient. Open your signing page from here; no email is needed.")
    )
    button = StepButton(verb, f"{scene.home}/sign", "signature", {}, aside=True)
    return NextStep(Markup.escape(title), words, "signature", "", (button, *(rest.buttons if rest else ())))


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
    title = Markup("Waiting for {}").format(join_recipients(waiting))
    return NextStep(title, Markup(" ").join(describe_progress(scene, waiting)), "clock", "", tuple(buttons))


def describe_undelivered(scene: DocumentSituation, recipient: AnyRecipient) -> NextStep:
    words = Markup("Nothing reached <bdi>{}</bdi>. Correct the address, and a new invitation leaves at once.")
    to = f"{scene.home}/recipients/{recipient.id}"
    title = Markup("The address of {} was refused").format(format_name(recipient))
    button = StepButton("Correct the address", to, "edit", ask=True)
    return NextStep(title, words.format(recipient.email), "warn", "fail", (button,))


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
    words = [
        "Give them the signing link yourself." if len(unmailed) == 1 else "Give each their signing link."
    ]
    if scene.outage is None:  # during an outage the head of the page says why
        words.insert(0, "The mail was kept here when no mail server was set up.")
    buttons = [
        StepButton(
            f"Link for {one.name}" if len(waiting) > 1 else "Signing link",
            make_link_button(scene, one).to,
            "link",
            ask=True,
        )
        for one in unmailed[:MOST_NAMES]
    ]
    too_soon = all(
        possible_actions.find_recipient_refusal("remind", scene.document, r, scene.now) for r in waiting
    )
    if not too_soon:
        buttons.append(make_remind_button(scene, waiting))
    title = Markup("Not mailed to {}").format(join_recipients(unmailed))
    said = Markup(" ").join(map(Markup.escape, words))
    return NextStep(title, said, "warn", "fail", tuple(buttons))


def make_link_button(scene: DocumentSituation, recipient: Recipient) -> StepButton:
    return StepButton("Signing link", f"{scene.home}/recipients/{recipient.id}/link", "link", ask=True)


def make_remind_button(scene: DocumentSituation, waiting: Sequence[Recipient]) -> StepButton:
    one = waiting[0] if len(waiting) == 1 else None
    short = one is not None and len(one.name) <= LONGEST_NAME
    words = f"Remind {one.name}" if one and short else "Remind" if one else f"Remind all {len(waiting)}"
    return StepButton(words, f"{scene.home}/remind", "bell", {}, "Sending…")


def describe_progress(scene: DocumentSituation, waiting: Sequence[Recipient]) -> list[Markup]:
    """Return sentences on how far the awaited recipient has come, and on the next reminder and the expiry."""
    document, times, said = scene.document, scene.times, []
    if len(waiting) == 1:
        one = waiting[0]
        if one.viewed_at is not None:
            said.append(f"Opened {times.near(one.viewed_at)}.")
        elif one.sent_at is not None:
            said.append(f"Invited {times.near(one.sent_at)}, not opened yet.")
    due = min((r.next_reminder_at for r in waiting if r.next_reminder_at is not None), default=None)
    reminded = max((r.last_reminded_at for r in waiting if r.last_reminded_at is not None), default=None)
    if reminded is not None:
        said.append(f"Last reminder {times.near(reminded)}.")
    said.append(f"The next reminder is due {times.near(due)}." if due else "No reminder is planned.")
    if document.expires_at is not None and document.expires_at - scene.now < SOON:
        said.append(f"The time to sign ends {times.near(document.expires_at)}.")
    return [Markup.escape(sentence) for sentence in said]


def describe_sealing(scene: DocumentSituation) -> NextStep:
    document = scene.document
    if document.seal_error is None:
        words = Markup("The seal takes a few seconds. Then everybody gets a copy.")
        look = StepButton("Look again", scene.home, "refresh", work=False)
        return NextStep(
            Markup("Everybody has finished; the document is being sealed"), words, "seal", "", (look,)
        )
    tries = "1 attempt" if document.seal_attempts == 1 else f"{document.seal_attempts} attempts"
    due = scene.seal_due
    when = scene.times.near(due) if due and due > scene.now else "due now"
    words = Markup(
        "{} ({}.) The signatures are safe. The next attempt is {}; as soon as it is sealed, everybody gets a copy."
    )
    return NextStep(
        Markup("Everybody has finished, but the seal is not on yet"),
        words.format(
            scene.times.words.recognise(seal_levels.explain_error(document.seal_error)), tries, when
        ),
        "warn",
        "fail",
        (StepButton("Try again", f"{scene.home}/retry-seal", "refresh", {}, "Trying…"),),
    )


def describe_completed(scene: DocumentSituation) -> NextStep:
    at = scene.document.completed_at
    assert at is not None
    words = Markup.escape(
        f"Sealed {scene.times.near(at)}. Any change to the file can be proved from then on."
    )
    button = StepButton("Sealed PDF", f"{scene.home}/files/sealed", "download", work=False)
    return NextStep(Markup("Finished by everybody and sealed"), words, "verify", "ok", (button,))


def describe_declined(scene: DocumentSituation) -> NextStep:
    by = [r for r in scene.document.recipients if r.status is RecipientStatus.DECLINED]
    title = Markup("{} declined").format(format_name(by[0])) if by else Markup("A recipient declined")
    return NextStep(
        title,
        quote_close_reason(scene, "Nobody can sign it any more."),
        "stop",
        "fail",
        (make_copy_button(scene),),
    )


def describe_expired(scene: DocumentSituation) -> NextStep:
    words = quote_close_reason(scene, "Not everybody finished in time. To go on, send a copy.")
    if scene.asked_anew:
        words = Markup("{} asked for a new link. {}").format(join_names(scene.asked_anew), words)
    return NextStep(Markup("The time to sign is over"), words, "clock", "fail", (make_copy_button(scene),))


def describe_cancelled(scene: DocumentSituation) -> NextStep:
    words = quote_close_reason(scene, "Nobody can sign it any more.")
    return NextStep(Markup("This document was cancelled"), words, "stop", "", (make_copy_button(scene),))


def quote_close_reason(scene: DocumentSituation, words: str) -> Markup:
    reason = scene.document.close_reason
    given = Markup("<q><bdi>{}</bdi></q> ").format(reason) if reason else Markup()
    return given + words


def make_copy_button(scene: DocumentSituation) -> StepButton:
    return StepButton("Start again with a copy", f"{scene.home}/duplicate", "copy", {}, "Copying…")


def format_name(recipient: AnyRecipient) -> Markup:
    return Markup("<bdi>{}</bdi>").format(recipient.name)


def join_recipients(people: Sequence[Recipient]) -> Markup:
    """Return the names as `Ada, Bo and 3 others`."""
    return join_names([recipient.name for recipient in people])


def join_names(people: Sequence[str]) -> Markup:
    shown = people if len(people) <= MOST_NAMES else people[: MOST_NAMES - 1]
    parts = [Markup("<bdi>{}</bdi>").format(one) for one in shown]
    if others := len(people) - len(shown):
        parts.append(Markup.escape(f"{others} others"))
    return Markup(" and ").join(filter(None, [Markup(", ").join(parts[:-1]), *parts[-1:]]))


def list_missing(document: Document, details: Sequence[str]) -> list[str]:
    """Return what a draft lacks, each item once. Without recipients that is the only item."""
    if not document.recipients:
        return ["Nobody is to sign it yet: add a recipient."]
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
