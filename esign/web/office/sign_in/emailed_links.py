"""The pages behind emailed and printed links: set up the first owner, join an organisation, choose a new password.

Opening such a link does not use it up, because mail scanners open links as well. Only sending its form does.
"""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator
from starlette.background import BackgroundTask
from starlette.responses import Response

from esign.actions.mail import mail_breaker
from esign.actions.people import invitations, sessions
from esign.actions.people.invitations import Founder, Invitation
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.network import network_of
from esign.core.people.user import Errand, Stage, User
from esign.store.people import accounts
from esign.system.passwords import lane_of_known
from esign.web.api.rules import known_zone
from esign.web.office.frame.call import Call
from esign.web.office.frame.dispatch import Handler
from esign.web.office.frame.forms import EMPTY, Wrong, checked
from esign.web.office.sign_in.sign_in import entered, replace
from esign.web.rest.schema import Email, Line, Schema

UNNAMED = "esign"  # the name of an organisation that has not been given one
NOT_YOURS = "This is not the password of your account."


class Named(Schema):
    name: Annotated[str, Line(1, 200)]


class Address(Schema):
    email: Email


class FirstOwner(Schema):
    organisation: Annotated[str, Line(1, 200)]
    time_zone: Annotated[str, Line(1, 64), AfterValidator(known_zone)]
    name: Annotated[str, Line(1, 200)]
    email: Email


def once(errand: Errand) -> Callable[[Handler], Handler]:
    """Return a decorator that shows the "gone" page when the handler raises `not_found`.

    Two users can send the form of one link at the same time. The second one then sees the same page as anybody
    who opens the link later.
    """

    def within(handler: Handler) -> Handler:
        @wraps(handler)
        async def answer(call: Call) -> Response:
            try:
                return await handler(call)
            except Problem as problem:
                if problem.code != "not_found":
                    raise
                return gone(call, errand)

        return answer

    return within


# ---------- a forgotten password ----------


async def show_forgot(call: Call) -> Response:
    sent = call.request.query_params.get("sent") == "yes"
    return call.page("forgot", sent=sent, outage=await mail_breaker.find_outage(call.runtime, Mode.LIVE))


async def forgot(call: Call) -> Response:
    """Send a link for a new password, in the background: the answer is the same, and as fast, for an unknown address.

    Attempts are limited by network only, so that nobody can use up the attempts of another user. The number of
    mails to one account is limited by the links that are still valid (`invitations.forgot`).
    """
    email = checked(Address, call.form).email
    ip = call.origin.ip
    browser = await call.recognise(email)
    call.tries.count("forgot", f"{email} {network_of(ip or 'local')}", ip, browser.lane)
    answer = call.go("/forgot?sent=yes")
    answer.background = BackgroundTask(invitations.forgot, call.runtime, email, call.origin)
    return answer


async def show_reset(call: Call) -> Response:
    user = await invitations.reset(call.runtime, call.path["token"])
    return gone(call, Errand.RESET) if user is None else call.page("reset", user=user)


@once(Errand.RESET)
async def reset(call: Call) -> Response:
    """Save the password that was chosen through an emailed link."""
    user = await invitations.reset(call.runtime, call.path["token"])
    if user is None:
        return gone(call, Errand.RESET)
    password = await chosen(call, (user.email, user.name), with_totp=user.totp is not None)
    await invitations.choose(call.runtime, call.path["token"], password, call.origin)
    return call.go("/sign-in", "password")


# ---------- an invitation ----------


async def show_invitation(call: Call) -> Response:
    invited = await invitations.invitation(call.runtime, call.path["token"])
    return gone(call, Errand.INVITATION) if invited is None else call.page("invitation", invited=invited)


@once(Errand.INVITATION)
async def join(call: Call) -> Response:
    """Accept an invitation, with a new account or the existing one, and sign in."""
    token = call.path["token"]
    invited = await invitations.invitation(call.runtime, token)
    if invited is None:
        return gone(call, Errand.INVITATION)
    if invited.user is not None:
        user = await join_again(call, token, invited)
    else:
        user = await join_first(call, token, invited)
    return await begun(call, user, invited.member.organisation_id, None, "joined")


async def join_first(call: Call, token: str, invited: Invitation) -> User:
    """Create the account of an invited person and return it; raise `Wrong` for an invalid name or password."""
    try:
        name, wrong = checked(Named, call.form).name, {}
    except Wrong as refused:
        name, wrong = "", dict(refused.sentences)
    about = (invited.member.email, name, invited.organisation)
    password = await chosen(call, about, wrong)
    user = await invitations.join(call.runtime, token, invited, name, password, call.origin)
    assert user is not None, "None only for an incorrect password of an existing account"
    return user


async def join_again(call: Call, token: str, invited: Invitation) -> User:
    """Return the account that already exists, if its password is correct; otherwise raise `Wrong`.

    Attempts count like attempts on the sign-in page.
    """
    email, password = invited.member.email, call.form.get("password", "")
    if not password:
        raise Wrong({"password": EMPTY})
    ip, lane = call.origin.ip, (await call.recognise(email)).lane
    async with call.tries.turn(email, ip, lane):
        user = await invitations.join(call.runtime, token, invited, "", password, call.origin, lane)
    if user is None:
        raise Wrong({"password": NOT_YOURS})
    call.tries.forgive_password(email, ip, lane)
    return user


# ---------- the first owner ----------


async def show_setup(call: Call) -> Response:
    if not await invitations.is_open(call.runtime, Errand.SETUP, call.path["token"]):
        return gone(call, Errand.SETUP)
    first = await accounts.first_organisation(call.runtime.db)
    assert first is not None, "created when the program starts"
    name = "" if first.name == UNNAMED else first.name
    return call.page("set_up", name=name, zone=first.time_zone, zones=zones())


@once(Errand.SETUP)
async def set_up(call: Call) -> Response:
    """Create the first owner, name the first organisation, and sign the owner in."""
    token = call.path["token"]
    if not await invitations.is_open(call.runtime, Errand.SETUP, token):
        return gone(call, Errand.SETUP)
    given, wrong = None, {}
    try:
        given = checked(FirstOwner, call.form)
    except Wrong as refused:
        wrong = dict(refused.sentences)
    about = [call.form.get(name, "") for name in ("email", "name", "organisation")]
    password = await chosen(call, about, wrong)
    assert given is not None, "an invalid form has raised Wrong"
    founder = Founder(given.name, given.email, password, given.organisation, given.time_zone)
    try:
        user = await invitations.found(call.runtime, token, founder, call.origin)
    except Problem as problem:
        if problem.code == "member_exists":
            raise Wrong({"email": problem.message}) from None
        if not problem.details:
            raise
        raise Wrong({one.path.strip("/"): one.message for one in problem.details}) from None
    own = await accounts.organisations_of(call.runtime.db, user.id)
    return await begun(call, user, own[0].id, "/server/address")


@cache
def zones() -> tuple[str, ...]:
    """Return the names of time zones in alphabetical order, without obsolete aliases.

    The result is cached, because finding them opens hundreds of files.
    """
    regions = (
        "Africa/",
        "America/",
        "Antarctica/",
        "Asia/",
        "Atlantic/",
        "Australia/",
        "Europe/",
        "Indian/",
        "Pacific/",
    )
    return ("UTC", *sorted(zone for zone in available_timezones() if zone.startswith(regions)))


# ---------- shared ----------


async def begun(
    call: Call, user: User, organisation_id: str, then: str | None, done: str | None = None
) -> Response:
    """Begin a session for a user who came through a link; with a second factor, ask for a code first."""
    stage = Stage.WHOLE if user.totp is None else Stage.HALF
    browser = (await call.recognise(user.email)).token
    new, session = await sessions.begin(
        call.runtime, user, organisation_id, stage, call.origin, browser, expected=True
    )
    if stage is Stage.WHOLE:
        call.browser = browser
    await replace(call, new, session)
    return entered(call, session, then, done)


async def chosen(
    call: Call, about: Sequence[str], wrong: dict[str, str] | None = None, *, with_totp: bool = False
) -> str:
    """Return the new password of the form; raise `Wrong` with its problem, added to the errors already in `wrong`."""
    wrong = dict(wrong or {})
    password = call.form.get("password", "")
    lane = lane_of_known(call.person.user.id if call.person else call.path["token"])
    complaint = await call.runtime.passwords.complaint(password, about, lane, with_totp=with_totp)
    if complaint is not None:
        wrong["password"] = complaint if password else EMPTY
    if wrong:
        raise Wrong(wrong)
    return password


def gone(call: Call, errand: Errand) -> Response:
    """Show that the link cannot be used, as status 404.

    The page does not say whether the link was used, has expired or never existed.
    """
    answer = call.page("gone", errand=errand.value)
    answer.status_code = 404
    return answer
