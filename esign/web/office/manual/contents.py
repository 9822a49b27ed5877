"""The contents of the manual: which files of `docs/` are its pages, in which sections and order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import esign

PACKAGE = Path(esign.__file__).parent
PACKED, SOURCE = PACKAGE / "docs", PACKAGE.parent / "docs"  # in an installed program, and in a checkout
EXAMPLE = "esign.toml.example"

# Section, as its title is named in the catalogue `manual`, and its pages: `install` is `docs/install.md`.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "begin": ("install", "packages", "first-document", "first-call", "test-mode"),
    "set_up": ("operating", "mail", "https", "hardening"),
    "documents": ("fields", "marks", "embedding"),
    "programs": ("api", "webhooks"),
    "trust": ("trust", "seal", "timestamps", "verifying", "audit", "promises"),
    "run": ("backup", "doctor", "upgrade", "storage", "clock", "erasure", "scale", "speed", "reliability"),
    "help": ("troubleshooting", "failed-starts", "translating"),
}


@dataclass(frozen=True, slots=True)
class ManualPlace:
    """A page of the manual by its name, with its section and its neighbours."""

    name: str
    section: str
    before: str | None
    after: str | None


@cache
def find_folder() -> Path:
    """Return the folder with the Markdown: the copy in the package if there is one, otherwise that of the checkout."""
    return PACKED if PACKED.is_dir() else SOURCE


def find_example() -> Path:
    """Return the file that lists every setting. A checkout has it beside `docs/`."""
    packed = PACKED / EXAMPLE
    return packed if packed.is_file() else SOURCE.parent / EXAMPLE


def list_names() -> Iterator[str]:
    """Yield the names of all pages in the order of the contents."""
    for names in SECTIONS.values():
        yield from names


def find_place(name: str) -> ManualPlace | None:
    """Return the place of a page in the contents, or None for a name that is not in it."""
    names = list(list_names())
    if name not in names:
        return None
    at = names.index(name)
    section = next(key for key, pages in SECTIONS.items() if name in pages)
    before = names[at - 1] if at else None
    return ManualPlace(name, section, before, names[at + 1] if at + 1 < len(names) else None)
