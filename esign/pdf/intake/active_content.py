"""Find and remove what acts by itself: scripts, actions, attachments, media and states of layers."""

import re
from collections.abc import Iterator, Sequence

from pikepdf import Array, Dictionary, Name, Object, Pdf, Stream, String

HARMLESS = frozenset({"/GoTo", "/URI", "/Named"})
TURNS = frozenset({"/NextPage", "/PrevPage", "/FirstPage", "/LastPage"})
SCHEMES = frozenset({"http", "https", "mailto", "tel", "ftp"})
MEDIA_ACTIONS = frozenset({"/Rendition", "/Movie", "/Sound", "/RichMediaExecute", "/GoTo3DView"})

# The keys that hold an action; /AA holds several.
HOLDERS = ("/A", "/PA", "/Next", "/OpenAction")

# Keys by which a stream takes its content from another file, or from an image that only some readers choose.
ELSEWHERE = {"/F": "attachments", "/Ref": "attachments", "/Alternates": "alternate images"}

# Most objects hold none of these names: one search instead of a walk.
SUSPECT = re.compile(rb"/(?:A|PA|Next|OpenAction|AA|AF|EF|RF|Usage)(?![^\s/<>\[\](){}%])")


def write_objects(pdf: Pdf) -> list[tuple[Object, bytes]]:
    """Return every dictionary, stream and array of the file, and how each would be written without bytes of streams."""
    return [
        (item, write_object(item)) for item in pdf.objects if isinstance(item, Dictionary | Stream | Array)
    ]


def strip_active_content(written: Sequence[tuple[Object, bytes]]) -> set[str]:
    """Remove every action except jumps within the document and links to the web. Return the words of `REMOVALS`.

    Takes what `write_objects` returns.
    """
    removed: set[str] = set()
    for item, text in written:
        if isinstance(item, Stream):
            for key in ELSEWHERE.keys() & item.keys():
                removed |= _drop_entry(item, key, ELSEWHERE[key])
        if SUSPECT.search(text):
            for node in _walk_dictionaries(item):
                removed |= _clean_dictionary(node)
    return removed


def write_object(item: Object) -> bytes:
    """Return the object as it would be written, without the bytes of a stream."""
    return (item.stream_dict if isinstance(item, Stream) else item).unparse(resolved=True)


def read_name(found: object) -> str:
    """Return a name as text, whatever its bytes; empty for anything else."""
    return bytes(found).decode("utf-8", "surrogateescape") if isinstance(found, Name) else ""


def _walk_dictionaries(item: Object) -> Iterator[Object]:
    """Yield the dictionaries written within one object, including itself, but not those that it refers to."""
    waiting = [item]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Dictionary | Stream):
            yield node
            children = list(node.values())
        else:
            children = list(node)
        waiting.extend(c for c in children if isinstance(c, Dictionary | Array) and not c.is_indirect)


def _clean_dictionary(node: Object) -> set[str]:
    removed: set[str] = set()
    for key in HOLDERS:
        removed |= _drop_entry(node, key, _judge_action(node.get(key)))
    if "/AA" in node:
        removed |= _drop_entry(node, "/AA", _judge_triggers(node.AA))
    for key in ("/EF", "/RF", "/AF"):
        if key in node:
            removed |= _drop_entry(node, key, "attachments")
    if (
        "/Usage" in node
    ):  # of a layer, whether the document lists it or not: on screen one state, on paper another
        removed |= _drop_entry(node, "/Usage", "layer states")
    return removed


def _drop_entry(node: Object, key: str, word: str | None) -> set[str]:
    if word is None:
        return set()
    del node[key]
    return {word}


def _judge_triggers(found: object) -> str:
    words = {_judge_action(action) for action in found.values()} if isinstance(found, Dictionary) else set()
    return "scripts" if "scripts" in words else "actions"


def _judge_action(found: object) -> str | None:
    """Return the word for an action that must go, or None if it may stay or is no action."""
    if isinstance(found, Array):
        words = [_judge_action(item) for item in found if isinstance(item, Dictionary)]
        return next(filter(None, words), None)
    if not isinstance(found, Dictionary) or not isinstance(found.get("/S"), Name) or "/O" in found:
        return None
    kind = read_name(found.S)
    if kind == "/JavaScript" or "/JS" in found:
        return "scripts"
    if kind in MEDIA_ACTIONS:
        return "multimedia"
    return None if kind in HARMLESS and _is_harmless(kind, found) else "actions"


def _is_harmless(kind: str, action: Object) -> bool:
    if kind == "/Named":
        return read_name(action.get("/N")) in TURNS
    if kind == "/URI":
        address = action.get("/URI")
        scheme = (
            re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]*):", str(address)) if isinstance(address, String) else None
        )
        return scheme is None or scheme[1].lower() in SCHEMES
    return True
