"""Compare the metadata (XMP) of a file with those that a writer of proof put in their place.

pyHanko rewrites the metadata with the time of the change and its name as producer. The rest means the same but
is written differently, so both are compared by meaning. Text between elements, which programs that read
properties ignore, would still be in the file and be shown elsewhere. So the new metadata must consist of
nothing but their properties, in the form in which pyHanko writes them.
"""

import io
import re
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pyhanko.pdf_utils.metadata import xmp_xml
from pyhanko.pdf_utils.metadata.model import ExpandedName, XmpValue

from esign.core.instant import parse
from esign.pdf.verify.certificate_evidence import BROKEN
from esign.pdf.verify.proof_writers import PRODUCER as WRITER
from esign.pdf.verify.proof_writers import is_producer_change

PACKET = re.compile(
    rb'<\?xpacket begin="(?:\xef\xbb\xbf)?" id="W5M0MpCehiHzreSzNTczkc9d"\?>\s{0,4}(.*?)'
    rb'\s{0,4}<\?xpacket end="[rw]"\?>\s{0,4}',
    re.DOTALL,
)
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DESCRIPTION, ABOUT = f"{{{RDF}}}Description", ExpandedName(RDF, "about")
TOOLKIT = "{adobe:ns:meta/}xmptk"
XMP, PDF = "http://ns.adobe.com/xap/1.0/", "http://ns.adobe.com/pdf/1.3/"
MODIFIED = ExpandedName(XMP, "ModifyDate")
NOTED = ExpandedName(XMP, "MetadataDate")
PRODUCER = ExpandedName(PDF, "Producer")
LARGEST = 2**20  # bytes of metadata that are compared


def is_touched_only(was: bytes, now: bytes) -> bool:
    """Return whether the metadata differ only in the time of the change and in the producer, a writer of proof."""
    if was == now:
        return True
    if max(len(was), len(now)) > LARGEST:
        return False
    try:
        before, after = _read_properties(was), _read_properties(now)
        for time in (MODIFIED, NOTED):
            before.pop(time, None)
            if time in after:
                parse(_read_text(after.pop(time)))
        producer, held = before.pop(PRODUCER, None), after.pop(PRODUCER, None)
        if not is_producer_change(_read_text(producer), _read_text(held)):
            return False
        return before == after and _is_plain(now)
    except BROKEN:
        return False


def _read_properties(metadata: bytes) -> dict[ExpandedName, Any]:
    """Return the properties of the document by name. Raises ValueError if one appears twice."""
    found: dict[ExpandedName, Any] = {}
    for description in xmp_xml.parse_xmp(io.BytesIO(metadata)):
        for name, value in description:
            if (
                name == ABOUT
            ):  # each description names its subject; pyHanko writes a single description, about the file itself
                continue
            if name in found:
                raise ValueError("a property of the metadata is there twice")
            found[name] = value
    return found


def _read_text(property: XmpValue | None) -> str:
    """Return a property that is a text without qualifiers. Raises ValueError for any other."""
    if property is None:
        return ""
    if not isinstance(property.value, str) or property != XmpValue(property.value):
        raise ValueError("a property of the metadata that is no text")
    return property.value


def _is_plain(metadata: bytes) -> bool:
    """Return whether the metadata stay the same when their properties are read and written again."""
    again = io.BytesIO()
    xmp_xml.serialise_xmp(xmp_xml.parse_xmp(io.BytesIO(metadata)), again)
    tree, written = _parse_tree(metadata), _parse_tree(again.getvalue())
    toolkit = tree.attrib.pop(TOOLKIT, None)
    written.attrib.pop(TOOLKIT, None)
    known = toolkit is None or WRITER.fullmatch(toolkit) is not None
    return known and _build_shape(tree) == _build_shape(written)


def _parse_tree(metadata: bytes) -> Element:
    """Return the root element. Raises ValueError for comments, instructions, document types and unused namespaces."""
    packet = PACKET.fullmatch(metadata)
    if packet is None or b"<!" in packet[1] or b"<?" in packet[1]:
        raise ValueError("metadata that are no packet of properties")
    declared = {held[1] for _, held in ElementTree.iterparse(io.BytesIO(packet[1]), ("start-ns",))}  # noqa: S314  # no document types
    root = ElementTree.fromstring(packet[1])  # noqa: S314  # as above
    names = [name for one in root.iter() for name in (one.tag, *one.attrib)]
    if declared - {name[1:].partition("}")[0] for name in names if name.startswith("{")}:
        raise ValueError("metadata that declare what they do not use")
    return root


def _build_shape(element: Element) -> tuple[object, ...]:
    """Return an element in a form that can be compared. The properties of a description have no order."""
    text, tail, parts = element.text or "", element.tail or "", [_build_shape(one) for one in element]
    if element.tag == DESCRIPTION:
        parts.sort(key=repr)
    return element.tag, sorted(element.items()), text.strip() if parts else text, parts, tail.strip()
