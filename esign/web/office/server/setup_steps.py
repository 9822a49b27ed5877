"""The pages about the server, which are the steps of an owner before the first document is there; clock and seal."""

from starlette.responses import Response

from esign.actions.sealing import seal_levels
from esign.actions.server import clock_watch, scheduled_backups, setup_checks
from esign.actions.server.server_owners import may_change_server
from esign.store.server import backup_schedule
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.server.seal import find_who_may_change

STEPS = (("/server/address", "address"), ("/server/mail", "mail"), ("/server/seal", "seal"))


async def show_step(call: OfficeCall, template: str, **more: object) -> Response:
    """Render a page about the server: among the settings, or as a step until the first document is there."""
    mine = await may_change_server(call.runtime.db, call.signed_in.organisation)
    # The answer to a test email shows the step again at an address below it.
    if mine and not call.counts.all and call.request.url.path.removesuffix("/test") in dict(STEPS):
        more |= {"steps": STEPS}
    time = seal_levels.read_state(call.runtime)
    return call.page(template, loopback=call.runtime.config.is_loopback, time=time, mine=mine, **more)


async def show_clock(call: OfficeCall) -> Response:
    """Show whether the clock of the machine is in doubt, and what owners of the first organisation can do."""
    clock = call.runtime.clock
    doubt = clock.doubt
    return await show_step(
        call,
        "server_clock",
        doubt=doubt,
        jump=call.words.say(clock_watch.say_jump(doubt.ahead)) if doubt else "",
        now=clock.now(),
        wall=clock.read_wall_clock(),
    )


async def show_backup(call: OfficeCall) -> Response:
    """Show when the server was last backed up, and what came of the last attempt.

    Where to and why an attempt failed, which may name other machines, only owners of the first organisation see.
    """
    runtime, settings = call.runtime, call.runtime.config.backup
    state = await backup_schedule.find(runtime.db) if settings.to else None
    late = scheduled_backups.find_late(state, settings, runtime.clock.now())
    target = settings.to.text if settings.to else None
    return await show_step(call, "server_backup", target=target, state=state, is_late=late is not None)


async def confirm_clock(call: OfficeCall) -> Response:
    """Accept the clock of the machine again. Nothing happens if it is no longer in doubt."""
    await clock_watch.confirm(call.runtime, call.signed_in.organisation, call.author)
    return call.redirect_to("/server/clock", "clock")


async def show_seal(call: OfficeCall) -> Response:
    """Show the certificate that documents are sealed with."""
    return await show_seal_step(call, None)


async def try_seal(call: OfficeCall) -> Response:
    """Seal a test page, verify it, and show the result."""
    call.tries.count("test seal", call.signed_in.user.id, call.origin.ip)
    found = await setup_checks.try_seal(call.runtime, call.signed_in.organisation)
    return await show_seal_step(call, found)


async def show_seal_step(call: OfficeCall, found: setup_checks.CheckResult | None) -> Response:
    """Render the step about the seal, with the result of a test if there is one."""
    told = [call.words.say(notice.sentence) for notice in call.runtime.keyring.authority.notices]
    state = setup_checks.read_seal_state(call.runtime)
    return await show_step(
        call, "server_seal", seal=state, found=found, notices=told, hand=await find_who_may_change(call)
    )
