"""Contents of a page that cost the more the larger they are drawn, each in its own way."""

from collections.abc import Callable, Mapping

from pikepdf import Array, Dictionary, Name, Pdf

from tests.pdf.made import blank, write_pdf

A4 = (595, 842)


def draw_lines(pdf: Pdf, count: int) -> bytes:
    return b"1 w\n" + b"".join(b"%d 0 m %d 800 l S\n" % (n % 600, (7 * n) % 600) for n in range(count))


def draw_curves(pdf: Pdf, count: int) -> bytes:
    return b"".join(b"%d 0 m 900 300 -300 600 %d 800 c S\n" % (n % 600, (7 * n) % 600) for n in range(count))


def cover(pdf: Pdf, count: int) -> bytes:
    """Half-transparent paint over the whole page."""
    pdf.pages[0].obj.Resources.ExtGState = Dictionary(Half=Dictionary(ca=0.5))
    return b"/Half gs\n" + b"0 0 595 842 re f\n" * count


def shade(pdf: Pdf, count: int) -> bytes:
    function = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([1, 0, 0]), C1=Array([0, 0, 1]), N=1)
    pdf.pages[0].obj.Resources.Shading = Dictionary(
        Round=Dictionary(
            ShadingType=3,
            ColorSpace=Name.DeviceRGB,
            Coords=Array([300, 400, 0, 300, 400, 600]),
            Function=function,
            Extend=Array([True, True]),
        )
    )
    return b"/Round sh\n" * count


def tile(pdf: Pdf, count: int) -> bytes:
    pattern = pdf.make_stream(
        b"0 0 3 3 re f", PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary(), XStep=4, YStep=4
    )
    pattern.BBox = Array([0, 0, 4, 4])
    pdf.pages[0].obj.Resources.Pattern = Dictionary(P=pattern)
    return b"/Pattern cs /P scn\n" + b"0 0 595 842 re f\n" * count


def group(pdf: Pdf, count: int) -> bytes:
    """Transparency groups over the whole page."""
    form = pdf.make_stream(b"0 0 595 842 re f", Type=Name.XObject, Subtype=Name.Form, Resources=Dictionary())
    form.BBox, form.Group = Array([0, 0, *A4]), Dictionary(S=Name.Transparency, I=True)
    pdf.pages[0].obj.Resources.ExtGState = Dictionary(Half=Dictionary(ca=0.5))
    pdf.pages[0].obj.Resources.XObject = Dictionary(G=form)
    return b"/Half gs\n" + b"/G Do\n" * count


def turn_picture(pdf: Pdf, count: int) -> bytes:
    """A small picture, enlarged and turned."""
    picture = pdf.make_stream(bytes(range(256)) * 48, Type=Name.XObject, Subtype=Name.Image)
    picture.update(Dictionary(Width=64, Height=64, BitsPerComponent=8, ColorSpace=Name.DeviceRGB))
    pdf.pages[0].obj.Resources.XObject = Dictionary(I=picture)
    return b"q 500 200 -200 500 200 0 cm /I Do Q\n" * count


# What draws so much of it, and how much takes some 0.3 s at 50 dpi.
KINDS: Mapping[str, tuple[Callable[[Pdf, int], bytes], int]] = {
    "lines": (draw_lines, 6_000),
    "curves": (draw_curves, 6_000),
    "paint": (cover, 450),
    "shadings": (shade, 40),
    "tiles": (tile, 100),
    "groups": (group, 400),
    "pictures": (turn_picture, 130),
}


def make_costly(kind: str, times: float = 1, further: bytes = b"") -> bytes:
    """A file of one A4 page that costs so many times as much as its kind says, with further content at its end."""
    draw, count = KINDS[kind]
    pdf = blank(size=A4)
    pdf.pages[0].obj.Resources = Dictionary()
    pdf.pages[0].obj.Contents = pdf.make_stream(draw(pdf, int(count * times)) + further)
    return write_pdf(pdf)
