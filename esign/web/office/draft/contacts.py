"""The address book of the organisation: one page to search, enter, change and remove people, and suggestions."""

from typing import Annotated

from starlette.responses import Response

from esign.actions.document import contacts
from esign.actions.document.contacts import ContactEntry
from esign.core.errors import Problem
from esign.web.http.validation import check
from esign.web.office.frame.create_once import choose_form_name, create_once
from esign.web.office.frame.forms import FormError, check_form
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.values.document_values import PersonName
from esign.web.values.schema import BoundedText, Email, Schema

HERE = "/contacts"
FOUND = 100  # of a search; more words narrow it
SUGGESTED = 6


class ContactForm(Schema):
    """What a member enters of a contact."""

    name: PersonName
    email: Email
    company: Annotated[str, BoundedText(0, 200)] = ""


class ContactQuery(Schema):
    """What is searched for."""

    q: Annotated[str, BoundedText(0, 100)] = ""


async def show_list(call: OfficeCall) -> Response:
    """Show the address book by name, or what was searched for."""
    given = call.request.query_params.get("q", "")
    try:
        q = check(ContactQuery, {"q": given}).q.strip()
    except Problem as problem:
        call.wrong = {"q": problem.details[0].message}
        return call.page("contacts", rows=[], q=given, more=None, full=False, turned=False)
    after = call.request.query_params.get("after")
    if q:
        found = await contacts.search(call.runtime, call.owner, q, FOUND + 1)
        rows, more = found[:FOUND], None
        return call.page("contacts", rows=rows, q=q, more=more, full=len(found) > FOUND, turned=False)
    try:
        rows, more = await contacts.find_page(call.runtime, call.owner, after)
    except Problem:  # the person at whom the page begins was removed meanwhile
        return call.redirect_to(HERE)
    return call.page("contacts", rows=rows, q="", more=more, full=False, turned=bool(after))


async def suggest(call: OfficeCall) -> Response:
    """Answer the script with people whose name, company or address begins with what was typed."""
    q = check(ContactQuery, {"q": call.request.query_params.get("q", "")}).q
    found = await contacts.search(call.runtime, call.owner, q, SUGGESTED)
    people = [{"name": one.name, "email": one.email, "company": one.company} for one in found]
    return answer_json({"people": people})


async def show_new(call: OfficeCall) -> Response:
    return call.page("contact", contact=None)


async def create(call: OfficeCall) -> Response:
    """Enter a person, and lead back to the list."""
    entry = read_entry(call)
    about = {"name": entry.name, "email": entry.email, "company": entry.company}
    try:
        await create_once(
            call,
            choose_form_name(call),
            HERE,
            about,
            lambda caller: contacts.add(call.runtime, caller, entry),
        )
    except Problem as problem:
        raise explain_problem(problem) from None
    return call.redirect_to(HERE, "contact-saved")


async def show_edit(call: OfficeCall) -> Response:
    contact = await contacts.get(call.runtime, call.owner, call.path["id"])
    return call.page("contact", contact=contact)


async def change(call: OfficeCall) -> Response:
    """Change a person, and lead back to the list."""
    entry = read_entry(call)
    try:
        await contacts.change(call.runtime, call.owner, call.path["id"], entry)
    except Problem as problem:
        raise explain_problem(problem) from None
    return call.redirect_to(HERE, "contact-saved")


async def remove(call: OfficeCall) -> Response:
    """Remove a person; documents stay as they are."""
    await contacts.remove(call.runtime, call.owner, call.path["id"])
    return call.redirect_to(HERE, "contact-removed")


def read_entry(call: OfficeCall) -> ContactEntry:
    """Return what the form holds; raise `FormError`."""
    form = check_form(ContactForm, call.form)
    return ContactEntry(form.name, form.email, form.company)


def explain_problem(problem: Problem) -> Exception:
    """Return the error to raise: `FormError` for an address that is taken, else the problem as it is."""
    if problem.code != "invalid_request" or not problem.details:
        return problem
    return FormError({one.path[1:]: one.message for one in problem.details})
