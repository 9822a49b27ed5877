"""Where a session is: in which organisation, and in live or test mode."""

from starlette.responses import Response

from esign.actions.people import sessions
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.web.office.frame.call import Call, local

MODES = {mode.value: mode for mode in Mode}


async def mode(call: Call) -> Response:
    """The page one was on, in the other mode."""
    wanted = MODES.get(call.form.get("mode", ""))
    here = call.signed.organisation.id
    if wanted is None or not await sessions.go(call.runtime, call.signed, here, wanted):
        raise Problem("invalid_request", "This installation has no such mode.")
    return call.go(there(call, call.form.get("next", "")), f"mode-{wanted}")


def there(call: Call, path: str) -> str:
    """The page at `path`, or the list above it: a document is of one mode alone, and of a form no page may be left."""
    known = local(path) or ""
    while known and known.partition("?")[0] not in call.places:
        known = known.partition("?")[0].rpartition("/")[0]
    return known or "/"


async def organisation(call: Call) -> Response:
    """The office of another organisation that the person is of."""
    wanted = call.form.get("id", "")
    if not await sessions.go(call.runtime, call.signed, wanted, call.signed.session.mode):
        raise Problem("not_found")
    return call.go("/", "organisation")
