"""List every mail of the organisation, with its recipient, its text and the mail server's answer."""

from starlette.responses import Response

from esign.actions.mail import mail_breaker, sent_mail
from esign.actions.mail.mail_archive import HIDDEN
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.store.queue.outbox import KEPT
from esign.web.office.frame import paging
from esign.web.office.frame.office_call import OfficeCall

PER_PAGE = 50
UNDELIVERED = "undelivered"


async def show(call: OfficeCall) -> Response:
    """Show one page of the list of mails, or only those that were not delivered."""
    undelivered = call.request.query_params.get("show") == UNDELIVERED
    filters = f"outbox:{call.owner}:{undelivered}"
    found, more = await sent_mail.find_page(
        call.runtime, call.owner, PER_PAGE, paging.read_cursor(call, filters), undelivered
    )
    stop = await mail_breaker.find_stop(call.runtime, call.owner.organisation_id)
    return call.page(
        "outbox",
        stopped=mail_breaker.name_cause(stop) if stop else None,
        probe_at=stop.probe_at if stop else None,
        mails=found,
        undelivered=undelivered,
        more=paging.link_next_page(call, more, filters, **({"show": UNDELIVERED} if undelivered else {})),
        first=paging.AFTER not in call.request.query_params,
        kept=KEPT // DAY,
        embedded=call.runtime.config.mail.host is None,
    )


async def retry(call: OfficeCall) -> Response:
    """Try the mail server again now, instead of at the next scheduled attempt."""
    await mail_breaker.resume(call.runtime)
    return call.redirect_to("/settings/outbox", "mail-tried")


async def show_one(call: OfficeCall) -> Response:
    """Show one mail. Links and codes in its text are hidden, since they would let a reader act as the recipient."""
    wanted = call.path["id"]
    if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 19):
        raise Problem("not_found")
    mail = await sent_mail.get(call.runtime, call.owner, int(wanted))
    return call.page("mail", mail=mail, hidden=HIDDEN)
