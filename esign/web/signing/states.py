"""The pages that say one thing: not your turn, done, sealing, closed, unknown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from esign.core.document import Recipient, RecipientStatus
from esign.web.signing.page import Facts, common, pixels
from esign.web.signing.words import Words


@dataclass(frozen=True, slots=True)
class Line:
    """One line of what happened and what comes; `state` is ok, now or empty."""

    state: str
    title: str
    more: str | None = None


def waiting(facts: Facts) -> dict[str, Any]:
    """Before one's turn, or after it while others still sign."""
    return done_waiting(facts) if facts.recipient.status is RecipientStatus.COMPLETED else not_yet(facts)


def not_yet(facts: Facts) -> dict[str, Any]:
    t = facts.words
    lines = [line(facts, who) for who in acting(facts) if who.order <= facts.recipient.order]
    return {
        "view": "not_yet",
        "title": t("waiting_title"),
        "lead": t("waiting_lead", names=who_signs(facts, t)),
        "steps": [*lines, Line("", t("step_seal_copies"), t("step_seal_copies_to"))],
    }


def done_waiting(facts: Facts) -> dict[str, Any]:
    t = facts.words
    return {
        "view": "done_waiting",
        "title": t("done_waiting_title"),
        "lead": t("done_waiting_lead", names=who_signs(facts, t), email=facts.recipient.email),
        "steps": [
            *(line(facts, who) for who in acting(facts)),
            Line("", t("step_seal_copies"), t("step_seal_copies_to")),
        ],
        **first_page(facts),
        **onward(facts),
    }


def sealing(facts: Facts) -> dict[str, Any]:
    t = facts.words
    copies = t("step_copies_to", email=facts.recipient.email, organisation=facts.organisation.name)
    return {
        "view": "sealing",
        "title": t("sealing_title"),
        "lead": t("sealing_lead"),
        "steps": [
            line(facts, facts.recipient),
            Line("now", t("step_sealing"), t("step_sealing_why")),
            Line("", t("step_copies"), copies),
        ],
    }


def completed(facts: Facts) -> dict[str, Any]:
    t, seal = facts.words, facts.document.seal
    return {
        "view": "completed",
        "title": t("completed_title"),
        "lead": t("completed_lead", email=facts.recipient.email),
        "steps": [
            *(line(facts, who) for who in acting(facts)),
            Line("ok", t("step_sealed"), t("step_sealed_why")),
        ],
        "size": size(seal.size) if seal else None,
        **first_page(facts),
        **onward(facts),
    }


def declined(facts: Facts) -> dict[str, Any]:
    t, me = facts.words, facts.recipient
    if me.status is RecipientStatus.DECLINED:
        key = "declined_lead_reason" if me.decline_reason else "declined_lead"
        note = t("declined_reason", reason=me.decline_reason) if me.decline_reason else None
        again = t("declined_again", sender=facts.sender)
        return {
            "view": "declined",
            "title": t("declined_title"),
            "lead": t(key, sender=facts.sender),
            "note": note,
            "after": again,
        }
    by = next(
        (who.name for who in facts.document.recipients if who.status is RecipientStatus.DECLINED),
        facts.sender,
    )
    return {
        "view": "declined",
        "title": t("declined_other_title", name=by),
        "lead": t("declined_other_lead"),
        "note": None,
        "after": None,
    }


def expired(facts: Facts) -> dict[str, Any]:
    t = facts.words
    until = t.date(facts.document.expires_at or facts.document.updated_at, facts.zone)
    return {
        "view": "expired",
        "title": t("expired_title"),
        "lead": t("expired_lead", date=until, sender=facts.sender),
    }


def cancelled(facts: Facts) -> dict[str, Any]:
    t, document = facts.words, facts.document
    day = t.date(document.closed_at or document.updated_at, facts.zone)
    return {
        "view": "cancelled",
        "title": t("cancelled_title"),
        "lead": t("cancelled_lead", sender=facts.sender, date=day),
        "note": t("cancelled_reason", reason=document.close_reason) if document.close_reason else None,
    }


STATES: Mapping[str, Callable[[Facts], dict[str, Any]]] = {
    "waiting": waiting,
    "sealing": sealing,
    "completed": completed,
    "declined": declined,
    "expired": expired,
    "cancelled": cancelled,
}


def closed(facts: Facts, state: str) -> dict[str, Any]:
    """Everything `state.html` writes down about a document in a state other than open."""
    return {"note": None, "after": None, **common(facts), **STATES[state](facts)}


def unknown(words: Words) -> dict[str, Any]:
    """The page of a link that leads nowhere; it never says whether a document exists."""
    return {
        "t": words,
        "mark": "e",
        "brand": ("#2546d8", "#ffffff"),
        "test": False,
        "view": "unknown",
        "title": words("unknown_title"),
    }


def acting(facts: Facts) -> list[Recipient]:
    """Those who sign, the finished ones first, in their order."""
    who = [r for r in facts.document.recipients if r.acting]
    return sorted(
        who, key=lambda r: (r.status is not RecipientStatus.COMPLETED, r.completed_at or 0, r.order)
    )


def line(facts: Facts, who: Recipient) -> Line:
    """One person in the order of signing."""
    t, mine = facts.words, who.id == facts.recipient.id
    if who.completed_at is not None:
        title = t("step_you_signed") if mine else t("step_signed", name=who.name)
        return Line("ok", title, t.moment(who.completed_at, facts.zone))
    title = t("step_you_sign") if mine else t("step_signs", name=who.name)
    if who.sent_at is not None and not mine:
        return Line("now", title, t("invited_on", date=t.date(who.sent_at, facts.zone)))
    return Line("", title, t("then_email", email=who.email) if mine else None)


def who_signs(facts: Facts, t: Words) -> Markup:
    """ "Mira Okafor signs", "Mira Okafor and Ben Ash sign": those whose turn it is."""
    open_ = [
        r
        for r in facts.document.recipients
        if r.acting and r.completed_at is None and r.id != facts.recipient.id
    ]
    turn = min((r.order for r in open_), default=0)
    names = [r.name for r in open_ if r.order == turn] or [facts.sender]
    if len(names) == 1:
        return t("signs_one", name=names[0])
    return t("signs_some", names=", ".join(names[:-1]), name=names[-1])


def first_page(facts: Facts) -> dict[str, Any]:
    t, pages = facts.words, facts.document.file.pages
    about = t("pages_from", pages=t.count("pages", len(pages)), organisation=facts.organisation.name)
    return {"thumbnail": pixels(pages[0]), "about_it": about}


def onward(facts: Facts) -> dict[str, Any]:
    """Where the sender would like people to go on afterwards."""
    url = facts.document.redirect_url
    return {"onward": url, "onward_host": urlsplit(url).hostname} if url else {"onward": None}


def size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{max(1, round(count / 1000))} kB"
