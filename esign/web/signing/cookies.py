"""The session of a recipient's browser: one cookie for all links whose code it has shown (docs/dev/security.md 3).

On plain http, which only loopback is served by, browsers keep neither the prefix nor `Secure`. Inside a page of
another site they keep a cookie only where it says that it is for that site alone (`Partitioned`).
"""

from starlette.requests import Request
from starlette.responses import Response

from esign.actions.signing.recipient_auth import LIVES
from esign.config import Config
from esign.core.instant import SECOND

NAME, FRAMED = "esign-s", "esign-f"


def name(config: Config, plain: str = NAME) -> str:
    return f"__Host-{plain}" if is_secure(config) else plain


def is_secure(config: Config) -> bool:
    return config.server.base_url.startswith("https:")


def find(request: Request, config: Config) -> str | None:
    """That of the frame first: it is sent to no other."""
    return request.cookies.get(name(config, FRAMED)) or request.cookies.get(name(config))


def give(answer: Response, config: Config, session: str, *, framed: bool = False) -> None:
    """Never to be read by a script, never sent with what another site asks for but a link that is followed.

    In a frame the browser asks for `Secure` even on loopback, where it takes it, and what other sites ask for
    in its name is refused by `origin.same_origin` and by the policies of the answers.
    """
    lives = LIVES // SECOND
    if framed:  # Starlette writes `Partitioned` from Python 3.14 on
        about = f"Max-Age={lives}; Path=/; Secure; HttpOnly; SameSite=None; Partitioned"
        answer.headers.append("Set-Cookie", f"{name(config, FRAMED)}={session}; {about}")
        return
    answer.set_cookie(
        name(config),
        session,
        max_age=lives,
        path="/",
        secure=is_secure(config),
        httponly=True,
        samesite="lax",
    )
