"""Sign in, sign out, and confirm the password again before sensitive changes."""

from urllib.parse import urlencode

from starlette.responses import Response

from esign.actions.people import sessions
from esign.core.people.user import Session, Stage
from esign.store.people import users
from esign.web.office.frame import held_form
from esign.web.office.frame.dispatch import ASK, PROOF, find_missing_proofs, prove
from esign.web.office.frame.flash_messages import DONE
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.office_call import OfficeCall, accept_local_path
from esign.web.office.session import cookies

HOME = "/documents"  # the first page after signing in
NO_MATCH = "That email address and password don’t match."
WRONG_CODE = "That code isn’t right. Codes change every 30 seconds and work once."
CLEAR = '"cache", "storage"'  # not "cookies": see `web.office`


async def show_start(call: OfficeCall) -> Response:
    """Redirect a signed-in user to the documents, and show everybody else the start page."""
    done = call.request.query_params.get("done")
    if call.person is not None:
        return call.redirect_to(HOME, done if done in DONE else None)
    return await show_if_not_set_up(call) or call.page("start")


async def show_if_not_set_up(call: OfficeCall) -> Response | None:
    """Return the page that says where the set-up link is, while nobody has an account; then None."""
    if await users.has_users(call.runtime.db):
        return None
    return call.page("not_set_up", unset=call.runtime.settings.is_address_unset)


async def show(call: OfficeCall) -> Response:
    """Show the sign-in page; continue directly if the user has signed in in another tab meanwhile."""
    if call.person is not None and held_form.HELD in call.form:  # the user has signed in in another tab
        return held_form.show_held_form(call, call.form[held_form.HELD])
    if call.person is not None:
        return call.redirect_to(accept_local_path(call.request.query_params.get("next", "")) or HOME)
    return await show_if_not_set_up(call) or call.page("sign_in", next=find_next_path(call))


def find_next_path(call: OfficeCall) -> str | None:
    """Return the path that the address or the form asks to continue with; None unless it is on this site."""
    return accept_local_path(call.form.get("next") or call.request.query_params.get("next", ""))


async def sign_in(call: OfficeCall) -> Response:
    """Check address and password, and begin a session; raise `FormError` if they do not match."""
    email, password = call.form.get("email", "").strip(), call.form.get("password", "")
    if missing := {name: EMPTY for name in ("email", "password") if not call.form.get(name, "").strip()}:
        raise FormError(missing)
    ip, browser = call.origin.ip, await call.recognise(email)
    async with call.tries.wait_for_turn(email, ip, browser.lane):
        found = await sessions.sign_in(call.runtime, email, password, call.origin, browser)
    if found is None:
        raise FormError({"": NO_MATCH})
    call.tries.forgive_password(email, ip, browser.lane)
    await replace_session(call, *found)
    if found[1].stage is Stage.WHOLE:
        call.browser = browser.token
    if held_form.HELD in call.form:
        return await resume_form(call, found[1])
    return enter_office(call, found[1], find_next_path(call))


async def resume_form(call: OfficeCall, session: Session) -> Response:
    """Show the kept form, or first the page that asks for a code, with the form inside."""
    if session.stage is Stage.WHOLE:
        return held_form.show_held_form(call, call.form[held_form.HELD])
    return call.page("code", next=None)


async def replace_session(call: OfficeCall, token: str, session: Session) -> None:
    """Give the browser its new session, and end the one before, so that nobody else can continue with it."""
    if call.session is not None:
        await sessions.end_session(call.runtime, call.session.user_id, call.session.id, call.origin)
    call.cookie = token
    call.session = session


def enter_office(call: OfficeCall, session: Session, then: str | None, done: str | None = None) -> Response:
    """Redirect to `then` or the start of the office; with a second factor, to the page that asks for a code."""
    if session.stage is Stage.WHOLE:
        return call.redirect_to(then or "/", done)
    return call.redirect_to(f"/sign-in/code?{urlencode({'next': then})}" if then else "/sign-in/code")


async def show_code(call: OfficeCall) -> Response:
    return call.page("code", next=find_next_path(call))


async def give_code(call: OfficeCall) -> Response:
    """Check the code of the second factor and complete the session; raise `FormError` for an incorrect code."""
    code, session = call.form.get("code", ""), call.session
    assert session is not None
    if not code.strip():
        raise FormError({"code": EMPTY})
    user = await users.get(call.runtime.db, session.user_id)
    browser = await call.recognise(user.email)
    call.tries.count("code", user.id, call.origin.ip, browser.lane)
    token = cookies.read_session_token(call.request, call.runtime.config)
    assert token is not None
    call.cookie = await sessions.give_factor(call.runtime, token, code, call.origin, browser.token)
    if call.cookie is None:
        raise FormError({"code": WRONG_CODE})
    call.tries.forgive("code", user.id, call.origin.ip, browser.lane)
    call.browser = browser.token
    if held_form.HELD in call.form:
        call.session = await sessions.find_session(call.runtime, call.cookie)
        return held_form.show_held_form(call, call.form[held_form.HELD])
    return call.redirect_to(find_next_path(call) or "/")


async def sign_out(call: OfficeCall) -> Response:
    """End the session, and clear the cache and the storage of the browser."""
    session = call.signed_in.session
    await sessions.end_session(call.runtime, session.user_id, session.id, call.origin)
    answer = call.redirect_to("/sign-in", "signed-out")
    answer.headers["Clear-Site-Data"] = CLEAR
    cookies.delete_session(answer, call.runtime.config)
    return answer


async def show_confirm(call: OfficeCall) -> Response:
    """Ask for the password, a code or both before a page that needs a recent confirmation."""
    asks = find_requested_proofs(call)
    if not asks:
        return call.redirect_to(find_next_path(call) or "/")
    kept = {"next": find_next_path(call) or "/", **({ASK: PROOF} if asks_password_alone(call) else {})}
    return call.page("confirm", action="/confirm", kept=kept, asks=asks, stays=False)


async def confirm(call: OfficeCall) -> Response:
    """Check what the confirmation page asked for, and redirect to the page behind it."""
    if asks := find_requested_proofs(call):
        await prove(call, asks, call.form)
    return call.redirect_to(find_next_path(call) or "/")


def find_requested_proofs(call: OfficeCall) -> tuple[str, ...]:
    """Return the fields to fill in. The address may ask for fewer than usual: the page behind it checks again."""
    return find_missing_proofs(call, code="never" if asks_password_alone(call) else "recent")


def asks_password_alone(call: OfficeCall) -> bool:
    """Return whether the address or the form asks for the password only."""
    return (call.form.get(ASK) or call.request.query_params.get(ASK)) == PROOF
