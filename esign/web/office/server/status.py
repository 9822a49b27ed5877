"""Show the background loops and what is set aside, and try a job again."""

from starlette.responses import Response

from esign.actions.server import server_status
from esign.core.errors import Problem
from esign.web.office.frame.office_call import OfficeCall

PATH = "/server/status"


async def show(call: OfficeCall) -> Response:
    """Show the page."""
    jobs = await server_status.list_set_aside(call.runtime, call.signed_in.organisation, call.owner)
    return call.page("server_status", jobs=jobs, loops=server_status.list_loops(call.runtime))


async def retry(call: OfficeCall) -> Response:
    """Try a job again that is set aside. Raise `not_found` for what cannot name one."""
    kind, number = call.form.get("kind", ""), call.form.get("number", "")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise Problem("not_found")
    found = await server_status.retry(
        call.runtime, call.signed_in.organisation, call.caller, kind, int(number)
    )
    return call.redirect_to(PATH, "retried" if found else "not-retried")
