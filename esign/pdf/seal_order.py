"""The order for a seal and its results: plain values that need no PDF library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from esign.core.instant import Instant

Level = Literal["B-B", "B-T"]


class SealFailed(Exception):
    """The document cannot be sealed now; `reason` is a sentence that tells the operator what to do."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class DrawnField:
    """A field with its value; its place is in percent of the page as displayed, from the top left corner.

    `value` is text, `YYYY-MM-DD`, or a boolean (checkbox). Signatures and initials have `kind` instead: `typed`
    with `text` and `hand` (`a`, `b`, `c` or None), or `drawn` / `uploaded` with `picture` {type, width, height,
    base64}. `options` are the extra properties of the type as the contract names them (`format`, `multiline`,
    …).
    """

    id: str
    type: str
    page: int
    x: float
    y: float
    width: float
    height: float
    value: str | bool | None = None
    kind: str | None = None
    text: str | None = None
    hand: str | None = None
    picture: Mapping[str, object] | None = None
    caption: str | None = None
    font_size: float | None = None
    align: str | None = None
    lang: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Typesetting:
    """How values are set in type: the date in the PDF that is drawn, the language, and folders with further fonts."""

    now: Instant
    lang: str = "en"
    font_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SealOrder:
    """A completed document: the prepared file, the values in their places, the facts of the certificate page.

    `certificate` is what `typst/certificate.typ` reads, without `labels`, `cjk`, `seal` and `verify.qr_svg`,
    which are added when the page is drawn. `font_paths` are folders with further fonts (CJK). `trail` is the
    audit trail to attach; a rehearsed page has none. `asked` is the level that was asked for, if it could not
    be reached. `authorities` are the hosts of the time-stamp authorities that may be asked.
    """

    prepared: bytes
    fields: tuple[DrawnField, ...]
    certificate: Mapping[str, Any]
    now: Instant
    font_paths: tuple[str, ...] = ()
    trail: bytes | None = None
    level: Level = "B-B"
    asked: Level = "B-B"
    authorities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnsealedFile:
    """A file whose signature has been computed but not yet inserted.

    The signature goes between the bytes `first` and `last` of the appended `tail`, in hexadecimal.
    """

    pdf: bytes
    tail: bytes
    first: int
    last: int
    signer_info: bytes
    signature: bytes

    @property
    def whole(self) -> bytes:
        return self.pdf + self.tail


@dataclass(frozen=True, slots=True)
class BegunSeal:
    """Both files of a seal that wait for their time stamps, and what they are checked against in the end."""

    document: UnsealedFile
    certificate: UnsealedFile
    page_count: int
    certificate_pages: int
    head: Mapping[str, Any]
    level: Level
    asked: Level
    now: Instant


@dataclass(frozen=True, slots=True)
class SealedFiles:
    """The sealed document and its separately sealed certificate; `page_count` counts all pages of the document."""

    sealed: bytes
    certificate: bytes
    page_count: int
    certificate_sha256: str
    level: Level = "B-B"


@dataclass(frozen=True, slots=True)
class SealedParts:
    """What a sealed file carries: the attached audit trail, and the level that the seal was made at if it says so.

    `alone` says that it is a certificate of completion, a file of its own, and `as_written` that the text of the
    signature is in lower case, as seals are written here. No hash covers that text.
    """

    trail: bytes
    made: str | None
    alone: bool
    as_written: bool


@dataclass(frozen=True, slots=True)
class CertificateOrder:
    """The certificate pages of a sealed file, to be sealed as a file of their own.

    They begin behind `pages` pages of the document. `head` is the audit head of the file, and `trail` the attached
    audit trail. `lang` is the language of the reason that the seal gives.
    """

    sealed: bytes
    pages: int
    head: Mapping[str, Any]
    trail: bytes
    lang: str
    now: Instant
