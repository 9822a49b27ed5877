"""The form that uses a template: who takes each role, and which fields are filled in beforehand."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import documents, templates
from esign.actions.document.templates import TemplateUse
from esign.core.document.document import Document, Field, FieldType
from esign.core.document.field_types import INK, is_automatic
from esign.core.document.template import Taker, Template, TemplateRole
from esign.core.errors import Detail, Problem
from esign.core.language import LANGUAGES
from esign.system.entropy import make_token
from esign.web.http.validation import check
from esign.web.office.draft.draft_form import REMINDERS, ReminderPlan, fill_top, normalise_lines
from esign.web.office.draft.edit import name_proofs, name_roles
from esign.web.office.draft.saving import NO_CODE
from esign.web.office.frame import create_once
from esign.web.office.frame.forms import EMPTY, FormError, parse_number
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.template.page import find_template, get_template_path, sort_roles
from esign.web.values.document_values import (
    AccessCode,
    Authentication,
    Days,
    ExternalId,
    Locale,
    Message,
    PersonName,
    RedirectUrl,
    Subject,
    Title,
)
from esign.web.values.schema import Email, Schema

PLAIN = {
    "title": "title",
    "subject": "subject",
    "message": "message",
    "locale": "locale",
    "reference": "externalId",
    "redirect": "redirectUrl",
}
TAKER = {"email": "email", "name": "name", "authentication": "authentication", "code": "accessCode"}
STAYS_DRAFT = frozenset({"document_not_ready", "quota_exceeded", "unavailable", "rate_limited"})


class TakerRow(Schema):
    """Who takes a role; `values` by the keys of the role's fields."""

    role_key: str
    email: Email
    name: PersonName
    values: dict[str, bool | str]
    authentication: Authentication
    access_code: AccessCode | None = None

    def to_taker(self) -> Taker:
        return Taker(**self.model_dump())


class UseForm(Schema):
    """What the form changes of the template; what is left out is as in the template."""

    recipients: tuple[TakerRow, ...]
    title: Title | None = None
    subject: Subject | None = None
    message: Message | None = None
    expires_in_days: Days | None = None
    reminders: ReminderPlan | None = None
    redirect_url: RedirectUrl | None = None
    locale: Locale | None = None
    external_id: ExternalId | None = None

    def to_use(self) -> TemplateUse:
        """Return what is wanted of the template."""
        return TemplateUse(
            takers=tuple(one.to_taker() for one in self.recipients),
            title=self.title,
            subject=self.subject,
            message=self.message,
            expires_in_days=self.expires_in_days,
            reminders=self.reminders.model_dump(exclude_none=True) if self.reminders else {},
            redirect_url=self.redirect_url,
            locale=self.locale,
            external_id=self.external_id,
        )


async def show_form(call: OfficeCall) -> Response:
    template = await find_template(call)
    return call.page(
        "template_use",
        template=template,
        roles=[one | {"open": list_fillable(one["one"])} for one in sort_roles(template.roles)],
        does=name_roles(call.words),
        proofs=name_proofs(call.words),
        languages=LANGUAGES.values(),
        signed=any(role.role == "signer" for role in template.roles),
        initial=format_initial,
        given=call.form or fill_top(template),
        once=make_token(),
    )


def list_fillable(role: TemplateRole) -> list[Field]:
    """Return the fields of a role that the form may fill in.

    These are the fields with a key, except signatures, and except dates and addresses that fill themselves in.
    """
    return [
        field
        for field in role.fields
        if field.key is not None and field.type not in INK and (field.read_only or not is_automatic(field))
    ]


def format_initial(field: Field) -> str:
    """Return the value that the template has in the field, as the form writes it."""
    if field.type is FieldType.CHECKBOX:
        return "yes" if field.value else "no"
    return field.value if isinstance(field.value, str) else ""


async def use_template(call: OfficeCall) -> Response:
    """Make a document from the template, and send it at once if the button says so.

    A form that is sent twice makes one document.
    """
    template = await find_template(call)
    name, body = create_once.read_form_name(call.form), read_values(call.form, template)

    async def create(caller: Caller) -> Document:
        return await templates.use(call.runtime, caller, template.id, check(UseForm, body).to_use())

    try:
        made = await create_once.create_once(
            call, name, f"{get_template_path(template.id)}/use", body, create
        )
    except Problem as problem:
        raise place_problem(problem, template, call.form) from None
    if call.form.get("do") != "send":
        return call.redirect_to(f"/documents/{made}/review", "used")
    return await send_document(call, made)


async def send_document(call: OfficeCall, document_id: str) -> Response:
    """Send the document.

    If it cannot be sent now it stays a draft, and the user is led to its review, which says why.
    """
    try:
        await documents.send(call.runtime, call.caller, document_id)
    except Problem as problem:
        if problem.code in STAYS_DRAFT:
            return call.redirect_to(f"/documents/{document_id}/review", "not-sent")
        if problem.code != "document_not_draft":  # in that case the same form has sent it before
            raise
    return call.redirect_to(f"/documents/{document_id}", "sent")


# ---------- from the form to its values, and back with what was wrong ----------


def read_values(form: Mapping[str, str], template: Template) -> dict[str, Any]:
    """Return the values of the form.

    An emptied title, subject or message is passed on as empty; any other empty text is left out.
    """
    body: dict[str, Any] = {
        member: normalise_lines(form.get(name, "")).strip()
        for name, member in PLAIN.items()
        if name in form and (form[name].strip() or name in ("title", "subject", "message"))
    }
    if "days" in form:
        given = parse_number(form["days"])
        body["expiresInDays"] = "" if given is None else given
        days = {member: parse_number(form.get(name, "")) for name, member in REMINDERS.items()}
        body["reminders"] = {"enabled": form.get("remind") == "yes"} | days
    body["recipients"] = [make_recipient(form, role) for role in template.roles]
    return body


def make_recipient(form: Mapping[str, str], role: TemplateRole) -> dict[str, Any]:
    """Return one recipient of the body: who takes the role, and the values of the role's fields."""
    values = {
        field.key: value for field in list_fillable(role) if (value := read_value(form, field)) is not None
    }
    made = {member: form.get(f"{name}-{role.id}", "").strip() for name, member in TAKER.items()}
    made["authentication"] = made["authentication"] or "link"
    if made["authentication"] != "access_code":
        del made["accessCode"]  # a code that the recipient would not be asked for
    return {"roleKey": role.key, "values": values} | made


def read_value(form: Mapping[str, str], field: Field) -> str | bool | None:
    """Return the value entered for a field.

    None keeps the value of the template; an empty text clears it.
    """
    text = normalise_lines(form.get(f"value-{field.id}", format_initial(field))).strip()
    if text == format_initial(field):
        return None
    return {"yes": True, "no": False}.get(text) if field.type is FieldType.CHECKBOX else text


def place_problem(problem: Problem, template: Template, form: Mapping[str, str]) -> Exception:
    """Return the error to raise:

    `FormError` with a sentence at each form field that does not fit, else the problem as it is.
    """
    if problem.code != "invalid_request" or not problem.details:
        return FormError({"": problem.message}) if problem.code in STAYS_DRAFT else problem
    places = dict(list_places(template))
    found: dict[str, str] = {}
    for detail in problem.details:
        name = places.get(detail.path, "")
        found.setdefault(name, write_sentence(name, detail, form))
    return FormError(found)


def write_sentence(name: str, detail: Detail, form: Mapping[str, str]) -> str:
    """Return what stands at a field that was refused."""
    if name and not form.get(name, "").strip():
        return NO_CODE if name.startswith("code-") else EMPTY
    return detail.message


def list_places(template: Template) -> Iterator[tuple[str, str]]:
    """Yield (JSON Pointer into the body, form field) for each field of the form."""
    yield from ((f"/{member}", name) for name, member in PLAIN.items())
    yield from ((f"/reminders/{member}", name) for name, member in REMINDERS.items())
    yield ("/expiresInDays", "days")
    for n, role in enumerate(template.roles):
        at = f"/recipients/{n}"
        yield from ((f"{at}/{member}", f"{name}-{role.id}") for name, member in TAKER.items())
        for field in list_fillable(role):
            yield (f"{at}/values/{escape_pointer(field.key or '')}", f"value-{field.id}")


def escape_pointer(key: str) -> str:
    """Escape a key for a JSON Pointer."""
    return re.sub("[~/]", lambda found: {"~": "~0", "/": "~1"}[found[0]], key)
