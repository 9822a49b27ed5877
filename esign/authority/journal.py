"""Record who changed the seal certificate, one JSON line for each change, beside the keys.

Lines are only ever added.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from esign.authority import files
from esign.authority.checks import AuthorityError
from esign.core.instant import Instant
from esign.core.sentence import say

FILE = "seal-changes.jsonl"


@dataclass(frozen=True, slots=True)
class SealChange:
    """A change of the seal certificate; `deed` is `uploaded`, `went back`, `made anew`, `renewed` or `configured`.

    `renewed` includes the first certificate made here. `who` is None if the program did it itself or by its
    configuration.
    """

    at: Instant
    deed: str
    subject: str
    fingerprint: str
    who: str | None = None
    ip: str | None = None


def add_change(folder: Path, change: SealChange) -> None:
    """Append a change, which is on the disk when this returns. Raises `AuthorityError`."""
    path = folder / FILE
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(json.dumps(asdict(change), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise AuthorityError(say(files.UNWRITTEN, file=path, error=error.strerror, folder=folder)) from error


def read_changes(folder: Path) -> list[SealChange]:
    """Return all changes, the newest first. A line that was cut by a crash is skipped."""
    return list(reversed(list(_read_lines(folder / FILE))))


def _read_lines(path: Path) -> Iterator[SealChange]:
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield SealChange(**json.loads(line))
        except (ValueError, TypeError):
            continue
