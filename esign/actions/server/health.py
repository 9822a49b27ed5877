"""What the program needs to do its work, and whether it has it (`GET /readyz`)."""

import sqlite3

from cryptography import x509

from esign.actions.mail import deliver_mail, mail_breaker
from esign.actions.sealing import seal_levels
from esign.actions.server import clock_watch
from esign.core.errors import Problem
from esign.core.instant import MINUTE, rfc3339
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import deliveries, outbox

LATE = 10 * MINUTE
STILL = MINUTE
REFUSED = 3  # attempts
NAMED = 3


async def check(runtime: Runtime) -> dict[str, str]:
    """`ok`, or what is wrong in a few words, for each part."""
    told = await database(runtime)
    reads = told == "ok"
    return {
        "database": told,
        "storage": storage(runtime),
        "signer": await signer(runtime, reads),
        "mailer": await mailer(runtime) if reads else told,
        "queue": await queue(runtime) if reads else told,
    }


async def database(runtime: Runtime) -> str:
    async def write(tx: Transaction) -> None:
        await tx.one("SELECT 1")

    try:
        await runtime.db.write(write)
    except (Problem, sqlite3.Error):
        return "failed"
    return "ok"


def storage(runtime: Runtime) -> str:
    """Room for what signers still have to bring."""
    return "disk full" if runtime.room.is_short() else "ok"


async def signer(runtime: Runtime, reads: bool) -> str:
    """Whether the seal certificates are valid today, and no seal waits for a time stamp."""
    now = runtime.clock.now()
    for credential in runtime.credentials.values():
        certificate = x509.load_der_x509_certificate(credential.certificate_der)
        if not (
            certificate.not_valid_before_utc.timestamp() * 1000
            <= now
            <= certificate.not_valid_after_utc.timestamp() * 1000
        ):
            return "seal certificate not valid"
    waits = reads and await outbox.waits_for(runtime.db, "seal", outbox.NO_TIME_STAMPS)
    return "no time stamps" if waits else "ok"


def warnings(runtime: Runtime) -> list[str]:
    """What will have to be done, while everything still works."""
    silent = ["no time-stamp authority answers"] if seal_levels.state(runtime).silent else []
    log = runtime.db.large_log()
    growing = [log_words(log.size, log.seconds)] if log else []
    doubt = runtime.clock.doubt
    clock = (
        [] if doubt is None else [f"the clock {clock_watch.jump(doubt)}: nothing expires until that is sure"]
    )
    notices = [notice.brief for notice in runtime.keyring.authority.notices]
    # No failure of `check`: a server that a load balancer takes out of service for it would serve nobody at all.
    full = ["work on PDFs is turned away"] if runtime.pdf.queue.is_saturated else []
    return notices + silent + growing + clock + full + damaged(runtime)


def damaged(runtime: Runtime) -> list[str]:
    """What was met that cannot be read; at most a few of them are named."""
    found = runtime.db.damage.entries()
    if not found:
        return []
    named = ", ".join(f"{table} {key}" for table, key, _ in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return [f"cannot be read or worked with, and is set aside: {named}{more}; esign check reads everything"]


def log_words(size: int, seconds: float) -> str:
    return (
        f"the log of the database has grown to {size // 2**20} MiB: for {counted(int(seconds // 60), 'minute')}"
        " a reader, such as a backup, has kept it from being cut; it is cut when that reader ends"
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


async def mailer(runtime: Runtime) -> str:
    """The mail server takes mails: one that a single address refuses for now is none of its faults.

    What the server said stays out of it: whoever watches needs no login to read this.
    """
    stop = await mail_breaker.find_silence(runtime)
    if stop is not None and await outbox.next_due(runtime.db, "mail") is not None:
        return f"no mail leaves since {rfc3339(stop.stopped_at)}: {mail_breaker.SAID[stop.cause].lower()}"
    now = runtime.clock.now()
    if await outbox.stands_still(runtime.db, "mail", now - STILL, deliver_mail.LEASE):
        return "no mail left in the last minute, although some wait"
    stuck = await outbox.is_stuck(runtime.db, "mail", REFUSED)
    return "mails are not taken" if stuck else "ok"


async def queue(runtime: Runtime) -> str:
    """Work that is due is being done."""
    now = runtime.clock.now()
    for kind in ("seal", "mail"):
        due = await outbox.next_due(runtime.db, kind)
        if due is not None and due < now - LATE:
            return "work is late"
    return "work is late" if await deliveries.is_late(runtime.db, now - LATE) else "ok"
