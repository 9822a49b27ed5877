"""A contract with pages full of text, as users send it: embedded fonts, about 55 lines on each page."""

import io
import random
from collections.abc import Iterator
from functools import cache

import pikepdf
import typst

from esign.pdf.drawing.missing_glyphs import FONTS

TEXT = (
    "agreement party parties services shall client provider confidential information term terms payment invoice "
    "date notice written consent liability damages law court business days including without limitation any other "
    "the of and to in for by or with under this such which may not be is are from as at on an it its each both "
    "obligations termination warranty delivery property rights licence software data personal processing purpose"
)
SOURCE = """
#set page(paper: "a4", margin: 2cm)
#set text(font: "Noto Sans", size: 9.5pt, lang: "en")
#set par(justify: true, leading: 0.55em)
"""


TEXTS = 12


def make_distinct_pdfs(pages: int, count: int, first: int = 0) -> Iterator[bytes]:
    """Yield so many files of which no two are the same; there are TEXTS different texts.

    A comment on the first page tells those of the same text apart: setting a text takes 10 ms a page.
    """
    for number in range(first, first + count):
        with pikepdf.open(io.BytesIO(make_dense_pdf(pages, number % TEXTS))) as pdf:
            pdf.pages[0].contents_add(b"%% %d\n" % number)
            target = io.BytesIO()
            pdf.save(target)
        yield target.getvalue()


@cache
def make_dense_pdf(pages: int, seed: int = 0) -> bytes:
    """Return a PDF of `pages` A4 pages of text; each seed gives other text."""
    choose = random.Random(seed)
    text = "#pagebreak()\n".join(_write_page(choose, number) for number in range(1, pages + 1))
    source = (SOURCE + text).encode()
    return typst.compile(source, font_paths=typst.Fonts(include_system_fonts=False, font_paths=[FONTS]))


def _write_page(choose: random.Random, number: int) -> str:
    words = TEXT.split()
    paragraphs = (
        f"*{number}.{part}* {' '.join(choose.choices(words, k=86)).capitalize()}.\n\n"
        for part in range(1, 10)
    )
    return f"= {number}. {' '.join(choose.choices(words, k=3)).capitalize()}\n\n{''.join(paragraphs)}"
