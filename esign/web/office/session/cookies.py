"""The cookies of the office: for the session, for the token by which the browser is known, and for the language.

The second and third cookie give no access. Over https all names begin with `__Host-` (see `web.signing.cookies`).
"""

from starlette.requests import Request
from starlette.responses import Response

from esign.config import Config
from esign.core.instant import DAY, SECOND, Millis
from esign.core.people.user import ABSOLUTE
from esign.store.people.known_browsers import REMEMBERED
from esign.web.signing.cookies import build_name, is_secure

PLAIN, BROWSER, LANGUAGE = "esign", "esign-browser", "esign-language"
YEAR: Millis = 365 * DAY


def read_session_token(request: Request, config: Config) -> str | None:
    """Return the token of the session cookie, or None."""
    return request.cookies.get(build_name(config, PLAIN))


def give_session(answer: Response, config: Config, token: str) -> None:
    """Set the session cookie."""
    _give(answer, config, PLAIN, token, ABSOLUTE)


def find_browser(request: Request, config: Config) -> str | None:
    """Return the token by which the browser is known, or None."""
    return request.cookies.get(build_name(config, BROWSER))


def give_browser(answer: Response, config: Config, token: str) -> None:
    """Set the cookie by which the browser is known."""
    _give(answer, config, BROWSER, token, REMEMBERED)


def read_language(request: Request, config: Config) -> str | None:
    """Return the tag of the language that was chosen in this browser, as the cookie has it, or None."""
    return request.cookies.get(build_name(config, LANGUAGE))


def give_language(answer: Response, config: Config, tag: str) -> None:
    """Set the cookie of the chosen language."""
    _give(answer, config, LANGUAGE, tag, YEAR)


def delete_session(answer: Response, config: Config) -> None:
    """Delete the session cookie. The browser stays known."""
    answer.delete_cookie(
        build_name(config, PLAIN), path="/", secure=is_secure(config), httponly=True, samesite="lax"
    )


def _give(answer: Response, config: Config, name: str, token: str, lifetime: Millis) -> None:
    answer.set_cookie(
        build_name(config, name),
        token,
        max_age=lifetime // SECOND,
        path="/",
        secure=is_secure(config),
        httponly=True,
        samesite="lax",
    )
