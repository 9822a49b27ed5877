"""How many files mention each field type and each event: what adding one more costs."""

import re

from esign.core.document.document import FieldType
from esign.core.webhook.webhook import PUBLISHED
from tests.house.source import ROOT

KINDS = (".py", ".js", ".css", ".html", ".typ", ".sql", ".toml")
TRANSLATIONS = re.compile(r"/(?:words|labels)/")


def count_mentions() -> dict[str, int]:
    """Return for each field type and event the number of files of `esign/` that name it, besides translations."""
    texts = [
        path.read_text("utf-8")
        for path in (ROOT / "esign").rglob("*")
        if path.suffix in KINDS and not TRANSLATIONS.search(path.as_posix())
    ]
    names = [*(kind.value for kind in FieldType), *PUBLISHED]
    return {name: sum(_mentions(text, name) for text in texts) for name in names}


def _mentions(text: str, name: str) -> bool:
    """Return whether a text names a value as a string, an attribute of `FieldType`, or a key."""
    quoted = re.search(rf"""["'`]{re.escape(name)}["'`]""", text)
    return bool(quoted) or f"FieldType.{name.upper()}" in text
