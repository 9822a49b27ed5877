"""Draw the certificate page and the field values with Typst. Its templates read JSON; values are never markup."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import typst

from esign.core import language
from esign.core.document import text_fit
from esign.core.instant import Instant
from esign.core.sentence import say
from esign.pdf.drawing import cjk_fonts, missing_glyphs
from esign.pdf.drawing.qr_code import draw_qr_code
from esign.pdf.seal_order import SealFailed

HERE = Path(__file__).parents[1] / "typst"

Kind = Literal["certificate", "overlay", "letters"]

# With a PDF/A standard Typst refuses to write a missing glyph; without one it prints an empty box silently. The
# certificate keeps its tags when it stands alone, and may hold the trail, an attachment of any kind (PDF/A-3); it
# does not claim PDF/UA, as the seal's widget is not tagged.
STANDARDS: Mapping[Kind, "typst.PDFStandard"] = {"certificate": "a-3a", "overlay": "a-2b"}


LARGE = 64 * 1024  # characters of facts
OVERFLOW = "assertion failed: overflow "  # of overlay.typ, before the ids of fields


class TextOverflow(SealFailed):
    """Raised for texts that do not fit their boxes even at the smallest size; `fields` are the ids of the fields."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.fields = tuple(fields)
        super().__init__(
            f"The text does not fit its box in {', '.join(fields)}; shorten it or make the box larger."
        )


@cache
def _load_fonts(font_paths: tuple[str, ...]) -> typst.Fonts:
    """Return the fonts that Typst may use. Finding them takes 10 ms, with CJK fonts 50 ms, hence once per process."""
    return typst.Fonts(
        include_system_fonts=False,
        include_embedded_fonts=False,
        font_paths=[str(missing_glyphs.FONTS), *cjk_fonts.find_folders(font_paths)],
    )


@cache
def _load_compiler(font_paths: tuple[str, ...], takes_inputs: bool) -> typst.Compiler:
    """Return a Typst compiler of all templates; it is kept for the life of the process."""
    return typst.Compiler(b"", HERE, font_paths=_load_fonts(font_paths), ignore_system_fonts=True)


def compile_template(
    kind: Kind, facts: Mapping[str, object], font_paths: tuple[str, ...], **form: Any
) -> bytes:
    """Return what a template draws from `facts`. Raises `typst.TypstError`.

    `form` are further arguments of `typst.Compiler.compile`: the format, and what belongs to it.
    """
    text = json.dumps(facts, ensure_ascii=False)
    large = len(text) >= LARGE
    if large:  # pictures: in the source each byte would take memory several times
        argument, form = "sys.inputs.data", {**form, "sys_inputs": {"data": text}}
    else:
        # One string, which only a quotation mark could end. As `sys.inputs` the facts would belong to what every
        # template is compiled with, and Typst would evaluate the templates anew each time: 3 ms.
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        argument = f'"{escaped}"'
    source = f'#import "{kind}.typ": draw\n#draw(json(bytes({argument})))'
    drawn = _load_compiler(font_paths, large).compile(input=source.encode(), **form)
    # A list comes only from formats with a file per page, None only with an output path.
    return cast(bytes, drawn)


@cache
def find_families(font_paths: tuple[str, ...]) -> dict[str, str]:
    """Return the CJK font family to use for each language, of those that are installed."""
    return cjk_fonts.choose_families(set(_load_fonts(font_paths).families()))


@cache
def load_labels(lang: str, font_paths: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return every label of the certificate page in the language nearest to the tag.

    The labels are English if there is no translation for the tag, or no font that can draw it.
    """
    name = language.choose_language(lang).tag
    if name in cjk_fonts.FAMILIES and name not in find_families(font_paths):
        name = "en"
    words: dict[str, Any] = json.loads((HERE / "labels" / f"{name}.json").read_text())
    return words | {"lang": name}


def _add_labels(facts: Mapping[str, Any], font_paths: tuple[str, ...]) -> dict[str, object]:
    """Return the facts of the certificate page with the labels of its language and the QR code of its address.

    Facts that have labels keep them.
    """
    words = facts.get("labels") or load_labels(facts.get("lang") or "en", font_paths)
    verify = {**facts["verify"], "qr_svg": draw_qr_code(facts["verify"]["url"])}
    labelled = {**facts, "labels": words, "lang": words["lang"], "verify": verify}
    return _spell_missing_characters({**labelled, "numbers": text_fit.NUMBERS}, font_paths)


def _spell_missing_characters(facts: dict[str, Any], font_paths: tuple[str, ...]) -> dict[str, Any]:
    """Replace characters that no font can draw by their Unicode numbers, and return the facts.

    This concerns texts that were not checked when the document was sent: names of API keys, of members who
    acted later, and in certificates. Sealing must not fail for want of a font.
    """
    seal, audit = facts.get("seal"), facts["audit"]
    entries = [line for line in audit if "gap" not in line]
    texts = [text for line in entries for text in (line["actor"]["name"], line["note"]) if text]
    left = missing_glyphs.find_missing_with_system([*texts, *_list_seal_names(seal)], font_paths)
    if not left:
        return facts

    def spell(text: str | None) -> str | None:
        return missing_glyphs.spell_characters(text, left) if text else text

    lines = [
        line
        if "gap" in line
        else {
            **line,
            "actor": {**line["actor"], "name": spell(line["actor"]["name"])},
            "note": spell(line["note"]),
        }
        for line in audit
    ]
    if seal:
        time = {**seal["time"], "authority": spell(seal["time"].get("authority"))}
        seal = {**seal, "subject": spell(seal["subject"]), "time": time}
    return {**facts, "seal": seal, "audit": lines}


def _list_seal_names(seal: Mapping[str, Any] | None) -> list[str]:
    return [seal["subject"], seal["time"].get("authority") or ""] if seal else []


def draw_template(
    facts: Mapping[str, Any], kind: Kind, now: Instant, font_paths: Sequence[str] = ()
) -> bytes:
    """Return the PDF that a template draws from `facts`.

    Lengths of the overlay are points from the top left corner as displayed. Raises `TextOverflow` for overlay texts
    that do not fit, and `SealFailed` for anything else that cannot be drawn.
    """
    paths = tuple(font_paths)
    dressed = _add_labels(facts, paths) if kind == "certificate" else dict(facts)
    shown = {**dressed, "cjk": find_families(paths)}
    try:
        return compile_template(
            kind, shown, paths, format="pdf", pdf_standards=STANDARDS[kind], timestamp=now // 1000
        )
    except typst.TypstError as error:
        if error.message.startswith(OVERFLOW):
            raise TextOverflow(error.message.removeprefix(OVERFLOW).split()) from error
        if kind == "certificate":
            sentence = say("The certificate page can’t be drawn: {error}", error=error.message)
        else:
            sentence = say("The values can’t be drawn on the pages: {error}", error=error.message)
        raise SealFailed(sentence) from error
