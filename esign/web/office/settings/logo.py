"""Preview, save and remove the logo of the organisation; without one, its initials are shown."""

import base64

from starlette.responses import Response

from esign.actions.people import logo as actions
from esign.core.errors import Problem
from esign.core.people.account import is_wide
from esign.core.people.brand_colours import choose_rule
from esign.pdf.inspection import RedrawnPicture
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.settings.settings import ORGANISATION
from esign.web.signing.page import describe_logo

NOTHING = "Choose a picture."


async def show(call: OfficeCall) -> Response:
    """Show the logo in use, and ask for another one."""
    organisation = call.signed_in.organisation
    return call.page("logo", logo=describe_logo(organisation), rule=choose_rule(organisation.colour))


async def upload(call: OfficeCall) -> Response:
    """Show how an uploaded picture looks as the logo, or save the one that was shown.

    Nothing is stored in between: the page that shows the picture sends it again. Raises `FormError` for a picture
    that cannot be used.
    """
    try:
        if "picture" in call.form and not call.files:
            await actions.save_logo(call.runtime, call.caller, decode_picture(call.form["picture"]))
            return call.redirect_to(ORGANISATION, "logo")
        if len(call.files) != 1:
            raise FormError({"file": NOTHING})
        return preview(call, await actions.redraw_logo(call.runtime, call.caller, call.files[0].content))
    except Problem as problem:
        if problem.status != 400:
            raise
        raise FormError({"file": problem.message}) from None


def preview(call: OfficeCall, picture: RedrawnPicture) -> Response:
    """Render the picture in the places where recipients see the logo."""
    encoded = base64.b64encode(picture.png).decode()
    size = {"width": picture.width, "height": picture.height}
    logo = {"address": f"data:image/png;base64,{encoded}", "wide": is_wide(**size), **size}
    rule = choose_rule(call.signed_in.organisation.colour)
    return call.page("logo_preview", logo=logo, picture=encoded, rule=rule)


def decode_picture(encoded: str) -> bytes:
    """Return the picture that a preview carried; raise `FormError` if that is no base64."""
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError:
        raise FormError({"file": NOTHING}) from None


async def ask_remove(call: OfficeCall) -> Response:
    """Ask before the logo is removed; redirect if there is none."""
    logo = describe_logo(call.signed_in.organisation)
    return call.page("logo_remove") if logo else call.redirect_to(ORGANISATION)


async def remove(call: OfficeCall) -> Response:
    """Remove the logo."""
    await actions.remove_logo(call.runtime, call.caller)
    return call.redirect_to(ORGANISATION, "logo-removed")
