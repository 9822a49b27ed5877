"""Redraw the logo of an organisation from its pixels, small and opaque on white.

It is opaque because mail readers in dark mode turn white backgrounds black but leave pictures alone.
"""

import io

from PIL import Image

from esign.core.errors import Problem
from esign.core.sentence import say
from esign.pdf.drawing.signature_picture import read_pixels, trim_to_ink
from esign.pdf.inspection import NARROW_LOGO, RedrawnPicture

FORMATS = ("PNG", "JPEG")
BOUNDS, LESS = (640, 160), (480, 120)  # pixels of the result: 11 mm on the certificate page at 370 dpi
LEAST = 16  # pixels in height, and in width
MOST = 64 * 2**10  # bytes of the result, which each signing page and each mail brings
NEITHER = "Choose a PNG or JPEG picture. SVG isn’t supported: save it as a PNG first."
BLANK = "This logo can’t be seen on white. Choose the version for light backgrounds."


def redraw_logo(image: bytes) -> RedrawnPicture:
    """Return a PNG or JPEG as an opaque PNG, cut to its edges.

    Raises `invalid_request` for other formats and for pictures that are blank or too small.
    """
    ink = trim_to_ink(read_pixels(image, FORMATS, NEITHER), BLANK)
    sheet = Image.new("RGB", ink.size, "white")
    sheet.paste(ink, mask=ink)
    sheet.thumbnail(BOUNDS, Image.Resampling.LANCZOS)
    if min(sheet.size) < LEAST:
        raise Problem("invalid_request", say(NARROW_LOGO, pixels=LEAST))
    png = write_png(sheet)
    if len(png) > MOST:
        png = write_png(sheet.quantize())
    if len(png) > MOST:
        sheet.thumbnail(LESS, Image.Resampling.LANCZOS)
        png = write_png(sheet.quantize())
    return RedrawnPicture(png, *sheet.size)


def write_png(image: Image.Image) -> bytes:
    png = io.BytesIO()
    image.save(png, "PNG", optimize=True)
    return png.getvalue()
