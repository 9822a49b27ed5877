"""The page on which users change their name and password, and sign out their other browsers."""

from starlette.responses import Response

from esign.actions.people import sessions, users
from esign.core.errors import Problem
from esign.web.office.frame.browser_names import name_browser
from esign.web.office.frame.dispatch import confirm
from esign.web.office.frame.forms import EMPTY, FormError, check_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.sign_in.emailed_links import PersonName, choose_password

SHOWN = 50  # other browsers that are listed; if there are more, they can only be signed out together


async def show(call: OfficeCall) -> Response:
    """Show the account, with the browsers that are signed in."""
    this = call.signed_in.session
    others, more = await sessions.find_others(call.runtime, call.signed_in, SHOWN)
    browsers = [
        {
            "id": one.id,
            "name": name_browser(one.user_agent, call.words) or call.words("frame.browser.unknown"),
            "ip": one.ip,
            "since": one.created_at,
            "seen": one.seen_at,
            "this": one is this,
        }
        for one in (this, *others)
    ]
    return call.page("account", browsers=browsers, more=more)


async def rename(call: OfficeCall) -> Response:
    """Change the name of the user."""
    name = check_form(PersonName, call.form).name
    await users.rename(call.runtime, call.user_caller, name)
    return call.redirect_to("/account", "name")


async def change_password(call: OfficeCall) -> Response:
    """Change the password. The form contains the current password and, for a user with a second factor, a code.

    Every other session ends, and links for a new password that were requested before stop working.
    """
    user = call.signed_in.user
    asked = ("current", "code") if user.totp is not None else ("current",)
    if empty := {name: EMPTY for name in asked if not call.form.get(name, "").strip()}:
        raise FormError(empty)
    # Check the new password first: a code works once, and would be used up if the password were refused.
    password = await choose_password(call, (user.email, user.name), with_totp=user.totp is not None)
    code = call.form["code"] if user.totp is not None else None
    call.cookie = await confirm(call, call.form["current"], code, ("current", "code"))
    await users.change_password(call.runtime, call.user_caller, password)
    return call.redirect_to("/account", "password-changed")


async def end_session(call: OfficeCall) -> Response:
    """Sign out another browser of the user; raise `not_found` for this browser and for sessions of other users."""
    signed, wanted = call.signed_in, call.path["id"]
    if wanted == signed.session.id or not await sessions.end_session(
        call.runtime, signed.user.id, wanted, call.origin
    ):
        raise Problem("not_found")
    return call.redirect_to("/account", "session-ended")


async def end_others(call: OfficeCall) -> Response:
    """Sign out every other browser of the user."""
    await sessions.end_others(call.runtime, call.signed_in, call.origin)
    return call.redirect_to("/account", "sessions-ended")
