"""The members of the organisation, for those who may administer them."""

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.people import members
from esign.core.errors import Problem
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.user import LASTS, Errand, User
from esign.store.people import users
from esign.store.people.members import get_own
from esign.web.office.frame import create_once, paging
from esign.web.office.frame.forms import FormError, check_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.account_values import MemberRoleName, NamedPerson

HERE = "/members"
PER_PAGE = 50
REVOKE = "revoke"  # the checkbox that also revokes the API keys of the removed member


class InvitationForm(NamedPerson):
    role: MemberRoleName


async def show(call: OfficeCall) -> Response:
    """Show one page of the list of members, with the form that invites another."""
    filters = f"members:{call.owner}"
    found, more = await members.find_page(
        call.runtime, call.owner, PER_PAGE, paging.read_cursor(call, filters)
    )
    people = await users.get_many(call.runtime.db, [one.user_id for one in found if one.user_id])
    invited = [one for one in found if one.status is MemberStatus.INVITED]
    mailed = await members.find_mailed(call.runtime, invited)
    return call.page(
        "members",
        rows=[
            {**describe_member(call, one, people.get(one.user_id or "")), "mailed": mailed.get(one.id)}
            for one in found
        ],
        more=paging.link_next_page(call, more, filters, HERE),
        first=paging.AFTER not in call.request.query_params,
        roles=list_offered_roles(call),
    )


def describe_member(call: OfficeCall, member: Member, person: User | None) -> dict[str, object]:
    """Return a member as the list shows them, with what the current user may do to them."""
    signed = call.signed_in
    touchable = member.id != signed.member.id and (
        signed.member.role is MemberRole.OWNER or member.role is not MemberRole.OWNER
    )
    return {
        "member": member,
        "me": member.id == signed.member.id,
        "invited": member.status is MemberStatus.INVITED,
        "seen": person.seen_at if person else None,
        "disabled": person is not None and person.disabled_at is not None,
        "two_factors": person is not None and person.totp is not None,
        "roles": [role for role in list_offered_roles(call) if role is not member.role] if touchable else [],
        "touchable": touchable,
    }


def list_offered_roles(call: OfficeCall) -> list[MemberRole]:
    """Return the roles that the current user may give, the usual one first."""
    roles = [MemberRole.MEMBER, MemberRole.ADMIN, MemberRole.VIEWER]
    return [*roles, MemberRole.OWNER] if call.signed_in.member.role is MemberRole.OWNER else roles


async def invite(call: OfficeCall) -> Response:
    """Invite a member; raise `FormError` if the address is that of a member already."""
    given = check_form(InvitationForm, call.form)
    about, role = given.model_dump(mode="json"), MemberRole(given.role)

    async def create(caller: Caller) -> Member:
        return await members.invite(call.runtime, caller, given.email, given.name, role)

    try:
        await create_once.create_once(call, create_once.choose_form_name(call), HERE, about, create)
    except Problem as problem:
        if problem.code != "member_exists":
            raise
        raise FormError({"email": problem.message}) from None
    return call.redirect_to(HERE, "invited")


async def change(call: OfficeCall) -> Response:
    """Change the role of a member; raise `FormError` for the last owner."""
    role = {role.value: role for role in MemberRole}.get(call.form.get("role", ""))
    if role is None:
        raise Problem("invalid_request", "This role doesn’t exist.")
    try:
        await members.change(call.runtime, call.caller, call.path["id"], None, role)
    except Problem as problem:
        raise explain_problem(problem) from None
    return call.redirect_to(HERE, "role")


async def invite_again(call: OfficeCall) -> Response:
    """Send an invitation with a new link; the old link stops working."""
    await members.invite_again(call.runtime, call.caller, call.path["id"])
    return call.redirect_to(HERE, "invited-again")


async def show_link(call: OfficeCall) -> Response:
    """Issue an invitation link and show it once."""
    member, address = await members.issue_link(call.runtime, call.caller, call.path["id"])
    return call.page(
        "member_link",
        member=member,
        address=address,
        until=call.runtime.clock.now() + LASTS[Errand.INVITATION],
    )


async def ask_remove(call: OfficeCall) -> Response:
    """Ask before a member is removed, and list their API keys."""
    member = await get_own(call.runtime.db, call.signed_in.organisation.id, call.path["id"])
    keys = await members.find_keys(call.runtime, call.owner, member.id)
    return call.page("member_remove", member=member, keys=keys)


async def remove(call: OfficeCall) -> Response:
    """Remove a member and, if the form says so, revoke their API keys; raise `FormError` for the last owner."""
    revoke_keys = REVOKE in call.form
    try:
        removal = await members.remove(call.runtime, call.caller, call.path["id"], revoke_keys=revoke_keys)
    except Problem as problem:
        raise explain_problem(problem) from None
    return call.redirect_to(HERE, "removed-keys" if removal.keys and revoke_keys else "removed")


def explain_problem(problem: Problem) -> Exception:
    """Return the error to raise: `last_owner` is shown above the list, any other problem on a page of its own."""
    return FormError({"": problem.message}) if problem.code == "last_owner" else problem
