"""The addresses behind a signing link."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from esign.actions.signing import recipient_auth, signing, signing_drafts
from esign.actions.signing.visits import CodeVisit, OpenVisit, UnknownVisit, Visit, Visitor
from esign.core.actor import Origin
from esign.core.errors import UnknownLink
from esign.core.language import find_accepted
from esign.runtime import Runtime
from esign.web import downloads
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.pages import Pages
from esign.web.signing import body, codes, cookies, page, states
from esign.web.signing.words import WordLibrary


def make_routes(pages: Pages, library: WordLibrary) -> list[Route]:
    """Return the routes of the signing pages."""
    link = SigningPages(pages, library)
    return [
        Route("/embed.js", pages.assets.embed, methods=["GET"]),
        Route("/s/{token}", link.show, methods=["GET"]),
        Route("/s/{token}/code", link.send_code, methods=["POST"]),
        Route("/s/{token}/authenticate", link.authenticate, methods=["POST"]),
        Route("/s/{token}/view", link.view, methods=["POST"]),
        Route("/s/{token}/draft", link.save_draft, methods=["POST"]),
        Route("/s/{token}/complete", link.complete, methods=["POST"]),
        Route("/s/{token}/decline", link.decline, methods=["POST"]),
        Route("/s/{token}/status", link.status, methods=["GET"]),
        Route("/s/{token}/original.pdf", link.download_original, methods=["GET"]),
        Route("/s/{token}/sealed.pdf", link.download_sealed, methods=["GET"]),
    ]


@dataclass(frozen=True, slots=True)
class SigningPages:
    """The handlers of the signing pages, with what they share."""

    pages: Pages
    library: WordLibrary

    async def show(self, request: Request) -> Response:
        """Answer the page of a link. It is always 200, and opening it changes nothing."""
        seen = await signing.visit(get_runtime(request), read_visitor(request))
        wanted, browser = (
            request.query_params.get("lang"),
            find_accepted(request.headers.get("accept-language")),
        )
        if isinstance(seen, UnknownVisit):
            request.scope["esign.problem"] = UnknownLink()
            unknown = states.build_unknown_page(self.library.choose(wanted, browser))
            return self.pages.page("signing/state.html", {"state": seen.state, **unknown})
        named = (seen.recipient.locale, seen.document.locale, browser, seen.organisation.locale)
        words = self.library.choose(wanted, *named)
        if not seen.mails:
            words = words.without_mail()
        facts = page.LinkFacts(
            seen.document, seen.recipient, seen.organisation, words, request.url.path, seen.contact
        )
        now = get_runtime(request).clock.now()
        match seen:
            case CodeVisit():
                template = "code"
                shown = codes.build_code_page(facts, seen.standing, now)
            case OpenVisit() if seen.recipient.acting:
                template = "sign"
                draft = await signing_drafts.read_entries(get_runtime(request), seen)
                shown = page.build_signing_page(facts, now, draft)
            case OpenVisit():
                template = "read"
                shown = page.build_reading_page(facts, now)
            case _:
                template = "state"
                shown = states.build_closed_page(facts, seen)
        return self.pages.page(f"signing/{template}.html", {"state": seen.state, **shown})

    async def send_code(self, request: Request) -> Response:
        """Send the recipient a code by mail, and answer the state."""
        await body.read_members(request)
        return answer_state(
            await recipient_auth.send_code(get_runtime(request), read_visitor(request), get_origin(request))
        )

    async def authenticate(self, request: Request) -> Response:
        """Check the code. If it is right, the answer sets the session cookie."""
        given = await body.read_members(request, "code", "framed")
        code, framed = body.read_code(given), body.is_framed(given)
        seen, session = await recipient_auth.authenticate(
            get_runtime(request), read_visitor(request), code, get_origin(request)
        )
        answer = answer_state(seen)
        cookies.set_session(answer, get_runtime(request).config, session, framed=framed)
        return answer

    async def view(self, request: Request) -> Response:
        """Record that the recipient has opened the document, and answer the state."""
        await body.read_members(request)
        return answer_state(
            await signing.view(get_runtime(request), read_visitor(request), get_origin(request))
        )

    async def save_draft(self, request: Request) -> Response:
        """Save what the recipient has entered so far, and answer what another tab or device has entered meanwhile."""
        since, given = body.read_draft(await body.read_members(request, "since", "values"))
        kept = await signing_drafts.keep(get_runtime(request), read_visitor(request), given, since)
        return answer_json(
            {"state": kept.state, **page.serialise_draft(kept.now, kept.revision, kept.values)}
        )

    async def complete(self, request: Request) -> Response:
        """Complete the recipient's part with these values, and answer the state."""
        given, consent = body.read_answers(await body.read_members(request, "answers", "consent"))
        return answer_state(
            await signing.complete(
                get_runtime(request), read_visitor(request), given, consent, get_origin(request)
            )
        )

    async def decline(self, request: Request) -> Response:
        """Decline to sign, and answer the state."""
        reason = body.read_reason(await body.read_members(request, "reason"))
        return answer_state(
            await signing.decline(get_runtime(request), read_visitor(request), reason, get_origin(request))
        )

    async def status(self, request: Request) -> Response:
        """Answer the state of the link."""
        seen = await signing.visit(get_runtime(request), read_visitor(request))
        if isinstance(seen, UnknownVisit):
            request.scope["esign.problem"] = UnknownLink()
        return answer_state(seen)

    async def download_original(self, request: Request) -> Response:
        """Answer the original file."""
        return downloads.make_content_response(
            *await signing.read_original(get_runtime(request), read_visitor(request))
        )

    async def download_sealed(self, request: Request) -> Response:
        """Answer the sealed file."""
        if request.method == "HEAD":  # no file is sent, so no audit entry is written
            return await self.status(request)
        return downloads.make_content_response(
            *await signing.read_sealed(get_runtime(request), read_visitor(request), get_origin(request))
        )


def answer_state(seen: Visit) -> Response:
    """Answer with the state of a visit."""
    return answer_json({"state": seen.state})


def answer_json(answer: Mapping[str, object]) -> Response:
    """Answer with JSON and the security headers of pages."""
    return JSONResponse(answer, headers={**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY})


def get_runtime(request: Request) -> Runtime:
    """Return the runtime of the application."""
    runtime: Runtime = request.app.state.runtime
    return runtime


def read_visitor(request: Request) -> Visitor:
    """Return the token of the link and the session of the browser."""
    return Visitor(
        str(request.path_params["token"]), cookies.find_session(request, get_runtime(request).config)
    )


def get_origin(request: Request) -> Origin:
    """Return the client's address and user agent, as the guard stored them."""
    found: Origin = request.scope["esign.origin"]
    return found
