"""Saved views of the document list: save, rename, share and delete them."""

from typing import Annotated

from starlette.responses import Response

from esign.actions.document import saved_views
from esign.core.document.saved_view import SavedView
from esign.core.people.permission import Permission, has_permission
from esign.web.office.documents.filters import LIST, DocumentListQuery, read_back_query
from esign.web.office.documents.selection import find_way_back
from esign.web.office.frame.create_once import choose_form_name, create_once
from esign.web.office.frame.forms import check_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.schema import BoundedText, Schema

HERE = "/documents/views"


class ViewForm(Schema):
    """The name of a view."""

    name: Annotated[str, BoundedText(1, 60)]


async def show_all(call: OfficeCall) -> Response:
    """Show the member's views and those that others share."""
    views = await saved_views.find_all(call.runtime, call.caller)
    member, leads = call.signed_in.member.id, may(call, Permission.SETTLE)
    rows = [(view, link_view(view), view.may_change(member, leads)) for view in views]
    return call.page("views", rows=rows, me=member)


async def show_new(call: OfficeCall) -> Response:
    """Show the form that saves the filters of the list that the user came from."""
    asked = read_filters(call)
    if not asked.given or asked.wrong:
        return call.redirect_to(find_way_back(call))
    return call.page("view_form", view=None, back=asked.link(), may_share=may(call, Permission.WORK))


async def create(call: OfficeCall) -> Response:
    """Save the view, and lead back to its list."""
    name = check_form(ViewForm, call.form).name
    asked, shared = read_filters(call), wants_sharing(call)
    query = asked.link().partition("?")[2]
    about = {"name": name, "query": query, "shared": shared}
    await create_once(
        call,
        choose_form_name(call),
        HERE,
        about,
        lambda caller: saved_views.create(call.runtime, caller, name, query, shared=shared),
    )
    return call.redirect_to(asked.link(), "view-saved")


async def show_edit(call: OfficeCall) -> Response:
    """Show the form that renames, shares or deletes a view."""
    view = await get_changeable(call)
    return call.page("view_form", view=view, back=link_view(view), may_share=may(call, Permission.WORK))


async def change(call: OfficeCall) -> Response:
    """Rename the view, and share it or stop sharing it."""
    view = await get_changeable(call)
    name = check_form(ViewForm, call.form).name
    await saved_views.change(call.runtime, view, name, shared=wants_sharing(call))
    return call.redirect_to(HERE, "view-saved")


async def delete(call: OfficeCall) -> Response:
    """Delete the view; its documents stay."""
    await saved_views.delete(call.runtime, await get_changeable(call))
    return call.redirect_to(HERE, "view-deleted")


async def get_changeable(call: OfficeCall) -> SavedView:
    """Return the view of the address, if the member may change it; raise `not_found` otherwise."""
    leads = may(call, Permission.SETTLE)
    return await saved_views.get(call.runtime, call.caller, call.path["id"], leads=leads)


def read_filters(call: OfficeCall) -> DocumentListQuery:
    """Return the filters of the list that the user came from."""
    return read_back_query(find_way_back(call), call.signed_in.organisation.time_zone)


def wants_sharing(call: OfficeCall) -> bool:
    """Return whether the form shares the view. Viewers share nothing."""
    return "shared" in call.form and may(call, Permission.WORK)


def may(call: OfficeCall, act: Permission) -> bool:
    return has_permission(call.signed_in.member.role, act)


def link_view(view: SavedView) -> str:
    """Return the address of the list that a view shows."""
    return f"{LIST}?{view.query}"
