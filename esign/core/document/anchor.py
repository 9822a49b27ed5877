"""Anchors: the ends of audit trails combined into one hash, to be kept outside of the database.

An anchor has leaves, each the end of one trail at that moment, and a statement with the root of their Merkle tree
(RFC 9162, 2.1.1, SHA-256) and the hash of the statement before. The newest anchor so vouches for all.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import rfc8785

from esign.core.instant import Instant, rfc3339

START = bytes(32)
VERSION = 1
LEAF, NODE = b"\x00", b"\x01"
BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class UnreadableAnchor(Exception):
    """The bytes are no anchor of this program."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where a trail ended: number and hash of its last entry. `document_id` is an organisation's for its log."""

    document_id: str
    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Statement:
    """What is sealed and time-stamped of an anchor; `at` is the time of the server's own clock."""

    installation: str
    number: int
    at: str
    previous: bytes
    root: bytes
    leaves: int

    @property
    def canonical(self) -> bytes:
        """Return the bytes that the seal and the time stamp are over (RFC 8785)."""
        return rfc8785.dumps(
            {
                "version": VERSION,
                "installation": self.installation,
                "number": self.number,
                "at": self.at,
                "previous": self.previous.hex(),
                "root": self.root.hex(),
                "leaves": self.leaves,
            }
        )

    @property
    def hash(self) -> bytes:
        """Return the SHA-256 by which the next anchor names this one."""
        return hashlib.sha256(self.canonical).digest()

    @property
    def fingerprint(self) -> str:
        """Return the hash in groups of eight digits, as people compare it."""
        digits = self.hash.hex()
        return " ".join(digits[i : i + 8] for i in range(0, len(digits), 8))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A whole anchor. `cms` is the detached seal; `token` is None if no time-stamp authority was configured."""

    statement: Statement
    leaves: tuple[Leaf, ...]
    cms: bytes
    token: bytes | None

    @property
    def file_name(self) -> str:
        """Return the name of its file, which differs for each statement.

        A database that was restored from a copy makes numbers again that a folder has already.
        """
        statement = self.statement
        return f"anchor-{statement.installation[-8:]}-{statement.number:06}-{statement.hash.hex()[:8]}.json"


def compute_root(leaves: Sequence[Leaf]) -> bytes:
    """Return the root of the Merkle tree over the leaves in their order."""
    return hash_tree([rfc8785.dumps(_list_members(leaf)) for leaf in leaves])


def hash_tree(entries: Sequence[bytes]) -> bytes:
    """Return the root of the Merkle tree over these entries (RFC 9162, 2.1.1, with SHA-256)."""
    if not entries:
        return hashlib.sha256().digest()
    row = [hashlib.sha256(LEAF + entry).digest() for entry in entries]
    while len(row) > 1:
        pairs = [hashlib.sha256(NODE + row[i] + row[i + 1]).digest() for i in range(0, len(row) - 1, 2)]
        row = pairs + row[len(pairs) * 2 :]
    return row[0]


def make_statement(
    installation: str, before: tuple[int, bytes] | None, leaves: Sequence[Leaf], now: Instant
) -> Statement:
    """Return the statement of the next anchor after one of this number and hash, or of the first one."""
    number, previous = before or (0, START)
    return Statement(installation, number + 1, rfc3339(now), previous, compute_root(leaves), len(leaves))


def _list_members(leaf: Leaf) -> list[str | int]:
    return [leaf.document_id, leaf.seq, leaf.hash.hex()]


def write_leaves(leaves: Sequence[Leaf]) -> bytes:
    """Return the leaves as JSON."""
    return json.dumps([_list_members(leaf) for leaf in leaves], separators=(",", ":")).encode()


def read_leaves(content: bytes) -> tuple[Leaf, ...]:
    """Return the leaves that `write_leaves` wrote. Raises `UnreadableAnchor`."""
    try:
        return _load_leaves(json.loads(content))
    except BROKEN as error:
        raise UnreadableAnchor("its leaves cannot be read") from error


def read_statement(content: bytes) -> Statement:
    """Return a statement from its canonical bytes. Raises `UnreadableAnchor`."""
    try:
        return _load_statement(json.loads(content))
    except BROKEN as error:
        raise UnreadableAnchor("its statement cannot be read") from error


def write_file(anchor: Anchor) -> bytes:
    """Return the anchor as a file, the same bytes each time."""
    token = base64.b64encode(anchor.token).decode() if anchor.token else None
    return rfc8785.dumps(
        {
            "statement": json.loads(anchor.statement.canonical),
            "timeStamp": token,
            "seal": base64.b64encode(anchor.cms).decode(),
            "leaves": [_list_members(leaf) for leaf in anchor.leaves],
        }
    )


def read_file(content: bytes) -> Anchor:
    """Return the anchor in a file. Raises `UnreadableAnchor`. Nothing is checked."""
    try:
        found = json.loads(content)
        token = found["timeStamp"]
        return Anchor(
            _load_statement(found["statement"]),
            _load_leaves(found["leaves"]),
            base64.b64decode(found["seal"], validate=True),
            None if token is None else base64.b64decode(token, validate=True),
        )
    except BROKEN as error:
        raise UnreadableAnchor("it is no anchor of esign, or was damaged") from error


def _load_statement(found: dict[str, Any]) -> Statement:
    if found["version"] != VERSION:
        raise ValueError("another version")
    words, numbers = (found["installation"], found["at"]), (found["number"], found["leaves"])
    if not all(type(word) is str for word in words) or not all(type(n) is int for n in numbers):
        raise ValueError("a member of another type")
    _require_canonical(*words, *numbers)
    previous, root = _load_hash(found["previous"]), _load_hash(found["root"])
    return Statement(words[0], numbers[0], words[1], previous, root, numbers[1])


def _load_leaves(found: list[list[Any]]) -> tuple[Leaf, ...]:
    leaves = tuple(Leaf(name, seq, _load_hash(digest)) for name, seq, digest in found)
    if not all(type(leaf.document_id) is str and type(leaf.seq) is int for leaf in leaves):
        raise ValueError("a leaf of another type")
    for leaf in leaves:
        _require_canonical(leaf.document_id, leaf.seq)
    return leaves


def _require_canonical(*members: str | int) -> None:
    """Raise ValueError for what RFC 8785 cannot write: a large number, or half of a character."""
    rfc8785.dumps(list(members))


def _load_hash(text: str) -> bytes:
    digest = bytes.fromhex(text)
    if len(digest) != 32 or digest.hex() != text:
        raise ValueError("no hash")
    return digest
