"""Switch the session to another organisation, or between live and test mode."""

from starlette.responses import Response

from esign.actions.people import sessions
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.web.office.frame.call import Call, local

MODES = {mode.value: mode for mode in Mode}


async def mode(call: Call) -> Response:
    """Switch between live and test mode, and return to the page that the user was on."""
    wanted = MODES.get(call.form.get("mode", ""))
    here = call.signed.organisation.id
    if wanted is None or not await sessions.go(call.runtime, call.signed, here, wanted):
        raise Problem("invalid_request", "This installation has no such mode.")
    return call.go(there(call, call.form.get("next", "")), f"mode-{wanted}")


def there(call: Call, path: str) -> str:
    """Return `path` if it can be shown in the other mode, otherwise the nearest page above it.

    A document exists in one mode only, and a form has no page of its own that could be shown again.
    """
    known = local(path) or ""
    while known and known.partition("?")[0] not in call.places:
        known = known.partition("?")[0].rpartition("/")[0]
    return known or "/"


async def organisation(call: Call) -> Response:
    """Switch to another organisation of the user; raise `not_found` if they are not a member of it."""
    wanted = call.form.get("id", "")
    if not await sessions.go(call.runtime, call.signed, wanted, call.signed.session.mode):
        raise Problem("not_found")
    return call.go("/", "organisation")
