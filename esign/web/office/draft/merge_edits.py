"""A three-way merge: two users change one draft or template, starting from the same texts."""

from collections.abc import Mapping
from dataclasses import dataclass

from esign.web.office.draft.draft_form import FormSheet, Texts, sort_rows

MINE, THEIRS = "mine", "theirs"


@dataclass(frozen=True, slots=True)
class EditConflict:
    """A text that both users changed.

    `field` names the field of the form, or is `row-…` if one of the two removed the row. A text is None where
    the row was removed.
    """

    field: str
    mine: str | None
    theirs: str | None


@dataclass(frozen=True, slots=True)
class MergedEdits:
    """The result of a merge. Where there is a conflict it holds the text of this form's user."""

    sheet: FormSheet
    conflicts: tuple[EditConflict, ...]


def merge_edits(seen: FormSheet, mine: FormSheet, theirs: FormSheet) -> MergedEdits:
    """Merge two changes.

    `seen` is what both began with, `mine` what this form sends, `theirs` what is stored now.
    """
    conflicts: list[EditConflict] = []
    top = merge_texts("", seen.top, mine.top, theirs.top, conflicts)
    rows: dict[str, Texts] = {}
    for key in [*mine.rows, *(key for key in theirs.rows if key not in mine.rows)]:
        was, own, other = (sheet.rows.get(key) for sheet in (seen, mine, theirs))
        if own is not None and other is not None:
            rows[key] = merge_texts(f"-{key}", was or other, own, other, conflicts)
        elif own is not None and (was is None or own != was):
            rows[key] = own
            if was is not None:
                conflicts.append(EditConflict(f"row-{key}", describe_row(own), None))
        elif other is not None and (was is None or other != was):
            if was is None:
                rows[key] = other
            else:
                conflicts.append(EditConflict(f"row-{key}", None, describe_row(other)))
    return MergedEdits(FormSheet(top, sort_rows(rows)), tuple(conflicts))


def merge_texts(after: str, was: Texts, own: Texts, other: Texts, conflicts: list[EditConflict]) -> Texts:
    """Merge texts by name and add what both changed to `conflicts`. `after` ends the names of the fields."""
    merged = {}
    for name in own:
        both = own[name] != was[name] and other[name] not in (was[name], own[name])
        if both:
            conflicts.append(EditConflict(f"{name}{after}", own[name], other[name]))
        merged[name] = other[name] if own[name] == was[name] else own[name]
    return merged


def apply_choices(mine: FormSheet, theirs: FormSheet, choices: Mapping[str, str]) -> FormSheet:
    """Return `mine` with the texts of `theirs` wherever the user chose those.

    `choices` maps the field of a conflict to `mine` or `theirs`.
    """
    top = dict(mine.top)
    rows = {key: dict(row) for key, row in mine.rows.items()}
    for field in (field for field, choice in choices.items() if choice == THEIRS):
        name, _, key = field.partition("-")
        if not key and name in top:
            top[name] = theirs.top[name]
        elif name != "row" and key in rows and name in theirs.rows.get(key, {}):
            rows[key][name] = theirs.rows[key][name]
        elif name == "row" and key in theirs.rows:
            rows[key] = theirs.rows[key]
        elif name == "row":
            rows.pop(key, None)
    return FormSheet(top, sort_rows(rows))


def describe_row(row: Texts) -> str:
    """Return the name and email address of a row in one line."""
    return ", ".join(text for name in ("name", "email") if (text := row.get(name)))
