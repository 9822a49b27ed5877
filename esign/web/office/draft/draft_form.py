"""A draft or template as the texts of its form, and from there to what the form changes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from esign.core.document.document import Document, Recipient
from esign.core.document.template import Template
from esign.web.office.frame.forms import parse_number
from esign.web.values.document_values import Days, Message, ReminderCount, ReminderDays, Subject, Title
from esign.web.values.schema import Patch, Schema

KEY = re.compile(r"name-(\w{1,40})")
REMINDERS = {"first": "firstAfterDays", "every": "everyDays", "most": "max"}
DEFAULTS = {"order": 1, "role": "signer", "authentication": "link"}  # of what a row leaves empty

Texts = dict[str, str]


class ReminderPlan(Schema):
    """The reminders; a number that is empty is as in the settings."""

    enabled: bool
    first_after_days: ReminderDays | None = None
    every_days: ReminderDays | None = None
    max: ReminderCount | None = None


class MessageForm(Patch):
    """What the forms of a draft and of a template have in common: only what the user changed."""

    title: Title = ""
    subject: Subject | None = None
    message: Message | None = None
    expires_in_days: Days | None = None
    reminders: ReminderPlan | None = None

    def list_members(self, rows: str) -> dict[str, object]:
        """Return what was changed by the names in `core`, without the list `rows`."""
        members = {name: getattr(self, name) for name in self.model_fields_set - {rows}}
        if self.reminders is not None:
            members["reminders"] = self.reminders.model_dump(exclude_none=True)
        return members


@dataclass(frozen=True, slots=True)
class FormShape:
    """The fields of a form and the members that they stand for, at the top and in each row.

    `list` is the member that holds the rows, `prefix` the prefix of their ids. `named` lists the fields of a
    row that must not be emptied, `required` those that a new row needs. `new` holds the values of an empty new
    row.
    """

    list: str
    prefix: str
    members: Mapping[str, str]
    entry: Mapping[str, str]
    named: tuple[str, ...]
    required: tuple[str, ...]
    new: Mapping[str, str]

    @property
    def top(self) -> tuple[str, ...]:
        """Return the names of the fields outside of the rows."""
        return (*self.members, "remind", *REMINDERS)


DRAFT = FormShape(
    "recipients",
    "rcp",
    {
        "title": "title",
        "subject": "subject",
        "message": "message",
        "locale": "locale",
        "days": "expiresInDays",
        "redirect": "redirectUrl",
    },
    {
        **{name: name for name in ("order", "name", "email", "role", "authentication")},
        "code": "accessCode",
        "locale": "locale",
    },
    named=("name", "email"),
    required=("email", "name"),
    new={"order": "1", "role": "signer", "authentication": "link"},
)


@dataclass(frozen=True, slots=True)
class FormSheet:
    """The texts of a form.

    `rows` are the recipients or the roles in their order, by id; a new row goes by a name that its page made
    up.
    """

    top: Texts
    rows: dict[str, Texts] = field(default_factory=dict)

    def flatten(self) -> Texts:
        """Return the texts by the names of the form's fields: `title`, `email-rcp_…`."""
        return self.top | {
            f"{name}-{key}": text for key, row in self.rows.items() for name, text in row.items()
        }

    def dump(self) -> str:
        """Return the texts as JSON, for the hidden field `seen`."""
        return orjson.dumps({"top": self.top, "rows": self.rows}).decode()


def fill_from_document(document: Document) -> FormSheet:
    """Return a draft as the texts of its form."""
    top = fill_top(document) | {"locale": document.locale or "", "redirect": document.redirect_url or ""}
    return FormSheet(top, {recipient.id: fill_row(recipient) for recipient in document.recipients})


def fill_top(made: Document | Template) -> Texts:
    """Return the texts that a draft and a template have in common."""
    reminders = made.reminders
    return {
        "title": made.title,
        "subject": made.subject or "",
        "message": normalise_lines(made.message or ""),
        "days": str(made.expires_in_days),
        "remind": "yes" if reminders.enabled else "",
        "first": str(reminders.first_after_days),
        "every": str(reminders.every_days),
        "most": str(reminders.max),
    }


def fill_row(recipient: Recipient) -> Texts:
    """Return a recipient as the texts of a row."""
    return {
        "order": str(recipient.order),
        "name": recipient.name,
        "email": recipient.email,
        "role": recipient.role.value,
        "authentication": recipient.authentication,
        "code": "",  # a stored code cannot be read back
        "locale": recipient.locale or "",
    }


def read_form(form: Mapping[str, str], shape: FormShape = DRAFT) -> FormSheet:
    """Read the texts that a form sent. The rows keep the order of the form, sorted by step.

    A new row with neither of its required texts is left out.
    """
    rows: dict[str, Texts] = {}
    for named in form:
        if found := KEY.fullmatch(named):
            row = {
                name: form.get(f"{name}-{found[1]}", shape.new.get(name, "")).strip() for name in shape.entry
            }
            if any(row[name] for name in shape.named) or not found[1].startswith("new"):
                rows[found[1]] = row
    return FormSheet(
        {name: normalise_lines(form.get(name, "")).strip() for name in shape.top}, sort_rows(rows)
    )


def load_sheet(text: str, shape: FormShape = DRAFT) -> FormSheet | None:
    """Parse what `dump` wrote. Return None for anything else."""
    try:
        found = orjson.loads(text)
        top = {name: str(found["top"][name]) for name in shape.top}
        rows = {key: {name: str(row[name]) for name in shape.entry} for key, row in found["rows"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return FormSheet(top, rows)


def normalise_lines(text: str) -> str:
    """Return the text with line breaks as they are stored. Browsers send two characters for each."""
    return text.replace("\r\n", "\n")


def rename_rows(sheet: FormSheet, ids: Mapping[str, str]) -> FormSheet:
    """Give rows other names. A row that already has one of the new names is dropped."""
    gone = set(ids.values())
    return FormSheet(
        sheet.top, {ids.get(key, key): row for key, row in sheet.rows.items() if key not in gone}
    )


# ---------- the order of the rows ----------


def parse_step(row: Texts) -> int:
    """Return the step of a row, or 0 if it is not a number of at most eight digits."""
    return int(row["order"]) if row["order"].isdecimal() and len(row["order"]) < 9 else 0


def sort_rows(rows: Mapping[str, Texts]) -> dict[str, Texts]:
    """Sort rows by their step. Rows of the same step keep their order."""
    return dict(sorted(rows.items(), key=lambda one: parse_step(one[1])))


def move_row(sheet: FormSheet, key: str, by: int) -> FormSheet:
    """Move a row up or down. The steps stay where they are; the row takes the step of its new position."""
    keys = list(sheet.rows)
    steps = [row["order"] for row in sheet.rows.values()]
    if key not in keys or not 0 <= (there := keys.index(key) + by) < len(keys):
        return sheet
    keys.insert(there, keys.pop(keys.index(key)))
    return assign_steps(sheet, dict(zip(keys, steps, strict=True)))


def set_one_step(sheet: FormSheet) -> FormSheet:
    """Put every row at step 1."""
    return assign_steps(sheet, dict.fromkeys(sheet.rows, "1"))


def number_steps(sheet: FormSheet) -> FormSheet:
    """Put each row at a step of its own."""
    return assign_steps(sheet, {key: str(n) for n, key in enumerate(sheet.rows, 1)})


def assign_steps(sheet: FormSheet, steps: Mapping[str, str]) -> FormSheet:
    """Return the rows in the order of `steps`, each with its step from there."""
    return FormSheet(sheet.top, {key: sheet.rows[key] | {"order": order} for key, order in steps.items()})


def remove_row(sheet: FormSheet, key: str) -> FormSheet:
    """Return the sheet without one row."""
    return FormSheet(sheet.top, {other: row for other, row in sheet.rows.items() if other != key})


# ---------- what the form changes ----------


@dataclass(slots=True)
class FormChanges:
    """What a sheet changes: members of the draft or template, and of its recipients or roles.

    `rows` is None if the rows stay as they are.
    """

    shape: FormShape
    members: dict[str, Any]
    rows: dict[str, dict[str, Any]] | None

    def list_values(self) -> dict[str, Any]:
        """Return the changed values, as the model of the form checks them."""
        listed = {} if self.rows is None else {self.shape.list: list(self.rows.values())}
        return self.members | listed

    def place(self, path: str) -> str:
        """Return the form field that a JSON Pointer into the body is about; "" is the form as a whole."""
        return next(
            (name for name, member in list_places(self) if path == member), self._find_place_above(path)
        )

    def _find_place_above(self, path: str) -> str:
        """Return the field `role` of a row if the pointer is about its fields, which this form does not show."""
        found = re.match(rf"/{self.shape.list}/(\d+)/fields\b", path)
        return f"role-{list(self.rows or ())[int(found[1])]}" if found else ""

    def drop(self, place: str) -> None:
        """Leave out the value of a refused form field.

        Reminders are left out as a whole, and so is a new row. A refusal of the form as a whole leaves out all
        rows.
        """
        name, _, key = place.partition("-")
        if place in REMINDERS:
            self.members.pop("reminders", None)
        elif not key:
            self.members.pop(self.shape.members.get(name, ""), None)
            self.rows = self.rows if name else None
        elif self.rows is not None and key in self.rows:
            entry = self.rows[key]
            if "id" not in entry:
                del self.rows[key]
            for member in {"code": ("accessCode", "authentication")}.get(name, (self.shape.entry[name],)):
                entry.pop(member, None)


def list_places(body: FormChanges) -> Iterator[tuple[str, str]]:
    """Yield (form field, JSON Pointer) for each field of the form."""
    shape = body.shape
    yield from ((name, f"/{member}") for name, member in shape.members.items())
    yield from ((name, f"/reminders/{member}") for name, member in REMINDERS.items())
    for n, key in enumerate(body.rows or ()):
        yield from ((f"{name}-{key}", f"/{shape.list}/{n}/{member}") for name, member in shape.entry.items())


def find_changes(sheet: FormSheet, old: FormSheet, shape: FormShape = DRAFT) -> FormChanges:
    """Return what the sheet changes compared with the old one, and nothing else."""
    members: dict[str, Any] = {
        member: parse_number(sheet.top[name]) if name == "days" else sheet.top[name] or None
        for name, member in shape.members.items()
        if sheet.top[name] != old.top[name]
    }
    if members.get("title", "") is None:
        members["title"] = ""  # None would take the name of the file; here the user emptied the field
    if any(sheet.top[name] != old.top[name] for name in ("remind", *REMINDERS)):
        days = {member: parse_number(sheet.top[name]) for name, member in REMINDERS.items()}
        members["reminders"] = {"enabled": sheet.top["remind"] == "yes"} | days
    rows = {key: make_entry(key, row, old.rows.get(key), shape) for key, row in sheet.rows.items()}
    same = list(sheet.rows) == list(old.rows) and all(one.keys() == {"id"} for one in rows.values())
    return FormChanges(shape, members, None if same else rows)


def make_entry(key: str, row: Texts, old: Texts | None, shape: FormShape) -> dict[str, Any]:
    """Return one entry of the list: the id and the changes of a known row, or everything of a new one."""
    before = old or {}
    changed = [name for name in shape.entry if row[name] != before.get(name, "")]
    if "code" in changed and "authentication" not in changed:
        changed.append("authentication")
    made: dict[str, Any] = {} if old is None else {"id": key}
    for name in changed:
        made[shape.entry[name]] = parse_number(row[name]) if name == "order" else row[name] or None
        if made[shape.entry[name]] is None:
            made[shape.entry[name]] = DEFAULTS.get(name)
    empty = {name: "" for name in shape.named if name in made and not made[name]}
    missing = {name: "" for name in shape.required if old is None and not row[name]}
    return made | empty | missing
