"""Erase the data of one person, for owners: enter the address, see what would be deleted, start, and watch progress."""

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.people import erase_person
from esign.core.document.erasure import ErasureRequest
from esign.web.office.frame import create_once
from esign.web.office.frame.forms import check_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.schema import Email, Schema

PATH = "/settings/erasure"
WITH_OTHERS = "erase"


class ErasureForm(Schema):
    email: Email


async def show(call: OfficeCall) -> Response:
    """Show the form, and the erasures that were started recently."""
    asked = await erase_person.list_recent(call.runtime, call.owner)
    return call.page("erasure", asked=asked, running=any(one.finished_at is None for one in asked))


async def preview(call: OfficeCall) -> Response:
    """Show what would be deleted and what would stay. The person's address is sent by POST, so it is in no URL."""
    email = check_form(ErasureForm, call.form).email
    found = await erase_person.preview_erasure(call.runtime, call.owner, email)
    return call.page("erasure_sure", email=email, found=found)


async def begin(call: OfficeCall) -> Response:
    """Start the erasure. Documents with other recipients are deleted only if the form says so."""
    email = check_form(ErasureForm, call.form).email
    shared = call.form.get("others") == WITH_OTHERS

    async def create(caller: Caller) -> ErasureRequest:
        return await erase_person.request_erasure(call.runtime, caller, email, shared)

    # The address is left out of the fingerprint, so that not even a hash of it is stored.
    await create_once.create_once(call, create_once.choose_form_name(call), f"{PATH}/begin", {}, create)
    return call.redirect_to(PATH, "erasure")
