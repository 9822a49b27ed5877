"""Files prepared before they are signed, certified files that allow something, and tricks with the table of objects."""

import io
import zlib
from collections.abc import Mapping

import pikepdf
from pikepdf import Array, Dictionary, Name, String
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter

from tests.pdf.attacks import CHANGES, Files, dictionary, false_page, numbers, page_of, rectangle, stream
from tests.pdf.forging import FALSE_PAGE, append_revision, append_update, parts
from tests.pdf.local_seal import load_key
from tests.pdf.others import certificate, key, signed_in_loop, store
from tests.pdf.sealing import a_pdf, save_pdf, sign_file
from tests.pki import NOW, Issued, a_seal, an_authority

# ---------- shadow attacks: the forger prepares the file that somebody else signs ----------


def prepare_shadow() -> bytes:
    """One page under a cover, another page that no tree leads to, and a form field with a value of its own."""
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        page = pdf.pages[0]
        cover = pdf.make_stream(
            b"0 0 595 842 re f", Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 595, 842])
        )
        page.Resources.XObject = Dictionary(Cover=cover)
        page.Contents = Array([page.Contents, pdf.make_stream(b"/Cover Do")])
        hidden = pdf.make_indirect(
            Dictionary(Type=Name.Page, MediaBox=Array([0, 0, 595, 842]), Contents=pdf.make_stream(FALSE_PAGE))
        )
        tree = pdf.make_indirect(Dictionary(Type=Name.Pages, Kids=Array([hidden]), Count=1))
        hidden.Parent = tree
        look = pdf.make_stream(b"0 g", Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 99, 20]))
        field = pdf.make_indirect(
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.Widget,
                FT=Name.Tx,
                T=String("sum"),
                V=String("10"),
                Rect=Array([50, 700, 150, 720]),
                AP=Dictionary(N=look),
                P=page.obj,
            )
        )
        page.Annots = Array([field])
        pdf.Root.AcroForm = Dictionary(Fields=Array([field]))
        pdf.Root.PieceInfo = Dictionary(Kept=Array([tree, cover, field]))
        return save_pdf(pdf, static_id=True)


def shadow_signed(signed: bytes) -> Files:
    """The cover taken away, the value replaced, the other tree of pages put in place: each in several ways."""
    with pikepdf.open(io.BytesIO(signed)) as pdf:
        tree, cover, field = (held.objgen[0] for held in pdf.Root.PieceInfo.Kept)
        hidden = pdf.Root.PieceInfo.Kept[0].Kids[0].objgen[0]
        look = pdf.Root.PieceInfo.Kept[2].AP.N.objgen[0]
        known = numbers(signed)
        root = pdf.Root.unparse(resolved=True).replace(
            b"/Pages %d 0 R" % known["pages"], b"/Pages %d 0 R" % tree
        )
        value = pdf.Root.PieceInfo.Kept[2].unparse(resolved=True).replace(b"(10)", b"(99)")
    nothing = b"<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Length 0>>\nstream\n\nendstream"
    other = b"<</Type/XObject/Subtype/Form/BBox[0 0 99 20]/Length %d>>\nstream\n%s\nendstream" % (
        len(FALSE_PAGE),
        FALSE_PAGE,
    )
    return {
        "cover emptied": append_revision(signed, {cover: nothing}),
        "cover freed": free_object(signed, cover),
        "cover made a number": append_revision(signed, {cover: b"0"}),
        "cover turned into its own field": append_revision(
            signed, {cover: b"<</Type/XObject/Subtype/Image>>"}
        ),
        "value replaced": append_revision(signed, {field: value}),
        "value and its look replaced": append_revision(signed, {field: value, look: other}),
        "look replaced": append_revision(signed, {look: other}),
        "look freed": free_object(signed, look),
        "other pages in place": append_revision(signed, {known["root"]: root}),
        "other pages under the old number": append_revision(
            signed, {known["pages"]: b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % hidden}
        ),
        "another catalogue": append_revision(signed, {known["free"]: root}, root=known["free"]),
        "another catalogue, cover emptied": append_revision(
            signed, {known["free"]: root, cover: nothing}, root=known["free"]
        ),
    }


def free_object(file: bytes, number: int) -> bytes:
    """A table that declares an object gone."""
    before = int(file.rpartition(b"startxref")[2].split()[0])
    made = file + b"\n"
    entry = b"xref\n0 1\n%010d 65535 f \n%d 1\n0000000000 00001 f \n" % (number, number)
    trailer = b"trailer\n<</Root %d 0 R/Size 999/Prev %d>>\n" % (numbers(file)["root"], before)
    return made + entry + trailer + b"startxref\n%d\n%%%%EOF\n" % len(made)


# ---------- certified files that allow filling in (SSA) and notes (EAA) ----------


def certify_file(issued: Issued, permission: MDPPerm) -> bytes:
    signer = signers.SimpleSigner(certificate(issued), key(issued), store(*issued.issuers))
    about = signers.PdfSignatureMetadata(
        field_name="Seal",
        md_algorithm="sha256",
        subfilter=SigSeedSubFilter.PADES,
        certify=True,
        docmdp_permissions=permission,
    )
    writer = IncrementalPdfFileWriter(io.BytesIO(prepare_shadow()))
    return bytes(signers.sign_pdf(writer, about, signer).getvalue())


def sneak_changes(file: bytes) -> Files:
    """A further signature whose look says something else, notes over the page, and both."""
    stranger = a_seal(an_authority("Stranger Root"), name="Stranger")
    noted = append_update(CHANGES["note added"], file)
    return {
        "note over the text": noted,
        "stamp over the text": append_update(CHANGES["stamp added"], file),
        "redaction over the text": append_update(CHANGES["redaction added"], file),
        "empty signature with a look": append_update(sneaky_field, file),
        "signature of a stranger": signed_in_loop(file, stranger, "Later", None),
        "signature of a stranger over a note": signed_in_loop(noted, stranger, "Later", None),
        "note and new content": append_update(CHANGES["content replaced"], noted),
        "look of the seal replaced": append_update(sneaky_look, file),
    }


def sneaky_field(writer: IncrementalPdfFileWriter) -> None:
    CHANGES["field added"](writer)
    for held in page_of(writer)["/Annots"]:
        extra = held.get_object()
        if extra.get("/T") == "Extra":
            extra[generic.pdf_name("/AP")] = dictionary(N=stream(writer))


def sneaky_look(writer: IncrementalPdfFileWriter) -> None:
    for held in writer.root["/AcroForm"]["/Fields"]:
        field = held.get_object()
        if field.get("/FT") == "/Sig":
            field[generic.pdf_name("/AP")] = dictionary(N=stream(writer))
            field[generic.pdf_name("/Rect")] = rectangle(0, 0, 500, 500)
            writer.mark_update(held)


# ---------- the table of objects, and the bytes around the file ----------


def mislead_readers(file: bytes) -> Files:
    """Tables that some readers follow and others do not."""
    known, false = numbers(file), false_page(file)
    last = int(file.rpartition(b"startxref")[2].split()[0])
    first = int(file.partition(b"startxref")[2].split()[0])
    packed = object_stream(file, false)
    both = append_revision(file, {}, more=b"/XRefStm %d" % packed.rindex(b"999 0 obj"))
    return {
        "table behind the end": file + b"startxref\n%d\n%%%%EOF\n" % last,
        "back to the first table": file + b"startxref\n%d\n%%%%EOF\n" % first,
        "no way back to the seal": append_revision(file, false, prev=first),
        "no way back at all": append_revision(file, false, prev=0),
        "back to itself": append_revision(file, false, prev=len(file) + 1),
        "a false table in between": append_revision(
            append_revision(file, false), {known["free"] + 1: b"null"}
        ),
        "in an object stream": packed,
        "hybrid": hybrid(file, false),
        "hybrid beside a stream": both,
        "objects without a table": file
        + b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in false.items()),
        "encryption declared": append_revision(
            file, false, more=b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O()/U()>>"
        ),
        "another root in the trailer": append_revision(
            file, false | {990: b"<</Type/Catalog/Pages %d 0 R>>" % known["pages"]}, root=990
        ),
    }


def object_stream(file: bytes, objects: Mapping[int, bytes]) -> bytes:
    """The false page inside an object stream, found by a cross-reference stream."""
    plain = {number: body for number, body in objects.items() if b"stream" not in body}
    streams = {number: body for number, body in objects.items() if b"stream" in body}
    body = b"".join(text + b" " for text in plain.values())
    heads, at = b"", 0
    for number, text in plain.items():
        heads += b"%d %d " % (number, at)
        at += len(text) + 1
    made = file + b"\n"
    rows: dict[int, tuple[int, int, int]] = {}
    for number, text in streams.items():
        rows[number] = (1, len(made), 0)
        made += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    rows[998] = (1, len(made), 0)
    packed = zlib.compress(heads + body)
    made += b"998 0 obj\n<</Type/ObjStm/N %d/First %d/Filter/FlateDecode/Length %d>>\nstream\n" % (
        len(plain),
        len(heads),
        len(packed),
    )
    made += packed + b"\nendstream\nendobj\n"
    for index, number in enumerate(plain):
        rows[number] = (2, 998, index)
    rows[999] = (1, len(made), 0)
    return made + table_stream(file, rows, len(made))


def table_stream(file: bytes, rows: Mapping[int, tuple[int, int, int]], start: int) -> bytes:
    before = int(file.rpartition(b"startxref")[2].split()[0])
    index = b" ".join(b"%d 1" % number for number in sorted(rows))
    cells = b"".join(
        bytes([rows[number][0]]) + rows[number][1].to_bytes(4, "big") + bytes([rows[number][2]])
        for number in sorted(rows)
    )
    about = b"<</Type/XRef/W[1 4 1]/Size 1000/Root %d 0 R/Prev %d/Index[%s]/Length %d>>" % (
        numbers(file)["root"],
        before,
        index,
        len(cells),
    )
    end = b"startxref\n%d\n%%%%EOF\n" % start
    return b"999 0 obj\n" + about + b"\nstream\n" + cells + b"\nendstream\nendobj\n" + end


def hybrid(file: bytes, objects: Mapping[int, bytes]) -> bytes:
    """A table with nothing in it, and a cross-reference stream beside it that only newer readers follow."""
    made = file + b"\n"
    rows = {}
    for number, text in objects.items():
        rows[number] = (1, len(made), 0)
        made += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    rows[999] = (1, len(made), 0)
    beside = len(made)
    made += table_stream(file, rows, beside).rpartition(b"startxref")[0]
    return append_revision(
        made, {}, more=b"/XRefStm %d" % beside, prev=int(file.rpartition(b"startxref")[2].split()[0])
    )


def around(file: bytes, other: bytes, issued: Issued) -> Files:
    """Cut, lengthened, and with the signature of somebody else or of another file in the gap."""
    whole, strange = parts(file), load_key(issued.credential)
    digits, end = len(whole.gap) - 2, len(whole.cms.rstrip(b"\0")) - 9

    def fill_form(content: bytes) -> bytes:
        return whole.before + b"<" + content.hex().encode().ljust(digits, b"0")[:digits] + b">" + whole.behind

    return {
        "cut in the middle": file[: len(file) // 2],
        "cut behind the gap": whole.before + whole.gap,
        "cut at the first end": file[: file.index(b"%%EOF") + 6],
        "last byte cut off": file[:-1],
        "two ends": file + b"%%EOF\n",
        "two ends and a table": file + b"startxref\n0\n%%EOF\n",
        "zeros behind": file + b"\0" * 4096,
        "another file behind": file + a_pdf(),
        "itself behind": file + file,
        "bytes in front": b"\n" + file,
        "a page in front": a_pdf() + file,
        "seal of another file": fill_form(parts(other).cms),
        "seal of the same text by a stranger": fill_form(
            parts(sign_file(file[: file.index(b"%%EOF") + 6], strange, NOW, "x")).cms
        ),
        "seal of a stranger over nothing": fill_form(strange.public.build_cms(b"\0" * 32)),
        "seal cut short": fill_form(whole.cms[:400]),
        "seal with one bit changed": fill_form(
            whole.cms[:end] + bytes([whole.cms[end] ^ 1]) + whole.cms[end + 1 :]
        ),
    }
