"""Erase the data of one person, for owners: enter the address, see what would be deleted, start, and watch progress."""

from starlette.responses import Response

from esign.actions.people import erase_person
from esign.core.document.state.erase import Erasing
from esign.web.office.frame import resubmit
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import checked
from esign.web.rest.schema import Email, Schema

PATH = "/settings/erasure"
WITH_OTHERS = "erase"


class Whose(Schema):
    email: Email


async def show(call: Call) -> Response:
    """Show the form, and the erasures that were started recently."""
    asked = await erase_person.recent(call.runtime, call.owner)
    return call.page("erasure", asked=asked, running=any(one.finished_at is None for one in asked))


async def look(call: Call) -> Response:
    """Show what would be deleted and what would stay. The person's address is sent by POST, so it is in no URL."""
    email = checked(Whose, call.form).email
    found = await erase_person.look(call.runtime, call.owner, email)
    return call.page("erasure_sure", email=email, found=found)


async def begin(call: Call) -> Response:
    """Start the erasure. Documents with other recipients are deleted only if the form says so."""
    email = checked(Whose, call.form).email
    shared = call.form.get("others") == WITH_OTHERS

    async def create(keep: resubmit.Keep) -> Erasing:
        return await erase_person.begin(
            call.runtime, call.owner, email, shared, call.actor, call.origin, keep
        )

    # The address is left out of the fingerprint, so that not even a hash of it is stored.
    await resubmit.make(call, resubmit.name_for(call), f"{PATH}/begin", {}, create)
    return call.go(PATH, "erasure")
