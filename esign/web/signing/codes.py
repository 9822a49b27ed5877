"""The page that asks for a code. It names neither the document nor the person who sent it (contract 3.2)."""

from math import ceil
from urllib.parse import quote

from esign.core.document.challenge import APART, CODES_A_DAY, ChallengeStanding, ChallengeStep, Method
from esign.core.document.document import Role
from esign.core.instant import MINUTE, SECOND, Instant
from esign.core.people.masking import mask_email
from esign.web.signing.page import LinkFacts, build_frame

ASKS = {
    Role.SIGNER: "asks_sign",
    Role.APPROVER: "asks_approve",
    Role.VIEWER: "asks_read",
    Role.CC: "sends_copy",
}


def build_code_page(facts: LinkFacts, standing: ChallengeStanding, now: Instant) -> dict[str, object]:
    """Return the values of `code.html`.

    `wait` is the number of seconds until the recipient may have a new code or another try, 0 if that is now.
    """
    t, mailed = facts.words, facts.recipient.authentication == Method.EMAIL_CODE
    wait = 0 if standing.at is None else max(0, ceil((standing.at - now) / SECOND))
    step = standing.step
    if mailed and step is not ChallengeStep.ENTER and wait > APART // SECOND:
        step = ChallengeStep.BLOCKED  # until the count of codes starts again the next day
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
        **build_frame(facts),
        # A holder of the link who has not entered the code must not learn a person's name, so the organisation is
        # named in place of the member who sent the document.
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
