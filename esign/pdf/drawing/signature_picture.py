"""Redraw a drawn or uploaded signature from its pixels, so that nothing else of the uploaded file survives."""

import io
import warnings

from PIL import Image, ImageChops, ImageOps, UnidentifiedImageError

from esign.core.errors import Problem
from esign.pdf.inspection import RedrawnPicture

FORMATS = ("PNG", "JPEG", "WEBP")
MAX_PIXELS = 40_000_000  # a photo of a current phone; in memory four bytes each
BOUNDS = (1200, 400)  # pixels of the result
PAPER = 24  # how many grey levels from white a pixel of an opaque picture may be and still count as paper
FAINT = 230  # a picture whose darkest grey level is above this is invisible in print


def reencode_signature(image: bytes) -> RedrawnPicture:
    """Return the ink of a PNG, JPEG or WebP as a PNG, upright and cut to its edges.

    Raises `invalid_request` for other formats and for blank pictures.
    """
    ink = trim_to_ink(read_pixels(image), "The picture is blank.")
    ink.thumbnail(BOUNDS, Image.Resampling.LANCZOS)
    ink.info.clear()
    png = io.BytesIO()
    ink.save(png, "PNG", optimize=True)
    return RedrawnPicture(png.getvalue(), ink.width, ink.height)


def read_pixels(
    image: bytes,
    formats: tuple[str, ...] = FORMATS,
    else_said: str = "The picture is not a PNG, JPEG or WebP image.",
) -> Image.Image:
    """Return the first frame as RGBA, turned as its EXIF orientation says.

    Raises `invalid_request`, with the message `else_said` if the picture has none of `formats`.
    """
    too_large = Problem("invalid_request", "The picture has too many pixels. Choose a smaller one.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is lower
            with Image.open(io.BytesIO(image), formats=formats) as source:
                if source.width * source.height > MAX_PIXELS:
                    raise too_large
                return ImageOps.exif_transpose(source).convert("RGBA")
    except Image.DecompressionBombError as error:
        raise too_large from error
    except UnidentifiedImageError as error:
        raise Problem("invalid_request", else_said) from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise Problem(
            "invalid_request", "The picture is damaged. Save it again, then choose it here."
        ) from error


def trim_to_ink(image: Image.Image, blank_said: str) -> Image.Image:
    """Return the picture cut to what is visible on white paper.

    Raises `invalid_request` with `blank_said` if nothing is.
    """
    paper = Image.new("RGBA", image.size, "white")
    grey = Image.alpha_composite(paper, image).convert("L")
    drawn = ImageChops.invert(grey).point(lambda level: 255 if level > PAPER else 0)
    box = drawn.getbbox()
    darkest = grey.getextrema()[0]
    if box is None or not isinstance(darkest, int | float) or darkest > FAINT:
        raise Problem("invalid_request", blank_said)
    return image.crop(box)
