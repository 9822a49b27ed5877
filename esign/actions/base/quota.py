"""Quotas of an organisation for a day and for a month (contract 7), checked before create, send and remind."""

from math import ceil

from esign.core.actor import Mode, Owner
from esign.core.errors import Problem
from esign.core.instant import DAY, SECOND, Instant, rfc3339
from esign.core.people.usage import find_month
from esign.core.sentence import say
from esign.runtime import Runtime
from esign.store.engine.database import Reader
from esign.store.people import usage

MAILS_SENT = "Your organisation has sent its {quota} emails for today. It can send again from {time}."
DOCUMENTS_SENT = (
    "Your organisation has sent its {quota} documents for this month. It can send again from {time}."
)


async def check_mails(runtime: Runtime, reader: Reader, organisation_id: str) -> None:
    """Raise `quota_exceeded` if the organisation has sent all e-mails of today. Both modes count together."""
    now, quota = runtime.clock.now(), runtime.config.limits.emails_per_day
    if await usage.count_emails(reader, organisation_id, now // DAY) >= quota:
        raise make_quota_error(MAILS_SENT, quota, now - now % DAY + DAY, now)


async def check_quota(runtime: Runtime, reader: Reader, owner: Owner) -> None:
    """Raise `quota_exceeded` if nothing more may be created or sent today, or this month.

    Only live documents are counted.
    """
    await check_mails(runtime, reader, owner.organisation_id)
    quota = runtime.config.limits.documents_per_month
    if owner.mode is Mode.TEST or not quota:
        return
    now = runtime.clock.now()
    month = find_month(now)
    if await usage.count_documents_sent(reader, owner.organisation_id, month.first_day) >= quota:
        raise make_quota_error(DOCUMENTS_SENT, quota, month.ends_at, now)


def make_quota_error(form: str, quota: int, until: Instant, now: Instant) -> Problem:
    """Return the error, which says when the organisation may send again."""
    return Problem(
        "quota_exceeded",
        say(form, quota=quota, time=rfc3339(until)),
        retry_after=ceil((until - now) / SECOND),
    )
