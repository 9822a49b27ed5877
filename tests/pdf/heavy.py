"""Small files that take long to work on: what a hostile organisation, signer or stranger would send."""

import io

import pikepdf
from pikepdf import Dictionary, Name


def strokes(count: int, mark: int = 0) -> bytes:
    """One page with so many long lines, in some tens of kilobytes; `mark` makes it another file."""
    lines = b"".join(b"%d 0 m %d 800 l S\n" % (n % 600, (7 * n) % 600) for n in range(600)) * (count // 600)
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(595, 842))
    page.obj.Resources = Dictionary()
    page.obj.Contents = pdf.make_stream(b"%% %d\n1 w\n" % mark + lines)
    pdf.docinfo[Name.Title] = f"Heavy {mark}"
    target = io.BytesIO()
    pdf.save(target, compress_streams=True, recompress_flate=True)
    return target.getvalue()
