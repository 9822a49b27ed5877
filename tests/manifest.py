"""What the manifests beside the corpus say of each file."""

import csv
from pathlib import Path

TAKEN = "taken"
CODES = {
    "password_required": "file_encrypted",
    "encryption_unsupported": "file_encrypted",
    "xfa_dynamic": "file_unsupported",
    "page_size": "file_unsupported",
    "unreadable": "invalid_file",
    "no_pages": "invalid_file",
    "too_complex": "invalid_file",
}


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "manifest.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def find_expected_code(row: dict[str, str]) -> str:
    """`TAKEN` or the code of the refusal."""
    if row.get("class", "").startswith(("signed", "certified")):
        return "file_signed"
    return TAKEN if row["expected"] in ("accept", "repair") else CODES[row["reason"].split()[0]]
