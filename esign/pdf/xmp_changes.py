"""Compares the metadata (XMP) of a file with those that a writer of proof put in their place.

pyHanko writes metadata anew with the time of the change and its name as producer; the rest means the same, but is
written otherwise. So both are compared by what they mean.
"""

import io
from typing import Any
from xml.etree import ElementTree

from pyhanko.pdf_utils.metadata import xmp_xml
from pyhanko.pdf_utils.metadata.model import ExpandedName

from esign.core.instant import parse
from esign.pdf.evidence import BROKEN
from esign.pdf.proof_writers import is_producer_change

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TOOLKIT = "{adobe:ns:meta/}xmptk"
XMP, PDF = "http://ns.adobe.com/xap/1.0/", "http://ns.adobe.com/pdf/1.3/"
MODIFIED = ExpandedName(XMP, "ModifyDate")
NOTED = ExpandedName(XMP, "MetadataDate")
PRODUCER = ExpandedName(PDF, "Producer")
LARGEST = 2**20  # bytes of metadata that are compared


def is_touched_only(was: bytes, now: bytes) -> bool:
    """Return whether metadata differ in nothing but the time of the change and a writer of proof as producer."""
    if was == now:
        return True
    # Comments, document types and further instructions mean nothing here, but may be shown elsewhere.
    if max(len(was), len(now)) > LARGEST or b"<!" in now or now.count(b"<?") > 2:
        return False
    try:
        if not _is_plain(now):
            return False
        before, after = _properties(was), _properties(now)
        for time in (MODIFIED, NOTED):
            before.pop(time, None)
            if time in after:
                parse(str(after.pop(time).value))
        producer = str(getattr(before.pop(PRODUCER, None), "value", ""))
        if not is_producer_change(producer, str(getattr(after.pop(PRODUCER, None), "value", ""))):
            return False
    except BROKEN:
        return False
    return before == after


def _properties(metadata: bytes) -> dict[ExpandedName, Any]:
    """Return the properties of the document by their names; raises ValueError for one that is there twice."""
    found: dict[ExpandedName, Any] = {}
    for description in xmp_xml.parse_xmp(io.BytesIO(metadata)):
        for name, value in description:
            if name in found:
                raise ValueError("a property of the metadata is there twice")
            found[name] = value
    return found


def _is_plain(metadata: bytes) -> bool:
    """Return whether they hold descriptions alone: what else stands there is not compared."""
    body = metadata.decode("utf-8").partition("?>")[2].rpartition("<?")[0]
    root = ElementTree.fromstring(body)  # noqa: S314  # the caller refused document types, and so entities
    if (
        len(root) != 1
        or not str(root.get(TOOLKIT, "pyHanko ")).startswith("pyHanko ")
        or set(root.attrib) - {TOOLKIT}
    ):
        return False
    [held] = root
    between = [root.text, held.text, *(one.tail for one in (held, *held))]
    described = all(one.tag == f"{{{RDF}}}Description" for one in held)
    return described and held.tag == f"{{{RDF}}}RDF" and not "".join(text or "" for text in between).strip()
