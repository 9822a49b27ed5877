"""Draws the certificate page and the field values with Typst: its templates read JSON, and data are never markup."""

import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import segno
import typst

from esign.core.instant import Instant
from esign.pdf import cjk, glyphs
from esign.pdf.order import SealFailed

HERE = Path(__file__).parent / "typst"

Kind = Literal["certificate", "overlay"]

# With a PDF/A standard Typst refuses to write a missing glyph; without one it prints an empty box silently. The
# certificate keeps its tags when it stands alone; it does not claim PDF/UA, as the seal's widget is not tagged.
STANDARDS: Mapping[Kind, "typst.PDFStandard"] = {"certificate": "a-2a", "overlay": "a-2b"}


class Overflow(SealFailed):
    """Texts that do not fit their boxes even at the smallest size; `fields` are their ids."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.fields = tuple(fields)
        super().__init__(
            f"The text does not fit its box in {', '.join(fields)}; shorten it or make the box larger."
        )


@cache
def _fonts(font_paths: tuple[str, ...]) -> typst.Fonts:
    """Found once per process: 10 ms, with CJK 50 ms."""
    return typst.Fonts(
        include_system_fonts=False,
        include_embedded_fonts=False,
        font_paths=[str(glyphs.FONTS), *cjk.folders(font_paths)],
    )


@cache
def _compiler(kind: Kind, font_paths: tuple[str, ...]) -> typst.Compiler:
    return typst.Compiler(HERE / f"{kind}.typ", font_paths=_fonts(font_paths), ignore_system_fonts=True)


@cache
def _families(font_paths: tuple[str, ...]) -> dict[str, str]:
    return cjk.families(set(_fonts(font_paths).families()))


@cache
def labels(lang: str) -> dict[str, Any]:
    """Every word printed, in the language nearest to the tag; English where there is none."""
    for name in (lang, lang.split("-")[0], "en"):
        path = HERE / "labels" / f"{name}.json"
        if name.replace("-", "").isalnum() and path.is_file():
            words: dict[str, Any] = json.loads(path.read_text())
            return words | {"lang": name}
    raise FileNotFoundError(HERE / "labels" / "en.json")


def qr(url: str) -> str:
    """The address as an SVG of squares."""
    picture = io.BytesIO()
    segno.make(url, error="m", boost_error=False, micro=False).save(
        picture, kind="svg", border=0, xmldecl=False, nl=False
    )
    return picture.getvalue().decode()


def _dressed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate's facts with the words of their language and the code for the address."""
    words = labels(facts.get("lang") or "en")
    verify = {**facts["verify"], "qr_svg": qr(facts["verify"]["url"])}
    return {**facts, "labels": words, "lang": words["lang"], "verify": verify}


def draw(facts: Mapping[str, Any], kind: Kind, now: Instant, font_paths: Sequence[str] = ()) -> bytes:
    """A PDF of `certificate.typ` or `overlay.typ`; the overlay's lengths are points from the seen top left corner.

    Raises `Overflow` for overlay texts that do not fit, `SealFailed` for anything else that cannot be set.
    """
    paths = tuple(font_paths)
    dressed = _dressed(facts) if kind == "certificate" else dict(facts)
    text = json.dumps({**dressed, "cjk": _families(paths)}, ensure_ascii=False)
    compiler = _compiler(kind, paths)
    try:
        pdf = compiler.compile(
            sys_inputs={"data": text}, pdf_standards=STANDARDS[kind], timestamp=now // 1000, format="pdf"
        )
        over = json.loads(compiler.query("<overflow>", field="value")) if kind == "overlay" else []
    except typst.TypstError as error:
        raise SealFailed(f"The {kind} cannot be drawn: {error.message}") from error
    if over:
        raise Overflow(list(dict.fromkeys(field["id"] for field in over)))
    # A list comes only from formats with a file per page, None only with an output path.
    return cast(bytes, pdf)
