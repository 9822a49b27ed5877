"""Makes the files that claim to be PDF/A, for a validator: `python -m tests.conforming FOLDER`.

The certificate alone is the one kind; here in several languages, with few people and many, in test mode, with and
without the audit trail inside. `packaging/pdfa` gives them to veraPDF.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.pdf.local_seal import seal_document
from tests.pdf.sealing import a_pdf, a_recipient, a_trail, an_order, make_seal_order
from tests.pki import a_seal, an_authority

MANY = tuple(a_recipient(f"Person {number}") for number in range(50))
KINDS: dict[str, dict[str, Any]] = {
    "english": {},
    "arabic": {"lang": "ar"},
    "german-letter": {"lang": "de", "paper": "us-letter"},
    "test-mode": {"mode": "test"},
    "many": {"recipients": MANY},
}


def certificates() -> Iterator[tuple[str, bytes]]:
    """Yield each kind of certificate, sealed by itself, with its name."""
    credential = a_seal(an_authority()).credential
    for name, facts in KINDS.items():
        yield name, seal_document(an_order(a_pdf(), **facts), credential).certificate
    with_trail = make_seal_order(a_trail())
    yield "with-trail", seal_document(with_trail, credential).certificate
    yield "high-level-missed", seal_document(replace(with_trail, asked="B-T"), credential).certificate


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in certificates():
        (folder / f"{name}.pdf").write_bytes(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
