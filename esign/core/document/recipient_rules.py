"""The rules across a list of recipients or roles, and between the members of one of them (contract 3.2, 4)."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from esign.core.document.challenge import Method
from esign.core.document.document import ACTING, Field, Recipient, Role
from esign.core.errors import Detail
from esign.core.sentence import say

# Sentences by the list that they are about, and by the member that stands in it twice.
ONCE = {"id": "Each id must be unique.", "key": "Each key must be unique."}

TOO_MANY, TOO_MANY_FOR_ONE = "Only {n} boxes can be ticked.", "Only {n} box can be ticked."
TOO_FEW, TOO_FEW_FOR_ONE = "The group asks for at least {n} ticks.", "The group asks for at least {n} tick."
FORCED, FORCED_ONE = "{n} boxes of the group have to be ticked.", "{n} box of the group has to be ticked."


class FieldOwner(Protocol):
    """A holder of fields: a recipient, or a role of a template."""

    @property
    def role(self) -> Role: ...

    @property
    def fields(self) -> tuple[Field, ...]: ...


def find_list_problems(
    holders: Sequence[FieldOwner], most_holders: int, most_fields: int, place: str = "/recipients"
) -> Iterator[Detail]:
    """Yield the problems that only the whole list shows.

    They are the limits of the settings, keys that are used twice, fields of recipients who cannot hold any,
    codes, and groups of check boxes. `place` is the JSON Pointer of the list.
    """
    if len(holders) > most_holders:
        if place == "/roles":
            yield Detail(place, say("At most {n} roles.", one="At most {n} role.", n=most_holders), "length")
        else:
            recipients = say("At most {n} recipients.", one="At most {n} recipient.", n=most_holders)
            yield Detail(place, recipients, "length")
    if sum(len(holder.fields) for holder in holders) > most_fields:
        yield Detail(
            place, say("At most {n} fields in all.", one="At most {n} field in all.", n=most_fields), "length"
        )
    seen: set[str | None] = set()
    for n, holder in enumerate(holders):
        for m, field in enumerate(holder.fields):
            if field.key in seen and field.key is not None:
                yield Detail(f"{place}/{n}/fields/{m}/key", "Each key must be unique.", "duplicate")
            seen.add(field.key)
        yield from find_role_problems(holder, f"{place}/{n}")
        if isinstance(holder, Recipient):
            yield from find_code_problems(holder, f"{place}/{n}")
        yield from find_group_problems(holder.fields, f"{place}/{n}")


class CodeHolder(Protocol):
    """A recipient, or the taker of a role of a template, with their way of authentication."""

    @property
    def authentication(self) -> str: ...

    @property
    def access_code(self) -> str | None: ...


def find_code_problems(who: CodeHolder, path: str) -> Iterator[Detail]:
    """Yield a problem if the access code is missing, or if one is given that will not be asked for."""
    wanted = who.authentication == Method.ACCESS_CODE
    if wanted and who.access_code is None:
        yield Detail(f"{path}/accessCode", "With access_code a code is required.", "required")
    if not wanted and who.access_code is not None:
        yield Detail(f"{path}/accessCode", "A code is only asked for with access_code.", "reference")


def find_duplicates(names: Sequence[str | None], place: str, member: str) -> Iterator[Detail]:
    """Yield a problem for each entry of a list whose name an earlier entry has."""
    seen: set[str] = set()
    for n, name in enumerate(names):
        if name in seen:
            yield Detail(f"{place}/{n}/{member}", ONCE[member], "duplicate")
        elif name is not None:
            seen.add(name)


def find_role_problems(holder: FieldOwner, path: str) -> Iterator[Detail]:
    """Yield a problem if a recipient who only reads or gets a copy has fields (contract 4)."""
    if holder.role not in ACTING and holder.fields:
        yield Detail(f"{path}/fields", "Only signers and approvers may hold fields.", "reference")


def find_group_problems(fields: Sequence[Field], path: str) -> Iterator[Detail]:
    """Yield a problem for each group that its recipient could never fill in.

    `path` is the JSON Pointer of the recipient.
    """
    groups: dict[str, dict[int, Field]] = {}
    for n, field in enumerate(fields):
        if name := field.options.get("group"):
            groups.setdefault(name, {})[n] = field
    for boxes in groups.values():
        yield from _find_group_problem(boxes, path)


def _find_group_problem(boxes: dict[int, Field], path: str) -> Iterator[Detail]:
    least = max(boxes, key=lambda n: boxes[n].options.get("minChecked") or 0)
    limits = {n: box.options["maxChecked"] for n, box in boxes.items() if box.options.get("maxChecked")}
    fewest = boxes[least].options.get("minChecked") or 0
    free = sum(not (box.read_only and box.value is False) for box in boxes.values())
    forced = sum(box.required or (box.read_only and box.value is True) for box in boxes.values())
    if fewest > free:
        yield Detail(
            f"{path}/fields/{least}/minChecked", say(TOO_MANY, one=TOO_MANY_FOR_ONE, n=free), "range"
        )
    if limits:
        most = min(limits, key=lambda n: limits[n])
        where = f"{path}/fields/{most}/maxChecked"
        if limits[most] < fewest:
            yield Detail(where, say(TOO_FEW, one=TOO_FEW_FOR_ONE, n=fewest), "range")
        elif limits[most] < forced:
            yield Detail(where, say(FORCED, one=FORCED_ONE, n=forced), "range")
