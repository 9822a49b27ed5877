"""The field editor of a template: the same page as a draft's, with roles where that has recipients."""

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
    """Roles that are not named keep their fields."""

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
    """The fields as they shall be, of the revision that the page showed."""
    await find(call)  # whose it is comes before what is sent
    given = check(SaveFields, strict_json.load(call.form.get("fields", "").encode()))
    runtime = call.runtime

    def decide(before: Template) -> Template:
        most, now = runtime.config.limits.fields, runtime.clock.now()
        return replace(before, roles=filled(before.roles, given.roles, most, now, "/roles"))

    saved = await templates.change(runtime, call.owner, call.path["id"], decide, revision=revision_of(call))
    return told({"revision": saved.revision})


async def found(call: Call) -> Response:
    """What the file asks to be filled in by itself, as fields that could be placed."""
    return offered(await detect_fields.find_template_fields(call.runtime, await find(call)))
