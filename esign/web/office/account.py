"""What a person looks after themself: their name, their password, and where they are signed in."""

from starlette.responses import Response

from esign.actions import device, sessions, users
from esign.core.errors import Problem
from esign.web.office.arrivals import Named, chosen
from esign.web.office.call import Call
from esign.web.office.door import WRONG_PASSWORD
from esign.web.office.forms import EMPTY, Wrong, checked

SHOWN = 50  # browsers besides this one; whoever has more signs all of them out


async def show(call: Call) -> Response:
    this = call.signed.session
    others, more = await sessions.find_others(call.runtime, call.signed, SHOWN)
    browsers = [
        {
            "id": one.id,
            "name": device.in_words(one.user_agent) or "Unknown browser",
            "ip": one.ip,
            "since": one.created_at,
            "seen": one.seen_at,
            "this": one is this,
        }
        for one in (this, *others)
    ]
    return call.page("account", browsers=browsers, more=more)


async def rename(call: Call) -> Response:
    await users.rename(call.runtime, call.signed.user, checked(Named, call.form).name)
    return call.go("/account", "name")


async def change_password(call: Call) -> Response:
    """Every other browser is signed out, and so is a link for a new password that was asked for before."""
    user, ip, current = call.signed.user, call.origin.ip, call.form.get("current", "")
    if not current:
        raise Wrong({"current": EMPTY})
    call.tries.count("confirm", user.id, ip)
    call.cookie = await sessions.confirm(call.runtime, call.signed, current)
    if call.cookie is None:
        raise Wrong({"current": WRONG_PASSWORD})
    call.tries.forgive("confirm", user.id, ip)
    password = await chosen(call, (user.email, user.name), with_totp=user.totp is not None)
    await users.change_password(call.runtime, user, password, call.signed.session.id)
    return call.go("/account", "password-changed")


async def end(call: Call) -> Response:
    """Another browser is signed out; raises `not_found` for those of others, and for this one."""
    signed, wanted = call.signed, call.path["id"]
    if wanted == signed.session.id or not await sessions.end(call.runtime, signed.user.id, wanted):
        raise Problem("not_found")
    return call.go("/account", "session-ended")


async def end_others(call: Call) -> Response:
    await sessions.end_others(call.runtime, call.signed)
    return call.go("/account", "sessions-ended")
