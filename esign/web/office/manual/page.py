"""The pages of the manual: its contents, a page, the results of a search, and the pictures."""

import asyncio
from functools import cache

from starlette.responses import Response

from esign.core.errors import Problem
from esign.web.http.encoding import KeptBody
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.office.frame.missing_pages import NO_PAGE
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.manual.contents import SECTIONS, find_example, find_folder, find_place, list_names
from esign.web.office.manual.rendering import load_page, read_lead, read_title
from esign.web.office.manual.search_pages import LONGEST, search_pages

PICTURES = {".webp": "image/webp", ".png": "image/png", ".svg": "image/svg+xml"}
KEPT = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, "Cache-Control": "public, max-age=3600"}
# A picture in SVG has its own styles, for the dark; they are part of the program.
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


async def show_contents(call: OfficeCall) -> Response:
    """Show all sections with the title and the first paragraph of each page."""
    leads = await asyncio.to_thread(lambda: {name: read_lead(name) for name in list_names()})
    return show(call, "manual_contents", leads=leads)


async def show_page(call: OfficeCall) -> Response:
    """Show one page. Raise `not_found` for a name that is not in the contents."""
    place = find_place(call.path["name"])
    if place is None:
        raise Problem("not_found", NO_PAGE)
    page = await asyncio.to_thread(load_page, place.name)
    return show(call, "manual_page", place=place, page=page)


async def show_results(call: OfficeCall) -> Response:
    """Show what a search has found."""
    query = " ".join(call.request.query_params.get("q", "").split())[:LONGEST]
    results = await asyncio.to_thread(search_pages, query)
    return show(call, "manual_results", query=query, results=results)


async def send_picture(call: OfficeCall) -> Response:
    """Send a picture of the manual. Raise `not_found` for one that there is not."""
    picture = load_pictures().get(call.path["name"])
    if picture is None:
        raise Problem("not_found", NO_PAGE)
    policy = SVG_POLICY if picture.media == PICTURES[".svg"] else PLAIN_POLICY
    return await picture.respond(call.request.scope, {**KEPT, "Content-Security-Policy": policy})


async def send_example(call: OfficeCall) -> Response:
    """Send the file that lists every setting, as text."""
    content = await asyncio.to_thread(find_example().read_bytes)
    return await KeptBody("text/plain; charset=utf-8", content).respond(call.request.scope, KEPT)


def show(call: OfficeCall, template: str, **shown: object) -> Response:
    """Render a page of the manual in its frame."""
    frame = {"place": None, "query": "", "sections": SECTIONS, "title_of": read_title}
    return call.page(template, **{**frame, **shown})


@cache
def load_pictures() -> dict[str, KeptBody]:
    """Return the pictures of the manual by their names. They are read at the first request of one."""
    files = sorted((find_folder() / "images").iterdir())
    return {
        file.name: KeptBody(PICTURES[file.suffix], file.read_bytes())
        for file in files
        if file.suffix in PICTURES
    }
