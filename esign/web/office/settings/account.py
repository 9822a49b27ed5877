"""The page on which users change their name and password, and sign out their other browsers."""

from starlette.responses import Response

from esign.actions.base import browser_name
from esign.actions.people import sessions, users
from esign.core.errors import Problem
from esign.web.office.frame.call import Call
from esign.web.office.frame.dispatch import confirm
from esign.web.office.frame.forms import EMPTY, Wrong, checked
from esign.web.office.sign_in.emailed_links import Named, chosen

SHOWN = 50  # other browsers that are listed; if there are more, they can only be signed out together


async def show(call: Call) -> Response:
    """Show the account, with the browsers that are signed in."""
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
    """Change the name of the user."""
    name = checked(Named, call.form).name
    await users.rename(call.runtime, call.signed.user, name, origin=call.origin)
    return call.go("/account", "name")


async def change_password(call: Call) -> Response:
    """Change the password. The form contains the current password and, for a user with a second factor, a code.

    Every other session ends, and links for a new password that were requested before stop working.
    """
    user = call.signed.user
    asked = ("current", "code") if user.totp is not None else ("current",)
    if empty := {name: EMPTY for name in asked if not call.form.get(name, "").strip()}:
        raise Wrong(empty)
    # Check the new password first: a code works once, and would be used up if the password were refused.
    password = await chosen(call, (user.email, user.name), with_totp=user.totp is not None)
    code = call.form["code"] if user.totp is not None else None
    call.cookie = await confirm(call, call.form["current"], code, ("current", "code"))
    await users.change_password(call.runtime, user, password, call.signed.session.id, origin=call.origin)
    return call.go("/account", "password-changed")


async def end(call: Call) -> Response:
    """Sign out another browser of the user; raise `not_found` for this browser and for sessions of other users."""
    signed, wanted = call.signed, call.path["id"]
    if wanted == signed.session.id or not await sessions.end(
        call.runtime, signed.user.id, wanted, call.origin
    ):
        raise Problem("not_found")
    return call.go("/account", "session-ended")


async def end_others(call: Call) -> Response:
    """Sign out every other browser of the user."""
    await sessions.end_others(call.runtime, call.signed, call.origin)
    return call.go("/account", "sessions-ended")
