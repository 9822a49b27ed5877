"""Lists of recipients and of roles as a caller wants them, checked as a whole (contract 3.2, 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from esign.actions.base import stored_codes
from esign.core.document.challenge import Method
from esign.core.document.document import Document, Field, Recipient, Role
from esign.core.document.placement import find_out_of_bounds
from esign.core.document.recipient_rules import (
    find_code_problems,
    find_duplicates,
    find_group_problems,
    find_list_problems,
    find_role_problems,
)
from esign.core.document.template import TemplateRole
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.system.entropy import make_id
from esign.system.vault import Vault

H = TypeVar("H", Recipient, TemplateRole)

MOST = 100  # details of one problem


@dataclass(frozen=True, slots=True)
class HolderEntry:
    """One recipient or role as the caller wants it; `members` go by their names in `core`.

    With an `id` it is the one of that id, which keeps what `members` leaves out. Without one it is new, and gets
    `new_id` if that is given. An access code is as it was agreed upon, and fields have no ids yet.
    """

    members: Mapping[str, Any]
    id: str | None = None
    new_id: str | None = None


def make_recipient(vault: Vault, entry: HolderEntry, known: Recipient | None, now: Instant) -> Recipient:
    """Return the recipient of an entry. An authentication other than `access_code` removes a stored code."""
    members = dict(entry.members)
    if members.get("access_code") is not None:
        members["access_code"] = stored_codes.encode_access_code(vault, members["access_code"])
    elif members.get("authentication", Method.ACCESS_CODE) != Method.ACCESS_CODE:
        members["access_code"] = None
    return _apply_members(known or Recipient(entry.new_id or make_id("rcp", now), "", ""), members, now)


def make_role(entry: HolderEntry, known: TemplateRole | None, now: Instant) -> TemplateRole:
    """Return the role of an entry. None stands for the default of a new role, whose name is its key."""
    defaults: dict[str, Any] = {"role": Role.SIGNER, "order": 1, "fields": ()}
    members = {n: defaults.get(n) if value is None else value for n, value in entry.members.items()}
    key = members.get("key") or (known.key if known else "")
    if (known is None or "name" in members) and members.get("name") is None:
        members["name"] = key
    return _apply_members(known or TemplateRole(entry.new_id or make_id("rol", now), key, key), members, now)


def _apply_members(holder: H, members: dict[str, Any], now: Instant) -> H:
    if "role" in members:
        members["role"] = Role(members["role"])
    if "fields" in members:
        members["fields"] = tuple(replace(field, id=make_id("fld", now)) for field in members["fields"])
    return replace(holder, **members)


def make_recipients(
    runtime: Runtime, before: Sequence[Recipient], entries: Sequence[HolderEntry], now: Instant
) -> tuple[Recipient, ...]:
    """Return the new list of recipients. Raises `invalid_request` with every problem of the list."""
    details = find_unknown_ids(before, entries, "/recipients", "No recipient of this document has this id.")
    old = {recipient.id: recipient for recipient in before}
    made = tuple(
        make_recipient(runtime.vault, entry, old.pop(entry.id or "", None), now) for entry in entries
    )
    check_recipients(runtime, made, details)
    return made


def renew_codes(
    vault: Vault, recipients: Sequence[Recipient], entries: Sequence[HolderEntry]
) -> tuple[Recipient, ...]:
    """Return what `make_recipients` made of the entries, with each access code encoded by the key of now."""
    codes = [entry.members.get("access_code") for entry in entries]
    return tuple(
        recipient
        if code is None
        else replace(recipient, access_code=stored_codes.encode_access_code(vault, code))
        for recipient, code in zip(recipients, codes, strict=True)
    )


def check_recipients(runtime: Runtime, recipients: Sequence[Recipient], found: Sequence[Detail] = ()) -> None:
    """Raise `invalid_request` with the problems `found` before and those that only the whole list shows."""
    limits = runtime.config.limits
    if details := [*found, *find_list_problems(recipients, limits.recipients, limits.fields)]:
        raise Problem("invalid_request", details=details[:MOST])


def make_roles(
    runtime: Runtime, before: Sequence[TemplateRole], entries: Sequence[HolderEntry], now: Instant
) -> tuple[TemplateRole, ...]:
    """Return the new list of roles. Raises `invalid_request` with every problem of the list."""
    limits = runtime.config.limits
    old = {role.id: role for role in before}
    made = tuple(make_role(entry, old.pop(entry.id or "", None), now) for entry in entries)
    details = [
        *find_unknown_ids(before, entries, "/roles", "The template has no role of this id."),
        *find_duplicates([role.key or None for role in made], "/roles", "key"),
        *find_list_problems(made, limits.recipients, limits.fields, "/roles"),
    ]
    if details:
        raise Problem("invalid_request", details=details[:MOST])
    return made


def find_unknown_ids(
    before: Sequence[Recipient | TemplateRole], entries: Sequence[HolderEntry], place: str, message: str
) -> list[Detail]:
    """Return a problem for each entry whose id nobody has, or an earlier entry has."""
    known = {holder.id for holder in before}
    unknown = [
        Detail(f"{place}/{n}/id", message, "reference")
        for n, entry in enumerate(entries)
        if entry.id is not None and entry.id not in known
    ]
    return [*unknown, *find_duplicates([entry.id for entry in entries], place, "id")]


def check_recipient(runtime: Runtime, document: Document, recipient: Recipient) -> None:
    """Raise `invalid_request` or `field_out_of_bounds` if the recipient does not fit into the document."""
    most = runtime.config.limits.fields
    others = [r for r in document.recipients if r.id != recipient.id]
    details: list[Detail] = []
    if sum(len(r.fields) for r in (*others, recipient)) > most:
        details.append(
            Detail(
                "/fields",
                say("At most {n} fields in all.", one="At most {n} field in all.", n=most),
                "length",
            )
        )
    seen = {field.key for other in others for field in other.fields} - {None}
    for m, field in enumerate(recipient.fields):
        if field.key in seen:
            details.append(Detail(f"/fields/{m}/key", "Each key must be unique.", "duplicate"))
        seen |= {field.key} - {None}
    details += find_role_problems(recipient, "")
    details += find_code_problems(recipient, "")
    details += find_group_problems(recipient.fields, "")
    if details:
        raise Problem("invalid_request", details=details[:MOST])
    if problems := [
        problem
        for m, field in enumerate(recipient.fields)
        for problem in find_out_of_bounds(field, document.file.pages, f"/fields/{m}")
    ]:
        raise Problem("field_out_of_bounds", details=problems[:MOST])


def place_fields(
    runtime: Runtime, holders: Sequence[H], given: Mapping[str, Sequence[Field]], now: Instant, place: str
) -> tuple[H, ...]:
    """Return the recipients or roles with the given fields by their ids; the others keep theirs.

    A field that did not change keeps its id. Raises `invalid_request` for an unknown id, and for fields that do
    not fit together.
    """
    made = [
        replace(holder, fields=keep_field_ids(holder.fields, given.get(holder.id, holder.fields), now))
        for holder in holders
    ]
    known = {holder.id for holder in holders}
    details = [
        Detail(f"{place}/{n}/id", "Nobody has this id.", "reference")
        for n, id in enumerate(given)
        if id not in known
    ]
    details += find_list_problems(made, len(made), runtime.config.limits.fields, place)
    if details:
        raise Problem("invalid_request", details=details[:MOST])
    return tuple(made)


def keep_field_ids(before: Sequence[Field], after: Sequence[Field], now: Instant) -> tuple[Field, ...]:
    """Return the new fields, each with the id of an equal field among the old ones, or else a new id."""
    ids: dict[str, list[str]] = {}
    for one in before:
        ids.setdefault(repr(replace(one, id="")), []).insert(0, one.id)
    made = []
    for one in after:
        same = ids.get(repr(replace(one, id="")))
        made.append(replace(one, id=same.pop() if same else make_id("fld", now)))
    return tuple(made)
