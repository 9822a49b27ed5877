"""Upload or remove the logo of the organisation; without one, its initials are shown."""

from starlette.responses import Response

from esign.actions.people import logo as actions
from esign.core.errors import Problem
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import Wrong
from esign.web.office.settings.settings import ORGANISATION
from esign.web.signing.page import logo_of

NOTHING = "No file was chosen."


async def show(call: Call) -> Response:
    return call.page("logo", logo=logo_of(call.signed.organisation))


async def put(call: Call) -> Response:
    """Save the uploaded logo; raise `Wrong` for a file that cannot be used."""
    if len(call.files) != 1:
        raise Wrong({"file": NOTHING})
    try:
        await actions.put(call.runtime, call.owner, call.files[0].content, caller=call.caller)
    except Problem as problem:
        if problem.status != 400:
            raise
        raise Wrong({"file": problem.message}) from None
    return call.go(ORGANISATION, "logo")


async def ask(call: Call) -> Response:
    """Ask before the logo is removed; redirect if there is none."""
    logo = logo_of(call.signed.organisation)
    return call.page("logo_remove", logo=logo) if logo else call.go(ORGANISATION)


async def remove(call: Call) -> Response:
    """Remove the logo."""
    await actions.remove(call.runtime, call.owner, caller=call.caller)
    return call.go(ORGANISATION, "logo-removed")
