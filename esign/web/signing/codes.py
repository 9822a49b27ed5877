"""The page before a document that asks for a code; it tells nothing of the document, nor who sent it (contract 3.2)."""

from math import ceil
from typing import Any
from urllib.parse import quote

from esign.core.document.challenge import APART, CODES_A_DAY, Method, Standing, Step
from esign.core.document.document import Role
from esign.core.instant import MINUTE, SECOND, Instant
from esign.core.people.masking import mask_email
from esign.web.signing.page import Facts, common

ASKS = {
    Role.SIGNER: "asks_sign",
    Role.APPROVER: "asks_approve",
    Role.VIEWER: "asks_read",
    Role.CC: "sends_copy",
}


def asking(facts: Facts, standing: Standing, now: Instant) -> dict[str, Any]:
    """Everything `code.html` writes down; `wait` in seconds until a new code or try, 0 for now."""
    t, mailed = facts.words, facts.recipient.authentication == Method.EMAIL_CODE
    wait = 0 if standing.at is None else max(0, ceil((standing.at - now) / SECOND))
    step = standing.step
    if mailed and step is not Step.ENTER and wait > APART // SECOND:
        step = Step.BLOCKED  # for today
    kind = "mailed" if mailed else "agreed"
    again = "" if standing.at is None else t.moment(standing.at, facts.zone)
    organisation = facts.organisation
    values = {
        "email": mask_email(facts.recipient.email),
        "sender": organisation.name,
        "codes": CODES_A_DAY,
        "time": again,
        "minutes": t.count("minutes_only", ceil(wait * SECOND / MINUTE)),
    }
    return {
        **common(facts),
        # Whoever holds the link alone reads no person's name: the organisation stands for the member who sent it.
        "sender": organisation.name,
        "member": None,
        "write_to": quote(organisation.reply_to, safe="@") if organisation.reply_to else None,
        "outcome": None,
        "kind": kind,
        "step": step.value,
        "title": t(f"code_{kind}_{step}_title"),
        "lead": t(f"code_{kind}_{step}_lead", **values),
        "asks": t(ASKS[facts.recipient.role]),
        "wait": wait,
        "question": t("code_question", **values),
        "may_resend": mailed and wait <= APART // SECOND,
    }
