"""What port 80 answers where the server speaks https: proofs for an authority, the probes, and the way to https."""

import logging
from collections.abc import Callable, Mapping

from starlette.datastructures import URL
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from esign.core.errors import Problem
from esign.web.http.request_guard import UNASKED

CHALLENGE = "/.well-known/acme-challenge/"
READING = frozenset({"GET", "HEAD"})
USE_HTTPS = "This server speaks https. What was sent here travelled unprotected; revoke a key that was in it."
NOT_YET = "This server has no certificate for https yet."

log = logging.getLogger("esign.https")


def is_challenge(path: str) -> bool:
    """Return whether an authority asks there for a proof (RFC 8555, 8.3)."""
    return path.startswith(CHALLENGE)


class PlainHttp:
    """An ASGI application. `read_base_url` returns the address of the server.

    `find_obstacle` returns why nothing is served there yet: a sentence, which may be empty, or None if all is well.
    """

    def __init__(
        self,
        proofs: Mapping[str, bytes],
        probes: ASGIApp,
        read_base_url: Callable[[], str],
        find_obstacle: Callable[[], str | None],
    ) -> None:
        self._proofs, self._probes = proofs, probes
        self._read_base_url, self._find_obstacle = read_base_url, find_obstacle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in UNASKED:
            await self._probes(scope, receive, send)
            return
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        """Return a proof, a redirect to the same place by https, or a refusal of what should not have come here.

        A redirect of a request with a key would hide that the key travels unprotected each time.
        """
        if is_challenge(scope["path"]):
            proof = self._proofs.get(scope["path"].removeprefix(CHALLENGE))
            if proof is None:
                raise Problem("not_found")
            log.info("https: the authority asked for its proof")
            return Response(proof, media_type="application/octet-stream")
        if scope["method"] not in READING or any(name == b"authorization" for name, _ in scope["headers"]):
            raise Problem("invalid_request", USE_HTTPS)
        obstacle = self._find_obstacle()
        if obstacle is not None:
            said = " ".join(filter(None, (NOT_YET, obstacle)))
            return PlainTextResponse(f"{said}\n", 503, {"Retry-After": "60", "Cache-Control": "no-store"})
        query = scope["query_string"].decode("latin-1")
        place = f"{self._read_base_url()}{scope['raw_path'].decode('latin-1')}{f'?{query}' if query else ''}"
        return RedirectResponse(URL(place), 308)
