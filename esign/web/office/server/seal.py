"""The seal page: whose certificate is used, how long it is valid, a test of it, and how to replace it.

All organisations of a server share one seal certificate. Only the owners of the first organisation may change
it.
"""

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from esign.actions.sealing import seal_levels
from esign.actions.server import seal_certificates, setup_checks
from esign.actions.server.seal_certificates import SealEditor
from esign.actions.server.server_owners import may_change_server
from esign.actions.server.setup_checks import CheckResult
from esign.authority import AuthorityError
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.people.permission import Permission, has_permission
from esign.runtime import Runtime
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall

PAGE, STEP = "/settings/seal", "/server/seal"
FROM_STEP = "server"  # the query `at=server`: the user came from the set-up steps
SHOWN = 10  # latest changes of the certificate
NAME = 80
UNPROCESSABLE = 422

Deed = Callable[[Runtime, SealEditor], Awaitable[None]]


async def show(call: OfficeCall) -> Response:
    """Show the state of the seal and the latest changes of its certificate."""
    return await show_with_result(call, None)


async def show_with_result(call: OfficeCall, found: CheckResult | None) -> Response:
    """Show the page, with the result of a test if there is one."""
    states = {mode: setup_checks.read_seal_state(call.runtime, mode) for mode in Mode}
    keyring = call.runtime.keyring
    try:
        history = await keyring.run(keyring.read_history)
    except AuthorityError as error:
        raise Problem("unavailable", error.sentence) from error
    return call.page(
        "seal",
        seal=states[Mode.LIVE],
        other=states[Mode.TEST],
        found=found,
        time=seal_levels.read_state(call.runtime),
        notices=[call.words.say(notice.sentence) for notice in keyring.authority.notices],
        following=keyring.authority.following is not None,
        changes=history[:SHOWN],
        hand=await find_who_may_change(call),
    )


async def find_who_may_change(call: OfficeCall) -> str:
    """Return who may change the certificate.

    `ours`: this user. `owners`: the owners of this organisation. `configured`: nobody, since the configuration
    file names it. `others`: the owners of the first organisation.
    """
    if not await may_change_server(call.runtime.db, call.signed_in.organisation):
        return "others"
    if call.runtime.keyring.authority.origin == "configured":
        return "configured"
    return "ours" if has_permission(call.signed_in.member.role, Permission.OWN) else "owners"


async def try_seal(call: OfficeCall) -> Response:
    """Seal a test page as documents are sealed, verify it, and show the result. The page is not kept."""
    call.tries.count("test seal", call.signed_in.user.id, call.origin.ip)
    return await show_with_result(
        call, await setup_checks.try_seal(call.runtime, call.signed_in.organisation)
    )


# ---------- another certificate ----------


def find_way_back(call: OfficeCall) -> str:
    """Return the page to go back to: the first set-up step if the user came from there, otherwise the seal page."""
    return STEP if call.request.query_params.get("at") == FROM_STEP else PAGE


async def redirect_unless_allowed(call: OfficeCall) -> Response | None:
    """Redirect to the seal page if this user may not change the certificate; None if they may."""
    return None if await find_who_may_change(call) == "ours" else call.redirect_to(PAGE)


async def show_upload(call: OfficeCall) -> Response:
    """Show the form that uploads a certificate."""
    return await redirect_unless_allowed(call) or render_upload(call, ())


def render_upload(call: OfficeCall, problems: tuple[str, ...]) -> Response:
    """Return the page with the upload form and the problems of the files that were sent."""
    query = f"?at={FROM_STEP}" if find_way_back(call) == STEP else ""
    said = [call.words.say(problem) for problem in problems]
    return call.page("seal_upload", problems=said, back=find_way_back(call), query=query)


async def upload(call: OfficeCall) -> Response:
    """Use an uploaded certificate from now on, or show every problem of the files, as status 422."""
    signed = call.signed_in
    call.tries.count("seal certificate", signed.user.id, call.origin.ip)
    if not call.files:
        raise FormError({"file": "No file was chosen."})
    files = [(file.name[-NAME:], file.content) for file in call.files]
    passphrase = call.form.get("passphrase", "")
    problems = await seal_certificates.upload(call.runtime, make_editor(call), files, passphrase)
    if not problems:
        return call.redirect_to(find_way_back(call), "seal-uploaded")
    page = render_upload(call, problems)
    page.status_code = UNPROCESSABLE
    return page


async def ask_back(call: OfficeCall) -> Response:
    """Ask before returning to the certificate that was made here; redirect if none was uploaded."""
    if call.runtime.keyring.authority.origin != "uploaded":
        return call.redirect_to(PAGE)
    return await redirect_unless_allowed(call) or call.page(
        "seal_back", seal=setup_checks.read_seal_state(call.runtime)
    )


async def go_back(call: OfficeCall) -> Response:
    """Return to the certificate that was made here."""
    return await change_certificate(call, seal_certificates.go_back, "seal-back")


async def ask_new(call: OfficeCall) -> Response:
    """Ask before a new certificate is made; redirect if the current one was not made here."""
    query = f"?at={FROM_STEP}" if find_way_back(call) == STEP else ""
    state = setup_checks.read_seal_state(call.runtime)
    if not state.made_here:
        return call.redirect_to(PAGE)
    return await redirect_unless_allowed(call) or call.page(
        "seal_new", seal=state, back=find_way_back(call), query=query
    )


async def make_new(call: OfficeCall) -> Response:
    """Make a new certificate and seal with it from now on."""
    return await change_certificate(call, seal_certificates.make_anew, "seal-new")


async def change_certificate(call: OfficeCall, deed: Deed, word: str) -> Response:
    """Carry out a change of the certificate, and redirect with a message; raise `FormError` if it is not possible."""
    call.tries.count("seal certificate", call.signed_in.user.id, call.origin.ip)
    try:
        await deed(call.runtime, make_editor(call))
    except AuthorityError as error:
        raise FormError({"": error.sentence}) from None
    return call.redirect_to(find_way_back(call), word)


def make_editor(call: OfficeCall) -> SealEditor:
    """Return the user as the one who changes the seal."""
    signed = call.signed_in
    return SealEditor(signed.organisation, signed.member.role, call.author)
