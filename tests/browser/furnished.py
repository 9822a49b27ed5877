"""An office at work: an owner who is signed in, and documents in every state a person can meet."""

from dataclasses import replace
from typing import Any

from esign.actions.people import one_time_links, sessions
from esign.actions.people.sessions import SignInRequest
from esign.core.actor import Actor, Mode, Origin
from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus, Status
from esign.core.document.state import lifecycle
from esign.core.instant import DAY, HOUR, MINUTE, Instant
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.user import Stage as Come
from esign.demo import contract
from esign.runtime import Runtime
from esign.store.document import blobs, documents, outcomes
from esign.store.engine.database import Transaction
from esign.store.people import members, organisations, users
from esign.system.entropy import make_id
from esign.system.passwords import build_known_lane
from tests.browser.stage import BrowserStage
from tests.factories import a_recipient, a_seal, sha256

PASSWORD = "copper kettle under nine maples"
OWNER = "Maren Holt"
DONE, SEEN, ASKED, LATER = (
    RecipientStatus.COMPLETED,
    RecipientStatus.VIEWED,
    RecipientStatus.SENT,
    RecipientStatus.CREATED,
)
REFUSED = {"delivery": MailDelivery.FAILED, "delivery_error": "550 5.1.1 no such user"}


def signed_in(
    stage: BrowserStage, name: str = OWNER, role: MemberRole = MemberRole.OWNER, mode: Mode = Mode.LIVE
) -> dict[str, Any]:
    """What `Visits.at` takes as `storage_state`: the browser of somebody new who has just signed in.

    Their address is `<first name>@example.test`, their password PASSWORD.
    """
    token = stage.do(begin(stage.site.runtime, name, role, mode))
    cookie = {"name": "esign", "value": token, "url": stage.site.base, "httpOnly": True, "sameSite": "Lax"}
    return {"cookies": [place_cookie(cookie)], "origins": []}


def place_cookie(cookie: dict[str, Any]) -> dict[str, Any]:
    """With what the browser makes of its address."""
    host = cookie.pop("url").split("//")[1].split(":")[0]
    return {**cookie, "domain": host, "path": "/", "expires": -1, "secure": False}


async def begin(runtime: Runtime, name: str, role: MemberRole, mode: Mode) -> str:
    now = runtime.clock.now()
    email = f"{name.split()[0].lower()}@example.test"
    organisation = await organisations.find_first(runtime.db)
    assert organisation
    user = one_time_links.make_user(
        email, name, now, await runtime.passwords.hash(PASSWORD, build_known_lane(email))
    )
    member = Member(
        make_id("mem", now), organisation.id, email, name, role, MemberStatus.ACTIVE, now, user.id
    )

    async def write(tx: Transaction) -> None:
        await users.add(tx, user)
        await members.add(tx, member)

    await runtime.db.write(write)
    origin = Origin("127.0.0.1", None)
    token, session = await sessions.begin_session(
        runtime, user, organisation.id, Come.WHOLE, SignInRequest(origin)
    )
    signed = await sessions.find_signed_in(runtime, session)
    assert signed and await sessions.switch_organisation(runtime, signed, organisation.id, mode)
    return token


def furnish(stage: BrowserStage) -> list[Document]:
    """One document in each state, newest first, all with the pages of the sample contract."""
    return stage.do(fill(stage))


async def fill(stage: BrowserStage) -> list[Document]:
    runtime, api = stage.site.runtime, stage.site.api
    first = await api.ok("POST", "/documents", contract.build_create_body())
    draft = await documents.get(runtime.db, first["id"])
    made = [*states(draft, runtime.clock.now())]

    async def write(tx: Transaction) -> None:
        for document in reversed(made):
            outcome = lifecycle.create(document, Origin(), document.created_at)
            await outcomes.add(tx, outcome, runtime.vault, document.created_at)
            if document.seal:
                for content in make_sealed_files(document.id):
                    await blobs.attach(tx, document.id, await blobs.add(tx, content, document.created_at))
        await documents.delete(tx, draft)

    await runtime.db.write(write)
    return made


def make_sealed_files(document_id: str) -> tuple[bytes, bytes]:
    """What stands for the sealed file and its certificate: the sample, each time with other bytes."""
    return (
        contract.read_pdf() + f"% {document_id}\n".encode(),
        contract.read_pdf() + f"% of {document_id}\n".encode(),
    )


def people(*wanted: tuple[str, RecipientStatus], **last: Any) -> tuple[Recipient, ...]:
    """One after the other; `last` are members of the last of them."""
    made = [a_recipient(name, status=status, order=n) for n, (name, status) in enumerate(wanted, 1)]
    return (*made[:-1], replace(made[-1], **last)) if made else ()


def states(draft: Document, now: Instant) -> list[Document]:
    """Newest first."""
    maren, idris = Actor("member", "mem_1", OWNER), Actor("member", "mem_2", "Idris Okafor")
    portal = Actor("api_key", "key_1", "Practice portal")
    visitors = [(f"Visitor {n}", DONE if n < 6 else SEEN if n < 7 else LATER) for n in range(1, 10)]
    sealing = {
        "status": Status.SEALING,
        "seal_error": "The time stamp server did not answer.",
        "seal_attempts": 3,
    }
    rows: list[tuple[str, Actor, int, tuple[Recipient, ...], dict[str, Any]]] = [
        (
            "Office lease renewal 2027",
            idris,
            10 * MINUTE,
            people(("Ada Byron", DONE), ("Jo Li", DONE)),
            sealing,
        ),
        (
            "Consultancy agreement, Lindqvist Survey",
            portal,
            38 * MINUTE,
            people(("Ada Byron", DONE), ("O. Lindqvist", ASKED), **REFUSED),
            {"status": Status.SENT},
        ),
        (
            "Appointment of architect, 14 Quay Street",
            maren,
            2 * HOUR,
            people(("Helena Brandt", DONE), ("Tomas Reyes", DONE), ("Jonas Alder", SEEN)),
            {"status": Status.SENT},
        ),
        (
            "Non-disclosure agreement, Brightwater Analytics",
            idris,
            DAY,
            people(("Noor Haddad", ASKED), ("Ada Byron", LATER)),
            {"status": Status.SENT},
        ),
        (
            "Site visit: risk acknowledgement, 9 visitors",
            maren,
            DAY + HOUR,
            people(*visitors),
            {"status": Status.SENT},
        ),
        (
            "Consultancy agreement, Becker Structural",
            portal,
            DAY + 2 * HOUR,
            people(("Jo Li", DONE), ("Ada Byron", DONE), ("Uwe Becker", DONE)),
            {"status": Status.SEALING},
        ),
        ("Fee proposal, Millbrook School", maren, DAY + 3 * HOUR, (), {}),
        (
            "Employment contract, Priya Raman",
            maren,
            3 * DAY,
            people(("Priya Raman", DONE), ("Beth Finch", DONE)),
            {"status": Status.COMPLETED},
        ),
        (
            "Supplier framework, Osgood Stone",
            idris,
            4 * DAY,
            people(
                ("Ada Byron", DONE),
                ("Janet Osgood", RecipientStatus.DECLINED),
                decline_reason="The price changed.",
            ),
            {"status": Status.DECLINED, "close_reason": "The price changed."},
        ),
        (
            "Equipment hire, laser scanner",
            maren,
            12 * DAY,
            people(("Ada Byron", DONE), ("Tomas Reyes", SEEN)),
            {"status": Status.EXPIRED},
        ),
        (
            "Board resolution 2026-11",
            maren,
            14 * DAY,
            people(("Ada Byron", SEEN)),
            {"status": Status.CANCELLED},
        ),
    ]
    return [
        state_document(draft, title, actor, now - age, who, more) for title, actor, age, who, more in rows
    ]


def state_document(
    draft: Document, title: str, actor: Actor, at: Instant, who: tuple[Recipient, ...], more: dict[str, Any]
) -> Document:
    status = more.get("status", Status.DRAFT)
    id = make_id("doc", at)
    hashes = [sha256(content) for content in make_sealed_files(id)]
    seal = a_seal(
        page_count=draft.page_count + 2,
        sha256=hashes[0],
        certificate_sha256=hashes[1],
        size=len(make_sealed_files(id)[0]),
    )
    times = {
        "created_at": at,
        "updated_at": at,
        "sent_at": None if status is Status.DRAFT else at,
        "expires_at": None if status is Status.DRAFT else at + 30 * DAY,
        "completed_at": at if status is Status.COMPLETED else None,
        "closed_at": at if status in (Status.DECLINED, Status.EXPIRED, Status.CANCELLED) else None,
        "seal": seal if status is Status.COMPLETED else None,
    }
    return replace(
        draft, id=id, title=title, created_by=actor, recipients=who, external_id=None, **(times | more)
    )
