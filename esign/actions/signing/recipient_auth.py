"""Authenticates recipients: sends codes and checks the codes that they enter (contract 3.2, authentication)."""

from dataclasses import replace
from math import ceil

from esign.actions.base import stored_codes
from esign.actions.signing.signing import find_linked_document, find_visit, get_linked_document, show_link
from esign.actions.signing.visits import CodeVisit, Visit, Visitor
from esign.core.actor import Origin
from esign.core.document import challenge as rules
from esign.core.document.challenge import Challenge, ChallengeStanding, ChallengeStep, Method
from esign.core.document.document import Document, Recipient
from esign.core.document.signing_link import LinkRoute, find_route
from esign.core.document.state.lifecycle import make_actor, name_link
from esign.core.document.state.outcome import Event, MailJob, Outcome
from esign.core.errors import Detail, Problem
from esign.core.instant import HOUR, SECOND, Instant, Millis, rfc3339
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.document import challenges, documents, outcomes
from esign.store.engine.database import Transaction
from esign.system.entropy import make_code, make_token

LIVES: Millis = 12 * HOUR  # validity of a proof: longer than anyone reads, so that no entries are lost


async def send_code(runtime: Runtime, visitor: Visitor, origin: Origin) -> Visit:
    """Send a new code by e-mail, and return the visit. The earlier code ends.

    Raises `not_found` if the recipient needs no mailed code, and `rate_limited` if the last code was sent a
    moment ago.
    """
    document, person = await find_code_recipient(runtime, visitor)
    if person.authentication != Method.EMAIL_CODE:
        raise Problem("not_found")
    now, code = runtime.clock.now(), make_code()

    async def write(tx: Transaction) -> None:
        before = await challenges.get(tx, person.id)
        again = rules.find_next_code_time(before, now)
        if again > now:
            raise make_wait_error(again, now)
        mac = stored_codes.encode_mailed_code(runtime.vault, person.id, code)
        await challenges.save(tx, rules.record_sent_code(before, mac, now))
        current = await get_linked_document(tx, visitor.token, now)
        await outcomes.save_events(
            tx, make_code_outcome(current, person.id, code, origin, now), runtime.vault, now
        )

    await runtime.db.write(write)
    return await show_link(runtime, document, person.id, visitor)


def make_code_outcome(
    document: Document, recipient_id: str, code: str, origin: Origin, now: Instant
) -> Outcome:
    """Return the outcome that sends the code."""
    recipient, until = document.recipient(recipient_id), now + rules.LIVES
    event = Event(
        "recipient.code_sent",
        now,
        make_actor(recipient),
        recipient.id,
        origin,
        data={"method": recipient.authentication, "expiresAt": rfc3339(until)},
        detail={"email": recipient.email},
    )
    mail = MailJob("code", f"code:{recipient.id}:{now}", recipient.id, code=code, until=until)
    return Outcome(document, (event,), (mail,))


async def authenticate(runtime: Runtime, visitor: Visitor, given: str, origin: Origin) -> tuple[Visit, str]:
    """Check the code, and return the visit and the new session of the browser. A wrong attempt is recorded and counted.

    Raises `invalid_request` for a wrong code, and `rate_limited` or `recipient_not_active` if none may be
    entered now.
    """
    document, person = await find_code_recipient(runtime, visitor)
    now, session = runtime.clock.now(), make_token()

    async def write(tx: Transaction) -> Problem | None:
        before = await challenges.get(tx, person.id)
        current, link = await find_linked_document(tx, visitor.token, now)
        recipient = replace(current.recipient(person.id), link=link.find_route(current.mode))
        standing = rules.find_standing(recipient.authentication, before, now)
        if standing.step is not ChallengeStep.ENTER:
            return make_refusal(standing, now)
        if not is_right_code(runtime, recipient, before, given):
            after = rules.record_wrong_try(recipient.authentication, before, now)
            await challenges.save(tx, after)
            failed = make_attempt_event(recipient, origin, now, passed=False)
            await outcomes.record(tx, document.id, (failed,), runtime.vault)
            return make_refusal(rules.find_standing(recipient.authentication, after, now), now)
        await challenges.save(tx, rules.use_up_code(before))
        await challenges.prove(tx, visitor.session, session, recipient.id, now + LIVES)
        recipient = replace(recipient, code=find_code_route(current, recipient, before))
        await documents.save_proof(tx, document.id, recipient)
        await outcomes.record(
            tx, document.id, (make_attempt_event(recipient, origin, now, passed=True),), runtime.vault
        )
        return None

    # The refusal is raised after the commit, so that the wrong attempt is counted.
    if (refused := await runtime.db.write(write)) is not None:
        raise refused
    return await show_link(runtime, document, person.id, Visitor(visitor.token, session)), session


async def find_code_recipient(runtime: Runtime, visitor: Visitor) -> tuple[Document, Recipient]:
    """Return the document and the recipient of a link that asks for a code.

    Raises `recipient_not_active` for any other.
    """
    seen = await find_visit(runtime, visitor)
    if not isinstance(seen, CodeVisit):
        raise Problem("recipient_not_active", "No code is asked for.", current_status=seen.document.status)
    return seen.document, seen.recipient


def is_right_code(runtime: Runtime, recipient: Recipient, challenge: Challenge, given: str) -> bool:
    """Return whether the code is right."""
    if recipient.authentication == Method.EMAIL_CODE:
        stored = challenge.code
        return stored is not None and stored_codes.is_mailed_code(runtime.vault, recipient.id, stored, given)
    agreed = recipient.access_code
    return agreed is not None and stored_codes.is_access_code(runtime.vault, agreed, given)


def find_code_route(document: Document, recipient: Recipient, challenge: Challenge) -> LinkRoute | None:
    """Return the way by which the entered code came, or None for one that sender and recipient agreed on."""
    mailed = recipient.authentication == Method.EMAIL_CODE
    return find_route(document.mode, challenge.reached) if mailed else None


def make_attempt_event(recipient: Recipient, origin: Origin, now: Instant, *, passed: bool) -> Event:
    """Return the event of a passed or failed attempt."""
    name = "recipient.authenticated" if passed else "recipient.authentication_failed"
    data = {
        "method": recipient.authentication,
        "result": "passed" if passed else "failed",
        **name_link(recipient),
    }
    if passed and recipient.code is not None:
        data["code"] = recipient.code
    return Event(name, now, make_actor(recipient), recipient.id, origin, data=data)


def make_refusal(standing: ChallengeStanding, now: Instant) -> Problem:
    """Return why the code was not accepted, with the number of attempts that are left."""
    if standing.step is ChallengeStep.ENTER:
        message = say(
            "That code isn’t right. You can try {n} more times.",
            one="That code isn’t right. You can try once more.",
            n=standing.left,
        )
        return Problem("invalid_request", message, details=[Detail("/code", message, "reference")])
    if standing.step is ChallengeStep.WAIT and standing.at is not None:
        return make_wait_error(standing.at, now)
    return Problem("recipient_not_active", "There is no code to enter now.")


def make_wait_error(again: Instant, now: Instant) -> Problem:
    """Return the error that says when the recipient may try again."""
    return Problem("rate_limited", "Please wait.", retry_after=max(1, ceil((again - now) / SECOND)))
