"""What the contract says about documents and recipients (section 2), in plain Python: it imports nothing of esign.

`attempt` is the whole of it: what one attempt answers, and what it does to a paper. Times are milliseconds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

STATUSES = ("draft", "sent", "sealing", "completed", "declined", "expired", "cancelled")
CLOSED = ("declined", "expired", "cancelled")
ACTING = ("signer", "approver")
INVITED = (*ACTING, "viewer")
OK = "ok"

# Contract 2.1, the table of attempts: what is refused in which status; what is not named here is allowed.
NOT_DRAFT = dict.fromkeys(STATUSES[1:], "document_not_draft")
NOT_SENT = {status: "document_not_sent" for status in STATUSES if status != "sent"}
NOT_COMPLETED = {status: "document_not_completed" for status in STATUSES if status != "completed"}
IN_PROGRESS = {"sent": "document_in_progress", "sealing": "document_in_progress"}
ENDED = dict.fromkeys(STATUSES[2:], "document_not_draft")
TABLE: dict[str, dict[str, str]] = {
    "edit content": NOT_DRAFT,
    "add a recipient": NOT_DRAFT,
    "reorder a recipient": NOT_DRAFT,
    "remove a recipient": NOT_DRAFT,
    "correct a recipient": ENDED,
    "edit expiry": {"draft": "document_not_sent", **ENDED},  # a draft has none yet
    "edit reminders": ENDED,
    "edit externalId": {},
    "edit metadata": {},
    "send": NOT_DRAFT,
    "remind": NOT_SENT,
    "link": NOT_SENT,
    "cancel": NOT_SENT,
    "delete": IN_PROGRESS,
    "download original": {},
    "download sealed": NOT_COMPLETED,
    "download certificate": NOT_COMPLETED,
    "retry-seal": {status: "seal_not_failed" for status in STATUSES if status != "sealing"},
    "duplicate": {},
    "audit": {},
    "fetch": {},
    # what recipients do with their links (D5, D6, D9)
    "view": NOT_SENT,
    "complete": NOT_SENT,
    "decline": NOT_SENT,
}
SENDERS = tuple(TABLE)[:-3]
RECIPIENTS = tuple(TABLE)[-3:]
OF_ONE = ("reorder a recipient", "remove a recipient", "correct a recipient", "link", *RECIPIENTS)
READS = ("download original", "download sealed", "download certificate", "audit", "fetch")

SEAL_RETRIES = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR)  # then hourly (D8)


@dataclass
class Link:
    """`until` None where it lives as long as its document; revoked by a correction."""

    token: str
    until: int | None = None
    revoked: bool = False


@dataclass
class ModelPerson:
    """A recipient; `id` and `email` are those of the installation."""

    id: str
    email: str
    order: int = 1
    role: str = "signer"
    status: str = "created"
    sent_at: int = 0
    reminders_sent: int = 0
    reminded_at: int | None = None
    next_reminder: int | None = None
    links: list[Link] = field(default_factory=list)

    @property
    def acting(self) -> bool:
        return self.role in ACTING

    @property
    def active(self) -> bool:
        """Whether the own link opens the document: asked and not finished, or a viewer whose turn came."""
        return self.role in INVITED and self.status in ("sent", "viewed")

    @property
    def pending(self) -> bool:
        """Asked to act, and not finished."""
        return self.acting and self.active


@dataclass
class Paper:
    """A document as the contract knows it; `events` are the published ones, each with its recipient."""

    id: str
    people: list[ModelPerson] = field(default_factory=list)
    status: str = "draft"
    deleted: bool = False
    title: str = "agreement"
    external_id: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    days: int = 30
    sent_at: int = 0
    expires_at: int | None = None
    ended_at: int | None = None
    reminders: bool = True
    seal_failures: int = 0
    seal_due: int | None = None
    events: list[tuple[str, str | None]] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)  # which of D1 … D12, for the count at the end

    def add_event(self, type: str, person: ModelPerson | None = None) -> None:
        self.events.append((type, person.id if person else None))


@dataclass(frozen=True)
class Attempt:
    """Something somebody tries: `kind` of TABLE, the id of a recipient, the link used, and a value to put in."""

    kind: str
    who: str | None = None
    value: int = 0
    token: str | None = None


@dataclass(frozen=True)
class ModelAnswer:
    """A code of the catalogue or OK; `status` is the `currentStatus` of a refusal by the state machine."""

    code: str
    status: str | None = None


NOBODY = ModelPerson("", "")


def create_paper(id: str, people: list[ModelPerson]) -> Paper:
    """D1."""
    paper = Paper(id, people)
    paper.add_event("document.created")
    paper.moves.append("D1")
    return paper


def attempt(paper: Paper, act: Attempt, now: int, retained_days: int | None = None) -> ModelAnswer:
    """What it answers, and what it changes; a document past its expiry expires before anything else (D10)."""
    person = next((p for p in paper.people if p.id == act.who), None)
    link = next((k for k in person.links if k.token == act.token), None) if person else None
    if paper.deleted or (link is not None and not lives(paper, link, now)):
        return ModelAnswer("not_found")
    meet(paper, now)
    if act.kind in OF_ONE and person is None:
        return ModelAnswer("not_found")
    if refused := TABLE[act.kind].get(paper.status) or find_lock(paper, act, now, retained_days):
        return ModelAnswer(refused, paper.status)
    refusal = ACTS[act.kind](paper, person or NOBODY, act, now)
    return ModelAnswer(refusal, paper.status) if refusal else ModelAnswer(OK)


def find_lock(paper: Paper, act: Attempt, now: int, retained_days: int | None) -> str | None:
    """A completed document is not deleted while it must be kept (D12)."""
    if act.kind != "delete" or paper.status != "completed" or retained_days is None:
        return None
    assert paper.ended_at is not None
    return "retention_locked" if now < paper.ended_at + retained_days * DAY else None


def meet(paper: Paper, now: int) -> None:
    """D10: whoever meets it past its expiry lets it expire."""
    if paper.status == "sent" and paper.expires_at is not None and now >= paper.expires_at:
        close(paper, "expired", now)
        paper.add_event("document.expired")
        paper.moves.append("D10")


def lives(paper: Paper, link: Link, now: int) -> bool:
    """Whether a link is still known; those of a closed document work 30 days longer, to read (contract 7)."""
    if link.revoked or (link.until is not None and now >= link.until):
        return False
    return paper.ended_at is None or now < paper.ended_at + 30 * DAY


# ---------- what each attempt does where the status allows it ----------


def nothing(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    return None


def edit_content(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    paper.title = f"title {act.value}"
    paper.moves.append("D2")
    return None


def add(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """The id is the installation's to make: whoever asked puts it in."""
    paper.people.append(ModelPerson("", address(act), order=1 + act.value % 3))
    paper.moves.append("D2")
    return None


def reorder(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    person.order = 1 + act.value % 3
    paper.moves.append("D2")
    return None


def remove(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    paper.people.remove(person)
    paper.moves.append("D2")
    return None


def correct(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    if paper.status == "sent" and person.status == "completed":
        return "recipient_already_completed"
    if person.email == address(act):
        return None
    person.email = address(act)
    if person.active:
        for link in person.links:
            link.revoked = True
        person.reminded_at = None
        invite(paper, person, now)
    return None


def address(act: Attempt) -> str:
    """The one that a new recipient has, and that a correction gives."""
    return f"person{act.value}@example.test"


def edit_expiry(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """The value must be later than now and at most 365 days after sending."""
    if paper.expires_at != act.value:
        paper.expires_at = act.value
        reschedule(paper, now)
    return None


def edit_reminders(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    if paper.reminders != bool(act.value % 2):
        paper.reminders = bool(act.value % 2)
        reschedule(paper, now)
    return None


def edit_external(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    paper.external_id = f"order {act.value}"
    return None


def edit_metadata(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    paper.metadata = {"case": str(act.value)}
    return None


def send(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """D4."""
    if not any(p.role == "signer" for p in paper.people):
        return "document_not_ready"
    paper.status, paper.sent_at, paper.expires_at = "sent", now, now + paper.days * DAY
    paper.add_event("document.sent")
    paper.moves.append("D4")
    invite_next(paper, now)
    return None


def remind(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    pending = [p for p in paper.people if p.pending]
    due = [p for p in pending if p.reminded_at is None or now >= p.reminded_at + HOUR]
    if not due:
        return "reminder_too_soon" if pending else "no_recipient_to_remind"
    for one in due:
        remind_person(paper, one, now)
    return None


def link(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """The token is the installation's to make: whoever asked adds it."""
    return open_to(person)


def open_to(person: ModelPerson) -> str | None:
    """Why their link does not open the document; None where it does."""
    if person.status == "completed":
        return "recipient_already_completed"
    return None if person.active else "recipient_not_active"


def turn(person: ModelPerson) -> str | None:
    """Why they may not act; None where they may."""
    return open_to(person) or (None if person.acting else "recipient_not_active")


def cancel(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    close(paper, "cancelled", now)
    paper.add_event("document.cancelled")
    paper.moves.append("D11")
    return None


def delete(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """The earlier events go with the document (D12)."""
    paper.moves.append("D3" if paper.status == "draft" else "D12")
    paper.deleted = True
    paper.add_event("document.deleted")
    return None


def retry_seal(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    if not paper.seal_failures:
        return "seal_not_failed"
    paper.seal_due = now
    return None


def view(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    if refusal := open_to(person):
        return refusal
    if person.status == "sent":
        person.status = "viewed"
        paper.add_event("recipient.viewed", person)
        paper.moves.append("D5")
    return None


def complete(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """D5, and D6 with the last."""
    if refusal := turn(person):
        return refusal
    view(paper, person, act, now)
    person.status, person.next_reminder = "completed", None
    paper.add_event("recipient.completed", person)
    if all(p.status == "completed" for p in paper.people if p.acting):
        paper.status, paper.seal_due = "sealing", now
        paper.moves.append("D6")
    else:
        paper.moves.append("D5")
        invite_next(paper, now)
    return None


def decline(paper: Paper, person: ModelPerson, act: Attempt, now: int) -> str | None:
    """D9."""
    if refusal := turn(person):
        return refusal
    person.status = "declined"
    close(paper, "declined", now)
    paper.add_event("recipient.declined", person)
    paper.add_event("document.declined", person)
    paper.moves.append("D9")
    return None


ACTS: dict[str, Callable[[Paper, ModelPerson, Attempt, int], str | None]] = {
    **dict.fromkeys((*READS, "duplicate"), nothing),
    "edit content": edit_content,
    "add a recipient": add,
    "reorder a recipient": reorder,
    "remove a recipient": remove,
    "correct a recipient": correct,
    "edit expiry": edit_expiry,
    "edit reminders": edit_reminders,
    "edit externalId": edit_external,
    "edit metadata": edit_metadata,
    "send": send,
    "remind": remind,
    "link": link,
    "cancel": cancel,
    "delete": delete,
    "retry-seal": retry_seal,
    "view": view,
    "complete": complete,
    "decline": decline,
}


# ---------- invitations, reminders, ends ----------


def invite_next(paper: Paper, now: int) -> None:
    """The lowest group that is not done is asked, and with it the viewers of that group and before."""
    group = min(p.order for p in paper.people if p.acting and p.status != "completed")
    for person in sorted(paper.people, key=lambda p: p.order):
        if person.role in INVITED and person.order <= group and person.status == "created":
            invite(paper, person, now)


def invite(paper: Paper, person: ModelPerson, now: int) -> None:
    person.status, person.sent_at = "sent", now
    person.next_reminder = next_reminder(paper, person, now) if person.acting else None
    paper.add_event("recipient.sent", person)


def next_reminder(paper: Paper, person: ModelPerson, after: int) -> int | None:
    """First after 3 days, then every 4, at most 5, and one a day before expiry; never two within the hour."""
    assert paper.expires_at is not None
    plan = [person.sent_at + (3 + 4 * n) * DAY for n in range(5)]
    if paper.expires_at - DAY > person.sent_at + DAY:
        plan.append(paper.expires_at - DAY)
    coming = [at for at in plan if after + HOUR <= at < paper.expires_at]
    return min(coming) if coming and paper.reminders else None


def reschedule(paper: Paper, now: int) -> None:
    for person in paper.people:
        if person.pending:
            person.next_reminder = next_reminder(paper, person, now)


def remind_person(paper: Paper, person: ModelPerson, now: int) -> None:
    person.reminded_at, person.next_reminder = now, next_reminder(paper, person, now)
    person.reminders_sent += 1
    paper.add_event("recipient.reminded", person)


def close(paper: Paper, status: str, now: int) -> None:
    paper.status, paper.ended_at = status, now
    for person in paper.people:
        person.next_reminder = None


# ---------- what the clock and the workers do to all papers ----------


def tick(papers: list[Paper], now: int) -> None:
    """Expiries and reminders that are due."""
    for paper in papers:
        if paper.deleted:
            continue
        meet(paper, now)
        for person in paper.people:
            if paper.status == "sent" and person.next_reminder is not None and person.next_reminder <= now:
                remind_person(paper, person, now)


def seal(papers: list[Paper], now: int, broken: bool) -> None:
    """Every seal that is due is tried; one that succeeds after a failure frees all others (D7, D8)."""
    due = list(seals_due(papers, now))
    if not broken and any(paper.seal_failures for paper in due):
        due = [paper for paper in papers if paper.status == "sealing"]
    for paper in due:
        if broken:
            paper.seal_due = now + SEAL_RETRIES[min(paper.seal_failures, 3)]
            paper.seal_failures += 1
            paper.moves.append("D8")
            if paper.seal_failures == 3:
                paper.add_event("document.seal_failed")
        else:
            seal_paper(paper, now)


def seal_paper(paper: Paper, now: int) -> None:
    """D7."""
    paper.status, paper.ended_at, paper.seal_failures = "completed", now, 0
    paper.add_event("document.completed")
    paper.moves.append("D7")
    for person in paper.people:  # for cc, and viewers after the last group, the copy is all they get
        person.status = "sent" if person.status == "created" else person.status


def seals_due(papers: list[Paper], now: int) -> Iterator[Paper]:
    for paper in papers:
        if paper.status == "sealing" and paper.seal_due is not None and paper.seal_due <= now:
            yield paper


def restart(papers: list[Paper], now: int) -> None:
    """After a crash every waiting seal is due."""
    for paper in papers:
        if paper.status == "sealing":
            paper.seal_due = now
