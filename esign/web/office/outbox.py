"""Every mail of the organisation: to whom, what it says, and what the mail server said to it."""

from starlette.responses import Response

from esign.actions import posted
from esign.actions.copies import HIDDEN
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.store.outbox import KEPT
from esign.web.office import paging
from esign.web.office.call import Call

PER_PAGE = 50
UNDELIVERED = "undelivered"


async def show(call: Call) -> Response:
    undelivered = call.request.query_params.get("show") == UNDELIVERED
    filters = f"outbox:{call.owner}:{undelivered}"
    found, more = await posted.find_page(
        call.runtime, call.owner, PER_PAGE, paging.after(call, filters), undelivered
    )
    return call.page(
        "outbox",
        mails=found,
        undelivered=undelivered,
        more=paging.link_to(call, more, filters, **({"show": UNDELIVERED} if undelivered else {})),
        first=paging.AFTER not in call.request.query_params,
        kept=KEPT // DAY,
        embedded=call.runtime.config.mail.host is None,
    )


async def show_one(call: Call) -> Response:
    """One mail with its text, in which everything is hidden that lets anybody act as its reader."""
    wanted = call.path["id"]
    if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 19):
        raise Problem("not_found")
    mail = await posted.get(call.runtime, call.owner, int(wanted))
    return call.page("mail", mail=mail, hidden=HIDDEN)
