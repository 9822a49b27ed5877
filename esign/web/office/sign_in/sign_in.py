"""Sign in, sign out, and confirm the password again before sensitive changes."""

from urllib.parse import urlencode

from starlette.responses import Response

from esign.actions.people import sessions
from esign.core.people.user import Session, Stage
from esign.store.people import users
from esign.web.office.frame import expired_form
from esign.web.office.frame.call import Call, local
from esign.web.office.frame.dispatch import ASK, PROOF, find_missing_proofs, prove
from esign.web.office.frame.flash_messages import DONE
from esign.web.office.frame.forms import EMPTY, Wrong
from esign.web.office.session import cookies

HOME = "/documents"  # the first page after signing in
NO_MATCH = "Address and password do not match."
WRONG_CODE = "This code is not right. Codes change every 30 seconds, and each one works once."
CLEAR = '"cache", "storage"'  # not "cookies": see `web.office`


async def start(call: Call) -> Response:
    """Redirect a signed-in user to the documents, and show everybody else the start page."""
    done = call.request.query_params.get("done")
    return call.go(HOME, done if done in DONE else None) if call.person else call.page("start")


async def show(call: Call) -> Response:
    """Show the sign-in page; continue directly if the user has signed in in another tab meanwhile."""
    if call.person is not None and expired_form.HELD in call.form:  # the user has signed in in another tab
        return expired_form.offered(call, call.form[expired_form.HELD])
    if call.person is not None:
        return call.go(local(call.request.query_params.get("next", "")) or HOME)
    return call.page("sign_in", next=wanted(call))


def wanted(call: Call) -> str | None:
    """Return the path that the address or the form asks to continue with; None unless it is on this site."""
    return local(call.form.get("next") or call.request.query_params.get("next", ""))


async def sign_in(call: Call) -> Response:
    """Check address and password, and begin a session; raise `Wrong` if they do not match."""
    email, password = call.form.get("email", "").strip(), call.form.get("password", "")
    if missing := {name: EMPTY for name in ("email", "password") if not call.form.get(name, "").strip()}:
        raise Wrong(missing)
    ip, browser = call.origin.ip, await call.recognise(email)
    async with call.tries.turn(email, ip, browser.lane):
        found = await sessions.sign_in(call.runtime, email, password, call.origin, browser)
    if found is None:
        raise Wrong({"": NO_MATCH})
    call.tries.forgive_password(email, ip, browser.lane)
    await replace(call, *found)
    if found[1].stage is Stage.WHOLE:
        call.browser = browser.token
    if expired_form.HELD in call.form:
        return await resumed(call, found[1])
    return entered(call, found[1], wanted(call))


async def resumed(call: Call, session: Session) -> Response:
    """Show the kept form, or first the page that asks for a code, with the form inside."""
    if session.stage is Stage.WHOLE:
        return expired_form.offered(call, call.form[expired_form.HELD])
    return call.page("code", next=None)


async def replace(call: Call, token: str, session: Session) -> None:
    """Give the browser its new session, and end the one before, so that nobody else can continue with it."""
    if call.session is not None:
        await sessions.end(call.runtime, call.session.user_id, call.session.id, call.origin)
    call.cookie = token
    call.session = session


def entered(call: Call, session: Session, then: str | None, done: str | None = None) -> Response:
    """Redirect to `then` or the start of the office; with a second factor, to the page that asks for a code."""
    if session.stage is Stage.WHOLE:
        return call.go(then or "/", done)
    return call.go(f"/sign-in/code?{urlencode({'next': then})}" if then else "/sign-in/code")


async def show_code(call: Call) -> Response:
    return call.page("code", next=wanted(call))


async def give_code(call: Call) -> Response:
    """Check the code of the second factor and complete the session; raise `Wrong` for an incorrect code."""
    code, session = call.form.get("code", ""), call.session
    assert session is not None
    if not code.strip():
        raise Wrong({"code": EMPTY})
    user = await users.get(call.runtime.db, session.user_id)
    browser = await call.recognise(user.email)
    call.tries.count("code", user.id, call.origin.ip, browser.lane)
    token = cookies.find(call.request, call.runtime.config)
    assert token is not None
    call.cookie = await sessions.give_factor(call.runtime, token, code, call.origin, browser.token)
    if call.cookie is None:
        raise Wrong({"code": WRONG_CODE})
    call.tries.forgive("code", user.id, call.origin.ip, browser.lane)
    call.browser = browser.token
    if expired_form.HELD in call.form:
        call.session = await sessions.known(call.runtime, call.cookie)
        return expired_form.offered(call, call.form[expired_form.HELD])
    return call.go(wanted(call) or "/")


async def sign_out(call: Call) -> Response:
    """End the session, and clear the cache and the storage of the browser."""
    session = call.signed.session
    await sessions.end(call.runtime, session.user_id, session.id, call.origin)
    answer = call.go("/sign-in", "signed-out")
    answer.headers["Clear-Site-Data"] = CLEAR
    cookies.take(answer, call.runtime.config)
    return answer


async def show_confirm(call: Call) -> Response:
    """Ask for the password, a code or both before a page that needs a recent confirmation."""
    asks = find_asked(call)
    if not asks:
        return call.go(wanted(call) or "/")
    kept = {"next": wanted(call) or "/", **({ASK: PROOF} if asks_password_alone(call) else {})}
    return call.page("confirm", action="/confirm", kept=kept, asks=asks, stays=False)


async def confirm(call: Call) -> Response:
    """Check what the confirmation page asked for, and redirect to the page behind it."""
    if asks := find_asked(call):
        await prove(call, asks, call.form)
    return call.go(wanted(call) or "/")


def find_asked(call: Call) -> tuple[str, ...]:
    """Return the fields to fill in. The address may ask for fewer than usual: the page behind it checks again."""
    return find_missing_proofs(call, code="never" if asks_password_alone(call) else "recent")


def asks_password_alone(call: Call) -> bool:
    """Return whether the address or the form asks for the password only."""
    return (call.form.get(ASK) or call.request.query_params.get(ASK)) == PROOF
