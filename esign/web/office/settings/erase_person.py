"""Erasing what is kept of one person, for owners: the address, what would go and stay, and how far it has come."""

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
    asked = await erase_person.recent(call.runtime, call.owner)
    return call.page("erasure", asked=asked, running=any(one.finished_at is None for one in asked))


async def look(call: Call) -> Response:
    """What would go and what would stay; the address is in no address bar."""
    email = checked(Whose, call.form).email
    found = await erase_person.look(call.runtime, call.owner, email)
    return call.page("erasure_sure", email=email, found=found)


async def begin(call: Call) -> Response:
    """Documents with other people in them go only where that was said."""
    email = checked(Whose, call.form).email
    shared = call.form.get("others") == WITH_OTHERS

    async def create(keep: resubmit.Keep) -> Erasing:
        return await erase_person.begin(
            call.runtime, call.owner, email, shared, call.actor, call.origin, keep
        )

    await resubmit.make(
        call, resubmit.name_for(call), f"{PATH}/begin", {}, create
    )  # of the address not even a hash stays
    return call.go(PATH, "erasure")
