"""A whole port for the signing pages that keeps everything in memory, and the document it starts with."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from PIL import Image, ImageDraw

from esign.actions.signing import Visit
from esign.config import Config
from esign.core import consent
from esign.core.account import Organisation
from esign.core.document import (
    Actor,
    Document,
    Field,
    FieldType,
    File,
    Ink,
    Mode,
    Origin,
    Page,
    Recipient,
    RecipientStatus,
    Seal,
    Status,
)
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY, HOUR, Instant, parse
from esign.core.value import fill

BASE = "https://sign.example.org"
TOKEN = "kq3v8m2rt7xd-A_1"
NOW = parse("2026-11-21T13:05:00Z")
A4 = Page(595.28, 841.89, 0)
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


class MemoryPort:
    """Behaves as the actions do, by the same rules; `calls` keeps what was asked for, in order."""

    def __init__(self, document: Document | None = None, state: str = "open") -> None:
        self.document = document or a_document()
        self.state = state
        self.calls: list[tuple[Any, ...]] = []
        self.refuse: Problem | None = None
        self.pictures = [picture(n) for n in range(1, self.document.page_count + 1)]

    @property
    def recipient(self) -> Recipient:
        return self.document.recipients[0]

    def now_is(self, state: str, document: Document) -> Visit:
        self.state, self.document = state, document
        return self.seen()

    def seen(self) -> Visit:
        if self.state == "unknown":
            return Visit("unknown")
        return Visit(self.state, self.document, self.recipient, ORGANISATION)

    def known(self, token: str) -> None:
        if token != TOKEN or self.state == "unknown":
            raise Problem("not_found")
        if self.refuse:
            raise self.refuse

    async def visit(self, runtime: Any, token: str) -> Visit:
        return self.seen() if token == TOKEN else Visit("unknown")

    async def view(self, runtime: Any, token: str, origin: Origin) -> Visit:
        self.known(token)
        self.calls.append(("view", origin))
        return self.seen()

    async def complete(
        self, runtime: Any, token: str, answers: Mapping[str, Any], consent_hash: str, origin: Origin
    ) -> Visit:
        self.calls.append(("complete", answers, consent_hash, origin))
        self.known(token)
        if consent_hash != consent.sha256("en"):
            raise Problem(
                "invalid_request", details=[Detail("/consent", "The words have changed.", "reference")]
            )
        given = {key: stored(value) for key, value in answers.items()}
        fields, ink = fill(self.recipient, given, date(2026, 11, 21), NOW)
        done = replace(
            self.recipient, status=RecipientStatus.COMPLETED, completed_at=NOW, fields=fields, ink=ink
        )
        document = self.document.with_recipient(done)
        if document.all_acted():
            return self.now_is("sealing", replace(document, status=Status.SEALING))
        return self.now_is("waiting", document)

    async def decline(self, runtime: Any, token: str, reason: str | None, origin: Origin) -> Visit:
        self.calls.append(("decline", reason, origin))
        self.known(token)
        refused = replace(
            self.recipient, status=RecipientStatus.DECLINED, declined_at=NOW, decline_reason=reason
        )
        document = replace(self.document.with_recipient(refused), status=Status.DECLINED, closed_at=NOW)
        return self.now_is("declined", document)

    async def page_image(self, runtime: Any, token: str, number: int) -> bytes | None:
        return self.pictures[number - 1] if 1 <= number <= len(self.pictures) else None

    async def original(self, runtime: Any, token: str) -> tuple[str, bytes]:
        self.known(token)
        return self.document.file.name, PDF

    async def sealed(self, runtime: Any, token: str, origin: Origin) -> tuple[str, bytes]:
        self.known(token)
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
    return Ink("drawn", "6" * 64, 300, 100)


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


def picture(number: int) -> bytes:
    """A page that looks like text, as WebP of 110 dots per inch."""
    page = Image.new("RGB", (910, 1287), "white")
    pen = ImageDraw.Draw(page)
    pen.rectangle((104, 90, 104 + 260, 112), fill="#30343c")
    for line in range(34):
        y = 160 + line * 31
        pen.rectangle(
            (104, y, 104 + (690 if line % 5 else 420) - 13 * (line * number % 7), y + 7), fill="#d4d7dc"
        )
    out = io.BytesIO()
    page.save(out, "WEBP", quality=60)
    return out.getvalue()
