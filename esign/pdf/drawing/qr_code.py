"""Draw an address as a QR code, without fonts and without PDF."""

import io

import segno

# The mask that is best for most addresses of documents. Trying all eight takes 3 ms of each seal, and readers undo any.
MASK = 4


def draw_qr_code(url: str, border: int = 0) -> str:
    """Return the QR code as SVG, with a margin of `border` modules."""
    picture = io.BytesIO()
    segno.make(url, error="m", boost_error=False, micro=False, mask=MASK).save(
        picture, kind="svg", border=border, xmldecl=False, nl=False
    )
    return picture.getvalue().decode()
