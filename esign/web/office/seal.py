"""The seal, for whoever looks after the organisation: whose certificate, for how long, and whether it holds."""

from starlette.responses import Response

from esign.actions import checks, levels
from esign.actions.checks import Found
from esign.core.document import Mode
from esign.web.office.call import Call


async def show(call: Call) -> Response:
    return shown(call, None)


def shown(call: Call, found: Found | None) -> Response:
    states = {mode: checks.seal_state(call.runtime, mode) for mode in Mode}
    return call.page(
        "seal", seal=states[Mode.LIVE], other=states[Mode.TEST], found=found, time=levels.state(call.runtime)
    )


async def try_it(call: Call) -> Response:
    """A page is sealed as documents are, and checked as anybody checks it; nothing of it is kept."""
    call.tries.count("test seal", call.signed.user.id, call.origin.ip)
    return shown(call, await checks.try_seal(call.runtime, call.signed.organisation))
