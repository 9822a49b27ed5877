"""Well-formed PDFs that mean harm, made of others: circles, bombs, giants and values of the wrong kind."""

import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random

import pikepdf
from pikepdf import Array, Dictionary, Name, Object, Pdf, Stream, StreamDecodeLevel, String

from tests.mutants.harmless import save_pdf

Rework = Callable[[Pdf, Random], None]

KEYS = (
    "/Kids",
    "/Parent",
    "/Resources",
    "/XObject",
    "/Font",
    "/Contents",
    "/Annots",
    "/Next",
    "/First",
    "/Dests",
    "/AP",
)
FILTERS = (
    *("Flate", "LZW", "RunLength", "ASCIIHex", "ASCII85", "DCT", "JPX", "JBIG2", "CCITTFax", "Crypt"),
    "Nothing",
)
SIDES = (0, -1, 1, 3, 14_400, 14_401, 100, 600, 2**31, -(2**40))
GIANT = 256 * 2**20  # twice what one stream may unfold to


@cache
def bomb(layers: int) -> bytes:
    """Spaces without end, compressed this often."""
    if layers > 1:
        return zlib.compress(bomb(layers - 1), 9)
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(b" " * 2**20) for _ in range(GIANT // 2**20)) + packer.flush()


def nodes(pdf: Pdf) -> list[Object]:
    """The dictionaries of the file, in the order of their numbers."""
    return [item for item in pdf.objects if isinstance(item, Dictionary | Stream)]


def entries(pdf: Pdf, random: Random) -> Iterator[tuple[Object, str]]:
    """Some entries of some dictionaries."""
    found = [node for node in nodes(pdf) if len(node.keys())]
    for node in random.sample(found, min(len(found), random.randrange(1, 8))):
        yield node, random.choice(sorted(node.keys()))


def streams(pdf: Pdf, random: Random) -> list[Stream]:
    """Some streams, the content of the first page among them; each once."""
    found = [item for item in pdf.objects if isinstance(item, Stream)]
    picked = random.sample(found, min(len(found), random.randrange(1, 4)))
    content = pdf.pages[0].obj.get("/Contents")
    picked += [content] if isinstance(content, Stream) else []
    return list({item.objgen: item for item in picked}.values())


def circles(pdf: Pdf, random: Random) -> None:
    """Entries that lead back to where one came from, or to anything else."""
    every = nodes(pdf)
    for node, key in entries(pdf, random):
        key = random.choice([key, key, *KEYS])
        target = random.choice([node, pdf.Root, pdf.pages[0].obj, random.choice(every)])
        if key != "/Length":
            node[key] = random.choice([target, Array([target, target]), Dictionary(A=target)])


def bombs(pdf: Pdf, random: Random) -> None:
    for stream in streams(pdf, random):
        layers = random.randrange(1, 4)
        if stream.get("/Type") == Name.Metadata:
            del stream.Type  # else it would be written unfolded
        stream.write(bomb(layers), filter=Array([Name.FlateDecode] * layers))


def filters(pdf: Pdf, random: Random) -> None:
    """Filters that do not belong to the data, hundreds of them at times."""
    for stream in streams(pdf, random):
        chain = [Name(f"/{random.choice(FILTERS)}Decode") for _ in range(random.choice([1, 2, 3, 300]))]
        stream.write(stream.read_raw_bytes(), filter=Array(chain))
        stream.DecodeParms = Array(
            [
                Dictionary(
                    Predictor=random.choice([2, 15, 99]), Columns=random.choice([0, 1, 2**30]), Colors=2**20
                )
            ]
        )


def kinds(pdf: Pdf, random: Random) -> None:
    """Values of another kind than is expected."""
    for node, key in entries(pdf, random):
        wrong = [
            None,
            True,
            -1,
            2**31,
            1,
            String("x" * 70_000),
            String("\0é"),
            Name("/\x80\xff"),
            Array([]),
            Dictionary(),
        ]
        value = random.choice(wrong)
        if key == "/Length":
            continue
        if value is None:
            del node[key]
        else:
            node[key] = value


def sides(pdf: Pdf, random: Random) -> None:
    """Pages of every shape."""
    page = random.choice(list(pdf.pages)).obj
    for key in ("/MediaBox", "/CropBox"):
        if random.random() < 0.7:
            page[key] = Array(
                [
                    random.choice([*SIDES, random.uniform(-9e5, 9e5)])
                    for _ in range(random.choice([4, 4, 4, 3, 5, 0]))
                ]
            )
    page.Rotate = random.choice([90, -90, 450, 45, 2**31, -(2**62), 1])
    page.UserUnit = random.choice([1, 0, -1, 75_000, 2**40])


def endless(pdf: Pdf, random: Random) -> None:
    """Content that takes a painter long: forms in forms, tiny patterns, wide dashes, much of everything."""
    page = pdf.pages[0].obj
    inner = pdf.make_stream(
        b"0 0 9 9 re f " * 50, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 600, 800])
    )
    for _ in range(random.randrange(1, 9)):
        resources = Dictionary(XObject=Dictionary(F=inner))
        inner = pdf.make_stream(
            b"/F Do " * 10,
            Type=Name.XObject,
            Subtype=Name.Form,
            BBox=Array([0, 0, 600, 800]),
            Resources=resources,
        )
    tile = pdf.make_stream(b"0 0 1 1 re f", Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1)
    step = random.choice([0, 1e-5, 0.01, 1, -1])
    tile.BBox, tile.XStep, tile.YStep, tile.Resources = Array([0, 0, 1, 1]), step, step, Dictionary()
    painting = [
        b"/F Do",
        b"/Pattern cs /P scn 0 0 9999 9999 re f",
        b"[0.0001 0.0001] 0 d 0 0 m 9999 9999 l S",
        b"q " * 100_000,
        b"Q " * 100_000,
        b"0 0 m " + b"1 2 3 4 5 6 c " * 100_000 + b" f",
        b"BT /F1 1e9 Tf (" + b"W" * 9999 + b") Tj ET",
        b"[" * 100_000,
        b"BI /W 100000 /H 100000 /BPC 8 /CS /RGB ID x EI",
    ]
    page.Resources = Dictionary(XObject=Dictionary(F=inner), Pattern=Dictionary(P=tile))
    page.Contents = pdf.make_stream(random.choice(painting))


def many(pdf: Pdf, random: Random) -> None:
    """More of something than anybody needs."""
    page = pdf.pages[0].obj
    number = random.choice([1_000, 20_000, 100_000])
    match random.randrange(5):
        case 0:
            pdf.Root.Pages.Kids = Array([page] * number)
            pdf.Root.Pages.Count = number
        case 1:
            page.Contents = Array([pdf.make_indirect(pdf.make_stream(b"q Q "))] * number)
        case 2:
            page.Annots = Array(
                [
                    Dictionary(Type=Name.Annot, Subtype=Name.Square, Rect=Array([0, 0, n, n]))
                    for n in range(number // 10)
                ]
            )
        case 3:
            node = Dictionary(T=String("leaf"), FT=Name.Tx, V=String("x"))
            for _ in range(min(number, 5_000)):
                node = pdf.make_indirect(Dictionary(T=String("a"), Kids=Array([node])))
            pdf.Root.AcroForm = Dictionary(Fields=Array([node]))
        case _:
            before = node = pdf.make_indirect(Dictionary(Title=String("x")))
            for _ in range(number // 10):
                node = pdf.make_indirect(Dictionary(Title=String("x"), Next=node))
            pdf.Root.Outlines = pdf.make_indirect(Dictionary(First=node, Last=before, Count=number))


def giants(pdf: Pdf, random: Random) -> None:
    """A picture that says it is larger than any memory, with few bytes of it."""
    side = random.choice([1, 30_000, 100_000, 2**31 - 1])
    picture = pdf.make_stream(b"\0" * 999, Type=Name.XObject, Subtype=Name.Image, Width=side, Height=side)
    picture.BitsPerComponent = random.choice([1, 8, 16, 99])
    picture.ColorSpace = random.choice(
        [Name.DeviceRGB, Array([Name.Indexed, Name.DeviceCMYK, 2**20, String("")])]
    )
    if random.random() < 0.5:
        picture.SMask = picture
    page = pdf.pages[0].obj
    page.Resources = Dictionary(XObject=Dictionary(I=picture))
    page.Contents = pdf.make_stream(b"q 600 0 0 800 0 0 cm /I Do Q")


HOSTILE: Mapping[str, Rework] = {
    "circles": circles,
    "bombs": bombs,
    "filters": filters,
    "kinds": kinds,
    "sides": sides,
    "endless": endless,
    "many": many,
    "giants": giants,
}


def rework_file(file: bytes, how: str, random: Random) -> bytes:
    with Pdf.open(io.BytesIO(file)) as pdf:
        HOSTILE[how](pdf, random)
        mode = random.choice(list(pikepdf.ObjectStreamMode))
        packed = random.random() < 0.5
        return save_pdf(
            pdf, object_stream_mode=mode, compress_streams=packed, stream_decode_level=StreamDecodeLevel.none
        )
