"""Upload or remove the logo of the organisation; without one, its initials are shown."""

from starlette.responses import Response

from esign.actions.people import logo as actions
from esign.core.errors import Problem
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.settings.settings import ORGANISATION
from esign.web.signing.page import describe_logo

NOTHING = "No file was chosen."


async def show(call: OfficeCall) -> Response:
    return call.page("logo", logo=describe_logo(call.signed_in.organisation))


async def upload(call: OfficeCall) -> Response:
    """Save the uploaded logo; raise `FormError` for a file that cannot be used."""
    if len(call.files) != 1:
        raise FormError({"file": NOTHING})
    try:
        await actions.save_logo(call.runtime, call.caller, call.files[0].content)
    except Problem as problem:
        if problem.status != 400:
            raise
        raise FormError({"file": problem.message}) from None
    return call.redirect_to(ORGANISATION, "logo")


async def ask_remove(call: OfficeCall) -> Response:
    """Ask before the logo is removed; redirect if there is none."""
    logo = describe_logo(call.signed_in.organisation)
    return call.page("logo_remove", logo=logo) if logo else call.redirect_to(ORGANISATION)


async def remove(call: OfficeCall) -> Response:
    """Remove the logo."""
    await actions.remove_logo(call.runtime, call.caller)
    return call.redirect_to(ORGANISATION, "logo-removed")
