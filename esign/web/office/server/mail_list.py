"""List every mail of the organisation, and show each as its recipient sees it, with the mail server's answer."""

from starlette.responses import Response

from esign.actions.mail import mail_breaker, sent_mail
from esign.actions.mail.mail_archive import HIDDEN
from esign.actions.mail.sent_mail import SentMail
from esign.actions.server import kept_invitations
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people.permission import Permission, has_permission
from esign.store.queue.outbox import KEPT
from esign.web.office.frame import paging
from esign.web.office.frame.mail_frame import allow_frames, make_letter_response
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
        stopped=call.words.say(mail_breaker.name_cause(stop)) if stop else None,
        probe_at=stop.probe_at if stop else None,
        mails=found,
        undelivered=undelivered,
        more=paging.link_next_page(call, more, filters, **({"show": UNDELIVERED} if undelivered else {})),
        first=paging.AFTER not in call.request.query_params,
        kept=KEPT // DAY,
        embedded=call.runtime.config.mail.host is None,
        unmailed=await kept_invitations.count(call.runtime, call.owner),
    )


async def retry(call: OfficeCall) -> Response:
    """Try the mail server again now, instead of at the next scheduled attempt."""
    await mail_breaker.resume(call.runtime)
    return call.redirect_to("/settings/outbox", "mail-tried")


async def mail_kept(call: OfficeCall) -> Response:
    """Mail the invitations that were kept here while no mail server was set."""
    number = await kept_invitations.mail_all(call.runtime, call.caller)
    return call.redirect_to("/settings/outbox", "kept-mailed", number)


async def show_one(call: OfficeCall) -> Response:
    """Show one mail. Links and codes that would let a reader act as the recipient are hidden.

    They are not hidden in test mode and, in mails about documents, while there is no mail server that could bring
    them to the recipient.
    """
    mail = await find_mail(call)
    return allow_frames(call.page("mail", mail=mail, hidden=HIDDEN, leads=may_lead(call)))


async def send_letter(call: OfficeCall) -> Response:
    """Send the HTML of one mail for the frame of its page; raise `not_found` for a mail without one."""
    mail = await find_mail(call)
    if not mail.copy.html:
        raise Problem("not_found")
    organisation = call.signed_in.organisation
    openable = HIDDEN not in mail.copy.html
    return await make_letter_response(call.runtime, organisation, mail.copy.html, openable=openable)


async def find_mail(call: OfficeCall) -> SentMail:
    """Return the mail of the address, opened if the member may open it.

    Members who do not look after the organisation find mails about documents alone, and only those that they may
    open. Raise `not_found` for any other.
    """
    wanted = call.path["id"]
    if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 19):
        raise Problem("not_found")
    mail = await sent_mail.get(call.runtime, call.owner, int(wanted))
    if not may_lead(call) and not sent_mail.may_be_opened(call.runtime, call.owner, mail):
        raise Problem("not_found")
    return await sent_mail.open_mail(call.runtime, call.owner, mail)


def may_lead(call: OfficeCall) -> bool:
    """Return whether the member looks after the organisation, and with it after all of its mails."""
    return has_permission(call.signed_in.member.role, Permission.SETTLE)
