"""The seal, for whoever looks after the organisation: whose certificate, for how long, whether it holds, and another.

Every organisation of a server is sealed for with the same certificate; only the owners of the first one change it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.responses import Response

from esign.actions.sealing import seal_levels
from esign.actions.server import seal_certificates, setup_checks
from esign.actions.server.setup_checks import Found
from esign.authority import AuthorityError, By
from esign.core.actor import Mode
from esign.core.people.account import Organisation
from esign.core.people.caller import Caller
from esign.core.people.member import MemberRole
from esign.core.people.user import Act, may
from esign.runtime import Runtime
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import Wrong

PAGE, STEP = "/settings/seal", "/server/seal"
FROM_STEP = "server"  # who comes from the first steps goes back there
SHOWN = 10  # changes
NAME = 80
UNPROCESSABLE = 422

Deed = Callable[[Runtime, Organisation, MemberRole, By, Caller], Awaitable[None]]


async def show(call: Call) -> Response:
    return await shown(call, None)


async def shown(call: Call, found: Found | None) -> Response:
    states = {mode: setup_checks.seal_state(call.runtime, mode) for mode in Mode}
    keyring = call.runtime.keyring
    history = await asyncio.to_thread(keyring.history)
    return call.page(
        "seal",
        seal=states[Mode.LIVE],
        other=states[Mode.TEST],
        found=found,
        time=seal_levels.state(call.runtime),
        notices=[notice.sentence for notice in keyring.authority.notices],
        following=keyring.authority.following is not None,
        changes=history[:SHOWN],
        hand=await hand(call),
    )


async def hand(call: Call) -> str:
    """Who changes the certificate: `ours` (this person), `owners` of this organisation, `configured` or `others`."""
    if not await seal_certificates.is_in_hand(call.runtime, call.signed.organisation):
        return "others"
    if call.runtime.keyring.authority.origin == "configured":
        return "configured"
    return "ours" if may(call.signed.member.role, Act.OWN) else "owners"


async def try_it(call: Call) -> Response:
    """A page is sealed as documents are, and checked as anybody checks it; nothing of it is kept."""
    call.tries.count("test seal", call.signed.user.id, call.origin.ip)
    return await shown(call, await setup_checks.try_seal(call.runtime, call.signed.organisation))


# ---------- another certificate ----------


def way_back(call: Call) -> str:
    return STEP if call.request.query_params.get("at") == FROM_STEP else PAGE


async def aside(call: Call) -> Response | None:
    """Away from a question that has no answer here."""
    return None if await hand(call) == "ours" else call.go(PAGE)


async def show_upload(call: Call) -> Response:
    return await aside(call) or upload_page(call, ())


def upload_page(call: Call, problems: tuple[str, ...]) -> Response:
    query = f"?at={FROM_STEP}" if way_back(call) == STEP else ""
    return call.page("seal_upload", problems=problems, back=way_back(call), query=query)


async def upload(call: Call) -> Response:
    """Every problem of what was sent, or on to the page that shows it in use."""
    signed = call.signed
    call.tries.count("seal certificate", signed.user.id, call.origin.ip)
    if not call.files:
        raise Wrong({"file": "No file was chosen."})
    files = [(file.name[-NAME:], file.content) for file in call.files]
    passphrase = call.form.get("passphrase", "")
    problems = await seal_certificates.upload(
        call.runtime, signed.organisation, signed.member.role, files, passphrase, by(call), call.caller
    )
    if not problems:
        return call.go(way_back(call), "seal-uploaded")
    page = upload_page(call, problems)
    page.status_code = UNPROCESSABLE
    return page


async def ask_back(call: Call) -> Response:
    """The question; on to the page where nothing was uploaded."""
    if call.runtime.keyring.authority.origin != "uploaded":
        return call.go(PAGE)
    return await aside(call) or call.page("seal_back", seal=setup_checks.seal_state(call.runtime))


async def back(call: Call) -> Response:
    return await done(call, seal_certificates.go_back, "seal-back")


async def ask_new(call: Call) -> Response:
    query = f"?at={FROM_STEP}" if way_back(call) == STEP else ""
    state = setup_checks.seal_state(call.runtime)
    if not state.made_here:
        return call.go(PAGE)
    return await aside(call) or call.page("seal_new", seal=state, back=way_back(call), query=query)


async def new(call: Call) -> Response:
    return await done(call, seal_certificates.make_anew, "seal-new")


async def done(call: Call, deed: Deed, word: str) -> Response:
    call.tries.count("seal certificate", call.signed.user.id, call.origin.ip)
    try:
        await deed(call.runtime, call.signed.organisation, call.signed.member.role, by(call), call.caller)
    except AuthorityError as error:
        raise Wrong({"": str(error)}) from None
    return call.go(way_back(call), word)


def by(call: Call) -> By:
    user = call.signed.user
    return By(f"{user.name} <{user.email}>", call.origin.ip)
