"""Revisions behind a sealed file, written by hand: honest proof as pyHanko and EU DSS write it, and what is none.

Attacks are tables × contents: a payload under signed numbers lies between the objects of an honest store of proof, and
the table that leads past it is written in each way that some reader forgives and another rebuilds.
"""

import asyncio
import hashlib
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pikepdf

from tests.pdf.others import a_stamper

Objects = dict[int, bytes]
WORDS = b"Pay 9,999,999"
LETTERS = b"BT /F1 24 Tf 60 400 Td (" + WORDS + b") Tj ET"
DIGITS = 16_000


@dataclass(frozen=True)
class Facts:
    """What of a file a revision behind it needs to know."""

    file: bytes
    root: int
    info: int | None
    page: int
    form: int
    size: int
    start: int
    stream: bool
    identifier: bytes
    catalog: bytes
    page_body: bytes
    info_body: bytes
    form_body: bytes
    content: int

    @property
    def free(self) -> int:
        return self.size


def facts(file: bytes) -> Facts:
    start = int(file.rpartition(b"startxref")[2].split()[0])
    with pikepdf.open(io.BytesIO(file)) as pdf:
        page, trailer = pdf.pages[0].obj, pdf.trailer
        info = trailer.get("/Info")
        held = page.Contents
        return Facts(
            file,
            pdf.Root.objgen[0],
            info.objgen[0] if info is not None else None,
            page.objgen[0],
            pdf.Root.AcroForm.objgen[0],
            int(trailer["/Size"]),
            start,
            file[start : start + 4] != b"xref",
            trailer["/ID"].unparse(),
            pdf.Root.unparse(resolved=True),
            page.unparse(resolved=True),
            info.unparse(resolved=True) if info is not None else b"<<>>",
            pdf.Root.AcroForm.unparse(resolved=True),
            (held[0] if isinstance(held, pikepdf.Array) else held).objgen[0],
        )


def within(dictionary: bytes, entries: bytes) -> bytes:
    """The dictionary with further entries."""
    assert dictionary.endswith(b">>")
    return dictionary[:-2] + b" " + entries + b" >>"


def a_stream(data: bytes, entries: bytes = b"", length: int | None = None) -> bytes:
    said = len(data) if length is None else length
    return b"<< /Length %d %s>>\nstream\n%s\nendstream" % (said, entries, data)


# ---------- how a revision is written ----------


@dataclass(frozen=True)
class RevisionStyle:
    """How a revision is written; as it stands, exactly as careful writers do.

    `odd` turns the offset of each entry, `lines` writes the lines of the table, `unlisted` go before the objects and
    stand in no table.
    """

    first: bytes = b""
    between: bytes = b"\n"
    head: bytes = b"%d 0 obj\n"
    word: bytes = b"xref\n"
    null: bytes = b"0 1\n0000000000 65535 f \n"
    section: bytes = b"%d %d\n"
    entry: bytes = b"%010d 00000 n \n"
    shift: int = 0
    size: int | None = None
    more_size: int = 0
    prev: bytes = b"%d"
    prev_shift: int = 0
    more: bytes = b""
    start_shift: int = 0
    end: bytes = b"%%EOF\n"
    before_table: bytes = b""
    in_trailer: bytes = b"trailer\n"
    unlisted: Objects = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    reverse: bool = False
    widths: tuple[int, int, int] = (1, 8, 2)
    packed: bool = False


def revision(known: Facts, objects: Objects, way: RevisionStyle | None = None) -> bytes:
    """The file with one revision behind it."""
    way = way or RevisionStyle()
    made = bytearray(known.file + way.first)
    for number, body in way.unlisted.items():
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = len(made)
        made += way.head % number + body + b"\nendobj" + way.between
    made += way.before_table
    start = len(made)
    size = way.size if way.size is not None else max([known.size, *(n + 1 for n in objects)]) + way.more_size
    listed = {number: place + way.shift for number, place in places.items() if number not in way.hidden}
    if known.stream:
        made += table_stream(known, listed, way, start, size)
    else:
        made += table(known, listed, way, size)
    return bytes(made) + b"startxref\n%d\n" % (start + way.start_shift) + way.end


def trailer(known: Facts, way: RevisionStyle, size: int) -> bytes:
    info = b" /Info %d 0 R" % known.info if known.info is not None else b""
    prev = way.prev % (known.start + way.prev_shift)
    return b"/Root %d 0 R%s /Size %d /ID %s /Prev %s%s" % (
        known.root,
        info,
        size,
        known.identifier,
        prev,
        way.more,
    )


def table(known: Facts, listed: Mapping[int, int], way: RevisionStyle, size: int) -> bytes:
    made = way.word + way.null
    for number in sorted(listed, reverse=way.reverse):
        made += way.section % (number, 1) + way.entry % listed[number]
    return made + way.in_trailer + b"<< " + trailer(known, way, size) + b" >>\n"


def table_stream(known: Facts, listed: Mapping[int, int], way: RevisionStyle, start: int, size: int) -> bytes:
    number = max([known.size, *(n + 1 for n in listed)])
    size = size if way.size is not None else max(size, number + 1 + way.more_size)
    rows = {number: start, **listed}
    one, two, three = way.widths
    index = b" ".join(b"%d 1" % n for n in sorted(rows, reverse=way.reverse))
    data = b"".join(
        (1).to_bytes(one, "big") + rows[n].to_bytes(two, "big") + bytes(three)
        for n in sorted(rows, reverse=way.reverse)
    )
    about = b"/Type /XRef /W [%d %d %d] /Index [%s] " % (one, two, three, index) + trailer(known, way, size)
    data = zlib.compress(data) if way.packed else data
    filtered = b" /Filter /FlateDecode " if way.packed else b" "
    return b"%d 0 obj\n" % number + a_stream(data, about + filtered) + b"\nendobj\n"


# ---------- honest proof ----------


@dataclass(frozen=True)
class Proofs:
    """Proofs in DER."""

    certificate: bytes
    revocations: bytes
    answer: bytes


def a_store(known: Facts, proofs: Proofs, entries: bytes = b"", packed: bool = False) -> Objects:
    """A store of validation data, and the catalog that names it."""
    first = known.free + 10  # behind what others of these write
    store = (
        b"<< /Type /DSS /Certs [%d 0 R] /CRLs [%d 0 R] /OCSPs [%d 0 R] /VRI << /%s << /Cert [%d 0 R] /CRL [%d 0 R]"
        % (
            first,
            first + 1,
            first + 2,
            hashlib.sha1(known.file).hexdigest().upper().encode(),  # the standard names them so
            first,
            first + 1,
        )
    )
    store += b" /OCSP [%d 0 R] /TU (D:20261121000000Z) >> >> >>" % (first + 2)
    data = (proofs.certificate, proofs.revocations, proofs.answer)
    streams = [
        a_stream(zlib.compress(one), b"/Filter /FlateDecode ") if packed else a_stream(one) for one in data
    ]
    catalog = without_store(known.catalog)
    named = {first + n: body for n, body in enumerate(streams)} | {first + 3: store}
    return named | {known.root: within(catalog, b"/DSS %d 0 R %s" % (first + 3, entries))}


def without_store(catalog: bytes) -> bytes:
    """The catalog without the store that it names already."""
    found = catalog.find(b"/DSS ")
    if found < 0:
        return catalog
    return catalog[:found] + catalog[found:].split(b" R", 1)[1]


def stamped_like_dss(
    file: bytes,
    look: bytes | None = None,
    rectangle: bytes = b"[0.0 0.0 0.0 0.0]",
    more: bytes = b"",
    name: bytes | None = None,
) -> bytes:
    """A document time stamp as PDFBox writes it for EU DSS: its invisible field has an appearance, an empty one."""
    known = facts(file)
    first = known.free
    look = (
        look
        if look is not None
        else b"<<\n/Length 0\n/Type /XObject\n/Subtype /Form\n/BBox %s\n>>\nstream\r\n\r\nendstream"
        % rectangle
    )
    page = known.page_body
    annotations = b"/Annots [%d 0 R]" % first
    if b"/Annots" in page:
        head, _, rest = page.partition(b"/Annots [")
        inside, _, tail = rest.partition(b"]")
        page = head + b"/Annots [%s %d 0 R]" % (inside, first) + tail
    else:
        page = within(page, annotations)
    head, _, rest = known.form_body.partition(b"/Fields [")
    inside, _, tail = rest.partition(b"]")
    form = head + b"/Fields [%s %d 0 R]" % (inside, first) + tail
    name = name if name is not None else b"Signature%d" % (file.count(b"/DocTimeStamp") + 1)
    place = b"<" + b"0" * DIGITS + b">"
    objects = {
        first: b"<<\n/FT /Sig\n/Type /Annot\n/Subtype /Widget\n/F 132\n/T (%s)\n"
        b"/V %d 0 R\n/P %d 0 R\n/Rect %s\n/AP %d 0 R\n%s>>"
        % (name, first + 1, known.page, rectangle, first + 2, more),
        first + 1: b"<<\n/Type /DocTimeStamp\n/Filter /Adobe.PPKLite\n/SubFilter /ETSI.RFC3161\n"
        b"/Contents %s\n/ByteRange %s\n>>" % (place, b"[0 1000000000 1000000000 1000000000]"),
        known.page: page,
        first + 2: b"<<\n/N %d 0 R\n>>" % (first + 3),
        first + 3: look,
        known.form: form,
        known.root: known.catalog
        if b"/Extensions" in known.catalog
        else within(known.catalog, b"/Extensions << /ADBE << /BaseVersion /1.7 /ExtensionLevel 8 >> >>"),
    }
    way = RevisionStyle(
        first=b"\r\n",
        entry=b"%010d 00000 n\r\n",
        null=b"0 1\n0000000000 65535 f\r\n",
        widths=(1, 3, 0),
        packed=True,
    )
    made = revision(known, objects, way)
    return with_token(made, made.index(place, len(file)), len(place))


def with_token(made: bytes, start: int, length: int) -> bytes:
    """The file with its byte range and a token over it."""
    end = start + length
    said = b"[0 %d %d %d]" % (start, end, len(made) - end)
    made = made.replace(b"[0 1000000000 1000000000 1000000000]", said.ljust(36))
    digest = hashlib.sha256(made[:start] + made[end:]).digest()
    token = asyncio.run(a_stamper().async_timestamp(digest, "sha256")).dump().hex().upper().encode()
    filled: bytes = made[:start] + b"<" + token.ljust(length - 2, b"0") + b">" + made[end:]
    return filled


# ---------- attacks: what lies hidden ----------


def payloads(known: Facts) -> dict[str, Objects]:
    """Objects under signed numbers that show another page, and one that shows nothing at all."""
    other = known.free + 60
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
    page += b" /Resources << /Font << /F1 %d 0 R >> >> >>"
    return {
        "content": {known.content: a_stream(LETTERS)},
        "page": {
            known.page: page % (other, other + 1),
            other: a_stream(LETTERS),
            other + 1: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        },
        "nothing": {},
    }


TABLES: dict[str, RevisionStyle] = {
    "19-byte entries": RevisionStyle(entry=b"%010d 00000 n\n", null=b"0 1\n0000000000 65535 f\n"),
    "21-byte entries": RevisionStyle(entry=b"%010d 00000 n  \n"),
    "short offsets": RevisionStyle(entry=b"%d 00000 n \n"),
    "other generation": RevisionStyle(entry=b"%010d 00001 n \n"),
    "entries in capitals": RevisionStyle(entry=b"%010d 00000 N \n"),
    "entries between tabs": RevisionStyle(entry=b"%010d\t00000\tn \n"),
    "carriage returns": RevisionStyle(entry=b"%010d 00000 n \r"),
    "size of ten": RevisionStyle(size=10),
    "size of one": RevisionStyle(size=1),
    "size of nothing": RevisionStyle(size=0),
    "size too large": RevisionStyle(more_size=1),
    "size of the past": RevisionStyle(more_size=-1),
    "nothing listed": RevisionStyle(word=b"xref\n0 0\n"),
    "no null object": RevisionStyle(null=b"", section=b"%d %d \n \n"),
    "sections on one line": RevisionStyle(section=b"%d %d ", null=b"0 1 0000000000 65535 f \n"),
    "sections out of order": RevisionStyle(reverse=True),
    "null not free": RevisionStyle(null=b"0 1\n0000000000 65535 n \n"),
    "null of another generation": RevisionStyle(null=b"0 1\n0000000000 00000 f \n"),
    "another object freed": RevisionStyle(null=b"0 2\n0000000000 65535 f \n0000000000 00001 f \n"),
    "null leads somewhere": RevisionStyle(null=b"0 1\n0000000001 65535 f \n"),
    "offsets one too early": RevisionStyle(shift=-1),
    "offsets one too late": RevisionStyle(shift=1),
    "offsets ten too early": RevisionStyle(shift=-10),
    "table one too early": RevisionStyle(start_shift=-1),
    "table one too late": RevisionStyle(start_shift=1),
    "table five too late": RevisionStyle(start_shift=5),
    "way back with a sign": RevisionStyle(prev=b"+%d"),
    "way back as a fraction": RevisionStyle(prev=b"%d.0"),
    "way back with zeros": RevisionStyle(prev=b"00%d"),
    "way back one too early": RevisionStyle(prev_shift=-1),
    "way back one too late": RevisionStyle(prev_shift=1),
    "way back by reference": RevisionStyle(prev=b"%d 0 R"),
    "hybrid": RevisionStyle(more=b" /XRefStm 5"),
    "old hybrid": RevisionStyle(more=b" /XRefStm 0"),
    "encryption": RevisionStyle(more=b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O () /U () >>"),
    "more in the trailer": RevisionStyle(more=b" /Hidden (" + WORDS + b")"),
    "the same key twice": RevisionStyle(more=b" /Size 7"),
    "a comment before the table": RevisionStyle(before_table=b"%here\n"),
    "a comment in the table": RevisionStyle(word=b"xref %here\n"),
    "a comment in the trailer": RevisionStyle(in_trailer=b"trailer %here\n"),
    "garbage before the table": RevisionStyle(before_table=WORDS + b"\n"),
    "garbage between objects": RevisionStyle(between=b"\n" + WORDS + b"\n"),
    "comments between objects": RevisionStyle(between=b"\n%" + WORDS + b"\n"),
    "spaces between objects": RevisionStyle(between=b"\n" + b" " * 5000 + b"\n"),
    "zeros between objects": RevisionStyle(between=b"\n\0\0\0\n"),
    "garbage in front": RevisionStyle(first=WORDS + b"\n"),
    "a comment in front": RevisionStyle(first=b"%" + WORDS + b"\n"),
    "heads of tabs": RevisionStyle(head=b"%d\t0\tobj\n"),
    "heads with zeros": RevisionStyle(head=b"00%d 0 obj\n"),
    "two ends": RevisionStyle(end=b"%%EOF\n%%EOF\n"),
    "no end": RevisionStyle(end=b""),
    "half an end": RevisionStyle(end=b"%%EO"),
    "garbage behind": RevisionStyle(end=b"%%EOF\n" + WORDS),
    "spaces behind": RevisionStyle(end=b"%%EOF\n    \n"),
    "zeros behind": RevisionStyle(end=b"%%EOF\n\0"),
    "a second table": RevisionStyle(before_table=b"xref\n0 0\ntrailer\n<< /Size 1 >>\n"),
}
FOR_STREAMS = (  # what says something of a cross-reference stream too
    "size", "offsets", "table one", "table five", "way back", "hybrid", "old hybrid", "encryption", "more in",
    "the same key", "a comment before", "garbage", "comments", "spaces", "zeros", "a comment in front", "heads",
    "two ends", "no end", "half an end", "a second table",
)  # fmt: skip


def ways(known: Facts) -> Iterator[tuple[str, RevisionStyle]]:
    for name, way in TABLES.items():
        if not known.stream or name.startswith(FOR_STREAMS):
            yield name, way


def hide_payloads(file: bytes, proofs: Proofs) -> Iterator[tuple[str, bytes]]:
    """An honest store of proof, with a payload that no table lists, by each way of writing the table."""
    known = facts(file)
    store = a_store(known, proofs)
    for content, lying in payloads(known).items():
        if lying:
            yield f"{content}, unlisted", revision(known, store, RevisionStyle(unlisted=lying))
            yield f"{content}, listed", revision(known, store | lying)
            yield f"{content}, alone", revision(known, lying)
            yield f"{content}, in the table of nothing", revision(known, {}, RevisionStyle(unlisted=lying))
        for name, way in ways(known):
            yield f"{content}, {name}", revision(known, store, replace(way, unlisted=lying))


# ---------- attacks: honest tables, other contents ----------


def touch_pages(file: bytes, proofs: Proofs) -> Iterator[tuple[str, bytes]]:
    """Proof, and beside it a change of something that a reader shows or obeys; or no proof at all."""
    known = facts(file)
    store = a_store(known, proofs)
    first = known.free + 10

    def make_tail(name: str, objects: Objects) -> tuple[str, bytes]:
        return name, revision(known, store | objects)

    for name, entries in {
        "version": b"/Version /2.0",
        "extensions": b"/Extensions << /EVIL << /BaseVersion /1.7 /ExtensionLevel 1 >> >>",
        "extension level": b"/Extensions << /ADBE << /BaseVersion /1.7 /ExtensionLevel 77 >> >>",
        "script": b"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>",
        "language": b"/Lang (xx)",
        "page mode": b"/PageMode /UseAttachments",
        "preferences": b"/ViewerPreferences << /HideToolbar true >>",
        "layers": b"/OCProperties << /OCGs [] /D << >> >>",
        "private": b"/PieceInfo << /X (%s) >>" % WORDS,
    }.items():
        key = entries.split(b" ")[0]
        if key + b" " not in known.catalog:
            yield name, revision(known, a_store(known, proofs, entries))
    form = known.form_body
    for name, entry in {
        "appearances needed": b"/NeedAppearances true",
        "resources of the form": b"/DR << /Font << >> >>",
        "look of fields": b"/DA (/Helv 0 Tf)",
        "order of calculation": b"/CO []",
        "form of another kind": b"/XFA (x)",
    }.items():
        yield make_tail(name, {known.form: within(form, entry)})
    yield make_tail("no fields", {known.form: b"<< /Fields [] /SigFlags 3 >>"})
    if known.info is not None:
        title = within(known.info_body, b"/Subject2 (%s)" % WORDS)
        yield make_tail("more information", {known.info: title})
        yield make_tail("no information", {known.info: b"<< >>"})
        body = known.info_body.replace(b"/EsignAudit (", b"/EsignAudit (x")
        yield make_tail("other information", {known.info: body})
        if b"/Producer" not in known.info_body:
            yield make_tail("producer", {known.info: within(known.info_body, b"/Producer (%s)" % WORDS)})
    yield make_tail("page turned", {known.page: within(known.page_body, b"/UserUnit 2")})
    yield make_tail("page again as it was", {known.page: known.page_body})
    yield make_tail("an object that nobody uses", {known.free + 30: b"(%s)" % WORDS})
    yield make_tail(
        "an object stream", {known.free + 30: a_stream(b"7 0 (x)", b"/Type /ObjStm /N 1 /First 4 ")}
    )
    yield make_tail(
        "metadata",
        {
            known.root: within(store[known.root], b"/Metadata %d 0 R" % (known.free + 30)),
            known.free + 30: a_stream(b"<x/>", b"/Type /Metadata /Subtype /XML "),
        },
    )
    yield "an empty revision", revision(known, {})
    yield "the catalog alone", revision(known, {known.root: known.catalog})
    for name, body in {
        "text for a certificate": a_stream(WORDS),
        "nothing for a certificate": a_stream(b""),
        "a certificate and more": a_stream(proofs.certificate + b"x"),
        "a list for a certificate": a_stream(proofs.revocations),
        "a certificate cut short": a_stream(proofs.certificate[:-1]),
        "a certificate with entries": a_stream(proofs.certificate, b"/Hidden (%s) " % WORDS),
        "a length that is short": a_stream(proofs.certificate, length=len(proofs.certificate) - 1),
        "a length that is long": a_stream(proofs.certificate, length=len(proofs.certificate) + 4),
        "a length elsewhere": b"<< /Length %d 0 R >>\nstream\n%s\nendstream"
        % (first + 1, proofs.certificate),
        "packed, and more behind": a_stream(
            zlib.compress(proofs.certificate) + b"xxxx", b"/Filter /FlateDecode "
        ),
        "packed and cut short": a_stream(zlib.compress(proofs.certificate)[:-3], b"/Filter /FlateDecode "),
        "in a file of its own": b"<< /Length 0 /F (x) >>\nstream\n\nendstream",
        "another filter": a_stream(proofs.certificate.hex().encode() + b">", b"/Filter /ASCIIHexDecode "),
        "a comment inside": b"<< %%%s\n /Length %d >>\nstream\n%s\nendstream"
        % (WORDS, len(proofs.certificate), proofs.certificate),
        "white space inside": b"<< %s/Length %d >>\nstream\n%s\nendstream"
        % (b" " * 500, len(proofs.certificate), proofs.certificate),
        "a mark inside": a_stream(b"\nendstream\nendobj\n%d 0 obj\n<<>>\nendobj\n" % known.page),
        "no stream": b"<< /Type /X >>",
        "a certificate with a type": a_stream(proofs.certificate, b"/Type (%s) " % WORDS),
    }.items():
        yield make_tail(name, {first: body})
    signature = b"<< /Certs [%d 0 R] /VRI << /%s << /TS %d 0 R >> >> >>" % (first, b"AB" * 20, first)
    yield make_tail("a certificate for a token", {first + 3: signature})
    yield make_tail("an empty store", {first + 3: b"<< /Type /DSS >>"})
    yield make_tail("lists of nothing", {first + 3: b"<< /Certs [] /CRLs [] >>"})
    yield make_tail("a store of more", {first + 3: within(store[first + 3], b"/Hidden (%s)" % WORDS)})
    yield make_tail(
        "proof of something else", {first + 3: b"<< /Certs [%d 0 R] /VRI << /evil << >> >> >>" % first}
    )


def seen_stamps(file: bytes) -> Iterator[tuple[str, bytes]]:
    """Time stamps whose field can be seen, or draws something."""
    draws = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] "
    yield "a field with a size", stamped_like_dss(file, rectangle=b"[0 0 595 842]")
    yield "a look with letters", stamped_like_dss(file, look=a_stream(LETTERS, draws))
    yield "a look with a size", stamped_like_dss(file, look=a_stream(b"", draws))
    yield "a field that speaks", stamped_like_dss(file, more=b"/TU (%s)\n" % WORDS)
    yield "a field with an action", stamped_like_dss(file, more=b"/A << /S /URI /URI (http://x.test) >>\n")
    yield "a look with more", stamped_like_dss(file, look=a_stream(b"", b"/BBox [0 0 0 0] /Hidden (x) "))
    for name in (WORDS, b"Signature " + WORDS, b"Timestamp" * 9, b"Signature1\\n2", b""):
        yield f"a field called {name!r}", stamped_like_dss(file, name=name)
        yield f"a tooltip {name!r}", stamped_like_dss(file, name=name, more=b"/TU (%s)\n" % name)


# ---------- attacks: words in proof ----------


def forge_words(file: bytes, proofs: Proofs) -> Iterator[tuple[str, bytes]]:
    """Proof whose times, names and answers are words of a forger, or that proves nothing."""
    known = facts(file)
    store = a_store(known, proofs)
    first = known.free + 10
    for name, entry in {
        "producer": b"/Producer (pyHanko 9Pay9999999toEve)",
        "producer without a number": b"/Producer (pyHanko %s)" % WORDS,
        "time of the change": b"/ModDate (D:99999999999999)",
        "time of no day": b"/ModDate (D:20261399)",
    }.items():
        if known.info is not None:
            kept = known.info_body
            for key in (b"/Producer", b"/ModDate"):
                if key in entry:
                    kept = without_text(kept, key)
            yield f"{name} of words", revision(known, store | {known.info: within(kept, entry)})
    made = store[first + 3]
    yield "time of proof", revision(known, store | {first + 3: made.replace(b"D:20261121", b"D:99999999")})
    token = made.replace(b"/TU ", b"/TS %d 0 R /TU " % (first + 4))
    yield "a token over nothing", revision(known, store | {first + 3: token, first + 4: a_stream(a_token())})
    refusal = b"\x30\x03\x0a\x01\x06"  # an OCSP response: unauthorized
    yield "an answer that answers nothing", revision(known, store | {first + 2: a_stream(refusal)})
    for name, body in {
        "a number of three parts": known.page_body.replace(b"595", b"5.9.5"),
        "a number like it": known.page_body.replace(b"595", b"595.004"),
        "two signs": known.page_body.replace(b"595", b"--595"),
    }.items():
        yield name, revision(known, store | {known.page: body})


def without_text(dictionary: bytes, key: bytes) -> bytes:
    """The dictionary without an entry that is a plain string."""
    head, found, rest = dictionary.partition(key)
    return head + rest[rest.index(b")") + 1 :] if found else dictionary


def a_token() -> bytes:
    """A time stamp over something that has to do with no file."""
    token = asyncio.run(a_stamper().async_timestamp(hashlib.sha256(b"nothing").digest(), "sha256"))
    made: bytes = token.dump()
    return made
