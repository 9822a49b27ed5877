"""What a person looks after themself: their name, their password, and where they are signed in."""

from starlette.responses import Response

from esign.actions.base import browser_name
from esign.actions.people import sessions, users
from esign.core.errors import Problem
from esign.web.office.frame.call import Call
from esign.web.office.frame.dispatch import confirm
from esign.web.office.frame.forms import EMPTY, Wrong, checked
from esign.web.office.sign_in.emailed_links import Named, chosen

SHOWN = 50  # browsers besides this one; whoever has more signs all of them out


async def show(call: Call) -> Response:
    this = call.signed.session
    others, more = await sessions.find_others(call.runtime, call.signed, SHOWN)
    browsers = [
        {
            "id": one.id,
            "name": browser_name.in_words(one.user_agent) or "Unknown browser",
            "ip": one.ip,
            "since": one.created_at,
            "seen": one.seen_at,
            "this": one is this,
        }
        for one in (this, *others)
    ]
    return call.page("account", browsers=browsers, more=more)


async def rename(call: Call) -> Response:
    name = checked(Named, call.form).name
    await users.rename(call.runtime, call.signed.user, name, origin=call.origin)
    return call.go("/account", "name")


async def change_password(call: Call) -> Response:
    """Change the password; the form brings the current one and, of somebody with a second factor, a code.

    Every other browser is signed out, and so is a link for a new password that was asked for before.
    """
    user = call.signed.user
    asked = ("current", "code") if user.totp is not None else ("current",)
    if empty := {name: EMPTY for name in asked if not call.form.get(name, "").strip()}:
        raise Wrong(empty)
    # First the new password: a code works once, and is not to be used up for one that is refused.
    password = await chosen(call, (user.email, user.name), with_totp=user.totp is not None)
    code = call.form["code"] if user.totp is not None else None
    call.cookie = await confirm(call, call.form["current"], code, ("current", "code"))
    await users.change_password(call.runtime, user, password, call.signed.session.id, origin=call.origin)
    return call.go("/account", "password-changed")


async def end(call: Call) -> Response:
    """Another browser is signed out; raises `not_found` for those of others, and for this one."""
    signed, wanted = call.signed, call.path["id"]
    if wanted == signed.session.id or not await sessions.end(
        call.runtime, signed.user.id, wanted, call.origin
    ):
        raise Problem("not_found")
    return call.go("/account", "session-ended")


async def end_others(call: Call) -> Response:
    await sessions.end_others(call.runtime, call.signed, call.origin)
    return call.go("/account", "sessions-ended")
