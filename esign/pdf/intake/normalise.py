"""Make an unsigned PDF plain: visible content stays; what acts, hides or can change is removed."""

import io
import re
from collections.abc import Iterator, Sequence
from xml.parsers import expat

from pikepdf import (
    Array,
    Dictionary,
    Object,
    ObjectStreamMode,
    Pdf,
    PikepdfError,
    Stream,
    StreamDecodeLevel,
)

from esign.core.errors import Detail, Problem
from esign.pdf.intake import active_content, annotations, conformance_claims
from esign.pdf.page import page_properties as pages
from esign.pdf.page import structure_tags

# The entries that a document and a page may keep; all others act, hide or serve other programs.
ROOT = frozenset(
    {
        *(
            "/Type",
            "/Version",
            "/Extensions",
            "/Pages",
            "/Lang",
            "/Metadata",
            "/OutputIntents",
            "/OCProperties",
        ),
        *("/PageLabels", "/PageLayout", "/ViewerPreferences", "/Names", "/Dests", "/Outlines"),
        *("/StructTreeRoot", "/MarkInfo"),
    }
)
PAGE = frozenset(
    {
        *("/Type", "/Parent", "/Resources", "/Contents", "/Group", "/Annots", "/Metadata", "/LastModified"),
        *(
            "/MediaBox",
            "/CropBox",
            "/BleedBox",
            "/TrimBox",
            "/ArtBox",
            "/BoxColorInfo",
            "/Rotate",
            "/UserUnit",
        ),
        *("/StructParents", "/Tabs"),
    }
)

# The words of `REMOVALS` for parts of the file that are removed as a whole.
PARTS = {
    "/Collection": "attachments",
    "/JavaScript": "scripts",
    "/EmbeddedFiles": "attachments",
    "/Renditions": "multimedia",
    "/AlternatePresentations": "multimedia",
}

# Marks an XFA form whose pages are made by the program that opens it.
RENDERS = re.compile(rb"<(?:\w+:)?dynamicRender\s*>\s*required")


def refuse_dynamic(pdf: Pdf) -> None:
    """Raise `file_unsupported` for a dynamic XFA form, which has no pages of its own to show or sign."""
    form = pdf.Root.get("/AcroForm")
    if not isinstance(form, Dictionary) or "/XFA" not in form:
        return
    if bool(pdf.Root.get("/NeedsRendering")) or any(
        RENDERS.search(packet) for packet in _read_packets(form.XFA)
    ):
        raise Problem(
            "file_unsupported",
            "The file is a dynamic form (XFA), whose pages exist only in the program that fills it in; "
            "print it to a PDF and send that.",
            details=[Detail("/file", "The file is a dynamic XFA form.", "format")],
        )


def normalise_pdf(pdf: Pdf, written: Sequence[tuple[Object, bytes]]) -> set[str]:
    """Normalise the open file, of which `active_content.write_objects` returned `written`, in place.

    Return what was removed, in words of `REMOVALS`.
    """
    removed = active_content.strip_active_content(written)
    removed |= annotations.flatten_annotations(pdf)
    removed |= _keep_only_entries(pdf.Root, ROOT)
    names = pdf.Root.get("/Names")
    if isinstance(names, Dictionary):
        removed |= _keep_only_entries(names, frozenset({"/Dests"}))
    for page in pdf.pages:
        _keep_only_entries(page.obj, PAGE)
        pages.settle_boxes(page, pages.read_visible_area(page))
    structure_tags.drop_broken_tree(pdf)
    removed |= _fix_layers(pdf) | _drop_bad_metadata(pdf)
    return removed | {"conformance claims"} if conformance_claims.drop_claims(pdf) else removed


def write_pdf(pdf: Pdf, *, compressed: bool = True) -> bytes:
    """Return the file written anew: decrypted, with a fresh cross-reference table. Equal files give equal bytes.

    Streams that are compressed already stay so; without `compressed` the others, such as new ones, are not.
    """
    file = io.BytesIO()
    pdf.save(
        file,
        object_stream_mode=ObjectStreamMode.generate,
        stream_decode_level=StreamDecodeLevel.none,
        compress_streams=compressed,
        deterministic_id=True,
        encryption=False,
        fix_metadata_version=False,
    )
    return file.getvalue()


def _read_packets(found: object) -> Iterator[bytes]:
    for part in found if isinstance(found, Array) else [found]:
        if isinstance(part, Stream):
            try:
                yield part.read_bytes()
            except PikepdfError:
                continue


def _keep_only_entries(node: Object, kept: frozenset[str]) -> set[str]:
    gone = [key for key in list(node.keys()) if key not in kept]
    for key in gone:
        del node[key]
    return {PARTS[key] for key in gone if key in PARTS}


def _fix_layers(pdf: Pdf) -> set[str]:
    """Fix one state of the layers for every reader, on screen and on paper, that nobody can switch."""
    layers = pdf.Root.get("/OCProperties")
    if not isinstance(layers, Dictionary):
        return set()
    default, groups = layers.get("/D"), layers.get("/OCGs")
    gone = [
        _remove_entry(layers, "/Configs"),
        _remove_entry(default, "/AS"),
    ]  # `active_content` has removed the states of each layer
    if isinstance(groups, Array) and isinstance(default, Dictionary):
        default.Locked = Array(list(groups))
    return {"layer states"} if any(gone) else set()


def _remove_entry(node: object, key: str) -> bool:
    """Remove an entry if there is one, and return whether it held anything."""
    if not isinstance(node, Dictionary) or key not in node:
        return False
    found = node[key]
    del node[key]
    return not isinstance(found, Array) or len(found) > 0


def _drop_bad_metadata(pdf: Pdf) -> set[str]:
    dropped = False
    for holder in (pdf.Root, *(page.obj for page in pdf.pages)):
        found = holder.get("/Metadata")
        if found is not None and not _is_sound(found):
            del holder.Metadata
            dropped = True
    info = pdf.trailer.get("/Info")
    if info is not None and not isinstance(info, Dictionary):
        del pdf.trailer.Info
        dropped = True
    return {"metadata"} if dropped else set()


def _is_sound(found: object) -> bool:
    """Return whether the metadata are well-formed XML without a document type, and so without entities of their own."""

    def refuse(*_: object) -> None:
        raise expat.ExpatError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(found.read_bytes() if isinstance(found, Stream) else b"", True)
    except (expat.ExpatError, PikepdfError):
        return False
    return True
