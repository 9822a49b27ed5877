"""The field editor of a template: the same page as for a draft, with roles in place of recipients."""

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field
from starlette.responses import Response

from esign.actions.document import detect_fields, templates
from esign.actions.document.templates import TemplateChanges
from esign.web.http import strict_json
from esign.web.http.validation import check
from esign.web.office.draft.field_editor import (
    FieldsOf,
    answer_offer,
    build_context,
    list_new_fields,
    require_revision,
    send_fresh_state,
)
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.office.template.page import find_template, get_template_path
from esign.web.values.document_values import MOST_RECIPIENTS, check_field_count
from esign.web.values.schema import Schema


class TemplateFieldsRequest(Schema):
    """The body that saves fields. Roles that it does not name keep theirs."""

    roles: Annotated[
        tuple[FieldsOf, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(check_field_count)
    ]


async def show_editor(call: OfficeCall) -> Response:
    template = await find_template(call)
    return call.page(
        "template_fields",
        template=template,
        **build_context(call, template, template.roles, get_template_path(template.id)),
    )


async def send_state(call: OfficeCall) -> Response:
    template = await find_template(call)
    return send_fresh_state(call, template, template.roles)


async def save_fields(call: OfficeCall) -> Response:
    """Replace the fields of the named roles. The form names the revision that the page showed.

    Raise `not_found` before anything that is wrong with the fields.
    """
    await find_template(call)  # `not_found` comes before any error in the form
    given = check(TemplateFieldsRequest, strict_json.load(call.form.get("fields", "").encode()))
    caller = replace(call.caller, revision=require_revision(call))
    changes = TemplateChanges(fields=list_new_fields(given.roles))
    saved = await templates.change(call.runtime, caller, call.path["id"], changes)
    return answer_json({"revision": saved.revision})


async def suggest_fields(call: OfficeCall) -> Response:
    """Send the fields that the file itself suggests. Nothing is placed."""
    offer = await detect_fields.find_template_fields(call.runtime, await find_template(call))
    return answer_offer(offer, call.words)
