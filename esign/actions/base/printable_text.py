"""Checks that texts can be printed while their authors can still change them.

No file is sealed with a box in place of a character, or with a text that is cut off.
"""

from collections.abc import Iterator, Mapping, Sequence
from unicodedata import normalize

from esign.actions.base.drawn_fields import make_drawn_field
from esign.actions.base.pdf_work import wait_for_worker
from esign.core.document import texts_to_draw
from esign.core.document.document import Document, Recipient
from esign.core.document.field_types import FIELD_TYPES
from esign.core.errors import Detail, Problem
from esign.core.sentence import say
from esign.pdf.drawing import missing_glyphs
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.people import organisations

UNPRINTABLE = "No installed font can print {characters} ({scripts})."
UNPRINTABLE_PART = "No installed font can print {characters} ({scripts}) of “{text}”."


async def find_problems(runtime: Runtime, document: Document) -> list[Detail]:
    """Return what in a draft cannot be printed: characters without a font, and texts too long for their fields."""
    organisation = await organisations.get(runtime.db, document.organisation_id)
    found = [*texts_to_draw.list_texts(document), ("", organisation.name)]
    missing = await find_unprintable(runtime, [text for _, text in found], document.organisation_id)
    long = {
        id for recipient in document.recipients for id in await find_too_long(runtime, document, recipient)
    }
    return [
        *(
            Detail(
                path,
                say(UNPRINTABLE_PART, characters=shown, scripts=name_scripts(shown), text=text[:80]),
                "format",
            )
            for path, text in found
            if (shown := find_undrawn(text, missing))
        ),
        *(
            Detail(f"/recipients/{n}/fields/{m}/value", "The text does not fit into its field.", "length")
            for n, recipient in enumerate(document.recipients)
            for m, field in enumerate(recipient.fields)
            if field.id in long
        ),
    ]


async def check_texts(runtime: Runtime, texts: Mapping[str, str], organisation_id: str = "") -> None:
    """Raise `invalid_request` for texts that the certificate page could not show.

    `texts` maps JSON Pointers to texts.
    """
    missing = await find_unprintable(runtime, list(texts.values()), organisation_id)
    if details := [
        Detail(path, say(UNPRINTABLE, characters=shown, scripts=name_scripts(shown)), "format")
        for path, text in texts.items()
        if (shown := find_undrawn(text, missing))
    ]:
        raise Problem("invalid_request", details=details)


async def check_answers(runtime: Runtime, document: Document, recipient: Recipient) -> None:
    """Raise `invalid_request` naming the fields whose text no font can draw, or does not fit."""
    texts = list(list_written_texts(recipient))
    missing = await find_unprintable(runtime, [text for _, text in texts], document.organisation_id)
    details = [
        Detail(f"/answers/{key}", say("We cannot print {characters} here.", characters=shown), "format")
        for key, text in texts
        if (shown := find_undrawn(text, missing))
    ]
    if not details:
        details = [
            Detail(f"/answers/{key}", "This text is too long for its field. Please shorten it.", "length")
            for key in await find_too_long(runtime, document, recipient)
        ]
    if details:
        raise Problem("invalid_request", "Some answers need a correction.", details=details)


def list_written_texts(recipient: Recipient) -> Iterator[tuple[str, str]]:
    """Yield (field id, text) of what the recipient wrote. The id is `signature` for a signature outside the fields."""
    for field in recipient.fields:
        if not field.read_only:
            for text in texts_to_draw.list_value_texts(field):
                yield field.id, text
    if recipient.ink and recipient.ink.text:
        yield "signature", recipient.ink.text


def find_undrawn(text: str, missing: set[str]) -> str:
    """Return the characters of `text` (in NFC) that are in `missing`, separated by spaces."""
    return " ".join(sorted(missing.intersection(normalize("NFC", text)))) if missing else ""


def name_scripts(shown: str) -> str:
    """Return the names of the scripts of characters that are separated by spaces, as `find_undrawn` returns them."""
    return ", ".join(dict.fromkeys(missing_glyphs.find_script(character) for character in shown.split()))


async def find_unprintable(runtime: Runtime, texts: Sequence[str], organisation_id: str) -> set[str]:
    """Return the characters that no font can draw.

    Only the worker knows the fonts of the system. It is asked only if the bundled fonts lack a character.
    """
    if not missing_glyphs.find_missing(texts):
        return set()
    turn = QueueTurn(PdfJobKind.ACT, organisation_id)
    return set(
        await wait_for_worker(runtime.pdf.find_missing_characters(texts, list_font_paths(runtime), turn))
    )


async def find_too_long(runtime: Runtime, document: Document, recipient: Recipient) -> set[str]:
    """Return the ids of the recipient's fields whose text would be cut off."""
    written = [field for field in recipient.fields if FIELD_TYPES[field.type].shortenable and field.value]
    if not written:
        return set()
    sizes = [(page.width, page.height) for page in document.file.pages]
    drawn = [make_drawn_field(field, recipient, {}) for field in written]
    turn = QueueTurn(PdfJobKind.ACT, document.organisation_id)
    now, fonts = runtime.clock.now(), list_font_paths(runtime)
    return set(await wait_for_worker(runtime.pdf.find_unfit_texts(drawn, sizes, now, fonts, turn)))


def list_font_paths(runtime: Runtime) -> tuple[str, ...]:
    """Return the paths of the fonts that the configuration adds."""
    return tuple(str(path) for path in runtime.config.seal.font_paths)
