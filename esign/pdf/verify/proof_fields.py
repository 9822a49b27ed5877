"""Judge the form of an added revision, the invisible fields of its time stamps, and the pages that list these."""

from collections.abc import Mapping, Sequence

from esign.pdf.verify import proof_entries
from esign.pdf.verify.compare_values import decode_text, encode_name, is_date, is_nowhere, is_same, require
from esign.pdf.verify.proof_writers import BLANK_LOOK, FIELD_NAME
from esign.pdf.verify.strict_syntax import (
    Entries,
    NotStrict,
    PdfName,
    PdfReference,
    PdfStream,
    PdfText,
    Value,
)
from esign.pdf.verify.tail_state import JudgedRevision

HANDLERS = frozenset(map(PdfName, (b"Adobe.PPKLite", b"ETSI.RFC3161")))
TOOLTIP = PdfText(b"Timestamp")  # of the fields of pyHanko
STAMP_KEYS = frozenset(map(PdfName, (b"Type", b"Filter", b"SubFilter", b"Contents", b"ByteRange", b"M")))
FIELD_KEYS = frozenset(
    map(PdfName, (b"FT", b"T", b"TU", b"Type", b"Subtype", b"F", b"Rect", b"P", b"V", b"AP"))
)
FORM_KEYS = frozenset(map(PdfName, (b"Length", b"Type", b"Subtype", b"BBox", b"Resources", b"FormType")))


def judge_form(turn: JudgedRevision, old_root: Entries, root: Entries) -> None:
    old_form, form = old_root.get(encode_name("AcroForm")), root.get(encode_name("AcroForm"))
    if isinstance(form, PdfReference):
        require(is_same(old_form, form), "another form")
        old = turn.tail.get_old(form.number)
        if form.number in turn.new:
            turn.take_part(form.number)
        now = turn.new.get(form.number, old)
    else:
        require(not isinstance(old_form, PdfReference), "another form")
        old, now = old_form, form
    if not isinstance(old, dict) or not isinstance(now, dict):
        raise NotStrict("a form is expected")
    free = {encode_name("Fields"), encode_name("SigFlags")}
    require(old.keys() - free == now.keys() - free, "another entry of the form")
    for key in old.keys() - free:
        require(is_same(old[key], now[key]), "another entry of the form")
    require(
        now.get(encode_name("SigFlags")) in (old.get(encode_name("SigFlags")), 3), "other flags of the form"
    )
    before, fields = turn.split_grown_list(old.get(encode_name("Fields")), now.get(encode_name("Fields")))
    _judge_fields(turn, before, fields)


def _judge_fields(turn: JudgedRevision, before: Sequence[Value], added: Sequence[Value]) -> None:
    names = {_read_field_name(turn, one) for one in before}
    pages: dict[int, list[PdfReference]] = {}
    for reference in added:
        if not isinstance(reference, PdfReference) or reference.number not in turn.new:
            raise NotStrict("a field is expected")
        require(turn.tail.is_new(reference.number), "a field in place of something else")
        turn.take_part(reference.number)
        entries = _judge_field(turn, turn.new[reference.number])
        name = entries.get(encode_name("T"))
        require(isinstance(name, PdfText) and bytes(name) not in names, "a field without a name of its own")
        assert isinstance(name, PdfText)
        names.add(bytes(name))
        turn.stamped.append(decode_text(name))
        require(FIELD_NAME.fullmatch(turn.stamped[-1]) is not None, "a field whose name says something")
        if isinstance(page := entries.get(encode_name("P")), PdfReference):
            pages.setdefault(page.number, []).append(reference)
    for reference in before:
        _judge_field_again(turn, reference, pages)
    _judge_pages(turn, pages)


def _read_field_name(turn: JudgedRevision, reference: Value) -> bytes:
    held = turn.tail.get_old(reference.number) if isinstance(reference, PdfReference) else reference
    name = held.get(encode_name("T")) if isinstance(held, dict) else None
    return bytes(name) if isinstance(name, PdfText) else b""


def _judge_field(turn: JudgedRevision, value: Value) -> Entries:
    """Judge the invisible field of a time stamp, which is merged with its widget, and return it."""
    if not isinstance(value, dict):
        raise NotStrict("a field is expected")
    require(value.keys() <= FIELD_KEYS, "a field that says more than it needs")
    require(value.get(encode_name("FT")) == encode_name("Sig"), "a field of another type")
    require(
        value.get(encode_name("Type"), encode_name("Annot")) == encode_name("Annot"),
        "a field of another type",
    )
    require(value.get(encode_name("Subtype")) == encode_name("Widget"), "a field of another type")
    require(is_nowhere(value.get(encode_name("Rect"))), "a field that can be seen")
    require(type(value.get(encode_name("F"), 0)) is int, "flags are expected")
    require(
        value.get(encode_name("TU"), TOOLTIP) in (TOOLTIP, value.get(encode_name("T"))),
        "a field that says more than it needs",
    )
    _judge_look(turn, value.get(encode_name("AP")))
    _judge_stamp(turn, value.get(encode_name("V")))
    return value


def _judge_look(turn: JudgedRevision, look: Value) -> None:
    """Judge the appearance of an invisible field: none, or a form without size and content (EU DSS, PDFBox)."""
    if look is None:
        return
    looks = turn.follow_new(look)
    if not isinstance(looks, dict) or looks.keys() != {encode_name("N")}:
        raise NotStrict("a look is expected")
    stream = turn.follow_new(looks[encode_name("N")])
    if not isinstance(stream, PdfStream):
        raise NotStrict("a look is expected")
    require(stream.entries.keys() <= FORM_KEYS, "a look that draws something")
    require(
        BLANK_LOOK.fullmatch(proof_entries.decode_stream(stream)) is not None,
        "a look that draws something",
    )
    require(
        stream.entries.get(encode_name("Type"), encode_name("XObject")) == encode_name("XObject"),
        "a look is expected",
    )
    require(stream.entries.get(encode_name("Subtype")) == encode_name("Form"), "a look is expected")
    require(stream.entries.get(encode_name("FormType"), 1) == 1, "a look is expected")
    require(is_nowhere(stream.entries.get(encode_name("BBox"))), "a look that can be seen")
    require(stream.entries.get(encode_name("Resources"), {}) == {}, "a look that draws something")


def _judge_stamp(turn: JudgedRevision, value: Value) -> None:
    """Judge the time stamp itself: it covers everything to the end of its revision except its own place."""
    require(isinstance(value, PdfReference), "a time stamp is expected")
    entries = turn.follow_new(value)
    if not isinstance(entries, dict) or not entries.keys() <= STAMP_KEYS:
        raise NotStrict("a time stamp is expected")
    require(entries.get(encode_name("Type")) == encode_name("DocTimeStamp"), "a time stamp is expected")
    require(entries.get(encode_name("SubFilter")) == encode_name("ETSI.RFC3161"), "a time stamp is expected")
    require(entries.get(encode_name("Filter")) in HANDLERS, "a time stamp is expected")
    require(encode_name("M") not in entries or is_date(entries[encode_name("M")]), "a time is expected")
    token = entries.get(encode_name("Contents"))
    if not isinstance(token, PdfText):
        raise NotStrict("a token is expected")
    proof_entries.check_padding(bytes(token))
    end = turn.revision.end
    require(
        entries.get(encode_name("ByteRange")) == [0, token.start, token.end, end - token.end],
        "another range",
    )


def _judge_field_again(
    turn: JudgedRevision,
    reference: Value,
    pages: dict[int, list[PdfReference]],
) -> None:
    """Judge a field that was written again unchanged, as PDFBox does, or an empty one that received a time
    stamp.
    """
    if not isinstance(reference, PdfReference) or reference.number not in turn.new:
        return
    turn.take_part(reference.number)
    old, now = turn.tail.get_old(reference.number), turn.new[reference.number]
    if is_same(old, now):
        return
    if not isinstance(old, dict) or not isinstance(now, dict) or encode_name("V") in old:
        raise NotStrict("a field that was changed")
    rest = {key: value for key, value in now.items() if key != encode_name("V")}
    require(
        is_same(old, rest) and old.get(encode_name("FT")) == encode_name("Sig"), "a field that was changed"
    )
    _judge_stamp(turn, now.get(encode_name("V")))
    turn.stamped.append(decode_text(PdfText(_read_field_name(turn, reference))))


def _judge_pages(turn: JudgedRevision, pages: Mapping[int, Sequence[PdfReference]]) -> None:
    """Judge pages, which may list the added fields and must otherwise be unchanged."""
    for number, fields in pages.items():
        old = turn.tail.get_old(number)
        if not isinstance(old, dict) or old.get(encode_name("Type")) != encode_name("Page"):
            raise NotStrict("a page is expected")
        page = old
        if number in turn.new:
            turn.take_part(number)
            found = turn.new[number]
            if not isinstance(found, dict):
                raise NotStrict("a page is expected")
            page = found
            rest = {encode_name("Annots")}
            require(old.keys() - rest == page.keys() - rest, "a page that was changed")
            for key in old.keys() - rest:
                require(is_same(old[key], page[key]), "a page that was changed")
        annotations, first = page.get(encode_name("Annots")), old.get(encode_name("Annots"))
        if isinstance(annotations, PdfReference) and first is None:
            raise NotStrict("annotations in another place")
        _, added = turn.split_grown_list(first, annotations)
        require(all(one in fields for one in added), "an annotation that is no time stamp")
