"""The pages behind emailed and printed links: set up the first owner, join an organisation, choose a new password.

Opening such a link does not use it up, because mail scanners open links as well. Only sending its form does.
"""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from pydantic import AfterValidator
from starlette.background import BackgroundTask
from starlette.responses import Response

from esign.actions.mail import mail_breaker
from esign.actions.people import one_time_links, sessions
from esign.actions.people.one_time_links import Founder, Newcomer, PendingInvitation
from esign.actions.people.sessions import SignInRequest
from esign.actions.server import browser_settings
from esign.config import is_loopback, is_protected
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.people.user import Errand, Stage, User
from esign.core.rate_network import find_network
from esign.store.people import members, organisations
from esign.system.passwords import build_known_lane
from esign.web.office.frame.dispatch import Handler
from esign.web.office.frame.forms import EMPTY, FormError, check_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.opened_address import find_opened_address
from esign.web.office.sign_in.sign_in import enter_office, replace_session, show_if_not_set_up
from esign.web.values.rules import check_zone
from esign.web.values.schema import BoundedText, Email, Schema

UNNAMED = "esign"  # the name of an organisation that has not been given one
UNPROTECTED = (
    "Open this link by https, or on the server itself. Your password would travel unprotected otherwise."
)
NOT_YOURS = "That isn’t your account’s password."


class PersonName(Schema):
    name: Annotated[str, BoundedText(1, 200)]


class EmailForm(Schema):
    email: Email


class FirstOwner(Schema):
    organisation: Annotated[str, BoundedText(1, 200)]
    time_zone: Annotated[str, BoundedText(1, 64), AfterValidator(check_zone)]
    name: Annotated[str, BoundedText(1, 200)]
    email: Email


def show_gone_if_not_found(errand: Errand) -> Callable[[Handler], Handler]:
    """Return a decorator that shows the "gone" page when the handler raises `not_found`.

    Two users can send the form of one link at the same time. The second one then sees the same page as anybody
    who opens the link later.
    """

    def within(handler: Handler) -> Handler:
        @wraps(handler)
        async def answer(call: OfficeCall) -> Response:
            try:
                return await handler(call)
            except Problem as problem:
                if problem.code != "not_found":
                    raise
                return show_gone(call, errand)

        return answer

    return within


# ---------- a forgotten password ----------


async def show_forgot(call: OfficeCall) -> Response:
    if (page := await show_if_not_set_up(call)) is not None:
        return page
    sent = call.request.query_params.get("sent") == "yes"
    outage = await mail_breaker.find_outage(call.runtime, Mode.LIVE)
    return call.page("forgot", sent=sent, outage=call.tell_outage(outage))


async def send_reset_link(call: OfficeCall) -> Response:
    """Send a link for a new password, in the background: the answer is the same, and as fast, for an unknown address.

    Attempts are limited by network only, so that nobody can use up the attempts of another user. The number of
    mails to one account is limited by the links that are still valid (`one_time_links.send_reset_link`).
    """
    email = check_form(EmailForm, call.form).email
    ip = call.origin.ip
    browser = await call.recognise(email)
    call.tries.count("forgot", f"{email} {find_network(ip or 'local')}", ip, browser.lane)
    answer = call.redirect_to("/forgot?sent=yes")
    answer.background = BackgroundTask(one_time_links.send_reset_link, call.runtime, email, call.origin)
    return answer


async def show_reset(call: OfficeCall) -> Response:
    user = await one_time_links.find_reset_user(call.runtime, call.path["token"])
    return show_gone(call, Errand.RESET) if user is None else call.page("reset", user=user)


@show_gone_if_not_found(Errand.RESET)
async def reset(call: OfficeCall) -> Response:
    """Save the password that was chosen through an emailed link."""
    user = await one_time_links.find_reset_user(call.runtime, call.path["token"])
    if user is None:
        return show_gone(call, Errand.RESET)
    password = await choose_password(call, (user.email, user.name), with_totp=user.totp is not None)
    await one_time_links.choose_password(call.runtime, call.path["token"], password, call.origin)
    return call.redirect_to("/sign-in", "password")


# ---------- an invitation ----------


async def show_invitation(call: OfficeCall) -> Response:
    invited = await one_time_links.find_invitation(call.runtime, call.path["token"])
    return show_gone(call, Errand.INVITATION) if invited is None else call.page("invitation", invited=invited)


@show_gone_if_not_found(Errand.INVITATION)
async def join(call: OfficeCall) -> Response:
    """Accept an invitation, with a new account or the existing one, and sign in."""
    token = call.path["token"]
    invited = await one_time_links.find_invitation(call.runtime, token)
    if invited is None:
        return show_gone(call, Errand.INVITATION)
    if invited.user is not None:
        user = await join_with_account(call, token, invited)
    else:
        user = await join_with_new_account(call, token, invited)
    return await begin_session(call, user, invited.member.organisation_id, None, "joined")


async def join_with_new_account(call: OfficeCall, token: str, invited: PendingInvitation) -> User:
    """Create the account of an invited person and return it; raise `FormError` for an invalid name or password."""
    try:
        name, wrong = check_form(PersonName, call.form).name, {}
    except FormError as refused:
        name, wrong = "", dict(refused.sentences)
    about = (invited.member.email, name, invited.organisation)
    password = await choose_password(call, about, wrong)
    user = await one_time_links.join(call.runtime, token, invited, Newcomer(name, password), call.origin)
    assert user is not None, "None only for an incorrect password of an existing account"
    return user


async def join_with_account(call: OfficeCall, token: str, invited: PendingInvitation) -> User:
    """Return the account that already exists, if its password is correct; otherwise raise `FormError`.

    Attempts count like attempts on the sign-in page.
    """
    email, password = invited.member.email, call.form.get("password", "")
    if not password:
        raise FormError({"password": EMPTY})
    ip, lane = call.origin.ip, (await call.recognise(email)).lane
    async with call.tries.wait_for_turn(email, ip, lane):
        given = Newcomer("", password, lane)
        user = await one_time_links.join(call.runtime, token, invited, given, call.origin)
    if user is None:
        raise FormError({"password": NOT_YOURS})
    call.tries.forgive_password(email, ip, lane)
    return user


# ---------- the first owner ----------


async def show_setup(call: OfficeCall) -> Response:
    if not await one_time_links.is_open(call.runtime, Errand.SETUP, call.path["token"]):
        return show_gone(call, Errand.SETUP)
    first = await organisations.find_first(call.runtime.db)
    assert first is not None, "created when the program starts"
    name = "" if first.name == UNNAMED else first.name
    found = find_new_address(call)
    return call.page("set_up", name=name, zone=first.time_zone, zones=list_zones(), found=found)


def find_new_address(call: OfficeCall) -> str | None:
    """Return the address at which the set-up link was opened, unless it is of this machine or one is set already.

    Whoever holds the link has come by an address that leads here, so the server can be known by it.
    """
    settings = call.runtime.settings
    opened = find_opened_address(call.request, settings.config) if settings.is_address_unset else None
    return None if opened is None or is_loopback(urlsplit(opened).hostname or "") else opened


@show_gone_if_not_found(Errand.SETUP)
async def set_up(call: OfficeCall) -> Response:
    """Create the first owner, name the first organisation, and sign the owner in."""
    token = call.path["token"]
    if not await one_time_links.is_open(call.runtime, Errand.SETUP, token):
        return show_gone(call, Errand.SETUP)
    address = find_new_address(call)
    if address is not None and not is_protected(address, call.runtime.config.server.environment):
        raise FormError({"": UNPROTECTED})
    given, wrong = None, {}
    try:
        given = check_form(FirstOwner, call.form)
    except FormError as refused:
        wrong = dict(refused.sentences)
    about = [call.form.get(name, "") for name in ("email", "name", "organisation")]
    password = await choose_password(call, about, wrong)
    assert given is not None, "an invalid form has raised FormError"
    founder = Founder(given.name, given.email, password, given.organisation, given.time_zone)
    try:
        user = await one_time_links.set_up_owner(call.runtime, token, founder, call.origin)
    except Problem as problem:
        if problem.code == "member_exists":
            raise FormError({"email": problem.message}) from None
        if not problem.details:
            raise
        raise FormError({one.path.strip("/"): one.message for one in problem.details}) from None
    [owner] = await members.find_by_user(call.runtime.db, user.id)
    if address is not None:
        by = one_time_links.make_caller(owner, call.origin)
        await browser_settings.save_address(call.runtime, by, address)
    return await begin_session(call, user, owner.organisation_id, "/server/address")


@cache
def list_zones() -> tuple[str, ...]:
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


async def begin_session(
    call: OfficeCall, user: User, organisation_id: str, then: str | None, done: str | None = None
) -> Response:
    """Begin a session for a user who came through a link; with a second factor, ask for a code first."""
    stage = Stage.WHOLE if user.totp is None else Stage.HALF
    browser = (await call.recognise(user.email)).token
    request = SignInRequest(call.origin, browser, expected=True)
    new, session = await sessions.begin_session(call.runtime, user, organisation_id, stage, request)
    if stage is Stage.WHOLE:
        call.browser = browser
    await replace_session(call, new, session)
    return enter_office(call, session, then, done)


async def choose_password(
    call: OfficeCall, about: Sequence[str], wrong: dict[str, str] | None = None, *, with_totp: bool = False
) -> str:
    """Return the new password of the form; raise `FormError` with its problem and the errors in `wrong`."""
    wrong = dict(wrong or {})
    password = call.form.get("password", "")
    lane = build_known_lane(call.person.user.id if call.person else call.path["token"])
    complaint = await call.runtime.passwords.find_complaint(password, about, lane, with_totp=with_totp)
    if complaint is not None:
        wrong["password"] = complaint if password else EMPTY
    if wrong:
        raise FormError(wrong)
    return password


def show_gone(call: OfficeCall, errand: Errand) -> Response:
    """Show that the link cannot be used, as status 404.

    The page does not say whether the link was used, has expired or never existed.
    """
    answer = call.page("gone", errand=errand.value)
    answer.status_code = 404
    return answer
