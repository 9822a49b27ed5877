"""Uploads that become templates. Roles and fields are added later."""

from functools import partial

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import templates
from esign.actions.document.templates import TemplateOrder
from esign.actions.people import settings
from esign.core.document.state.edit import make_title
from esign.core.document.template import Template
from esign.web.office.draft.upload import UploadKind, render_page, return_content, take_all
from esign.web.office.frame.call import OfficeCall


async def create_template(call: OfficeCall, name: str, content: bytes, caller: Caller) -> Template:
    defaults = await settings.read(call.runtime, call.owner)
    order = TemplateOrder(
        file_name=name,
        file=partial(return_content, content),
        title=make_title(name),
        roles=(),
        subject=None,
        message=None,
        expires_in_days=defaults.expires_in_days,
        reminders=defaults.reminders,
    )
    return await templates.create(call.runtime, caller, order)


TEMPLATES = UploadKind("template_new", "/templates/new", "/templates/{}/edit", create_template)


async def show_upload(call: OfficeCall) -> Response:
    return render_page(call, TEMPLATES, [])


async def take_templates(call: OfficeCall) -> Response:
    return await take_all(call, TEMPLATES)
