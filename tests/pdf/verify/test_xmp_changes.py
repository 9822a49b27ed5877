"""A writer of proof may put its time and its name into metadata; whatever else stands in them was not sealed."""

import io
import re
from collections.abc import Iterator

import pytest
from pyhanko.pdf_utils.metadata import model, xmp_xml

from esign.pdf.verify.xmp_changes import is_touched_only

WORDS = b"Pay 9,999,999"
WAS = b"""<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Some Toolkit"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmp:CreateDate="2026-11-20T09:00:00Z" pdf:Producer="A Program">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Supply</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>Amelie</rdf:li></rdf:Seq></dc:creator></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"><pdfaid:part>3</pdfaid:part></rdf:Description>
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


def rewrite_metadata(before: bytes = WAS) -> bytes:
    """The metadata as pyHanko writes them anew."""
    held = model.DocumentMetadata(last_modified="now", xmp_unmanaged=True)
    properties = xmp_xml.update_xmp_with_meta(held, xmp_xml.parse_xmp(io.BytesIO(before)))
    made = io.BytesIO()
    xmp_xml.serialise_xmp(properties, made)
    return made.getvalue()


def test_what_pyhanko_writes_is_its_time_and_its_name() -> None:
    once = rewrite_metadata()
    assert once != WAS and b"pyHanko" in once
    assert (
        is_touched_only(WAS, once)
        and is_touched_only(once, rewrite_metadata(once))
        and is_touched_only(WAS, WAS)
    )
    assert is_touched_only(once, rewrite_metadata(rewrite_metadata(once)))


def test_metadata_about_a_name_of_their_own_are_the_same_metadata() -> None:
    named = WAS.replace(b'rdf:about=""', b'rdf:about="uuid:5f1c"')
    assert is_touched_only(named, rewrite_metadata(named))


def within(tag: bytes, entry: bytes) -> tuple[bytes, bytes]:
    return b"<" + tag, b"<" + tag + b" " + entry


def list_replacements() -> Iterator[tuple[bytes, bytes]]:
    """What is replaced, and by what."""
    yield b'x:xmptk="', b'x:xmptk="pyHanko %s ' % WORDS
    yield b'end="r"', b'end="r" %s' % WORDS
    yield b'9d"?>', b'9d" note="%s"?>' % WORDS
    yield b"<?xpacket begin", b"%s<?xpacket begin" % WORDS
    yield b"<?xpacket begin", b"<?note %s?><?xpacket begin" % WORDS
    yield b"<?xpacket end", b"<?note %s?><?xpacket end" % WORDS
    yield b"</rdf:RDF>", b"<?note %s?></rdf:RDF>" % WORDS
    yield b"</rdf:RDF>", b"<!-- %s --></rdf:RDF>" % WORDS
    yield b"</rdf:RDF>", b"<rdf:Note>%s</rdf:Note></rdf:RDF>" % WORDS
    yield b"</rdf:RDF>", b"%s</rdf:RDF>" % WORDS
    yield b"</x:xmpmeta>", b"<x:note>%s</x:note></x:xmpmeta>" % WORDS
    yield b"</rdf:Alt>", b"</rdf:Alt>%s" % WORDS
    yield b"</rdf:Alt>", b"<rdf:Note>%s</rdf:Note></rdf:Alt>" % WORDS
    yield b"</rdf:Alt>", b"<rdf:li>%s</rdf:li></rdf:Alt>" % WORDS
    yield b"<rdf:Seq>", b"<rdf:Seq>%s" % WORDS
    yield b"Supply", WORDS
    yield b"Amelie", b"Amelie<rdf:Note>%s</rdf:Note>" % WORDS
    yield b'rdf:about=""', b'rdf:about="%s"' % WORDS
    for tag in (b"x:xmpmeta", b"rdf:RDF", b"rdf:Description", b"rdf:Alt", b"rdf:li", b"dc:title"):
        yield within(tag, b'note="%s"' % WORDS)
        yield within(tag, b'rdf:ID="Pay9999999"')
        yield within(tag, b'xml:lang="Pay9999999"')
        yield within(tag, b'xml:base="http://pay.test/9999999"')
        yield within(tag, b'xmlns:note="http://pay.test/9999999"')
    yield b"<rdf:Description", b'<rdf:Description rdf:li="%s"' % WORDS
    qualified = b"<rdf:Description><rdf:value>%s</rdf:value><rdf:note>%s</rdf:note></rdf:Description>"
    for name, value in ((b"pdf:Producer", b"pyHanko 0.1"), (b"xmp:ModifyDate", b"2026-11-21T00:00:00Z")):
        element = b"<%s>%s</%s>" % (name, qualified % (value, WORDS), name)
        yield b"<dc:title", element + b"<dc:title"


@pytest.mark.parametrize(("old", "new"), [*list_replacements()])
def test_words_of_others_anywhere_in_metadata_are_a_change(old: bytes, new: bytes) -> None:
    once = rewrite_metadata()
    if b"<pdf:Producer" in new or b"<xmp:ModifyDate" in new:  # in place of the plain one
        once = re.sub(rb' pdf:Producer="[^"]*"| xmp:ModifyDate="[^"]*"', b"", once)
        spaces = b' xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"'
        once = once.replace(b"<rdf:Description", b"<rdf:Description" + spaces, 1)
        once = re.sub(rb'( xmlns:(?:pdf|xmp)="[^"]*")(?=.*\1)', b"", once, count=2)
    assert old in once
    assert is_touched_only(WAS, once.replace(old, new, 1)) is False


@pytest.mark.parametrize("now", [b"", b"<", b"text", b"<x/>", WAS.decode().encode("utf-16"), WAS[:-30]])
def test_what_is_no_packet_is_a_change_and_no_error(now: bytes) -> None:
    assert is_touched_only(WAS, now) is False
