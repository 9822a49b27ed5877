"""The field editor of a template: the same page as for a draft, with roles in place of recipients."""

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field
from starlette.responses import Response

from esign.actions.document import detect_fields, templates
from esign.core.document.template import Template
from esign.web.api.document_requests import MOST_RECIPIENTS, few_fields
from esign.web.http import strict_json
from esign.web.http.validation import check
from esign.web.office.draft.field_editor import FieldsOf, afresh, filled, offered, revision_of, shown, told
from esign.web.office.frame.call import Call
from esign.web.office.template.page import find, home
from esign.web.rest.schema import Schema


class SaveFields(Schema):
    """The body that saves fields. Roles that it does not name keep theirs."""

    roles: Annotated[tuple[FieldsOf, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(few_fields)]


async def show(call: Call) -> Response:
    template = await find(call)
    return call.page(
        "template_fields", template=template, **shown(call, template, template.roles, home(template.id))
    )


async def state(call: Call) -> Response:
    template = await find(call)
    return afresh(call, template, template.roles)


async def save(call: Call) -> Response:
    """Replace the fields of the named roles. The form names the revision that the page showed.

    Raise `not_found` before anything that is wrong with the fields.
    """
    await find(call)  # `not_found` comes before any error in the form
    given = check(SaveFields, strict_json.load(call.form.get("fields", "").encode()))
    runtime = call.runtime

    def decide(before: Template) -> Template:
        most, now = runtime.config.limits.fields, runtime.clock.now()
        return replace(before, roles=filled(before.roles, given.roles, most, now, "/roles"))

    saved = await templates.change(runtime, call.owner, call.path["id"], decide, revision=revision_of(call))
    return told({"revision": saved.revision})


async def found(call: Call) -> Response:
    """Send the fields that the file itself suggests. Nothing is placed."""
    return offered(await detect_fields.find_template_fields(call.runtime, await find(call)))
