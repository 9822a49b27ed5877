"""The results of inspecting an uploaded file or image: plain values that need no PDF library."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from esign.core.document.document import PageGeometry
from esign.core.sentence import list_forms

# The words of `removed`, in the order in which they are reported. Form fields and annotations are drawn into the
# page, the rest is gone.
REMOVALS = (
    "restrictions",
    "scripts",
    "actions",
    "attachments",
    "multimedia",
    "XFA form",
    "form fields",
    "annotations",
    "layer states",
    "alternate images",
    "metadata",
    "conformance claims",
    "foreign data",
)

TOO_COMPLEX = (
    "The file is too complex to process within the limits; save it again as a plain PDF, "
    "for instance by printing it to a file, and send that."
)

NOT_CHECKED = (
    "This file can’t be checked here: it takes too long or too much memory, or uses a feature esign doesn’t know."
    " Check its signatures in a PDF reader."
)

# Sentences of a worker about a file. They reach the program as text, and are found again by their forms.
TOO_LARGE = "The file has {bytes:,} bytes; {most:,} are allowed."
TOO_MANY_PAGES = "The file has {n} pages; {most} are allowed."
MISSHAPEN = (
    "Page {page} measures {width:g} by {height:g} points; sides must have {least} to {most:,} points, and one at most"
    " {ratio} times those of the other."
)
SIZE = "Page {page} measures {width:g} by {height:g} points."
UNREADABLE_PAGE = "Page {page} of the file cannot be read."
UNDRAWN_PAGE = "Page {page} of the file cannot be displayed."
UNEQUAL_PAGE = "Page {page} of the file is displayed in different sizes by different readers."
LOST_PAGES = "The file has {pages} pages, but only {shown} can be displayed."
NARROW_LOGO = (
    "The logo is too small, or too wide for its height: it would be drawn less than {pixels} pixels high."
)
WORKER_FORMS = list_forms(
    NARROW_LOGO,
    TOO_LARGE,
    TOO_MANY_PAGES,
    MISSHAPEN,
    SIZE,
    UNREADABLE_PAGE,
    UNDRAWN_PAGE,
    UNEQUAL_PAGE,
    LOST_PAGES,
)


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The largest upload that is accepted, in bytes and in pages."""

    file_bytes: int
    pages: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """The normalised file, its pages as displayed, and what normalising changed.

    `repaired` says that the upload was damaged and has been mended; `removed` holds words of `REMOVALS`.
    """

    prepared: bytes
    pages: tuple[PageGeometry, ...]
    repaired: bool
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RedrawnPicture:
    """A redrawn signature or logo; its width and height are in pixels."""

    png: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a page's text; `top` is in percent of the page as displayed."""

    top: float
    text: str


@dataclass(frozen=True, slots=True)
class DetectedField:
    """A field that a file asks for, by its form or by a mark in its text; its place is in percent of the page
    as displayed.

    `person` is the number that a mark names. `options` are the properties of the type that the file sets
    itself.
    """

    type: str
    page: int
    x: float
    y: float
    width: float
    height: float
    marked: bool
    label: str | None = None
    key: str | None = None
    required: bool | None = None
    person: int | None = None
    font_size: float | None = None
    align: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnusableField:
    """A form field or mark that cannot become a field, and the reason."""

    page: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class DetectedFields:
    """The fields that a file asks for, and those that cannot be used, in the order of the pages."""

    fields: tuple[DetectedField, ...]
    unused: tuple[UnusableField, ...]


@dataclass(frozen=True, slots=True)
class TypedLetters:
    """A typed signature as SVG and its `width` in points at the largest size, or the characters that are `missing`."""

    svg: bytes
    width: float
    missing: tuple[str, ...]
