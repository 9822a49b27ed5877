"""The values of the pages that show a state: waiting, sealing, completed, declined, expired, cancelled, unknown."""

from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlsplit

from markupsafe import Markup

from esign.actions.signing.visits import (
    CancelledVisit,
    ClosedVisit,
    CompletedVisit,
    DeclinedVisit,
    ExpiredVisit,
    RenewalVisit,
    SealingVisit,
    WaitingVisit,
)
from esign.core.document.completion import find_completion
from esign.core.document.document import MailDelivery, Recipient, RecipientStatus
from esign.core.document.state.renew_link import may_ask
from esign.core.instant import Instant
from esign.core.language import LANGUAGES
from esign.web.signing.page import PARTS, LinkFacts, build_frame, measure_picture
from esign.web.signing.words import SigningWords


@dataclass(frozen=True, slots=True)
class StateLine:
    """One line of what has happened and what comes next. `state` is `ok`, `now` or empty."""

    state: str
    title: str
    more: str | None = None


def build_waiting(facts: LinkFacts) -> dict[str, object]:
    """Return the page before the recipient's turn, or the one after it while other recipients still sign."""
    return (
        build_done_waiting(facts)
        if facts.recipient.status is RecipientStatus.COMPLETED
        else build_not_yet(facts)
    )


def build_not_yet(facts: LinkFacts) -> dict[str, object]:
    """Return the page before the recipient's turn."""
    t = facts.words
    lines = [build_line(facts, who) for who in list_acting(facts) if who.order <= facts.recipient.order]
    return {
        "view": "not_yet",
        "title": t("waiting_title"),
        "lead": t("waiting_lead", names=name_turn(facts, t)),
        "steps": [*lines, StateLine("", t("step_seal_copies"), t("step_seal_copies_to"))],
    }


def build_done_waiting(facts: LinkFacts) -> dict[str, object]:
    """Return the page of a recipient who has finished while others have not."""
    t = facts.words
    return {
        "view": "done_waiting",
        "title": t(f"done_waiting_title_{get_part(facts.recipient)}"),
        "lead": t("done_waiting_lead", names=name_turn(facts, t), email=facts.recipient.email),
        "steps": [
            *(build_line(facts, who) for who in list_acting(facts)),
            StateLine("", t("step_seal_copies"), t("step_seal_copies_to")),
        ],
        **describe_first_page(facts),
        **find_onward(facts),
    }


def build_sealing(facts: LinkFacts) -> dict[str, object]:
    """Return the page while the document is being sealed.

    After a failed attempt it says that the seal is late; the next attempt comes by itself.
    """
    t, tried = facts.words, facts.document.seal_attempts
    copies = t("step_copies_to", email=facts.recipient.email, organisation=facts.organisation.name)
    late = "_late" if tried else ""
    why = t.count("step_sealing_tried", tried) if tried else t("step_sealing_why")
    return {
        "view": "sealing",
        "late": bool(tried),
        "title": write_sealing_title(facts, late),
        "late_title": write_sealing_title(facts, "_late"),
        "lead": t(f"sealing{late}_lead"),
        "steps": [
            *([build_line(facts, facts.recipient)] if facts.recipient.acting else []),
            StateLine("now", t("step_sealing"), why),
            StateLine("", t("step_copies"), copies),
        ],
        **find_onward(facts),
    }


def write_sealing_title(facts: LinkFacts, late: str) -> Markup:
    """Return that the recipient's part is done; for one who only reads, what the others did."""
    part = get_part(facts.recipient)
    if part == "read" and not late:
        return write_completed_title(facts)
    return facts.words(f"sealing{late}_title_{part}")


def write_completed_title(facts: LinkFacts) -> Markup:
    """Return that all have signed, approved or both, or the name of the only one who was asked to."""
    completion, only = find_completion(facts.document)
    return facts.words(f"completed_title_{completion}", name=only.name if only else "")


def build_completed(facts: LinkFacts) -> dict[str, object]:
    """Return the page of a completed document."""
    t, seal = facts.words, facts.document.seal
    return {
        "view": "completed",
        "title": write_completed_title(facts),
        "lead": t(f"completed_lead{choose_sent_ending(facts)}", email=facts.recipient.email),
        "steps": [
            *(build_line(facts, who) for who in list_acting(facts)),
            StateLine("ok", t("step_sealed"), t("step_sealed_why")),
        ],
        "size": t.size(seal.size) if seal else None,
        **describe_first_page(facts),
        **find_onward(facts),
    }


def choose_sent_ending(facts: LinkFacts) -> str:
    """Return how the key of the sentence about the recipient's copy ends; empty while the copy is on its way."""
    me, completed_at = facts.recipient, facts.document.completed_at
    if me.delivery_at is None or completed_at is None or me.delivery_at < completed_at:
        return ""
    return {MailDelivery.ACCEPTED: "_sent", MailDelivery.FAILED: "_failed", MailDelivery.KEPT: "_failed"}.get(
        me.delivery, ""
    )


def build_declined(facts: LinkFacts) -> dict[str, object]:
    """Return the page of a document that this recipient, or another one, declined."""
    t, me = facts.words, facts.recipient
    if me.status is RecipientStatus.DECLINED:
        key = "declined_lead_reason" if me.decline_reason else "declined_lead"
        note = t("declined_reason", reason=me.decline_reason) if me.decline_reason else None
        again = t("declined_again", sender=facts.sender)
        return {
            "view": "declined",
            "title": t(f"declined_title_{get_part(me)}"),
            "lead": t(key, sender=facts.sender),
            "note": note,
            "after": again,
        }
    by = next((who for who in facts.document.recipients if who.status is RecipientStatus.DECLINED), me)
    return {
        "view": "declined",
        "title": t(f"declined_other_title_{get_part(by)}", name=by.name),
        "lead": t("declined_other_lead"),
        "note": None,
        "after": None,
    }


def build_expired(facts: LinkFacts, asked_at: Instant | None) -> dict[str, object]:
    """Return the page of an expired document, with the offer to ask for a new link."""
    t = facts.words
    until = t.date(facts.document.expires_at or facts.document.updated_at, facts.zone)
    finished = facts.recipient.completed_at is not None
    asked = t.moment(asked_at, facts.zone) if asked_at is not None else None
    return {
        "view": "expired",
        "title": t("expired_title"),
        "lead": t("expired_lead_done" if finished else "expired_lead", date=until, sender=facts.sender),
        "may_renew": may_ask(facts.document, facts.recipient, facts.contact),
        "note": t("renewed_on", time=asked) if asked else None,
    }


def build_renewed(facts: LinkFacts) -> dict[str, object]:
    """Return the page after the recipient has asked for a new link."""
    t = facts.words
    return {
        "view": "renewed",
        "title": t("renewed_title"),
        "lead": t("renewed_lead", sender=facts.sender),
    }


def build_cancelled(facts: LinkFacts) -> dict[str, object]:
    """Return the page of a cancelled document."""
    t, document = facts.words, facts.document
    day = t.date(document.closed_at or document.updated_at, facts.zone)
    return {
        "view": "cancelled",
        "title": t("cancelled_title"),
        "lead": t("cancelled_lead", sender=facts.sender, date=day),
        "note": t("cancelled_reason", reason=document.close_reason) if document.close_reason else None,
    }


def build_closed_page(facts: LinkFacts, seen: ClosedVisit) -> dict[str, object]:
    """Return the values of `state.html` for a link in a state other than open."""
    return {"note": None, "after": None, "may_renew": False, **build_frame(facts), **build_state(facts, seen)}


def build_state(facts: LinkFacts, seen: ClosedVisit) -> dict[str, object]:
    """Return what the page says about its state."""
    match seen:
        case WaitingVisit():
            return build_waiting(facts)
        case SealingVisit():
            return build_sealing(facts)
        case CompletedVisit():
            return build_completed(facts)
        case DeclinedVisit():
            return build_declined(facts)
        case ExpiredVisit():
            return build_expired(facts, seen.asked_at)
        case RenewalVisit():
            return build_renewed(facts)
        case CancelledVisit():
            return build_cancelled(facts)
        case never:
            assert_never(never)


def build_unknown_page(words: SigningWords) -> dict[str, object]:
    """Return the page of an unknown link. It does not reveal whether a document exists."""
    return {
        "t": words,
        "languages": LANGUAGES,
        "mark": "e",
        "logo": None,
        "brand": ("#2546d8", "#ffffff"),
        "test": False,
        "view": "unknown",
        "title": words("unknown_title"),
    }


def list_acting(facts: LinkFacts) -> list[Recipient]:
    """Return the signers and approvers: first those who have finished, in the order in which they did."""
    who = [r for r in facts.document.recipients if r.acting]
    return sorted(
        who, key=lambda r: (r.status is not RecipientStatus.COMPLETED, r.completed_at or 0, r.order)
    )


def get_part(who: Recipient) -> str:
    """Return the recipient's part as the keys of sentences name it."""
    return PARTS[who.role]


def build_line(facts: LinkFacts, who: Recipient) -> StateLine:
    """Return the line about one recipient."""
    t, mine = facts.words, who.id == facts.recipient.id
    whose = "you" if mine else "other"
    if who.completed_at is not None:
        title = t(f"step_{whose}_{get_part(who)}_done", name=who.name)
        return StateLine("ok", title, t.moment(who.completed_at, facts.zone))
    title = t(f"step_{whose}_{get_part(who)}", name=who.name)
    if who.sent_at is not None and not mine:
        return StateLine("now", title, t("invited_on", date=t.date(who.sent_at, facts.zone)))
    return StateLine("", title, t("then_email", email=who.email) if mine else None)


def name_turn(facts: LinkFacts, t: SigningWords) -> Markup:
    """Return the sentence about whose turn it is: "Mira Okafor signs", "Mira Okafor and Ben Ash sign"."""
    open_ = [
        r
        for r in facts.document.recipients
        if r.acting and r.completed_at is None and r.id != facts.recipient.id
    ]
    turn = min((r.order for r in open_), default=0)
    asked = [r for r in open_ if r.order == turn]
    names = [r.name for r in asked] or [facts.sender]
    act = "approve" if asked and all(get_part(r) == "approve" for r in asked) else "sign"
    if len(names) == 1:
        return t(f"turn_{act}_one", name=names[0])
    return t(f"turn_{act}_some", names=t("comma").join(names[:-1]), name=names[-1])


def describe_first_page(facts: LinkFacts) -> dict[str, object]:
    """Return the size of the first page's picture, and the sentence about the document."""
    t, pages = facts.words, facts.document.file.pages
    about = t("pages_from", pages=t.count("pages", len(pages)), organisation=facts.organisation.name)
    return {"thumbnail": measure_picture(pages[0]), "about_it": about}


def find_onward(facts: LinkFacts) -> dict[str, object]:
    """Return where the sender wants recipients to go after they have finished, or None.

    The page offers the address and never follows it by itself.
    """
    url = urlsplit(facts.document.redirect_url or "")
    if facts.recipient.completed_at is None or url.scheme not in ("https", "http"):
        return {"onward": None}
    return {"onward": url.geturl(), "onward_host": url.hostname}
