"""The data of the field editor, for fields of recipients and for fields of a template's roles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from esign.core.document.document import ACTING, Field, File, Role
from esign.core.document.field_types import FIELD_TYPES
from esign.web.values.field_models import present

PALETTE = [
    {"type": type.value, "key": kind.key, "width": kind.width, "height": kind.height}
    for type, kind in FIELD_TYPES.items()
]
COLOURS = 8  # the CSS variables `--r1` to `--r8`


class FieldHolder(Protocol):
    """Who has fields: a recipient, or a role of a template."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def role(self) -> Role: ...
    @property
    def fields(self) -> tuple[Field, ...]: ...


@dataclass(frozen=True, slots=True)
class EditorPage:
    """A page on which fields are placed; `image` is the address of its picture."""

    number: int
    width: float
    height: float
    image: str


def list_holders(holders: Iterable[FieldHolder]) -> list[dict[str, Any]]:
    """Return all holders in order. Those whose role may hold fields have a number, which decides their colour."""
    numbers = count(1)
    return [
        {
            "id": holder.id,
            "name": holder.name,
            "role": holder.role.value,
            "number": next(numbers) if holder.role in ACTING else None,
        }
        for holder in holders
    ]


def assign_colours(holders: Iterable[FieldHolder]) -> dict[str, int]:
    """Return the colour, from 1 on, of each holder that may have fields, by id; on every page it is the same."""
    return {one["id"]: (one["number"] - 1) % COLOURS + 1 for one in list_holders(holders) if one["number"]}


def list_placed_fields(holders: Iterable[FieldHolder]) -> list[dict[str, object]]:
    """Return the fields as API requests write them, each with the id of its `holder`."""
    return [
        {"holder": holder.id}
        | {n: v for n, v in present(field).model_dump(by_alias=True).items() if n not in ("id", "filledAt")}
        for holder in holders
        for field in holder.fields
    ]


def describe_state(holders: Sequence[FieldHolder], revision: int, most: int) -> dict[str, object]:
    """Return what is stored now; `most` is the number of fields that may be placed."""
    return {
        "revision": revision,
        "most": most,
        "people": list_holders(holders),
        "fields": list_placed_fields(holders),
    }


def list_pages(file: File, at: str) -> list[EditorPage]:
    """Return the pages of a file, with pictures below the address `at`.

    The address of a picture contains the hash of the file, so that caches notice a new one.
    """
    return [
        EditorPage(number, page.width, page.height, f"{at}/sheets/{number}.webp?{file.prepared[:16]}")
        for number, page in enumerate(file.pages, 1)
    ]


def sort_fields(holders: Iterable[FieldHolder]) -> list[dict[str, object]]:
    """Return all fields in reading order, for browsers without JavaScript."""
    found = [
        {"page": field.page, "y": field.y, "x": field.x, "who": holder.name, "label": field.label}
        | {"type": field.type.value, "required": field.required}
        for holder in holders
        for field in holder.fields
    ]
    return sorted(found, key=lambda one: (one["page"], one["y"], one["x"]))
