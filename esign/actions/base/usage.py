"""The use of an organisation, counted by day (contract 3.5)."""

import logging
from dataclasses import dataclass, replace

from esign.core.actor import Owner
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.people.usage import Meter, Usage, find_month
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import usage

log = logging.getLogger("esign")


async def list_days(runtime: Runtime, owner: Owner, first: int, last: int) -> list[tuple[int, Usage]]:
    """Return the use of every day from `first` to `last`, with the requests that are still only in memory."""
    found = await usage.find(runtime.db, owner.organisation_id, owner.mode, first, last)
    return [
        (day, add_pending(runtime, owner, day, found.get(day, Usage()))) for day in range(first, last + 1)
    ]


def add_pending(runtime: Runtime, owner: Owner, day: int, used: Usage) -> Usage:
    """Return the use of a day with the requests of that day that are still only in memory."""
    pending = runtime.requests.count_pending(Meter(owner.organisation_id, owner.mode, day))
    return replace(used, api_requests=used.api_requests + pending)


@dataclass(frozen=True, slots=True)
class QuotaStanding:
    """What counts against the quotas now: today's e-mails in both modes, and the live documents of this month.

    `documents_most` is None if the number of documents is not limited.
    """

    mails: int
    mails_most: int
    documents: int
    documents_most: int | None


async def read_quota_standing(runtime: Runtime, owner: Owner) -> QuotaStanding:
    """Return what the organisation has used of its quotas."""
    now, limits = runtime.clock.now(), runtime.config.limits
    return QuotaStanding(
        mails=await usage.count_emails(runtime.db, owner.organisation_id, now // DAY),
        mails_most=limits.emails_per_day,
        documents=await usage.count_documents_sent(
            runtime.db, owner.organisation_id, find_month(now).first_day
        ),
        documents_most=limits.documents_per_month or None,
    )


async def flush(runtime: Runtime) -> int:
    """Write the requests counted in memory, and return the number of counters raised."""
    counts = runtime.requests.snapshot()
    if not counts:
        return 0

    async def write(tx: Transaction) -> None:
        for meter, requests in counts.items():
            await usage.add(tx, meter, Usage(api_requests=requests))

    try:
        await runtime.db.write(write)
    except Problem as problem:
        log.warning("the requests of the last minute were not counted yet: %s", problem)
        return 0
    runtime.requests.subtract_written(counts)
    return len(counts)
