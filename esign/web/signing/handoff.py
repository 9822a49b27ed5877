"""The addresses of a signature that is drawn on a phone: those of the computer's page, and the phone's own page."""

import base64
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from esign.actions.signing import phone_handoff
from esign.actions.signing.phone_handoff import ClosedPhone
from esign.core.errors import UnknownLink
from esign.core.instant import SECOND
from esign.core.language import LANGUAGES, find_accepted
from esign.pdf.drawing.qr_code import draw_qr_code
from esign.web.pages import Pages
from esign.web.signing import body
from esign.web.signing.page import LinkFacts, build_frame
from esign.web.signing.routes import answer_json, get_runtime, read_visitor
from esign.web.signing.words import WordLibrary

QUIET = 4  # modules of white margin around the QR code, so that cameras find it


def make_routes(pages: Pages, library: WordLibrary) -> list[Route]:
    """Return the routes of the hand-off."""
    handoff = HandoffPages(pages, library)
    return [
        Route("/s/{token}/handoff", handoff.offer, methods=["POST"]),
        Route("/s/{token}/handoff/{id}", handoff.look, methods=["GET"]),
        Route("/h/{token}", handoff.show, methods=["GET"]),
        Route("/h/{token}/open", handoff.arrive, methods=["POST"]),
        Route("/h/{token}/ink", handoff.receive, methods=["POST"]),
    ]


@dataclass(frozen=True, slots=True)
class HandoffPages:
    """The handlers of the hand-off, with what they share."""

    pages: Pages
    library: WordLibrary

    async def offer(self, request: Request) -> Response:
        """Start a hand-off and answer its address, as a link and as a QR code, with the seconds that it lives."""
        given = await body.read_members(request, "kind")
        made = await phone_handoff.offer(get_runtime(request), read_visitor(request), given.get("kind"))
        left = (made.expires_at - get_runtime(request).clock.now()) // SECOND
        code = build_data_url("image/svg+xml", draw_qr_code(made.address, QUIET).encode())
        return answer_json({"id": made.id, "address": made.address, "code": code, "seconds": left})

    async def look(self, request: Request) -> Response:
        """Answer the state of a hand-off, and the picture once the phone has sent it."""
        id = str(request.path_params["id"])
        progress, png = await phone_handoff.find_progress(get_runtime(request), read_visitor(request), id)
        return answer_json(
            {"state": progress.value, "picture": build_data_url("image/png", png) if png else None}
        )

    async def show(self, request: Request) -> Response:
        """Answer the phone's page. It is always 200, and opening it changes nothing."""
        seen = await phone_handoff.find_phone(get_runtime(request), get_token(request))
        wanted, browser = (
            request.query_params.get("lang"),
            find_accepted(request.headers.get("accept-language")),
        )
        if isinstance(seen, ClosedPhone):
            if seen.state == "unknown":
                request.scope["esign.problem"] = UnknownLink()
            words = self.library.choose(wanted, browser)
            shown = {
                "t": words,
                "languages": LANGUAGES,
                "mark": "e",
                "logo": None,
                "brand": ("#2546d8", "#ffffff"),
            }
            return self.pages.page(
                "signing/phone.html", {"state": "closed", "view": seen.state, "test": False, **shown}
            )
        named = (seen.recipient.locale, seen.document.locale, browser, seen.organisation.locale)
        words = self.library.choose(wanted, *named)
        facts = LinkFacts(
            seen.document, seen.recipient, seen.organisation, words, request.url.path, seen.contact
        )
        shown = {**build_frame(facts), "ancestors": (), "kind": seen.kind}
        return self.pages.page("signing/phone.html", {"state": "phone", "view": "open", **shown})

    async def arrive(self, request: Request) -> Response:
        """Record that the phone has opened the page, and answer the state."""
        await body.read_members(request)
        return answer_json(
            {"state": (await phone_handoff.arrive(get_runtime(request), get_token(request))).state}
        )

    async def receive(self, request: Request) -> Response:
        """Take the picture from the phone, and answer the state."""
        given = await body.read_members(request, "picture")
        seen = await phone_handoff.receive(get_runtime(request), get_token(request), given.get("picture"))
        return answer_json({"state": seen.state})


def get_token(request: Request) -> str:
    """Return the token in the path."""
    return str(request.path_params["token"])


def build_data_url(media: str, content: bytes) -> str:
    """Return the content as a data URL."""
    return f"data:{media};base64,{base64.b64encode(content).decode()}"
