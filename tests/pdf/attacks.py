"""Attacks on signed files as the literature names them, each made from a file sealed here (docs/dev/security.md 1).

USF, SWA and ISA: Mladenov et al., "1 Trillion Dollar Refund" (2019). Shadow: Mainka et al. (2021). EAA and SSA on
certified files: Rohlmann et al. (2021). Each family is a mapping from the name of an attack to the file it makes.
"""

import io
from collections.abc import Callable
from typing import Any

import pikepdf
from pikepdf import Array, Name, String
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.fields import SigFieldSpec, append_signature_field

from tests.pdf.forging import FALSE_PAGE, RANGE, append_revision, literal, moved_gap, parts
from tests.pdf.proofs import dictionary as named
from tests.pdf.proofs import number
from tests.pdf.sealing import save_pdf

Files = dict[str, bytes]
Change = Callable[[IncrementalPdfFileWriter], None]


def numbers(file: bytes) -> dict[str, int]:
    """The objects that matter, by their numbers."""
    with pikepdf.open(io.BytesIO(file)) as pdf:
        page, field = pdf.pages[0], pdf.Root.AcroForm.Fields[0]
        found = {
            "root": pdf.Root,
            "pages": pdf.Root.Pages,
            "page": page.obj,
            "field": field,
            "signature": field.V,
        }
        return {name: item.objgen[0] for name, item in found.items()} | {"free": len(pdf.objects) + 20}


def false_page(file: bytes) -> dict[int, bytes]:
    """The first page with other content."""
    known = numbers(file)
    return {
        known["page"]: b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<<>>>>"
        % (known["pages"], known["free"]),
        known["free"]: b"<</Length %d>>\nstream\n%s\nendstream" % (len(FALSE_PAGE), FALSE_PAGE),
    }


# ---------- universal signature forgery: the signature's own entries, missing or odd ----------

ODD: dict[str, tuple[str, Any]] = {
    "no range": ("ByteRange", None),
    "range of text": ("ByteRange", String("0 1 2 3")),
    "range of nothing": ("ByteRange", Array([])),
    "range of zeros": ("ByteRange", Array([0, 0, 0, 0])),
    "range of three": ("ByteRange", Array([0, 100, 200])),
    "range below zero": ("ByteRange", Array([0, -1, -1, 10**6])),
    "range beyond the end": ("ByteRange", Array([0, 100, 10**9, 10**9])),
    "range of one part": ("ByteRange", Array([0, 10**6])),
    "range of words": ("ByteRange", Array([Name.a, Name.b, Name.c, Name.d])),
    "no contents": ("Contents", None),
    "contents of nothing": ("Contents", String("")),
    "contents of a number": ("Contents", 0),
    "contents of zeros": ("Contents", String("\0" * 100)),
    "contents of a name": ("Contents", Name.Nothing),
    "no type of file": ("SubFilter", None),
    "unknown type of file": ("SubFilter", Name("/x509.any")),
    "old type of file": ("SubFilter", Name("/adbe.x509.rsa_sha1")),
    "no filter": ("Filter", None),
}


def forge_files(file: bytes) -> Files:
    """Once rewritten whole with a false page, once in a revision behind the sealed file, beside a false page."""
    made: Files = {}
    for name, (key, value) in ODD.items():
        with pikepdf.open(io.BytesIO(file)) as pdf:
            signature = pdf.Root.AcroForm.Fields[0].V
            if value is None:
                del signature[Name("/" + key)]
            else:
                signature[Name("/" + key)] = value
            body = signature.unparse(resolved=True)
            pdf.pages[0].Contents = pdf.make_stream(FALSE_PAGE)
            made[f"{name}, rewritten"] = save_pdf(pdf, static_id=True)
        made[f"{name}, behind"] = append_revision(file, false_page(file) | {numbers(file)["signature"]: body})
    return made


# ---------- signature wrapping: the hashed bytes stay, their place does not ----------


def wrap_file(file: bytes) -> Files:
    whole, known = parts(file), numbers(file)
    kept, gap, behind = whole.before, whole.gap, whole.behind
    size = len(kept) + len(gap)
    made = {"gap moved": moved_gap(file)}
    injected = b"\n%d 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\n" % (known["page"], 9, FALSE_PAGE)
    made["gap widened"] = kept + gap + injected + behind
    made["second part at the end"] = kept + gap + behind + injected + behind
    told = b"/ByteRange [0 %d %d %d]" % (len(kept), size + len(behind + injected), len(behind))
    made["second part at the end, as the range says"] = (
        kept + gap + RANGE.sub(told, behind) + injected + behind
    )
    made["gap filled with objects"] = kept + injected.ljust(len(gap)) + behind
    made["gap in spaces"] = kept + b"<" + b" " * (len(gap) - 2) + b">" + behind
    made["first part twice"] = kept + kept + gap + behind
    for name, sides in {
        "overlapping": [0, len(kept) + 50, len(kept) - 50, len(behind)],
        "backwards": [size, len(behind), 0, len(kept)],
        "from one": [1, len(kept) - 1, size, len(behind)],
        "the gap and all": [0, size, size, len(behind)],
        "six parts": [0, 10, 10, len(kept) - 10, size, len(behind)],
    }.items():
        made[f"range {name}"] = append_revision(
            file, false_page(file) | {known["signature"]: signature_of(whole.cms, sides)}
        )
    made["the true range in a new signature"] = append_revision(
        file,
        false_page(file) | {known["signature"]: signature_of(whole.cms, [0, len(kept), size, len(behind)])},
    )
    return made


def signature_of(cms: bytes, numbers: list[int]) -> bytes:
    return (
        b"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange ["
        + b" ".join(b"%d" % number for number in numbers)
        + b"]/Contents "
        + literal(cms)
        + b">>"
    )


# ---------- incremental saving: something stands behind the sealed revision ----------


def page_of(writer: IncrementalPdfFileWriter) -> generic.DictionaryObject:
    page, _ = writer.find_page_for_modification(0)  # type: ignore[no-untyped-call]
    writer.mark_update(page)
    found: generic.DictionaryObject = page.get_object()
    return found


def stream(writer: IncrementalPdfFileWriter, content: bytes = FALSE_PAGE, **entries: Any) -> Any:
    known = {generic.pdf_name("/" + name): value for name, value in entries.items()}
    return writer.add_object(generic.StreamObject(known, stream_data=content))


def entry(where: str, value: Callable[[IncrementalPdfFileWriter], Any]) -> Change:
    """Sets an entry of the first page, or of the catalogue."""

    def change(writer: IncrementalPdfFileWriter) -> None:
        place, _, name = where.partition(".")
        target = page_of(writer) if place == "page" else writer.root
        target[generic.pdf_name("/" + name)] = value(writer)
        writer.update_root()  # type: ignore[no-untyped-call]

    return change


def dictionary(**entries: Any) -> generic.DictionaryObject:
    return named({"/" + name: value for name, value in entries.items()})


def rectangle(*sides: int) -> generic.ArrayObject:
    return generic.ArrayObject([number(side) for side in sides])


def note(writer: IncrementalPdfFileWriter, kind: str = "/FreeText") -> Any:
    return writer.add_object(
        dictionary(
            Type=generic.pdf_name("/Annot"),
            Subtype=generic.pdf_name(kind),
            Rect=rectangle(50, 50, 400, 400),
            Contents=generic.pdf_string("Pay 9,999,999"),
            AP=dictionary(
                N=stream(writer, Subtype=generic.pdf_name("/Form"), BBox=rectangle(0, 0, 500, 500))
            ),
        )
    )


def annotations(writer: IncrementalPdfFileWriter, *more: Any) -> generic.ArrayObject:
    held = page_of(writer).get("/Annots", generic.ArrayObject())
    return generic.ArrayObject([*held, *more])


def another_page(writer: IncrementalPdfFileWriter) -> None:
    pages = writer.root.raw_get("/Pages")
    page = dictionary(
        Type=generic.pdf_name("/Page"),
        Parent=pages,
        MediaBox=rectangle(0, 0, 595, 842),
        Contents=stream(writer),
    )
    tree = pages.get_object()
    tree["/Kids"] = generic.ArrayObject([*tree["/Kids"], writer.add_object(page)])
    tree["/Count"] = number(len(tree["/Kids"]))
    writer.mark_update(pages)


def one_page_less(writer: IncrementalPdfFileWriter) -> None:
    pages = writer.root.raw_get("/Pages")
    tree = pages.get_object()
    tree["/Kids"] = generic.ArrayObject([tree["/Kids"].raw_get(0)])
    tree["/Count"] = number(len(tree["/Kids"]))
    writer.mark_update(pages)


def script(writer: IncrementalPdfFileWriter) -> generic.DictionaryObject:
    return dictionary(S=generic.pdf_name("/JavaScript"), JS=generic.pdf_string("app.alert(1)"))


def without(name: str) -> Change:
    def change(writer: IncrementalPdfFileWriter) -> None:
        del writer.root[name]
        writer.update_root()  # type: ignore[no-untyped-call]

    return change


def changed_stream(writer: IncrementalPdfFileWriter) -> None:
    """The content stream itself, under its own number."""
    held = page_of(writer).raw_get("/Contents")
    held = held if isinstance(held, generic.IndirectObject) else held.raw_get(0)
    writer.objects[(held.reference.generation, held.reference.idnum)] = generic.StreamObject(
        stream_data=FALSE_PAGE
    )


def a_field(writer: IncrementalPdfFileWriter) -> None:
    append_signature_field(writer, SigFieldSpec("Extra", box=(9, 9, 99, 99)))


def false_pages(writer: IncrementalPdfFileWriter) -> Any:
    page = dictionary(
        Type=generic.pdf_name("/Page"), MediaBox=rectangle(0, 0, 595, 842), Contents=stream(writer)
    )
    kids = generic.ArrayObject([writer.add_object(page)])
    return writer.add_object(dictionary(Type=generic.pdf_name("/Pages"), Kids=kids, Count=number(1)))


CHANGES: dict[str, Change] = {
    "content replaced": entry("page.Contents", stream),
    "content stream overwritten": changed_stream,
    "resources replaced": entry("page.Resources", lambda _: dictionary()),
    "page turned": entry("page.Rotate", lambda _: number(180)),
    "page cut": entry("page.CropBox", lambda _: rectangle(0, 0, 99, 99)),
    "page appended": another_page,
    "page taken away": one_page_less,
    "note added": entry("page.Annots", lambda writer: annotations(writer, note(writer))),
    "stamp added": entry("page.Annots", lambda writer: annotations(writer, note(writer, "/Stamp"))),
    "redaction added": entry("page.Annots", lambda writer: annotations(writer, note(writer, "/Redact"))),
    "annotations taken away": entry("page.Annots", lambda _: generic.ArrayObject()),
    "field added": a_field,
    "script at opening": entry("root.OpenAction", script),
    "script on the page": entry("page.AA", lambda writer: dictionary(O=script(writer))),
    "file embedded": entry("root.AF", lambda writer: generic.ArrayObject([stream(writer)])),
    "layers added": entry("root.OCProperties", lambda _: dictionary(OCGs=generic.ArrayObject())),
    "pages elsewhere": entry("root.Pages", false_pages),
    "language changed": entry("root.Lang", lambda _: generic.pdf_string("xx")),
    "form taken away": without("/AcroForm"),
    "certification taken away": without("/Perms"),
}
