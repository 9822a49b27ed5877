"""File names that every operating system accepts, unique within a folder."""

import re
import unicodedata
from collections.abc import Iterable

from esign.core.document.document import Document

LONGEST = 120  # characters before the ending; a path on Windows has 260 in all
WIDEST = 240  # bytes of these; a name on Linux has 255, of which a letter of many scripts takes three
REFUSED = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def make_portable(name: str) -> str:
    """Return the name in characters that every file system and terminal accepts; it is never empty."""
    visible = "".join(
        c for c in unicodedata.normalize("NFC", name) if unicodedata.category(c) not in ("Cc", "Cf")
    )
    stem, dot, ending = REFUSED.sub("_", visible).rpartition(".")
    if not dot or not ending.isalnum() or len(ending) > 5:
        stem, dot, ending = f"{stem}{dot}{ending}", "", ""
    stem = stem[:LONGEST].encode()[:WIDEST].decode(errors="ignore").strip(" .") or "document"
    return f"{'_' if RESERVED.match(stem) else ''}{stem}{dot}{ending}"


def make_distinct(names: Iterable[str]) -> list[str]:
    """Return the names made unique by numbers: `offer.pdf`, `offer (2).pdf`.

    Names are compared without case, as on Windows and macOS.
    """
    taken: set[str] = set()
    made = []
    for name in names:
        stem, dot, ending = name.rpartition(".")
        stem, ending = (stem, dot + ending) if dot else (name, "")
        free, n = name, 1
        while free.casefold() in taken:
            n += 1
            free = f"{stem} ({n}){ending}"
        taken.add(free.casefold())
        made.append(free)
    return made


def name_file(document: Document, variant: str) -> str:
    """Return the file name of a variant: `contract.pdf`, `contract-sealed.pdf`, `contract-certificate.pdf`."""
    base = re.sub(r"\.pdf$", "", document.file.name, flags=re.IGNORECASE)
    return document.file.name if variant == "original" else f"{base}-{variant}.pdf"
