"""Values that a recipient has entered but not submitted: the newest value of each field, from any tab or device."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from esign.core.document.document import Document, Field, FieldType, Recipient, Status
from esign.core.document.estimate import is_asked
from esign.core.document.field_types import FIELD_TYPES, INK, ValueShape
from esign.core.document.field_values import needs_signature
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant

APART = "signature"  # stands for the signature of a recipient who has no field for it


@dataclass(frozen=True, slots=True)
class EnteredValue:
    """A JSON value as its page sent it, and when it was entered, by the server's clock as the page estimates it."""

    at: Instant
    value: object


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """A value of a draft; `revision` is that of the draft when the value arrived."""

    at: Instant
    revision: int
    value: Any


@dataclass(frozen=True, slots=True)
class SigningDraft:
    """The unsubmitted values of a recipient, by field id."""

    revision: int = 0
    entries: Mapping[str, DraftEntry] = field(default_factory=dict)

    def since(self, revision: int) -> dict[str, EnteredValue]:
        """Return the values that arrived after that revision."""
        return {id: EnteredValue(e.at, e.value) for id, e in self.entries.items() if e.revision > revision}


def merge_values(draft: SigningDraft, given: Mapping[str, EnteredValue], now: Instant) -> SigningDraft:
    """Return the draft with the values that are newer than its own; the same draft when none are.

    The time of a page whose clock is ahead is limited to `now`, but stays later than that of the value it
    replaces.
    """
    revision, taken = draft.revision + 1, {}
    for id, new in given.items():
        last = draft.entries[id].at if id in draft.entries else 0
        at = min(new.at, max(now, last + 1))
        if at > last:
            taken[id] = DraftEntry(at, revision, new.value)
    return SigningDraft(revision, {**draft.entries, **taken}) if taken else draft


def check_values(recipient: Recipient, given: Mapping[str, EnteredValue]) -> None:
    """Raise `invalid_request` for values of fields that the recipient does not fill in, or of the wrong JSON type."""
    own = {field.id: field.type for field in recipient.fields if is_asked(field)}
    if needs_signature(recipient):
        own[APART] = FieldType.SIGNATURE
    problems = []
    for id, new in given.items():
        if id not in own:
            problems.append(Detail(f"/values/{id[:200]}", "This field is not yours to fill in.", "reference"))
        elif not has_shape(own[id], new.value):
            problems.append(Detail(f"/values/{id}", "This is no value for the field.", "type"))
    if problems:
        raise Problem("invalid_request", details=problems[:100])


def has_shape(type: FieldType, value: object) -> bool:
    """Return whether the JSON type of a value fits the field.

    Incomplete and invalid values are accepted, so that they are not lost before the recipient corrects them.
    """
    shape = FIELD_TYPES[type].shape
    if shape is ValueShape.TICK:
        return isinstance(value, bool)
    if shape is ValueShape.TEXT:
        return isinstance(value, str)
    if value is None:
        return True
    if not isinstance(value, dict):
        return False
    if value.get("kind") == "typed":
        return value.keys() == {"kind", "text", "hand"} and isinstance(value["text"], str)
    return value.keys() == {"kind", "picture"} and isinstance(value["picture"], str)


def put_in_values(recipient: Recipient, draft: SigningDraft) -> Recipient:
    """Return the recipient with the entered values in their fields; the page's script restores signatures."""
    return replace(recipient, fields=tuple(put_in_value(each, draft) for each in recipient.fields))


def put_in_value(field: Field, draft: SigningDraft) -> Field:
    """Return the field with its entered value; signatures and initials are left as they are."""
    entry = draft.entries.get(field.id)
    return field if entry is None or field.type in INK else replace(field, value=entry.value)


def find_ended_drafts(before: Document, after: Document) -> list[str]:
    """Return the ids of recipients whose drafts end with a transition: they have acted, or the document has ended."""
    if before.status is not Status.SENT:
        return []
    ended = after.status is not Status.SENT
    return [
        r.id for r in before.recipients if r.is_invited and (ended or not after.recipient(r.id).is_invited)
    ]
