"""A practice page, sealed as documents are, to see whether sealing works or the machine prevents it."""

from collections.abc import Mapping

from esign.actions.base import logo_pictures
from esign.actions.base.printable_text import list_font_paths
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import Instant, to_datetime
from esign.core.people.account import Organisation
from esign.pdf.seal_order import SealFailed, SealOrder
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import WorkerFailed
from esign.runtime import Runtime
from esign.store.people import organisations

WORDS = "A practice page, sealed to see whether the seal holds."


async def try_practice_seal(runtime: Runtime, organisation_id: str) -> Exception | None:
    """Seal a practice page, of which nothing is kept. Return what failed, or None."""
    order = await make_practice_order(runtime, await organisations.get(runtime.db, organisation_id))
    turn = QueueTurn(PdfJobKind.SEAL, organisation_id)
    try:
        await runtime.pdf.seal(order, runtime.credentials[Mode.LIVE], turn)
    except (SealFailed, WorkerFailed, Problem) as failure:
        return failure
    return None


async def make_practice_order(runtime: Runtime, organisation: Organisation) -> SealOrder:
    """Return the order to seal a practice page."""
    now = runtime.clock.now()
    page = make_practice_facts(
        runtime, organisation, now, await logo_pictures.make_page_logo(runtime.db, organisation)
    )
    return SealOrder(make_practice_page(WORDS), (), page, now, list_font_paths(runtime))


def make_practice_facts(
    runtime: Runtime, organisation: Organisation, now: Instant, logo: Mapping[str, object] | None
) -> Mapping[str, object]:
    """Return the certificate page of a document without recipients."""
    base = runtime.config.server.base_url
    at = to_datetime(now).isoformat()
    return {
        "schema": 1,
        "paper": "a4",
        "lang": organisation.locale,
        "mode": Mode.LIVE.value,
        "time_zone": "UTC",
        "organisation": {"name": organisation.name, "colour": organisation.colour, "logo": logo},
        "verify": {"url": f"{base}/verify", "short": f"{base.partition('://')[2]}/verify"},
        "document": {
            "id": "doc_practice",
            "title": WORDS,
            "lang": "en",
            "file_name": "practice.pdf",
            "status": "completed",
            "pages": 1,
            "sender": {"name": organisation.name, "email": organisation.reply_to or ""},
            "sent_at": at,
            "closed_at": at,
            "close_reason": None,
        },
        "files": {"uploaded_sha256": "0" * 64, "prepared_sha256": "0" * 64},
        "recipients": [],
        "audit": [],
        "chain": {"entries": 1, "head": "0" * 64},
    }


def make_practice_page(words: str) -> bytes:
    """Return a PDF of one page with one line on it."""
    text = f"BT /F 12 Tf 72 760 Td ({words}) Tj ET".encode()
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(text), text),
    )
    pdf, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(pdf))
        pdf += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n" + table
    return pdf + head + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(pdf)
