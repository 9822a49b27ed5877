"""Recipients of test mode, whose acts the sender simulates. The system acts in their place (contract 3.5, 8)."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from esign.actions.base.caller import Caller
from esign.actions.base.transition import Find, perform_transition
from esign.actions.document import documents as acting
from esign.actions.document import reminders
from esign.actions.document.documents import make_finder
from esign.actions.document.reminders import ReminderResult
from esign.actions.signing.signing import check_answers, find_today
from esign.core.actor import NOWHERE, PROGRAM, SYSTEM
from esign.core.document import consent, mail_delivery, simulated_answers
from esign.core.document.document import Document, Recipient, RecipientStatus
from esign.core.document.signing_link import LinkRoute
from esign.core.document.state import Act, lifecycle, require
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Detail, Problem
from esign.runtime import Runtime
from esign.store.document import outcomes
from esign.store.engine.database import Transaction
from esign.store.people import organisations

BOUNCED = "Simulated: the mail server refused the address."


@dataclass(frozen=True, slots=True)
class SimulationStep:
    """What is to happen. `values` are by field key or id. Without a `recipient_id`, `choose_recipient` decides."""

    action: str
    recipient_id: str | None
    values: Mapping[str, object]
    reason: str | None


@dataclass(frozen=True, slots=True)
class SimulationRun:
    """One simulation on one document."""

    runtime: Runtime
    caller: Caller
    document_id: str
    step: SimulationStep

    async def play(self, decide: Callable[[Document], Outcome], find: Find | None = None) -> Document:
        """Perform one transition by the system, and return the document."""

        def by_system(document: Document) -> Outcome:
            outcome = decide(document)
            return replace(outcome, events=tuple(simulate_events(outcome)))

        found = find or make_finder(self.caller.owner, self.document_id)
        return await perform_transition(self.runtime, found, by_system, outcomes.save, self.caller.keep)


async def simulate(runtime: Runtime, caller: Caller, document_id: str, step: SimulationStep) -> Document:
    """Perform the step, and return the document after it. Raises `invalid_request` for an unknown recipient."""
    found = await acting.get(runtime, caller.owner, document_id)
    if step.recipient_id is not None and step.recipient_id not in {r.id for r in found.recipients}:
        message = "No recipient of this document has this id."
        raise Problem("invalid_request", details=[Detail("/recipientId", message, "reference")])
    return await ACTIONS[step.action](SimulationRun(runtime, caller, document_id, step), found)


def choose_recipient(scene: SimulationRun, document: Document) -> Recipient:
    """Return the named recipient, or else the first who is invited and has not finished.

    Raises `recipient_not_active`.
    """
    require(document, Act.VIEW, scene.runtime.clock.now())
    if scene.step.recipient_id is not None:
        return replace(document.recipient(scene.step.recipient_id), link=LinkRoute.TEST)
    asked = [recipient for recipient in document.recipients if recipient.is_invited]
    if not asked:
        raise Problem("recipient_not_active", current_status=document.status)
    return replace(min(asked, key=lambda recipient: recipient.order), link=LinkRoute.TEST)


def simulate_events(outcome: Outcome) -> Iterator[Event]:
    """Yield the same events with the system as actor. The authentication of a viewer is marked as simulated."""
    for event in outcome.events:
        if event.type == "recipient.viewed" and event.recipient_id is not None:
            person = outcome.document.recipient(event.recipient_id)
            data = {"method": person.authentication, "result": "simulated", "link": LinkRoute.TEST.value}
            yield Event("recipient.authenticated", event.at, SYSTEM, person.id, data=data)
        if event.type != "recipient.authenticated":
            yield replace(event, actor=SYSTEM)


async def view(scene: SimulationRun, found: Document) -> Document:
    """Simulate that a recipient looks at the page."""
    now = scene.runtime.clock.now()
    return await scene.play(
        lambda document: lifecycle.view(document, choose_recipient(scene, document), NOWHERE, now)
    )


async def complete(scene: SimulationRun, found: Document) -> Document:
    """Simulate that a recipient completes.

    Missing values are made up; given ones are checked like those of a browser.
    """
    runtime, now, person = scene.runtime, scene.runtime.clock.now(), choose_recipient(scene, found)
    lifecycle.require_turn(found, person)
    organisation = await organisations.get(runtime.db, found.organisation_id)
    names = {field.key or field.id: field.id for field in person.fields}
    given = {names.get(name, name): value for name, value in scene.step.values.items()}
    today = find_today(organisation, now)
    try:
        answers = await check_answers(
            runtime, found, person, organisation, simulated_answers.make_answers(person, given, today)
        )
    except Problem as problem:
        raise relocate_problem(problem, {id: name for name, id in names.items()}) from problem
    locale = person.locale or found.locale or organisation.locale
    agreed = f"{consent.VERSION} {consent.hash_wording(locale, person.role)}"

    async def find(tx: Transaction) -> Document:
        await answers.store(tx, found, now)
        return await make_finder(scene.caller.owner, scene.document_id)(tx)

    def decide(document: Document) -> Outcome:
        signer = replace(
            document.recipient(person.id), fields=answers.fields, ink=answers.ink, link=LinkRoute.TEST
        )
        return lifecycle.complete(document, signer, agreed, NOWHERE, now)

    return await scene.play(decide, find)


def relocate_problem(problem: Problem, keys: Mapping[str, str]) -> Problem:
    """Return the same error with paths by the names that the simulation has for its values."""
    details = []
    for detail in problem.details:
        place = detail.path.removeprefix("/answers/")
        name = keys.get(place, place).replace("~", "~0").replace("/", "~1")
        details.append(replace(detail, path=f"/values/{name}"))
    return Problem(problem.code, problem.message, details=details, current_status=problem.current_status)


async def decline(scene: SimulationRun, found: Document) -> Document:
    """Simulate that a recipient declines."""
    now, reason = scene.runtime.clock.now(), scene.step.reason
    return await scene.play(
        lambda document: lifecycle.decline(document, choose_recipient(scene, document), reason, NOWHERE, now)
    )


async def bounce(scene: SimulationRun, found: Document) -> Document:
    """Simulate that the mail server refuses the address of a recipient who was sent an e-mail."""
    now = scene.runtime.clock.now()

    def decide(document: Document) -> Outcome:
        person = choose_recipient(scene, document)
        if person.status is RecipientStatus.COMPLETED:
            raise Problem("recipient_already_completed", current_status=document.status)
        if person.sent_at is None:
            raise Problem("recipient_not_active", current_status=document.status)
        return mail_delivery.record_failed_delivery(document, person, scene.step.reason or BOUNCED, now)

    return await scene.play(decide)


async def expire(scene: SimulationRun, found: Document) -> Document:
    """Expire the document as if its time were over now."""
    now = scene.runtime.clock.now()

    def decide(document: Document) -> Outcome:
        require(document, Act.EXPIRE)
        return lifecycle.expire(replace(document, expires_at=now), now)

    return await scene.play(decide)


async def remind(scene: SimulationRun, found: Document) -> Document:
    """Send a reminder to the named recipient, or else to all who may be reminded."""
    caller, wanted = scene.caller, scene.step.recipient_id

    async def keep_document(tx: Transaction, reminded: ReminderResult) -> None:
        await caller.keep(tx, reminded.document)

    system = Caller(caller.owner, PROGRAM, store_answer=keep_document)
    chosen = None if wanted is None else (wanted,)
    done = await reminders.remind_by_hand(scene.runtime, system, scene.document_id, chosen, None)
    return done.document


ACTIONS: Mapping[str, Callable[[SimulationRun, Document], Awaitable[Document]]] = {
    "view": view,
    "complete": complete,
    "decline": decline,
    "bounce": bounce,
    "expire": expire,
    "remind": remind,
}
