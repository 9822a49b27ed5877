"""A whole port for the signing pages that keeps everything in memory, and the document it starts with."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import Any

from PIL import Image, ImageDraw

from esign.actions.signing.recipient_auth import make_refusal
from esign.actions.signing.signature_images import read_typed
from esign.actions.signing.signing_drafts import KeptEntries
from esign.actions.signing.typed_signature import Lettering
from esign.actions.signing.visits import (
    CancelledVisit,
    CodeVisit,
    CompletedVisit,
    DeclinedVisit,
    ExpiredVisit,
    OpenVisit,
    RenewalVisit,
    SealingVisit,
    UnknownVisit,
    Visit,
    Visitor,
    WaitingVisit,
)
from esign.config import Config
from esign.core.actor import Actor, Mode, Origin
from esign.core.document import consent
from esign.core.document.challenge import ChallengeStanding, ChallengeStep
from esign.core.document.document import (
    Document,
    Field,
    FieldType,
    File,
    Ink,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Seal,
    Status,
)
from esign.core.document.field_values import fill_fields
from esign.core.document.signing_draft import EnteredValue, SigningDraft, check_values, merge_values
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY, HOUR, MINUTE, Instant, parse
from esign.core.language import LANGUAGES
from esign.core.people.account import Organisation
from esign.pdf.drawing import typed_signature as lettering

BASE = "https://sign.example.org"
TOKEN = "kq3v8m2rt7xd-A_1"
CODE, SESSION = "417302", "a-session"
NOW = parse("2026-11-21T13:05:00Z")
A4 = PageGeometry(595.28, 841.89, 0)
PDF = b"%PDF-1.7\n%%EOF\n"


class Clock:
    def now(self) -> Instant:
        return NOW

    def monotonic(self) -> float:
        return 0.0


@dataclass
class Runtime:
    clock: Clock = field(default_factory=Clock)
    config: Config = field(default_factory=lambda: Config.model_validate({"server": {"base_url": BASE}}))


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
        File("agreement.pdf", "0" * 64, "1" * 64, (A4, A4), ("2" * 64, "3" * 64)),
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


VISITS = {
    kind.state: kind
    for kind in (
        OpenVisit,
        WaitingVisit,
        SealingVisit,
        CompletedVisit,
        DeclinedVisit,
        RenewalVisit,
        CancelledVisit,
    )
}


class MemoryPort:
    """Behaves as the actions do, by the same rules; `calls` keeps what was asked for, in order."""

    organisation = ORGANISATION

    def __init__(self, document: Document | None = None, state: str = "open") -> None:
        self.document = document or a_document()
        self.state = state
        self.calls: list[tuple[Any, ...]] = []
        self.refuse: Problem | None = None
        self.broken: Problem | None = None
        self.draft = SigningDraft()
        self.standing = ChallengeStanding(ChallengeStep.ENTER, 5, NOW, NOW + 10 * MINUTE)
        self.pictures: list[bytes] = []
        self.texts: dict[int, list[dict[str, Any]]] = {
            number: [{"top": 7.0, "text": f"Words of page {number}."}]
            for number in range(1, self.document.page_count + 1)
        }
        self.asked_at: Instant | None = None

    @property
    def recipient(self) -> Recipient:
        return self.document.recipients[0]

    def now_is(self, state: str, document: Document) -> Visit:
        self.state, self.document = state, document
        return self.seen()

    def seen(self) -> Visit:
        link = (self.document, self.recipient, self.organisation, True)
        if self.state == "unknown":
            return UnknownVisit()
        if self.state == "code":
            return CodeVisit(*link, self.standing)
        if self.state == "expired":
            return ExpiredVisit(*link, self.asked_at)
        return VISITS[self.state](*link)

    def known(self, visitor: Visitor) -> None:
        if visitor.token != TOKEN or self.state == "unknown":
            raise Problem("not_found")
        if self.refuse:
            raise self.refuse

    async def visit(self, runtime: Any, visitor: Visitor) -> Visit:
        if self.broken:
            raise self.broken
        return self.seen() if visitor.token == TOKEN else UnknownVisit()

    async def view(self, runtime: Any, visitor: Visitor, origin: Origin) -> Visit:
        self.known(visitor)
        self.calls.append(("view", origin))
        return self.seen()

    async def complete(
        self, runtime: Any, visitor: Visitor, answers: Mapping[str, Any], consent_hash: str, origin: Origin
    ) -> Visit:
        self.calls.append(("complete", answers, consent_hash, origin))
        self.known(visitor)
        if consent_hash not in {consent.hash_wording(tag, self.recipient.role) for tag in LANGUAGES}:
            raise Problem(
                "invalid_request", details=[Detail("/consent", "The words have changed.", "reference")]
            )
        given = {key: stored(value) for key, value in answers.items()}
        fields, ink = fill_fields(self.recipient, given, date(2026, 11, 21), NOW)
        done = replace(
            self.recipient, status=RecipientStatus.COMPLETED, completed_at=NOW, fields=fields, ink=ink
        )
        document = self.document.with_recipient(done)
        if document.have_all_acted():
            return self.now_is("sealing", replace(document, status=Status.SEALING))
        return self.now_is("waiting", document)

    async def read_entries(self, runtime: Any, seen: Visit) -> SigningDraft:
        return self.draft

    async def keep(
        self, runtime: Any, visitor: Visitor, given: Mapping[str, EnteredValue], since: int
    ) -> KeptEntries:
        """Not among `calls`: when something is saved is left to the page."""
        self.known(visitor)
        if self.state != "open":
            return KeptEntries(self.state, NOW)
        check_values(self.recipient, given)
        self.draft = merge_values(self.draft, given, NOW)
        return KeptEntries(self.state, NOW, self.draft.revision)

    async def send_code(self, runtime: Any, visitor: Visitor, origin: Origin) -> Visit:
        self.known(visitor)
        self.calls.append(("send_code", origin))
        self.standing = ChallengeStanding(ChallengeStep.ENTER, 5, NOW + MINUTE, NOW + 10 * MINUTE)
        return self.seen()

    async def authenticate(
        self, runtime: Any, visitor: Visitor, given: str, origin: Origin
    ) -> tuple[Visit, str]:
        self.known(visitor)
        self.calls.append(("authenticate", given, origin))
        if given.replace(" ", "") != CODE:
            left = self.standing.left - 1
            self.standing = replace(
                self.standing, left=left, step=ChallengeStep.ENTER if left else ChallengeStep.SPENT
            )
            raise make_refusal(self.standing, NOW)
        self.state = "open"
        return self.seen(), SESSION

    async def ask(self, runtime: Any, visitor: Visitor, origin: Origin) -> Visit:
        self.known(visitor)
        self.calls.append(("ask", origin))
        self.asked_at = NOW
        return self.now_is("expired-asked", self.document)

    async def decline(self, runtime: Any, visitor: Visitor, reason: str | None, origin: Origin) -> Visit:
        self.calls.append(("decline", reason, origin))
        self.known(visitor)
        refused = replace(
            self.recipient, status=RecipientStatus.DECLINED, declined_at=NOW, decline_reason=reason
        )
        document = replace(self.document.with_recipient(refused), status=Status.DECLINED, closed_at=NOW)
        return self.now_is("declined", document)

    async def page_image(self, runtime: Any, visitor: Visitor, number: int, size: int) -> bytes | None:
        if not 1 <= number <= len(self.document.file.pages):
            return None
        return self.pictures[number - 1] if self.pictures else picture(number, size)

    async def filled_image(
        self, runtime: Any, visitor: Visitor, number: int, done: int, size: int
    ) -> bytes | None:
        return filled(size) if 1 <= done <= len(self.document.list_finished()) else None

    async def page_text(self, runtime: Any, visitor: Visitor, number: int) -> bytes | None:
        found = self.texts.get(number)
        return None if found is None else json.dumps({"paragraphs": found}).encode()

    async def draw_letters(self, runtime: Any, visitor: Visitor, text: object, hand: object) -> Lettering:
        self.known(visitor)
        self.calls.append(("letters", text, hand))
        ink = read_typed({"text": text, "hand": hand}, "/text")
        drawn = lettering.draw_letters(str(ink.text), ink.hand, self.recipient.locale)
        return Lettering(drawn.svg, drawn.width, " ".join(drawn.missing))

    async def read_original(self, runtime: Any, visitor: Visitor) -> tuple[str, bytes]:
        self.known(visitor)
        return self.document.file.name, PDF

    async def read_sealed(self, runtime: Any, visitor: Visitor, origin: Origin) -> tuple[str, bytes]:
        self.known(visitor)
        if self.state != "completed":
            raise Problem("document_not_completed", current_status=self.document.status)
        return "Straße „Nord“.pdf", PDF


def stored(value: Any) -> Any:
    """A signature as the actions keep it."""
    if not isinstance(value, dict):
        return value
    if value["kind"] == "typed":
        return Ink("typed", text=value["text"], hand=value["hand"])
    assert value["picture"].startswith("data:image/png;base64,")
    return Ink(value["kind"], "6" * 64, 300, 100)


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
def filled(size: int) -> bytes:
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
