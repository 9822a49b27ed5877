"""The address of the server: shown to owners, and set by those of the organisation that was set up first."""

from urllib.parse import urlsplit

from starlette.responses import Response

from esign.actions.server import browser_settings
from esign.config import ADDRESS, Config, is_loopback, is_protected, parse_base_url
from esign.core.errors import Problem
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.opened_address import find_opened_address
from esign.web.office.server.setup_steps import show_step
from esign.web.office.session import cookies

HERE = "/server/address"
SHAPE = "Enter an address without a path, such as https://sign.example.com."
PLAIN = (
    "Use https://. Signing links would travel unprotected otherwise; http:// is only for this server itself."
)
FIXED = "The address is set where esign is started, and can’t be changed here."


async def show(call: OfficeCall) -> Response:
    """Show the address that links in emails begin with, at which one this page was opened, and how HTTPS is."""
    settings = call.runtime.settings
    present, opened = settings.config.server.base_url, find_opened_address(call.request, settings.config)
    https = call.runtime.https.read_state() if call.runtime.https else None
    suggested = opened is not None and opened != present and is_fit(opened, settings.config)
    return await show_step(
        call,
        "server_address",
        source=settings.find_source(ADDRESS),
        opened=opened,
        suggested=opened if suggested else None,
        earlier=settings.chosen.earlier_url,
        https=https,
        now=call.runtime.clock.now(),
        proxy=min(call.runtime.unknown_proxies, default=None),
        obstacle=call.words.say(https.problem.sentence) if https and https.problem else "",
    )


async def hasten_certificate(call: OfficeCall) -> Response:
    """Have the certificate for HTTPS ordered now, instead of at the planned time after a failure."""
    await browser_settings.require_may_change(call.runtime, call.signed_in.organisation)
    if call.runtime.https:
        call.runtime.https.hasten_order(call.runtime.clock.now())
    return call.redirect_to(f"{HERE}#https")


def is_fit(opened: str, config: Config) -> bool:
    """Return whether the address at which a page was opened may replace the present one.

    One that only this machine can open does not replace one that others can.
    """
    local = is_loopback(urlsplit(opened).hostname or "")
    return is_protected(opened, config.server.environment) and (config.is_loopback or not local)


async def save(call: OfficeCall) -> Response:
    """Let links begin with another address from now on. Say where to go on if the browser has to sign in there."""
    await browser_settings.require_may_change(call.runtime, call.signed_in.organisation)
    settings = call.runtime.settings
    if settings.find_source(ADDRESS) is not None:
        raise Problem("insufficient_scope", FIXED)
    before, after = settings.config.server.base_url, read_address(call)
    token = cookies.read_session_token(call.request, settings.config)
    await browser_settings.save_address(call.runtime, call.author, after)
    if call.cookie is None:  # the name of the cookie depends on the scheme
        call.cookie = token
    if take_place(before) == take_place(after):
        return call.redirect_to(HERE, "address")
    return call.page("server_moved", before=before)


def read_address(call: OfficeCall) -> str:
    """Return the address of the form. A name alone stands for https. Raise `FormError`."""
    text = call.form.get("address", "").strip()
    if not text:
        raise FormError({"address": EMPTY})
    try:
        address = parse_base_url(text if "://" in text else f"https://{text}")
    except ValueError:
        raise FormError({"address": SHAPE}) from None
    if not is_protected(address, find_environment(call)):
        raise FormError({"address": PLAIN})
    return address


def find_environment(call: OfficeCall) -> str:
    """Return whether the server is one of production or of tests."""
    return call.runtime.config.server.environment


def take_place(address: str) -> tuple[str, str | None]:
    """Return scheme and host, which decide whether the browser sends its cookies there."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname
