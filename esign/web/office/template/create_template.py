"""Uploads that become templates. Roles and fields are added later."""

from functools import partial

from starlette.responses import Response

from esign.actions.document import templates
from esign.actions.document.templates import Order
from esign.actions.people import settings
from esign.core.document.state.edit import title_from
from esign.core.document.template import Template
from esign.web.office.draft.upload import Making, given, page, take_all
from esign.web.office.frame import resubmit
from esign.web.office.frame.call import Call


async def made(call: Call, name: str, content: bytes, keep: resubmit.Keep) -> Template:
    defaults = await settings.read(call.runtime, call.owner)
    order = Order(
        file_name=name,
        file=partial(given, content),
        title=title_from(name),
        roles=(),
        subject=None,
        message=None,
        expires_in_days=defaults.expires_in_days,
        reminders=defaults.reminders,
    )
    return await templates.create(call.runtime, call.owner, order, keep)


TEMPLATES = Making("template_new", "/templates/new", "/templates/{}/edit", made)


async def show(call: Call) -> Response:
    return page(call, TEMPLATES, [])


async def take(call: Call) -> Response:
    return await take_all(call, TEMPLATES)
