"""The template list, with search and paging: what each template consists of, and when it was last used."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from esign.actions.document import templates
from esign.core.document.document_filters import DocumentFilters
from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.store.document import listing
from esign.web.http.validation import check
from esign.web.office.frame import paging
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.schema import BoundedText, Schema

PER_PAGE = 25
HERE = "/templates"


class TemplateListQuery(Schema):
    """The query of the list; the search has the same limits as in the API."""

    q: Annotated[str, BoundedText(0, 100), Field()] = ""


async def show_list(call: OfficeCall) -> Response:
    """Show the page of the list that the address asks for. An invalid cursor leads back to the first page."""
    given = call.request.query_params.get("q", "")
    try:
        q = check(TemplateListQuery, {"q": given}).q or None
    except Problem as problem:
        call.wrong = {"q": problem.details[0].message}
        return call.page("templates", rows=[], q=given, more=None, turned=False)
    bound = f"office-templates:{call.owner}:{q}"
    kept = {"q": q} if q else {}
    try:
        after = paging.read_cursor(call, bound)
    except Problem:
        return call.redirect_to(paging.link_first_page(HERE, **kept))
    found, more = await templates.find_page(call.runtime, call.owner, PER_PAGE, after, q)
    return call.page(
        "templates",
        rows=[(template, await find_last_use(call, template)) for template in found],
        q=q or "",
        more=paging.link_next_page(call, more, bound, **kept),
        turned=after is not None,
        begin=paging.link_first_page(HERE, **kept),
    )


async def find_last_use(call: OfficeCall, template: Template) -> Instant | None:
    """Return when the newest document was made from the template, or None."""
    asked = DocumentFilters(template_id=template.id)
    found = await listing.find_summaries(call.runtime.db, call.owner, 1, asked=asked)
    return found[0].created_at if found else None
