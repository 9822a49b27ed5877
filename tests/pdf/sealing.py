"""Documents, values and facts to seal in tests."""

import base64
import io
import os
import subprocess
from dataclasses import replace
from typing import Any

import pikepdf
import pypdfium2
from pikepdf import Array, Dictionary, Name
from PIL import Image, ImageDraw

from esign.core.actor import Actor, Origin
from esign.core.document import audit, audit_file
from esign.core.document.state.outcome import Event
from esign.pdf.report import AuditHead
from esign.pdf.seal.seal import SealTerms
from esign.pdf.seal_order import DrawnField, SealOrder
from tests.pdf.local_seal import LocalKey, fill_file, prepare_file
from tests.pki import NOW

ID = "doc_01kzt0v8q3e5m7p9r1s3t5v7w9"
BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0"
SCRIPTS = {
    "Latin": "Łukasz Żółkiewski-Nguyễn",
    "Greek": "Γιώργος Παπαδόπουλος",
    "Cyrillic": "Александра Верещагина",
    "Arabic": "محمد عبد الرحمن السيد",
    "Hebrew": "נועה בן־דוד",
    "Devanagari": "प्रियंका श्रीवास्तव",
    "Thai": "สมชาย ศรีสุวรรณ",
    "emoji": "Zoë 😀👍🏽 ❤️ 1️⃣ 👩‍👩‍👧 🇩🇪",
}


def a_pdf(*pages: dict[str, Any], title: str | None = None, words: str = "A line of the contract") -> bytes:
    """A PDF with a line of text on each page; each page as the entries of its dictionary."""
    pdf = pikepdf.new()
    font = pdf.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
    for entries in pages or ({},):
        page = pdf.add_blank_page(page_size=(595, 842))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font))
        page.obj.Contents = pdf.make_stream(f"BT /F1 12 Tf 60 60 Td ({words}) Tj ET".encode())
        for name, value in entries.items():
            page.obj[Name("/" + name)] = Array(value) if isinstance(value, list) else value
    if title:
        pdf.docinfo["/Title"] = title
    return save_pdf(pdf)


def save_pdf(pdf: pikepdf.Pdf, **how: Any) -> bytes:
    target = io.BytesIO()
    pdf.save(target, **how)
    return target.getvalue()


def a_picture() -> dict[str, Any]:
    """A pen stroke as the signing page sends it, already made anew."""
    image = Image.new("RGBA", (300, 100), (0, 0, 0, 0))
    ImageDraw.Draw(image).line([(10, 80), (90, 15), (150, 85), (290, 30)], fill=(20, 30, 90, 255), width=5)
    target = io.BytesIO()
    image.save(target, "PNG")
    encoded = base64.b64encode(target.getvalue()).decode()
    return {"type": "png", "width": 300, "height": 100, "base64": encoded}


def a_field(type: str, value: str | bool | None = None, **changes: Any) -> DrawnField:
    known: dict[str, Any] = {"page": 1, "x": 10, "y": 10, "width": 40, "height": 5, "id": f"fld_{type}"}
    return DrawnField(type=type, value=value, **(known | changes))


def every_type(page: int = 1) -> tuple[DrawnField, ...]:
    """One field of each type of the contract, filled in."""
    rows: list[tuple[str, str | bool | None, dict[str, Any]]] = [
        ("signature", None, {"kind": "drawn", "picture": a_picture(), "height": 6}),
        ("initials", None, {"kind": "typed", "text": "JL", "hand": "a"}),
        ("date", "2026-11-20", {"options": {"format": "D MMM YYYY"}}),
        ("name", "Jo Li", {}),
        ("email", "jo@example.com", {}),
        ("text", "Ring twice.\nThen wait.", {"options": {"multiline": True}, "height": 8}),
        ("number", "1250.50", {"align": "right"}),
        ("checkbox", True, {"width": 2.5, "height": 2}),
        ("radio", "By card", {"options": {"options": ["By card", "In cash"]}, "height": 8}),
        ("dropdown", "Northern region", {}),
    ]
    return tuple(
        a_field(kind, value, page=page, y=5 + 8.5 * row, **more)
        for row, (kind, value, more) in enumerate(rows)
    )


def a_recipient(name: str = "Amélie Dubois-Lefèvre", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "email": "amelie@example.org",
        "role": "signer",
        "status": "signed",
        "authentication": {"method": "link", "result": "passed", "links": ["email"], "code": None},
        "ip": "203.0.113.7",
        "device": {"browser": "Firefox 132", "system": "Windows"},
        "consent": "v1, 2026-09-01",
        "sent_at": "2026-11-20T09:17:07+01:00",
        "viewed_at": "2026-11-20T10:15:31+01:00",
        "signed_at": "2026-11-20T10:21:01+01:00",
        "signature": {"kind": "drawn", "picture": a_picture()},
    } | changes


def the_facts(*recipients: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What stands on a certificate page, as the actions collect it."""
    people = list(recipients or (a_recipient(),))
    events = [("document.created", "member"), ("document.sent", "member"), ("document.completed", "system")]
    audit = [
        {
            "seq": seq,
            "at": "2026-11-20T10:21:02+01:00",
            "type": type,
            "actor": {"kind": kind, "name": "Katharina Vogel"},
            "ip": None,
            "note": None,
            "hash": "ab" * 32,
        }
        for seq, (type, kind) in enumerate(events, 1)
    ]
    return {
        "paper": "a4",
        "lang": "en",
        "mode": "live",
        "time_zone": "Europe/Berlin",
        "organisation": {"name": "Acme Ltd", "colour": "#0f6b78", "logo": None},
        "verify": {"url": "https://sign.example.org/verify/doc_1", "short": "sign.example.org/verify"},
        "document": {
            "id": "doc_01kzt0v8q3e5m7p9r1s3t5v7w9",
            "title": "Supply agreement 2027",
            "file_name": "supply.pdf",
            "status": "completed",
            "pages": 1,
            "sender": {"name": "Katharina Vogel", "email": "k.vogel@example.org"},
            "sent_at": "2026-11-20T09:17:07+01:00",
            "closed_at": "2026-11-20T10:21:02+01:00",
            "close_reason": None,
        },
        "files": {"uploaded_sha256": "12" * 32, "prepared_sha256": "34" * 32},
        "seal": None,
        "recipients": people,
        "audit": audit,
        "chain": {"entries": len(audit), "head": "ab" * 32},
    } | changes


def an_order(prepared: bytes, *fields: DrawnField, now: int = NOW, **facts: Any) -> SealOrder:
    return SealOrder(prepared, fields, the_facts(**facts), now)


def a_trail(entries: int = 6) -> list[audit.AuditEntry]:
    lines: list[audit.AuditEntry] = []
    for seq in range(1, entries + 1):
        actor = Actor("recipient", f"rcp_{seq}", f"Zoë 山田 {seq}", "zoe@example.org")
        event = Event("recipient.viewed", NOW + seq, actor, actor.id, Origin("2001:db8::1", BROWSER))
        lines.append(
            audit.make_entry(event, ID, seq, lines[-1].hash if lines else audit.START, os.urandom(16))
        )
    return lines


def make_seal_order(lines: list[audit.AuditEntry], prepared: bytes | None = None) -> SealOrder:
    chain = {"entries": len(lines), "head": lines[-1].hash.hex()}
    order = an_order(prepared or a_pdf(), chain=chain)
    return replace(order, trail=audit_file.write_audit_file(ID, lines))


def text_of(pdf: bytes, page: int | None = None) -> str:
    """What a reader copies out, by poppler."""
    pages = ["-f", str(page), "-l", str(page)] if page else []
    run = subprocess.run(
        ["pdftotext", *pages, "-layout", "-", "-"], input=pdf, capture_output=True, check=True
    )
    return run.stdout.decode()


def image_of(pdf: bytes, page: int = 1, scale: float = 1.0) -> Image.Image:
    document = pypdfium2.PdfDocument(pdf)
    try:
        image: Image.Image = document[page - 1].render(scale=scale).to_pil().convert("RGB")
        return image
    finally:
        document.close()


def words(text: str) -> str:
    """Without what readers put between letters: white space, marks of direction, joiners."""
    unseen = dict.fromkeys([0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), 0xFE0F])
    return "".join(text.translate(unseen).split())


def sign_file(
    pdf: bytes,
    key: LocalKey,
    now: int,
    reason: str,
    head: AuditHead | None = None,
    trail: bytes | None = None,
) -> bytes:
    """The file with a seal without time stamp, and nothing drawn."""
    return fill_file(prepare_file(pdf, key, SealTerms(now, reason, head, trail)), key)
