"""Which browsers an account knows: those that signed in to it before, by a signed cookie that lives for a year.

The cookie is `<browser>.<mac>.<mac>…`: a random name of the browser, and for each account that signed in with it a MAC
over both. It opens nothing and names nobody; it only says "this browser was here". `recognise` is the question, for
whatever wants to know it: the pace of wrong passwords, and notices of a sign-in from an unknown browser.
"""

import base64
import hmac
import re

from starlette.requests import Request
from starlette.responses import Response

from esign.config import Config
from esign.entropy import new_token
from esign.vault import Vault
from esign.web.signing.cookies import is_secure, name

PLAIN = "esign-device"
PURPOSE = "known-browser"
LIVES = 365 * 24 * 3600  # seconds
MOST = 8  # accounts of one browser, the last ones
FORM = re.compile(r"[A-Za-z0-9_-]{43}(\.[A-Za-z0-9_-]{22}){1,8}")


def recognise(request: Request, config: Config, vault: Vault, email: str) -> str | None:
    """Return the name of the browser that signed in to this account before, None where it did not."""
    found = read(request, config)
    if found is None:
        return None
    browser, *known = found
    wanted = mac_of(vault, browser, email)
    return browser if any(hmac.compare_digest(one, wanted) for one in known) else None


def remember(answer: Response, request: Request, config: Config, vault: Vault, email: str) -> None:
    """Give the cookie of a browser that has just signed in to this account, besides those it knew."""
    browser, *known = read(request, config) or [new_token()]
    own = mac_of(vault, browser, email)
    macs = [*(one for one in known if one != own), own][-MOST:]
    answer.set_cookie(
        name(config, PLAIN),
        ".".join((browser, *macs)),
        max_age=LIVES,
        path="/",
        secure=is_secure(config),
        httponly=True,
        samesite="lax",
    )


def read(request: Request, config: Config) -> list[str] | None:
    text = request.cookies.get(name(config, PLAIN), "")
    return text.split(".") if FORM.fullmatch(text) else None


def mac_of(vault: Vault, browser: str, email: str) -> str:
    digest = vault.mac(PURPOSE, f"{browser}:{email.casefold()}".encode())
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
