"""An address as a code for cameras; it needs no font and no PDF."""

import io

import segno


def qr(url: str, border: int = 0) -> str:
    """An SVG of squares, with so many of them left free around it."""
    picture = io.BytesIO()
    segno.make(url, error="m", boost_error=False, micro=False).save(
        picture, kind="svg", border=border, xmldecl=False, nl=False
    )
    return picture.getvalue().decode()
