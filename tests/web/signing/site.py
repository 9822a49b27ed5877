"""A document behind a signing link in a real database, the states it can be in, and the document it starts with."""

import asyncio
import hashlib
import io
import json
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from PIL import Image, ImageDraw

from esign.actions.base.stored_codes import encode_access_code, encode_mailed_code
from esign.actions.signing import signing
from esign.actions.signing.visits import Visitor
from esign.config import Config, EffectiveSettings
from esign.core.actor import Actor, Mode, Origin
from esign.core.document.challenge import (
    APART,
    CODES_A_DAY,
    LIVES,
    TRIES,
    TRIES_IN_ALL,
    WINDOW,
    Challenge,
    ChallengeStanding,
    ChallengeStep,
    Method,
)
from esign.core.document.document import (
    Document,
    Field,
    FieldType,
    File,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Seal,
    Status,
)
from esign.core.document.signing_draft import SigningDraft
from esign.core.document.state import lifecycle, renew_link
from esign.core.document.state.outcome import Event
from esign.core.errors import Problem
from esign.core.instant import DAY, HOUR, MINUTE, Instant, parse
from esign.core.people.account import Logo, Organisation
from esign.pdf.worker.workers import Workers
from esign.runtime import Runtime
from esign.store.document import (
    blobs,
    challenges,
    documents,
    outcomes,
    signing_drafts,
    signing_links,
)
from esign.store.document.signing_links import SigningLink
from esign.store.engine.connections import FILE, open_database
from esign.store.engine.database import Database, Row, Transaction, Write
from esign.store.people import logos, organisations
from esign.store.queue import audit_entries
from esign.system.bell import Bell
from esign.system.clock import GuardedClock
from esign.system.file_cache import FileCache
from esign.system.vault import Vault
from esign.web.signing import body
from esign.web.signing.words import WordLibrary
from tests.fakes import FakeClock, FakeMailbox
from tests.logos import a_logo
from tests.pristine import lay_database

T = TypeVar("T")

BASE = "https://sign.example.org"
TOKEN = "kq3v8m2rt7xd-A_1"
CODE, SESSION = "417302", "a-session"
ORIGIN = Origin("192.0.2.7", "a browser")
VAULT = Vault(bytes(range(32)))
NOW = parse("2026-11-21T13:05:00Z")
A4 = PageGeometry(595.28, 841.89, 0)
PDF = b"%PDF-1.7\n%%EOF\n"


def a_field(
    name: str, kind: FieldType, page: int, box: tuple[float, float, float, float], **more: Any
) -> Field:
    x, y, width, height = box
    options = more.pop("options", {})
    more.setdefault("required", kind is not FieldType.CHECKBOX)
    return Field(f"fld_{name}", kind, page, x, y, width, height, options=options, **more)


def all_fields() -> tuple[Field, ...]:
    """Every type, on two pages, with what each can ask for."""
    T = FieldType
    return (
        a_field("name", T.NAME, 1, (28, 21.4, 40, 2.4), label="Name"),
        a_field("email", T.EMAIL, 1, (28, 25.1, 40, 2.4), label="Email"),
        a_field("address", T.TEXT, 1, (28, 28.8, 53, 2.4), label="Address", options={"maxLength": 60}),
        a_field(
            "phone",
            T.TEXT,
            1,
            (28, 32.5, 28, 2.4),
            label="Telephone",
            required=False,
            options={"pattern": "phone"},
        ),
        a_field(
            "hours",
            T.NUMBER,
            1,
            (28, 36.2, 15, 2.4),
            label="Hours a day",
            options={"min": 1, "max": 12, "decimals": 1},
        ),
        a_field(
            "wishes",
            T.TEXT,
            1,
            (11.4, 46, 77, 8),
            label="Wishes",
            required=False,
            options={"multiline": True},
        ),
        a_field("offer", T.TEXT, 1, (28, 40, 28, 2.4), label="Offer", read_only=True, value="No. 4711"),
        a_field(
            "payment",
            T.RADIO,
            1,
            (11.4, 58, 44, 5),
            label="Payment",
            options={"options": ["Half now, half at the end", "All at the end"], "layout": "vertical"},
        ),
        a_field(
            "wood",
            T.DROPDOWN,
            1,
            (62, 58.5, 26, 2.6),
            label="Wood",
            options={"options": ["Ash", "Oak", "Walnut"]},
        ),
        a_field(
            "start",
            T.DATE,
            2,
            (28, 18, 21, 2.4),
            label="First working day",
            options={"autofill": False, "min": "2026-12-14", "max": "2027-06-30", "format": "D MMM YYYY"},
        ),
        a_field("early", T.CHECKBOX, 2, (11.4, 26, 2.4, 1.7), label="Early order", required=True),
        a_field(
            "extra1",
            T.CHECKBOX,
            2,
            (11.4, 32, 2.4, 1.7),
            label="Lights",
            options={"group": "x", "minChecked": 1, "maxChecked": 2},
        ),
        a_field("extra2", T.CHECKBOX, 2, (31, 32, 2.4, 1.7), label="Drawers", options={"group": "x"}),
        a_field("extra3", T.CHECKBOX, 2, (51, 32, 2.4, 1.7), label="Mirror", options={"group": "x"}),
        a_field("initials", T.INITIALS, 2, (74, 46, 14.3, 4.4), label="Initials"),
        a_field("signature", T.SIGNATURE, 2, (11.4, 70, 34, 6.4), label="Signature"),
        a_field("date", T.DATE, 2, (11.4, 79, 21, 2.4), label="Date", options={"format": "D MMM YYYY"}),
    )


def a_recipient(fields: tuple[Field, ...] | None = None, **more: Any) -> Recipient:
    standard: dict[str, Any] = {"order": 1, "status": RecipientStatus.SENT, "sent_at": NOW - 2 * HOUR}
    return Recipient(
        "rcp_jonas",
        "jonas.weber@example.com",
        "Jonas Weber",
        fields=all_fields() if fields is None else fields,
        **{**standard, **more},
    )


def other() -> Recipient:
    """The sender, who signs after the reader."""
    return Recipient(
        "rcp_mira",
        "mira@northlight.example",
        "Mira Okafor",
        order=2,
        fields=(
            a_field("o_signature", FieldType.SIGNATURE, 2, (52.9, 70, 34, 6.4), label="Signature"),
            a_field("o_date", FieldType.DATE, 2, (52.9, 79, 21, 2.4), label="Date"),
        ),
    )


def a_document(*recipients: Recipient, **more: Any) -> Document:
    standard: dict[str, Any] = {
        "status": Status.SENT,
        "recipients": recipients or (a_recipient(), other()),
        "message": "Hello Jonas, here is the agreement as we discussed it on Tuesday.\n\n"
        "Please choose how you would like to pay and the day on which we start.",
        "sent_at": NOW - 2 * HOUR,
        "expires_at": NOW + 29 * DAY,
    }
    return Document(
        "doc_1",
        "org_1",
        more.pop("mode", Mode.LIVE),
        more.pop("title", "Joinery agreement, 14 Linden Row"),
        File("agreement.pdf", "0" * 64, "1" * 64, (A4, A4)),
        more.pop("created_by", Actor("member", "mem_1", "Mira Okafor", "mira@northlight.example")),
        NOW - DAY,
        NOW - DAY,
        **{**standard, **more},
    )


ORGANISATION = Organisation(
    "org_1",
    "Northlight Joinery",
    "en",
    "Europe/Berlin",
    NOW,
    colour="#7a4a1d",
    reply_to="office@northlight.example",
)
SEAL = Seal("B-B", NOW, "4" * 64, 412_345, 3, "Esign", False, "5" * 64)


class BreakableDatabase:
    """The database of a site, which raises what the site is told to; `used` counts what was asked of it."""

    def __init__(self, real: Database, site: "SigningSite") -> None:
        self.real, self.site, self.used = real, site, 0
        self.damage = real.damage
        self.points = self

    async def all(self, sql: str, **values: Any) -> list[Row]:
        self.used += 1
        if self.site.broken:
            raise self.site.broken
        return await self.real.all(sql, **values)

    async def one(self, sql: str, **values: Any) -> Row | None:
        rows = await self.all(sql, **values)
        return rows[0] if rows else None

    async def write(self, write: Write[T]) -> T:
        if self.site.refuse:
            raise self.site.refuse
        return await self.real.write(write)


MAIL = {"host": "mail.example.org", "from": "esign@example.org"}
OPENED: set["SigningSite"] = set()


async def close_sites() -> None:
    """Close what a test has opened, in its loop."""
    for site in list(OPENED):
        await site.close()


class SigningSite:
    """One document behind a signing link, in a database of its own.

    The link shows it in `state`. What a test changes here stands in a new database before the next request; what
    a request changed stands here after it. `calls` keeps the requests that reached an action, in order, but those
    that save a draft: when something is saved is left to the page. With `broken` nothing can be read, with
    `refuse` nothing can be written.
    """

    def __init__(self, document: Document | None = None, state: str = "open") -> None:
        self.document = document or a_document()
        self.state = state
        self.base = BASE
        self.clock = FakeClock(NOW)
        self.organisation = ORGANISATION
        self.calls: list[tuple[Any, ...]] = []
        self.trail: list[str] = []
        self.refuse: Problem | None = None
        self.broken: Problem | None = None
        self.draft = SigningDraft()
        self.standing = ChallengeStanding(ChallengeStep.ENTER, 5, NOW, NOW + 9 * MINUTE)
        self.pictures: list[bytes] = []
        self.logo: bytes | None = None
        self.library = WordLibrary.load()
        self.undrawable: set[int] = set()
        self.texts: dict[int, list[dict[str, Any]]] = {
            number: [{"top": 7.0, "text": f"Words of page {number}."}]
            for number in range(1, self.document.page_count + 1)
        }
        self.asked_at: Instant | None = None
        self._method = self.recipient.authentication
        self._opened = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._stored: object = None
        self._runtime: Runtime | None = None

    @property
    def recipient(self) -> Recipient:
        return self.document.recipients[0]

    @property
    def runtime(self) -> Runtime:
        assert self._runtime is not None
        return self._runtime

    @property
    def database(self) -> BreakableDatabase:
        return cast(BreakableDatabase, self.runtime.db)

    async def open(self) -> Runtime:
        """The tools of the pages, over a database that holds what stands here."""
        async with self._lock:
            if self._runtime is None or self._stored != self._describe():
                self._runtime = await self._make_runtime()
                await self.database.real.write(self._store)
                self._stored = self._describe()
        return self._runtime

    def _describe(self) -> object:
        given = (self.document, self.state, self.organisation, self.standing, self.asked_at)
        return given, tuple(self.pictures), json.dumps(self.texts)

    async def _make_runtime(self) -> Runtime:
        """Real tools, as far as the pages use them."""
        OPENED.add(self)
        folder = Path(self._opened.enter_context(TemporaryDirectory()))
        lay_database(folder / FILE)
        database = await open_database(folder / FILE)
        self._opened.push_async_callback(database.close)
        pdf = Workers() if self._runtime is None else self._runtime.pdf
        self._opened.push_async_callback(pdf.close)
        return Runtime(
            settings=EffectiveSettings(
                Config.model_validate({"server": {"base_url": self.base}, "mail": MAIL})
            ),
            clock=GuardedClock(self.clock),
            db=cast(Database, BreakableDatabase(database, self)),
            vault=VAULT,
            pdf=pdf,
            mail=FakeMailbox(),
            http=cast(Any, None),
            direct=cast(Any, None),
            tsa=cast(Any, None),
            keyring=cast(Any, None),
            credentials={},
            bell=Bell(),
            boot="boot_1",
            room=cast(Any, None),
            pictures=FileCache(folder / "pictures", 2**30),
        )

    async def close(self) -> None:
        OPENED.discard(self)
        await self._opened.aclose()

    # ---------- what is stored ----------

    async def _store(self, tx: Transaction) -> None:
        await organisations.add(tx, self.organisation)
        if self.logo:
            await logos.save(tx, self.organisation.id, sha256(self.logo), self.logo)
        if self.state == "unknown":
            return
        document, me = self._settle_document(), self._settle_document().recipients[0]
        await blobs.add(tx, PDF, NOW)
        await documents.add(tx, document)
        await blobs.attach(tx, document.id, document.file.prepared)
        await signing_links.add(tx, TOKEN, SigningLink(me.id, document.id, "recipient"), NOW)
        created = Event("document.created", NOW, document.created_by)
        await outcomes.record(tx, document.id, (created,), VAULT)
        asked_at = NOW if self.state == "expired-asked" else self.asked_at
        if asked_at is not None:
            asked = Event(renew_link.ASKED, asked_at, lifecycle.make_actor(me), me.id)
            await outcomes.record(tx, document.id, (asked,), VAULT)
        for number, paragraphs in self.texts.items():
            text = json.dumps({"paragraphs": paragraphs}).encode()
            self.runtime.pictures.write(document.file.prepared, f"{number}.text", text)
        await challenges.save(tx, self._challenge(me))
        self.document = document

    def _settle_document(self) -> Document:
        """The document in the state that the link is to show, with contents that exist."""
        file = replace(self.document.file, uploaded=sha256(PDF), prepared=sha256(PDF))
        document, me = replace(self.document, file=file), self.recipient
        asked = self._method if self._method != Method.LINK else Method.EMAIL_CODE
        me = replace(me, authentication=asked if self.state == "code" else Method.LINK)
        if me.authentication == Method.ACCESS_CODE:
            me = replace(me, access_code=encode_access_code(VAULT, CODE))
        if self.state == "waiting" and me.is_active:
            me = replace(me, status=RecipientStatus.CREATED, sent_at=None)
        status = STATUS.get(self.state, document.status)
        seal = document.seal
        if status is Status.COMPLETED:
            seal = replace(seal or SEAL, sha256=sha256(PDF))
        return replace(document.with_recipient(me), status=status, seal=seal)

    def _challenge(self, me: Recipient) -> Challenge:
        """What has happened to the codes, so that their standing is `standing`."""
        step, at = self.standing.step, self.standing.at
        challenge = Challenge(me.id)
        if me.authentication == Method.ACCESS_CODE:
            tries = TRIES - self.standing.left if step is ChallengeStep.ENTER else TRIES
            since = at - WINDOW if at is not None and step is ChallengeStep.WAIT else NOW
            in_all = TRIES_IN_ALL if step is ChallengeStep.BLOCKED else tries
            return replace(challenge, tries=tries, tries_since=since, tries_in_all=in_all)
        if step is ChallengeStep.ASK and (at is None or at <= NOW):
            return challenge
        sent_at = NOW - LIVES if step is ChallengeStep.EXPIRED else NOW - APART if at is None else at - APART
        code = None if step is ChallengeStep.ASK else encode_mailed_code(VAULT, me.id, CODE)
        tries = {ChallengeStep.SPENT: TRIES, ChallengeStep.EXPIRED: 0}.get(step, TRIES - self.standing.left)
        sent = CODES_A_DAY if step is ChallengeStep.EXPIRED and at is not None and at > NOW else 1
        return replace(challenge, code=code, sent_at=sent_at, sent_on=NOW // DAY, sent=sent, tries=tries)

    async def prove(self, session: str) -> None:
        """From now on the browser with this session has entered the code."""

        async def write(tx: Transaction) -> None:
            await challenges.prove(tx, None, session, self.recipient.id, NOW + HOUR)

        await (await self.open()).db.write(write)

    def use_logo(self, width: int, height: int) -> None:
        """Have the organisation show a logo of this size in pixels."""
        self.logo = a_logo(width, height)
        self.organisation = replace(self.organisation, logo=Logo(sha256(self.logo), width, height))

    def picture(self, number: int, size: int) -> bytes:
        return self.pictures[number - 1] if self.pictures else picture((number - 1) % 7 + 1, size)

    async def draw(self, path: str, query: str) -> None:
        """Keep the view that is asked for, as if a worker had drawn it."""
        found = re.fullmatch(r".*/pages/(\d+)(?:/filled-(\d+))?\.webp", path)
        size = {"": 1, "size=2": 2, "size=3": 3}.get(query)
        if found is None or size is None or not 1 <= int(found[1]) <= self.document.page_count:
            return
        number, done = int(found[1]), found[2]
        if number in self.undrawable:
            self.refuse_to_draw(number, size)
            return
        name = f"{number}.{size}" if done is None else f"{number}.{size}.{done}"
        content = self.picture(number, size) if done is None else fill_stroke(size)
        self.runtime.pictures.write(sha256(PDF) if done is None else self.document.id, name, content)

    def refuse_to_draw(self, number: int, size: int) -> None:
        """Let the workers remember that this page has brought one down."""
        file, now = sha256(PDF), asyncio.get_running_loop().time()
        for name in (f"pictures {file} {size} 2", f"picture {file} {number} {size} 10"):
            self.runtime.pdf.failures.add(name, "it used more processor time than a job may", now)

    # ---------- what a request has done ----------

    async def note(self, act: str, raw: bytes) -> None:
        """Read back what a POST has changed, and add it to `calls`."""
        given = json.loads(raw or b"{}")
        if act == "complete":
            self.calls.append((act, *body.read_answers(given), ORIGIN))
        elif act == "decline":
            self.calls.append((act, body.read_reason(given), ORIGIN))
        elif act == "authenticate":
            self.calls.append((act, given["code"], ORIGIN))
        elif act == "letters":
            self.calls.append((act, given.get("text"), given.get("hand")))
        elif act in NAMES:
            self.calls.append((NAMES[act], ORIGIN))
        if act == "code":
            await self.database.real.write(self._know_code)
        await self.read_back()

    async def _know_code(self, tx: Transaction) -> None:
        """Have the code that was drawn and mailed be CODE."""
        challenge = await challenges.get(tx, self.recipient.id)
        if challenge.code is not None:
            mac = encode_mailed_code(VAULT, challenge.recipient_id, CODE)
            await challenges.save(tx, replace(challenge, code=mac))

    async def read_back(self) -> None:
        """What stands in the database, unless the test has changed something meanwhile."""
        if self.state == "unknown":
            return
        async with self._lock:
            database, state = self.database.real, self.state
            document = await documents.get(database, self.document.id)
            entries = await audit_entries.find_entries(database, document.id)
            self.draft = await signing_drafts.get(database, self.recipient.id, VAULT)
            self.trail = [one.type for one in entries if one.type != "document.created"]
            if state != "code":
                state = (await signing.visit(replace(self.runtime, db=database), Visitor(TOKEN))).state
            if self._stored == self._describe():
                self.document, self.state = document, state
                self._stored = self._describe()


NAMES = {"view": "view", "code": "send_code", "renewal": "ask"}
STATUS = {
    "open": Status.SENT,
    "waiting": Status.SENT,
    "sealing": Status.SEALING,
    "completed": Status.COMPLETED,
    "declined": Status.DECLINED,
    "expired": Status.EXPIRED,
    "expired-asked": Status.EXPIRED,
    "cancelled": Status.CANCELLED,
}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def with_status(status: RecipientStatus, **more: Any) -> Recipient:
    """The reader after acting."""
    return a_recipient(status=status, **more)


STATES: Mapping[str, tuple[str, Document]] = {
    "not_yet": (
        "waiting",
        a_document(
            a_recipient(order=3, status=RecipientStatus.CREATED, sent_at=None),
            replace(other(), order=1, status=RecipientStatus.SENT, sent_at=NOW - DAY),
        ),
    ),
    "done_waiting": (
        "waiting",
        a_document(
            with_status(RecipientStatus.COMPLETED, completed_at=NOW),
            replace(other(), status=RecipientStatus.SENT, sent_at=NOW),
        ),
    ),
    "sealing": (
        "sealing",
        a_document(with_status(RecipientStatus.COMPLETED, completed_at=NOW), status=Status.SEALING),
    ),
    "sealing_late": (
        "sealing",
        a_document(
            with_status(RecipientStatus.COMPLETED, completed_at=NOW),
            status=Status.SEALING,
            seal_attempts=2,
            redirect_url="https://northlight.example/thanks",
        ),
    ),
    "completed": (
        "completed",
        a_document(
            with_status(RecipientStatus.COMPLETED, completed_at=NOW),
            replace(other(), status=RecipientStatus.COMPLETED, completed_at=NOW + HOUR),
            status=Status.COMPLETED,
            completed_at=NOW + HOUR,
            seal=SEAL,
            redirect_url="https://northlight.example/thanks",
        ),
    ),
    "declined": (
        "declined",
        a_document(
            with_status(
                RecipientStatus.DECLINED,
                declined_at=NOW,
                decline_reason="The window seat is no longer part of what we want.",
            ),
            status=Status.DECLINED,
            closed_at=NOW,
        ),
    ),
    "declined_by_other": (
        "declined",
        a_document(
            a_recipient(),
            replace(other(), status=RecipientStatus.DECLINED, declined_at=NOW),
            status=Status.DECLINED,
            closed_at=NOW,
        ),
    ),
    "expired": ("expired", a_document(status=Status.EXPIRED, expires_at=NOW - DAY, closed_at=NOW - DAY)),
    "expired_done": (
        "expired",
        a_document(
            with_status(RecipientStatus.COMPLETED, completed_at=NOW - 2 * DAY),
            replace(other(), status=RecipientStatus.SENT, sent_at=NOW - 2 * DAY),
            status=Status.EXPIRED,
            expires_at=NOW - DAY,
            closed_at=NOW - DAY,
        ),
    ),
    "expired_asked": (
        "expired-asked",
        a_document(status=Status.EXPIRED, expires_at=NOW - DAY, closed_at=NOW - DAY),
    ),
    "cancelled": (
        "cancelled",
        a_document(
            status=Status.CANCELLED,
            closed_at=NOW,
            close_reason="I send you a new version without the window seat.",
            mode=Mode.TEST,
        ),
    ),
    "unknown": ("unknown", a_document()),
}


@cache
def picture(number: int, size: int = 1) -> bytes:
    """A page that looks like text, as WebP of 110 dots per inch or a multiple."""
    page = Image.new("RGB", (910 * size, 1287 * size), "white")
    pen = ImageDraw.Draw(page)
    pen.rectangle((104 * size, 90 * size, 364 * size, 112 * size), fill="#30343c")
    for line in range(34):
        y, end = 160 + line * 31, 104 + (690 if line % 5 else 420) - 13 * (line * number % 7)
        pen.rectangle((104 * size, y * size, end * size, (y + 7) * size), fill="#d4d7dc")
    return webp(page)


@cache
def fill_stroke(size: int) -> bytes:
    """A stroke across the lower half, on clear ground."""
    page = Image.new("RGBA", (910 * size, 1287 * size), (0, 0, 0, 0))
    ImageDraw.Draw(page).line(
        (490 * size, 960 * size, 780 * size, 910 * size), fill="#14213d", width=6 * size
    )
    return webp(page)


def webp(page: Image.Image) -> bytes:
    out = io.BytesIO()
    page.save(out, "WEBP", quality=60)
    return out.getvalue()
