"""The field editor of a template: the same page as a draft's, with roles where that has recipients."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from starlette.responses import Response

from esign.actions import finding, templates
from esign.core.template import Template
from esign.web import strict_json
from esign.web.api.document_requests import MOST_RECIPIENTS, few_fields
from esign.web.office import editor
from esign.web.office.call import Call, mac
from esign.web.office.fields import FieldsOf, filled, offered, revision_of, told
from esign.web.office.template.page import find, home, sheets
from esign.web.schema import Schema
from esign.web.validation import check


class SaveFields(Schema):
    """Roles that are not named keep their fields."""

    roles: Annotated[tuple[FieldsOf, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(few_fields)]


async def show(call: Call) -> Response:
    template = await find(call)
    return call.page(
        "template_fields",
        template=template,
        at=home(template.id),
        state=stored(call, template),
        people=editor.people(template.roles),
        palette=editor.PALETTE,
        sheets=sheets(template),
        listed=editor.listed(template.roles),
    )


def stored(call: Call, template: Template) -> dict[str, Any]:
    return editor.state(template.roles, template.revision, call.runtime.config.limits.fields)


async def state(call: Call) -> Response:
    """What is stored now, and a new mac for the forms of a script whose session is another one than its page had."""
    template = await find(call)
    assert call.session is not None
    return told(stored(call, template) | {"csrf": mac(call.runtime, call.session)})


async def save(call: Call) -> Response:
    """The fields as they shall be, of the revision that the page showed."""
    await find(call)
    given = check(SaveFields, strict_json.load(call.form.get("fields", "").encode()))
    runtime = call.runtime

    def decide(before: Template) -> Template:
        most, now = runtime.config.limits.fields, runtime.clock.now()
        return replace(before, roles=filled(before.roles, given.roles, most, now, "/roles"))

    saved = await templates.change(runtime, call.owner, call.path["id"], decide, revision=revision_of(call))
    return told({"revision": saved.revision})


async def found(call: Call) -> Response:
    """What the file asks to be filled in by itself, as fields that could be placed."""
    return offered(await finding.find_template_fields(call.runtime, await find(call)))
