"""The set-up steps for an owner before the first document is sent: address, mail and seal, each with a check."""

from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from esign.actions.sealing import seal_levels
from esign.actions.server import clock_watch, setup_checks
from esign.mail.message import Mailbox
from esign.web.office.frame.call import Call
from esign.web.office.server.seal import hand

STEPS = (
    ("/server/address", "Address", "Where links lead"),
    ("/server/mail", "Email", "How invitations are sent"),
    ("/server/seal", "Seal", "What closes documents"),
)


def shown(call: Call, template: str, **more: Any) -> Response:
    """Render the page of one step, with the list of all steps."""
    time = seal_levels.state(call.runtime)
    return call.page(template, steps=STEPS, loopback=call.runtime.config.is_loopback, time=time, **more)


async def show_address(call: Call) -> Response:
    """Show the address that links in mails begin with."""
    return shown(call, "server_address", opened=None)


async def check_address(call: Call) -> Response:
    """Compare the configured address with the one that the browser used to open this page."""
    scheme = urlsplit(call.runtime.config.server.base_url).scheme
    opened = call.request.headers.get("origin") or f"{scheme}://{call.request.headers['host']}"
    return shown(call, "server_address", opened=opened)


async def show_clock(call: Call) -> Response:
    """Show whether the clock of the machine is in doubt, and what owners of the first organisation can do."""
    clock = call.runtime.clock
    doubt = clock.doubt
    return shown(
        call,
        "server_clock",
        doubt=doubt,
        hand=await clock_watch.is_in_hand(call.runtime.db, call.signed.organisation),
        jump=clock_watch.jump(doubt) if doubt else "",
        now=clock.now(),
        wall=clock.wall(),
    )


async def confirm_clock(call: Call) -> Response:
    """Accept the clock of the machine again. Nothing happens if it is no longer in doubt."""
    await clock_watch.confirm(call.runtime, call.signed.organisation, call.caller)
    return call.go("/server/clock", "clock")


async def show_mail(call: Call) -> Response:
    """Show how mails are sent."""
    return shown(call, "server_mail", mail=call.runtime.config.mail, found=None)


async def send_mail(call: Call) -> Response:
    """Send a test mail to the user and show the mail server's answer."""
    user = call.signed.user
    call.tries.count("test mail", user.id, call.origin.ip)
    found = await setup_checks.send_mail(
        call.runtime, call.signed.organisation, Mailbox(user.email, user.name)
    )
    return shown(call, "server_mail", mail=call.runtime.config.mail, found=found)


async def show_seal(call: Call) -> Response:
    """Show the certificate that documents are sealed with."""
    return await seal_step(call, None)


async def try_seal(call: Call) -> Response:
    """Seal a test page, verify it, and show the result."""
    call.tries.count("test seal", call.signed.user.id, call.origin.ip)
    found = await setup_checks.try_seal(call.runtime, call.signed.organisation)
    return await seal_step(call, found)


async def seal_step(call: Call, found: setup_checks.Found | None) -> Response:
    """Render the step about the seal, with the result of a test if there is one."""
    told = [notice.sentence for notice in call.runtime.keyring.authority.notices]
    state = setup_checks.seal_state(call.runtime)
    return shown(call, "server_seal", seal=state, found=found, notices=told, hand=await hand(call))
