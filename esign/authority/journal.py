"""Who changed what documents are sealed with, line by line beside the keys; lines are only ever added."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from esign.authority.checks import AuthorityError
from esign.core.instant import Instant

FILE = "seal-changes.jsonl"


@dataclass(frozen=True, slots=True)
class Change:
    """What was done: `uploaded`, `went back`, `made anew`, `renewed` (or first made) or `configured`.

    `who` is None where the program did it by itself, or by its configuration.
    """

    at: Instant
    deed: str
    subject: str
    fingerprint: str
    who: str | None = None
    ip: str | None = None


def add(folder: Path, change: Change) -> None:
    """On the disk when it returns; raises `AuthorityError`."""
    path = folder / FILE
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(json.dumps(asdict(change), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise AuthorityError(
            f"{path} cannot be written ({error.strerror}); let this user write to {folder}."
        ) from error


def read(folder: Path) -> list[Change]:
    """The newest first; a line that a crash cut is passed over."""
    return list(reversed(list(_lines(folder / FILE))))


def _lines(path: Path) -> Iterator[Change]:
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield Change(**json.loads(line))
        except (ValueError, TypeError):
            continue
