"""Signing in and out, and showing again that one is still the same."""

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

HOME = "/documents"  # where the office begins
NO_MATCH = "Address and password do not match."
WRONG_CODE = "This code is not right. Codes change every 30 seconds, and each one works once."
CLEAR = '"cache", "storage"'  # not "cookies": see the package


async def start(call: Call) -> Response:
    """The office for whoever is signed in, else a page that says what this is."""
    done = call.request.query_params.get("done")
    return call.go(HOME, done if done in DONE else None) if call.person else call.page("start")


async def show(call: Call) -> Response:
    if call.person is not None and expired_form.HELD in call.form:  # signed in in another tab meanwhile
        return expired_form.offered(call, call.form[expired_form.HELD])
    if call.person is not None:
        return call.go(local(call.request.query_params.get("next", "")) or HOME)
    return call.page("sign_in", next=wanted(call))


def wanted(call: Call) -> str | None:
    """The page to go on to, as the address or the form names it; never one of another site."""
    return local(call.form.get("next") or call.request.query_params.get("next", ""))


async def sign_in(call: Call) -> Response:
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
    """The form that was held, or first the page that asks for the code, with the form inside."""
    if session.stage is Stage.WHOLE:
        return expired_form.offered(call, call.form[expired_form.HELD])
    return call.page("code", next=None)


async def replace(call: Call, token: str, session: Session) -> None:
    """The browser's new session; the one before ends, so that nobody goes on with it."""
    if call.session is not None:
        await sessions.end(call.runtime, call.session.user_id, call.session.id, call.origin)
    call.cookie = token
    call.session = session


def entered(call: Call, session: Session, then: str | None, done: str | None = None) -> Response:
    """On to the office, or first to the page that asks for the code."""
    if session.stage is Stage.WHOLE:
        return call.go(then or "/", done)
    return call.go(f"/sign-in/code?{urlencode({'next': then})}" if then else "/sign-in/code")


async def show_code(call: Call) -> Response:
    return call.page("code", next=wanted(call))


async def give_code(call: Call) -> Response:
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
    session = call.signed.session
    await sessions.end(call.runtime, session.user_id, session.id, call.origin)
    answer = call.go("/sign-in", "signed-out")
    answer.headers["Clear-Site-Data"] = CLEAR
    cookies.take(answer, call.runtime.config)
    return answer


async def show_confirm(call: Call) -> Response:
    """Ask who it is before a page that is only shown to somebody who has confirmed that a moment ago."""
    asks = find_asked(call)
    if not asks:
        return call.go(wanted(call) or "/")
    kept = {"next": wanted(call) or "/", **({ASK: PROOF} if asks_password_alone(call) else {})}
    return call.page("confirm", action="/confirm", kept=kept, asks=asks, stays=False)


async def confirm(call: Call) -> Response:
    if asks := find_asked(call):
        await prove(call, asks, call.form)
    return call.go(wanted(call) or "/")


def find_asked(call: Call) -> tuple[str, ...]:
    """Return the fields to fill in. The address may ask for less than usual: the page behind it still decides."""
    return find_missing_proofs(call, code="never" if asks_password_alone(call) else "recent")


def asks_password_alone(call: Call) -> bool:
    return (call.form.get(ASK) or call.request.query_params.get(ASK)) == PROOF
