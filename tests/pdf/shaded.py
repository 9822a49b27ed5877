"""A legal file whose first page costs the more the larger it is drawn: hundreds of shadings over all of it."""

from pikepdf import Array, Dictionary, Name

from tests.pdf.made import blank, write_pdf

SHADINGS = 250  # 0.05 s at 8 dpi, 1.5 s at 50, eight at 110


def make_shaded(pages: int = 2, shadings: int = SHADINGS) -> bytes:
    """Return a file of A4 pages of which only the first takes seconds to draw at full size."""
    pdf = blank(pages, size=(595, 842))
    first = pdf.pages[0].obj
    first.Contents = pdf.make_stream(b"/Round sh\n" * shadings)
    function = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([1, 0, 0]), C1=Array([0, 0, 1]), N=1)
    shading = Dictionary(
        ShadingType=3,
        ColorSpace=Name.DeviceRGB,
        Coords=Array([300, 400, 0, 300, 400, 600]),
        Function=function,
        Extend=Array([True, True]),
    )
    first.Resources = Dictionary(Shading=Dictionary(Round=pdf.make_indirect(shading)))
    return write_pdf(pdf)
