"""Answer the script of the command palette with what the text finds: pages first, then documents, templates, people."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from markupsafe import Markup
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
from esign.web.office.frame.name_lists import list_names
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.office.frame.words import OfficeWords
from esign.web.office.palette.places import PalettePlace, find_places
from esign.web.values.schema import BoundedText, Schema

MOST_PLACES, MOST_DOCUMENTS, MOST_TEMPLATES, MOST_PEOPLE = 8, 5, 4, 4
ICONS = {"draft": "edit", "completed": "seal", "sealing": "seal", "attention": "warn", "failed": "warn"}

PaletteItem = dict[str, object]
PaletteGroup = dict[str, object]


class PaletteQuery(Schema):
    """What was typed."""

    q: Annotated[str, BoundedText(0, 100)] = ""


async def search(call: OfficeCall) -> Response:
    """Answer with groups of results. Before anything is typed these are the usual pages and the newest documents."""
    text = check(PaletteQuery, {"q": call.request.query_params.get("q", "")}).q.strip()
    role, t = call.signed_in.member.role, call.words
    may = {act for act in Permission if has_permission(role, act)}
    switches = call.runtime.config.server.environment != "test"
    places = list(find_places(text, may, call.owner.mode.value, t, switches=switches))[:MOST_PLACES]
    shown, made = partial(show_document, t=t), partial(show_template, t=t)
    if text:
        groups = [
            build_group(t("palette.group.places"), map(partial(show_place, t=t), places)),
            build_group(t("palette.group.documents"), map(shown, await find_documents(call, text))),
            build_group(t("palette.group.templates"), map(made, await find_templates(call, text))),
            build_group(t("palette.group.people"), map(show_contact, await find_people(call, text, may))),
        ]
    else:
        groups = [
            build_group(t("palette.group.recent"), map(shown, await find_documents(call, None))),
            build_group(t("palette.group.places"), map(partial(show_place, t=t), places)),
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


def build_group(name: Markup, items: Iterable[PaletteItem]) -> PaletteGroup:
    """Return one group of results."""
    return {"name": name.unescape(), "items": list(items)}


def show_place(place: PalettePlace, t: OfficeWords) -> PaletteItem:
    """Return a page, setting or action; one with a `form` is sent as a form with these values."""
    kind = t(f"palette.kind.{place.kind}").unescape()
    item: PaletteItem = {"title": place.say_title(t), "sub": kind, "icon": place.icon, "to": place.path}
    return item if place.form is None else item | {"form": dict(place.form)}


def show_document(document: DocumentSummary, t: OfficeWords) -> PaletteItem:
    """Return a document: its status and its recipients below its title."""
    kind, status = choose_badge(document, t)
    names = [one.name or one.email for one in document.recipients]
    return {
        "title": document.title,
        "sub": status,
        "people": list_names(names, t).unescape() if names else "",
        "icon": ICONS.get(kind, "doc"),
        "to": f"/documents/{document.id}",
    }


def show_template(template: Template, t: OfficeWords) -> PaletteItem:
    """Return a template: the number of its fields below its title."""
    fields = sum(len(role.fields) for role in template.roles)
    return {
        "title": template.title,
        "sub": (t.count("fields", fields) if fields else t("no_fields")).unescape(),
        "icon": "template",
        "to": f"/templates/{template.id}",
    }


def show_contact(contact: Contact) -> PaletteItem:
    """Return a person: address and company below their name."""
    return {
        "title": contact.name,
        "sub": contact.email,
        "people": contact.company or "",
        "icon": "name",
        "to": f"/contacts/{contact.id}",
    }
