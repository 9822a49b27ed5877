"""The addresses behind a signing link."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from esign.actions.signing import Visit
from esign.core.document import Origin
from esign.core.errors import Problem
from esign.web.pages import Pages, attachment
from esign.web.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.signing import body, page, states
from esign.web.signing.words import Library


class Port(Protocol):
    """What these pages need of `actions.signing`; `runtime` is the application's own."""

    async def visit(self, runtime: Any, token: str) -> Visit: ...

    async def view(self, runtime: Any, token: str, origin: Origin) -> Visit: ...

    async def complete(
        self, runtime: Any, token: str, answers: Mapping[str, Any], consent: str, origin: Origin
    ) -> Visit: ...

    async def decline(self, runtime: Any, token: str, reason: str | None, origin: Origin) -> Visit: ...

    async def page_image(self, runtime: Any, token: str, number: int) -> bytes | None: ...

    async def original(self, runtime: Any, token: str) -> tuple[str, bytes]: ...

    async def sealed(self, runtime: Any, token: str, origin: Origin) -> tuple[str, bytes]: ...


def routes(actions: Port, pages: Pages) -> list[Route]:
    """Every route of the signing pages."""
    link = Link(actions, pages, Library.load())
    return [
        Route("/s/{token}", link.show, methods=["GET"]),
        Route("/s/{token}/view", link.view, methods=["POST"]),
        Route("/s/{token}/complete", link.complete, methods=["POST"]),
        Route("/s/{token}/decline", link.decline, methods=["POST"]),
        Route("/s/{token}/status", link.status, methods=["GET"]),
        Route("/s/{token}/pages/{number:int}.webp", link.page_image, methods=["GET"]),
        Route("/s/{token}/original.pdf", link.original, methods=["GET"]),
        Route("/s/{token}/sealed.pdf", link.sealed, methods=["GET"]),
    ]


@dataclass(frozen=True, slots=True)
class Link:
    """The handlers, with what they share."""

    actions: Port
    pages: Pages
    library: Library

    async def show(self, request: Request) -> Response:
        """The link itself: 200 whatever its state, for whoever opens it, and nothing changes."""
        seen = await self.actions.visit(runtime(request), token(request))
        if seen.document is None or seen.recipient is None or seen.organisation is None:
            words = self.library.choose(None)
            return self.pages.page("signing/state.html", {"state": "unknown", **states.unknown(words)})
        locale = seen.recipient.locale or seen.document.locale or seen.organisation.locale
        words = self.library.choose(locale)
        facts = page.Facts(seen.document, seen.recipient, seen.organisation, words, locale, request.url.path)
        if seen.state == "open":
            shown = page.signing(facts, runtime(request).clock.now())
            return self.pages.page("signing/sign.html", {"state": "open", **shown})
        return self.pages.page(
            "signing/state.html", {"state": seen.state, **states.closed(facts, seen.state)}
        )

    async def view(self, request: Request) -> Response:
        await body.read(request)
        return state(await self.actions.view(runtime(request), token(request), origin(request)))

    async def complete(self, request: Request) -> Response:
        given, consent = body.answers(await body.read(request, "answers", "consent"))
        return state(
            await self.actions.complete(runtime(request), token(request), given, consent, origin(request))
        )

    async def decline(self, request: Request) -> Response:
        reason = body.reason(await body.read(request, "reason"))
        return state(await self.actions.decline(runtime(request), token(request), reason, origin(request)))

    async def status(self, request: Request) -> Response:
        return state(await self.actions.visit(runtime(request), token(request)))

    async def page_image(self, request: Request) -> Response:
        picture = await self.actions.page_image(
            runtime(request), token(request), request.path_params["number"]
        )
        if picture is None:
            raise Problem("not_found")
        kept = {"Cache-Control": "private, max-age=86400, immutable"}
        return Response(
            picture,
            media_type="image/webp",
            headers={**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **kept},
        )

    async def original(self, request: Request) -> Response:
        return attachment(*await self.actions.original(runtime(request), token(request)))

    async def sealed(self, request: Request) -> Response:
        if request.method == "HEAD":  # nothing is handed out, so nothing is noted
            return await self.status(request)
        return attachment(*await self.actions.sealed(runtime(request), token(request), origin(request)))


def state(seen: Visit) -> Response:
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY}
    return JSONResponse({"state": seen.state}, headers=headers)


def runtime(request: Request) -> Any:
    return request.app.state.runtime


def token(request: Request) -> str:
    return str(request.path_params["token"])


def origin(request: Request) -> Origin:
    """As the guard put it down."""
    found: Origin = request.scope["esign.origin"]
    return found
