"""Shows a typed signature to its signer as it will be sealed."""

from dataclasses import dataclass

from esign.actions.base import printable_text
from esign.actions.base.pdf_work import wait_for_worker
from esign.actions.signing import signature_images, signing
from esign.actions.signing.visits import OpenVisit, Visitor
from esign.core.errors import Problem
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Lettering:
    """The picture as SVG, with its largest width in points, or the `missing` characters, separated by spaces."""

    svg: bytes
    width: float
    missing: str


async def draw_letters(runtime: Runtime, visitor: Visitor, text: object, hand: object) -> Lettering:
    """Return the drawn text. Nothing changes. Raises `recipient_not_active` if there is nothing to sign."""
    seen = await signing.find_proven(runtime, visitor)
    if not isinstance(seen, OpenVisit) or not seen.recipient.acting:
        raise Problem("recipient_not_active")
    ink = signature_images.read_typed({"text": text, "hand": hand}, "/text")
    assert ink.text is not None
    fonts = printable_text.list_font_paths(runtime)
    turn = QueueTurn(PdfJobKind.ACT, seen.document.organisation_id, seen.recipient.id)
    drawn = await wait_for_worker(
        runtime.pdf.letters(ink.text, ink.hand, seen.recipient.locale, fonts, turn=turn)
    )
    return Lettering(drawn.svg, drawn.width, printable_text.find_undrawn(ink.text, set(drawn.missing)))
