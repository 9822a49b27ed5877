"""What the picture of a page costs in each encoding: python -m tests.bench.encodings [--picture FILE]

It draws pages full of text and the accepted files of the corpus at the resolution of the signing page, and prints
milliseconds of processor time and kilobytes as a table. `--picture` writes how text looks at 200 % zoom.
"""

import argparse
import io
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median

import pypdfium2
from PIL import Image, ImageDraw

from esign.core.document.document import PageGeometry
from esign.pdf.page.encode_picture import encode_picture
from esign.pdf.page.render import DPI, compute_scale
from tests.bench.dense import make_dense_pdf
from tests.conftest import CORPUS
from tests.manifest import TAKEN, find_expected_code, rows

PAGES = 4  # of each file
TRIES = 3  # of which the fastest counts
CUT = (120, 150, 480, 215)  # of the page full of text, in pixels

Encode = Callable[[Image.Image], bytes]


def save(kind: str, **options: object) -> Encode:
    def encode(picture: Image.Image) -> bytes:
        file = io.BytesIO()
        picture.save(file, kind, **options)
        return file.getvalue()

    return encode


def write_png(greys: int, bits: int, level: int) -> Encode:
    """A palette PNG without filters, written as `encode_picture` does."""
    nearest = [round(value * (greys - 1) / 255) for value in range(256)]

    def encode(picture: Image.Image) -> bytes:
        grey = picture.convert("L").point(nearest)
        packed = Image.frombytes("P", grey.size, grey.tobytes()).tobytes(
            "raw", f"P;{bits}" if bits < 8 else "P"
        )
        stride = (grey.width * bits + 7) // 8
        plain = b"".join(b"\0" + packed[at : at + stride] for at in range(0, len(packed), stride))
        return zlib.compress(plain, level)

    return encode


def lower_levels(levels: int, encode: Encode) -> Encode:
    nearest = [round(round(v * (levels - 1) / 255) * 255 / (levels - 1)) for v in range(256)]
    return lambda picture: encode(picture.point(nearest * len(picture.getbands())))


ENCODINGS: dict[str, Encode] = {
    "chosen": encode_picture,
    "WebP lossless, 32 levels (before)": lower_levels(32, save("WEBP", lossless=True, method=1, quality=0)),
    "WebP lossless, 16 levels, method 0": lower_levels(16, save("WEBP", lossless=True, method=0, quality=0)),
    "WebP, quality 80": save("WEBP", method=0, quality=80),
    "JPEG, quality 80": save("JPEG", quality=80),
    "PNG of Pillow, level 1": save("PNG", compress_level=1),
    "PNG, 16 greys, level 1": write_png(16, 4, 1),
    "PNG, 16 greys, level 3": write_png(16, 4, 3),
    "PNG, 16 greys, level 6": write_png(16, 4, 6),
    "PNG, 32 greys, level 3": write_png(32, 8, 3),
    "PNG, 8 greys, level 6": write_png(8, 4, 6),
}


def draw_pages(pdf: bytes) -> Iterator[Image.Image]:
    document = pypdfium2.PdfDocument(pdf)
    for index in range(min(PAGES, len(document))):
        page = document[index]
        scale = compute_scale(PageGeometry(page.get_width(), page.get_height(), 0), DPI)
        yield page.render(scale=scale, may_draw_forms=False, rev_byteorder=True).to_pil()
    document.close()


def measure(encode: Encode, picture: Image.Image) -> tuple[float, float]:
    """Milliseconds and kilobytes."""
    tries = []
    for _ in range(TRIES):
        began = time.process_time()
        encode(picture)
        tries.append(time.process_time() - began)
    return min(tries) * 1000, len(encode(picture)) / 1000


def print_table() -> None:
    groups: dict[str, list[Image.Image]] = {"full of text": list(draw_pages(make_dense_pdf(PAGES, 1)))}
    for row in rows(CORPUS):
        if find_expected_code(row) == TAKEN:
            for picture in draw_pages((CORPUS / row["file"]).read_bytes()):
                kind = "grey" if encode_picture(picture).startswith(b"\x89PNG") else "colour or photo"
                groups.setdefault(f"corpus, {kind}", []).append(picture)
    print("| Encoding | " + " | ".join(f"{name} ({len(found)})" for name, found in groups.items()) + " |")
    print("|---" * (len(groups) + 1) + "|")
    for name, encode in ENCODINGS.items():
        cells = []
        for group, found in groups.items():
            figures = [measure(encode, picture) for picture in found]
            typical = mean if group == "full of text" else median
            cells.append(
                f"{typical(ms for ms, _ in figures):.1f} ms, {typical(kb for _, kb in figures):.0f} kB"
            )
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def write_comparison(path: Path) -> None:
    """The same words in several encodings, enlarged as on a screen at 200 %, one below the other."""
    page = next(draw_pages(make_dense_pdf(1, 1)))
    shown = ("chosen", "WebP lossless, 32 levels (before)", "WebP, quality 80", "JPEG, quality 80")
    width, height = ((CUT[2] - CUT[0]) * 2, (CUT[3] - CUT[1]) * 2)
    sheet = Image.new("L", (width, (height + 22) * len(shown)), "white")
    for place, name in enumerate(shown):
        content = ENCODINGS[name](page)
        cut = (
            Image.open(io.BytesIO(content))
            .convert("L")
            .crop(CUT)
            .resize((width, height), Image.Resampling.BICUBIC)
        )
        top = place * (height + 22)
        ImageDraw.Draw(sheet).text(
            (4, top + 4), f"{name}: {len(content) / 1000:.0f} kB", fill=0, font_size=13
        )
        sheet.paste(cut, (0, top + 22))
    sheet.quantize(16).save(path, "PNG", optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if asked.picture:
        write_comparison(asked.picture)
    else:
        print_table()


if __name__ == "__main__":
    main()
