"""Switch the session to another organisation, or between live and test mode."""

from starlette.responses import Response

from esign.actions.people import sessions
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.web.office.frame.office_call import OfficeCall, accept_local_path

MODES = {mode.value: mode for mode in Mode}


async def switch_mode(call: OfficeCall) -> Response:
    """Switch between live and test mode, and return to the page that the user was on."""
    wanted = MODES.get(call.form.get("mode", ""))
    here = call.signed_in.organisation.id
    if wanted is None or not await sessions.switch_organisation(call.runtime, call.signed_in, here, wanted):
        raise Problem("invalid_request", "This installation doesn’t have this mode.")
    return call.redirect_to(find_page_in_mode(call, call.form.get("next", "")), f"mode-{wanted}")


def find_page_in_mode(call: OfficeCall, path: str) -> str:
    """Return `path` if it can be shown in the other mode, otherwise the nearest page above it.

    A document exists in one mode only, and a form has no page of its own that could be shown again.
    """
    known = accept_local_path(path) or ""
    while known and known.partition("?")[0] not in call.places:
        known = known.partition("?")[0].rpartition("/")[0]
    return known or "/"


async def switch_organisation(call: OfficeCall) -> Response:
    """Switch to another organisation of the user; raise `not_found` if they are not a member of it."""
    wanted = call.form.get("id", "")
    if not await sessions.switch_organisation(
        call.runtime, call.signed_in, wanted, call.signed_in.session.mode
    ):
        raise Problem("not_found")
    return call.redirect_to("/", "organisation")
