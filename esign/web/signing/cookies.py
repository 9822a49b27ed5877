"""The session cookie of a recipient's browser: one cookie for all links whose code it has entered.

On plain http, which only loopback serves, browsers accept neither the `__Host-` prefix nor `Secure`. In a frame
of another site they accept only a cookie that is confined to that site (`Partitioned`).
"""

from starlette.requests import Request
from starlette.responses import Response

from esign.actions.signing.recipient_auth import LIVES
from esign.config import Config
from esign.core.instant import SECOND

NAME, FRAMED = "esign-s", "esign-f"


def build_name(config: Config, plain: str = NAME) -> str:
    """Return the name of the cookie, with the prefix `__Host-` on https."""
    return f"__Host-{plain}" if is_secure(config) else plain


def is_secure(config: Config) -> bool:
    """Return whether this installation is served on https."""
    return config.server.base_url.startswith("https:")


def find_session(request: Request, config: Config) -> str | None:
    """Return the session of the browser, or None. The cookie of a frame comes first: only that frame sends it."""
    return request.cookies.get(build_name(config, FRAMED)) or request.cookies.get(build_name(config))


def set_session(answer: Response, config: Config, session: str, *, framed: bool = False) -> None:
    """Set the session cookie: no script can read it, and other sites send it only by a link that is followed.

    In a frame the browser requires `Secure`, which it accepts on loopback. There other sites could send
    requests with the cookie; the check of the origin and the policies of the answers refuse them.
    """
    lives = LIVES // SECOND
    if framed:  # written by hand: Starlette supports `Partitioned` only from Python 3.14 on
        about = f"Max-Age={lives}; Path=/; Secure; HttpOnly; SameSite=None; Partitioned"
        answer.headers.append("Set-Cookie", f"{build_name(config, FRAMED)}={session}; {about}")
        return
    answer.set_cookie(
        build_name(config),
        session,
        max_age=lives,
        path="/",
        secure=is_secure(config),
        httponly=True,
        samesite="lax",
    )
