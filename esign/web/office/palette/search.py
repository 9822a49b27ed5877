"""Answer the script of the command palette with what the text finds: pages first, then documents, templates, people."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from starlette.responses import Response

from esign.actions.document import contacts
from esign.core.document.document_filters import DocumentFilters, Sort
from esign.core.document.summary import DocumentSummary
from esign.core.document.template import Template
from esign.core.people.contact import Contact
from esign.core.people.permission import Permission, has_permission
from esign.store.document import listing, templates
from esign.web.http.validation import check
from esign.web.office.document.document_row import choose_badge
from esign.web.office.frame.formats import format_field_count
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.office.frame.words import OfficeWords
from esign.web.office.palette.places import PalettePlace, find_places
from esign.web.values.schema import BoundedText, Schema

MOST_PLACES, MOST_DOCUMENTS, MOST_TEMPLATES, MOST_PEOPLE = 8, 5, 4, 4
KINDS = {"page": "Page", "setting": "Setting", "action": "Action"}
ICONS = {"draft": "edit", "completed": "seal", "sealing": "seal", "attention": "warn", "failed": "warn"}

PaletteItem = dict[str, object]
PaletteGroup = dict[str, object]


class PaletteQuery(Schema):
    """What was typed."""

    q: Annotated[str, BoundedText(0, 100)] = ""


async def search(call: OfficeCall) -> Response:
    """Answer with groups of results. Before anything is typed these are the usual pages and the newest documents."""
    text = check(PaletteQuery, {"q": call.request.query_params.get("q", "")}).q.strip()
    role = call.signed_in.member.role
    may = {act for act in Permission if has_permission(role, act)}
    switches = call.runtime.config.server.environment != "test"
    places = list(find_places(text, may, call.owner.mode.value, switches=switches))[:MOST_PLACES]
    shown = partial(show_document, t=call.words)
    if text:
        groups = [
            build_group("Go to", map(show_place, places)),
            build_group("Documents", map(shown, await find_documents(call, text))),
            build_group("Templates", map(show_template, await find_templates(call, text))),
            build_group("People", map(show_contact, await find_people(call, text, may))),
        ]
    else:
        groups = [
            build_group("Recent documents", map(shown, await find_documents(call, None))),
            build_group("Go to", map(show_place, places)),
        ]
    return answer_json({"groups": [group for group in groups if group["items"]]})


async def find_documents(call: OfficeCall, text: str | None) -> list[DocumentSummary]:
    """Return the newest documents in which the text occurs, or those that changed last."""
    asked = DocumentFilters(q=text) if text else DocumentFilters(sort=Sort.LAST_CHANGED)
    db = call.runtime.db
    return await listing.find_summaries(db, call.owner, MOST_DOCUMENTS, None, asked, db.points)


async def find_templates(call: OfficeCall, text: str) -> list[Template]:
    """Return the newest templates with the text in their name."""
    return await templates.find_page(call.runtime.db, call.owner, MOST_TEMPLATES, q=text)


async def find_people(call: OfficeCall, text: str, may: Iterable[Permission]) -> list[Contact]:
    """Return people of the address book, for members who may open it."""
    if Permission.WORK not in may:
        return []
    return await contacts.search(call.runtime, call.owner, text, MOST_PEOPLE)


def build_group(name: str, items: Iterable[PaletteItem]) -> PaletteGroup:
    """Return one group of results."""
    return {"name": name, "items": list(items)}


def show_place(place: PalettePlace) -> PaletteItem:
    """Return a page, setting or action; one with a `form` is sent as a form with these values."""
    item: PaletteItem = {"title": place.title, "sub": KINDS[place.kind], "icon": place.icon, "to": place.path}
    return item if place.form is None else item | {"form": dict(place.form)}


def show_document(document: DocumentSummary, t: OfficeWords) -> PaletteItem:
    """Return a document: its status and its recipients below its title."""
    kind, status = choose_badge(document, t)
    names = [one.name or one.email for one in document.recipients]
    return {
        "title": document.title,
        "sub": status,
        "people": names[:3],
        "more": max(0, len(names) - 3),
        "icon": ICONS.get(kind, "doc"),
        "to": f"/documents/{document.id}",
    }


def show_template(template: Template) -> PaletteItem:
    """Return a template: the number of its fields below its title."""
    fields = sum(len(role.fields) for role in template.roles)
    return {
        "title": template.title,
        "sub": format_field_count(fields),
        "icon": "template",
        "to": f"/templates/{template.id}",
    }


def show_contact(contact: Contact) -> PaletteItem:
    """Return a person: address and company below their name."""
    return {
        "title": contact.name,
        "sub": contact.email,
        "people": [contact.company] if contact.company else [],
        "icon": "name",
        "to": f"/contacts/{contact.id}",
    }
