"""Uploads that become templates. Roles and fields are added later."""

from functools import partial

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import templates
from esign.actions.document.templates import TemplateOrder
from esign.core.document.template import Template
from esign.web.office.draft.upload import UploadKind, render_page, return_content, take_all
from esign.web.office.frame.office_call import OfficeCall


async def create_template(call: OfficeCall, name: str, content: bytes, caller: Caller) -> Template:
    order = TemplateOrder(name, partial(return_content, content))
    return await templates.create(call.runtime, caller, order)


TEMPLATES = UploadKind("template_new", "/templates/new", "/templates/{}/edit", create_template)


async def show_upload(call: OfficeCall) -> Response:
    return render_page(call, TEMPLATES, [])


async def take_templates(call: OfficeCall) -> Response:
    return await take_all(call, TEMPLATES)
