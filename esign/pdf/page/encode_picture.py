"""Encode the picture of a page in the format that suits it; `docs/speed.md` has the measurements."""

import io
import struct
import zlib
from typing import cast

from PIL import Image, ImageChops

# PNG with so many greys, two pixels in a byte, for pages without colour: text reads as well as with 256 at twice the
# size, and the page is encoded in a sixth of the time that WebP takes. A level above 3 takes twice as long for a tenth.
GREYS, BITS, LEVEL = 16, 4, 3
NEAREST_GREY = [round(level * (GREYS - 1) / 255) for level in range(256)]

# Black as printers mix it, and white as scanners see it, differ by a few steps between the colours of a pixel.
COLOURLESS = 8

# The part of the pixels that have the same grey on a page of text or drawings, at least; a scan or photograph has less.
PLAIN = 0.3

# With up to so many colours in a sixteenth of its pixels a page with colour is text and drawings: WebP without loss,
# sharper and smaller than JPEG. Of 256 levels of each colour 32 are kept, which halves it: a difference of four is
# invisible.
FEW_COLOURS = 768
NEAREST_COLOUR = [round(round(level * 31 / 255) * 255 / 31) for level in range(256)]

PHOTO_QUALITY = 80


def encode_picture(picture: Image.Image) -> bytes:
    """Return an RGB picture as PNG if it is drawn in greys, as WebP if it is drawn in colours, otherwise as JPEG."""
    red, green, blue = picture.split()
    if all(_find_greatest(ImageChops.difference(green, other)) <= COLOURLESS for other in (red, blue)):
        return _encode_greys(green) if _is_plain(green) else _save(green, "JPEG", quality=PHOTO_QUALITY)
    if _sample_pixels(picture).getcolors(FEW_COLOURS) is not None:
        levelled = picture.point(NEAREST_COLOUR * 3)
        return _save(levelled, "WEBP", lossless=True, method=1, quality=0)
    return _save(picture, "JPEG", quality=PHOTO_QUALITY)


def _find_greatest(band: Image.Image) -> int:
    _, greatest = cast(tuple[int, int], band.getextrema())
    return greatest


def _is_plain(grey: Image.Image) -> bool:
    sample = _sample_pixels(grey)
    return max(sample.histogram()) >= PLAIN * sample.width * sample.height


def _sample_pixels(picture: Image.Image) -> Image.Image:
    """Return a sixteenth of the pixels."""
    size = max(1, picture.width // 4), max(1, picture.height // 4)
    return picture.resize(size, Image.Resampling.NEAREST)


def _encode_greys(grey: Image.Image) -> bytes:
    """Return a PNG with `GREYS` levels.

    Pillow takes twice as long for the same bytes, because it compresses row by row.
    """
    indexes = Image.frombytes("P", grey.size, grey.point(NEAREST_GREY).tobytes())
    packed, stride = indexes.tobytes("raw", f"P;{BITS}"), (grey.width * BITS + 7) // 8
    rows = b"".join(b"\0" + packed[at : at + stride] for at in range(0, len(packed), stride))
    header = struct.pack(">2I5B", *grey.size, BITS, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, LEVEL)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_make_chunk(kind, content) for kind, content in chunks)


def _make_chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def _save(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()
