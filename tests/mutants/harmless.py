"""Changes to a PDF that nobody minds: what comes of a file that is taken has to be taken too."""

import io
import zlib
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pikepdf
from pikepdf import (
    Array,
    Dictionary,
    Encryption,
    Name,
    ObjectStreamMode,
    Pdf,
    Stream,
    StreamDecodeLevel,
    String,
)

Change = Callable[[bytes, Random], bytes]

HEADER_WITHIN = 1019  # the last place where `%PDF-` may begin


def save_pdf(pdf: Pdf, **how: Any) -> bytes:
    file = io.BytesIO()
    pdf.save(file, static_id=not how.get("encryption"), fix_metadata_version=False, **how)
    return file.getvalue()


def writing(**how: Any) -> Change:
    """Saved again in this way."""

    def change(file: bytes, random: Random) -> bytes:
        with Pdf.open(io.BytesIO(file)) as pdf:
            return save_pdf(pdf, **how)

    return change


def pad_end(file: bytes, random: Random) -> bytes:
    """Something behind the last `%%EOF`, as mail gateways and old disks leave it."""
    piece = random.choice([b"\n", b"\r\n", b"\0", b" ", b"\x1a", b"% the end\n"])
    return file + piece * random.randrange(1, 3000)


def put_junk_before(file: bytes, random: Random) -> bytes:
    """Junk in front of the header, as far as the rule allows."""
    room = HEADER_WITHIN - file.find(b"%PDF-")
    piece = random.choice(
        [b"\n", b"junk\n", b"\0", b"From: someone\r\n", b"\xef\xbb\xbf", b"\x1b%-12345X@PJL\n"]
    )
    return (piece * room)[: random.randrange(1, room + 1)].rstrip(b"\xef\xbb%") + b"\n"[: room > 1] + file


def title_file(file: bytes, random: Random) -> bytes:
    """Other words about the file, in its information and in XMP."""
    title = "".join(random.choices("Aé漢ع😀 &<>()\\", k=random.randrange(1, 60)))
    with Pdf.open(io.BytesIO(file)) as pdf:
        pdf.docinfo = pdf.make_indirect(Dictionary(Title=String(title), Producer=String("Another program")))
        xmp = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- {random.random()} --></x:xmpmeta>'
        pdf.Root.Metadata = pdf.make_stream(xmp.encode(), Type=Name.Metadata, Subtype=Name.XML)
        return save_pdf(pdf)


def without_titles(file: bytes, random: Random) -> bytes:
    with Pdf.open(io.BytesIO(file)) as pdf:
        for holder, key in ((pdf.trailer, "/Info"), (pdf.Root, "/Metadata"), (pdf.Root, "/Lang")):
            if key in holder:
                del holder[key]
        return save_pdf(pdf)


def label_pages(file: bytes, random: Random) -> bytes:
    """Page labels, a bookmark and how the file wants to be shown."""
    with Pdf.open(io.BytesIO(file)) as pdf:
        pdf.Root.PageLabels = Dictionary(Nums=Array([0, Dictionary(S=Name.r, St=random.randrange(1, 99))]))
        pdf.Root.PageLayout = random.choice([Name.SinglePage, Name.OneColumn, Name.TwoPageRight])
        pdf.Root.ViewerPreferences = Dictionary(HideToolbar=True, DisplayDocTitle=random.random() < 0.5)
        with pdf.open_outline() as outline:
            outline.root[:] = [pikepdf.OutlineItem("First page", 0)]
        return save_pdf(pdf)


def renumber_objects(file: bytes, random: Random) -> bytes:
    """Every object under another number: they are written in the order in which they are met."""
    with Pdf.open(io.BytesIO(file)) as pdf:
        order = [item for item in pdf.objects if isinstance(item, Dictionary | Array | Stream)]
        random.shuffle(order)
        pdf.trailer.Order = Array(order)
        return save_pdf(pdf, object_stream_mode=random.choice(list(ObjectStreamMode)))


def copy_pages(file: bytes, random: Random) -> bytes:
    """The pages alone in a new file."""
    with Pdf.open(io.BytesIO(file)) as pdf, pikepdf.new() as other:
        other.pages.extend(pdf.pages)
        return save_pdf(other)


def recompress_streams(file: bytes, random: Random) -> bytes:
    with Pdf.open(io.BytesIO(file)) as pdf:
        for item in pdf.objects:
            if (
                isinstance(item, Stream)
                and item.get("/Filter") == Name.FlateDecode
                and "/DecodeParms" not in item
            ):
                item.write(zlib.compress(item.read_bytes(), random.randrange(10)), filter=Name.FlateDecode)
        return save_pdf(pdf)


def restrict_use(file: bytes, random: Random) -> bytes:
    """An owner's password: it opens without one."""
    strength = random.choice([2, 3, 4, 6])
    how = Encryption(owner=f"{random.random()}", user="", R=strength, aes=strength > 3, metadata=strength > 3)  # type: ignore[arg-type]
    with Pdf.open(io.BytesIO(file)) as pdf:
        return save_pdf(pdf, encryption=how)


def append_revisions(file: bytes, random: Random) -> bytes:
    """Revisions behind it that change nothing, as programs write them that only ever append."""
    with Pdf.open(io.BytesIO(file)) as pdf:
        made = save_pdf(pdf, object_stream_mode=ObjectStreamMode.disable)
        root, size = pdf.Root.objgen[0], len(pdf.objects) + 1
    with Pdf.open(io.BytesIO(made)) as again:
        root, size = again.Root.objgen[0], int(again.trailer.Size)
    for number in range(random.randrange(1, 4)):
        before = int(made.rpartition(b"startxref")[2].split()[0])
        added = len(made)
        made += b"%d 0 obj\n(revision %d)\nendobj\n" % (size, number)
        table = len(made)
        made += b"xref\n%d 1\n%010d 00000 n \ntrailer\n<</Root %d 0 R/Size %d/Prev %d>>\n" % (
            *(size, added, root, size + 1, before),
        )
        made += b"startxref\n%d\n%%%%EOF\n" % table
        size += 1
    return made


# Those of the second table leave the bytes of the file as they are, and need nobody who can read it.
WRITTEN: Mapping[str, Change] = {
    "saved": writing(),
    "linearised": writing(linearize=True),
    "object-streams": writing(object_stream_mode=ObjectStreamMode.generate),
    "no-object-streams": writing(object_stream_mode=ObjectStreamMode.disable),
    "uncompressed": writing(compress_streams=False, stream_decode_level=StreamDecodeLevel.generalized),
    "compressed-anew": writing(recompress_flate=True),
    "qdf": writing(qdf=True),
    "older": writing(min_version="1.3"),
    "newer": writing(force_version="2.0"),
    "titled": title_file,
    "without-titles": without_titles,
    "labelled": label_pages,
    "renumbered": renumber_objects,
    "copied": copy_pages,
    "recompressed": recompress_streams,
    "restricted": restrict_use,
    "revised": append_revisions,
}
AROUND: Mapping[str, Change] = {"padded": pad_end, "preceded": put_junk_before}
