"""Checks whether the program can do its work (`GET /readyz`)."""

import asyncio

from cryptography import x509

from esign.actions.mail import deliver_mail, mail_breaker
from esign.actions.sealing import seal_levels
from esign.actions.server import clock_watch
from esign.core.errors import Problem
from esign.core.instant import MINUTE, Instant, rfc3339
from esign.https import HttpsCertificates
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.engine.failures import DatabaseError
from esign.store.queue import deliveries, held_jobs, outbox, set_aside

ANSWER_SECONDS = 5.0  # for the database: a disk that hangs must not hang the probe
ASIDE_NOUNS = {"seal": "seal", "mail": "mail", "webhook": "webhook event"}
LATE = 10 * MINUTE
STILL = MINUTE
REFUSED = 3  # attempts after which an e-mail counts as stuck
NAMED = 3  # most damaged rows that a warning names


async def check_health(runtime: Runtime) -> dict[str, str]:
    """Return for each part of the program `ok`, or a few words on what is wrong."""
    told = await check_database(runtime)
    reads = told == "ok"
    https = {"https": check_https(runtime.https, runtime.clock.now())} if runtime.https else {}
    return https | {
        "database": told,
        "storage": check_storage(runtime),
        "signer": await check_signer(runtime, reads),
        "mailer": await check_mailer(runtime) if reads else told,
        "queue": await check_queue(runtime) if reads else told,
        "loops": check_loops(runtime),
    }


def check_loops(runtime: Runtime) -> str:
    """Return whether every background loop gives signs of life, and its last runs did not all fail."""
    beats = runtime.loops.beats.values()
    hung = sorted(each.name for each in beats if each.hung_since is not None)
    failing = sorted(each.name for each in beats if each.is_failing)
    if hung:
        return f"no sign of life: {', '.join(hung)}"
    return f"failing: {', '.join(failing)}" if failing else "ok"


def check_https(https: HttpsCertificates, now: Instant) -> str:
    """Return whether this server has a certificate that browsers take."""
    state = https.read_state()
    if state.is_valid(now):
        return "ok"
    what = "no certificate" if state.certificate is None else "certificate expired"
    return f"{what}: {state.problem.brief}" if state.problem else what


async def check_database(runtime: Runtime) -> str:
    """Return whether the database can be written to."""

    async def write(tx: Transaction) -> None:
        """Write nothing: that the transaction begins and ends is the answer."""

    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await runtime.db.write(write)
    except (Problem, DatabaseError):
        return "failed"
    except TimeoutError:
        return "no answer"
    return "ok"


def check_storage(runtime: Runtime) -> str:
    """Return whether the disk has room for what signers still have to send."""
    return "disk full" if runtime.room.is_short() else "ok"


async def check_signer(runtime: Runtime, reads: bool) -> str:
    """Return whether the seal certificates are valid today, their keys can be used, and no seal waits for a time stamp.

    Why a key cannot be used names files, so it stands in the log and at the documents.
    """
    now = runtime.clock.now()
    for credential in runtime.credentials.values():
        certificate = x509.load_der_x509_certificate(credential.certificate_der)
        if not (
            certificate.not_valid_before_utc.timestamp() * 1000
            <= now
            <= certificate.not_valid_after_utc.timestamp() * 1000
        ):
            return "seal certificate not valid"
        if runtime.pdf.signer.find_fault(credential):
            return "seal key cannot be used"
    waits = reads and await outbox.has_failed_for(runtime.db, "seal", outbox.NO_TIME_STAMPS)
    return "no time stamps" if waits else "ok"


def list_warnings(runtime: Runtime) -> list[str]:
    """Return what an operator will have to do soon, while everything still works."""
    silent = ["no time-stamp authority answers"] if seal_levels.read_state(runtime).silent else []
    log = runtime.db.wal.find_large()
    growing = [describe_large_log(log.size, log.seconds)] if log else []
    doubt = runtime.clock.doubt
    clock = (
        []
        if doubt is None
        else [f"the clock {clock_watch.name_jump(doubt)}: nothing expires until that is sure"]
    )
    notices = [notice.brief for notice in runtime.keyring.authority.notices]
    # This must not fail the check: a load balancer would take the server out of service, and it would serve nobody.
    full = ["work on PDFs is turned away"] if runtime.pdf.queue.is_saturated else []
    sealing = (
        ["seals end the processes that make them, whatever the document: see the log"]
        if runtime.measures.sealing_fails
        else []
    )
    state = runtime.https.read_state() if runtime.https else None
    https = [f"https: {state.problem.brief}"] if state and state.problem else []
    found = (
        notices,
        https,
        silent,
        growing,
        clock,
        full,
        sealing,
        list_damage(runtime),
        list_restarts(runtime),
    )
    return [warning for warnings in found for warning in warnings]


def list_restarts(runtime: Runtime) -> list[str]:
    """Return a warning for each background loop that was started again within the last hour."""
    return [
        f"the background loop {each.name} was started again ({format_count(each.restarts, 'time')} since the start):"
        f" {each.reason}"
        for each in runtime.loops.beats.values()
        if each.was_restarted()
    ]


async def list_set_aside(runtime: Runtime) -> list[str]:
    """Return a warning with the number of jobs that are set aside, or nothing; also if that cannot be read."""
    try:
        found = await set_aside.count(runtime.db)
    except (Problem, DatabaseError):
        return []
    named = ", ".join(format_count(number, ASIDE_NOUNS.get(kind, kind)) for kind, number in found.items())
    return [f"set aside and not tried again: {named}"] if found else []


async def list_held(runtime: Runtime) -> list[str]:
    """Return a warning while something is held back since a restore from a backup."""
    held = await held_jobs.find_open_restoration(runtime.db)
    if held is not None:
        return [
            f"restored from a backup of {rfc3339(held.made_at)}: mails and webhooks that waited in it are held back;"
            " esign restore --resume"
        ]
    unsealed = await held_jobs.list_unsealed(runtime.db)
    return (
        [f"since a restore {format_count(len(unsealed), 'document')} held back, unsealed"] if unsealed else []
    )


def list_damage(runtime: Runtime) -> list[str]:
    """Return a warning that names a few of the rows that cannot be read."""
    found = runtime.db.damage.entries()
    if not found:
        return []
    named = ", ".join(f"{table} {key}" for table, key, _ in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return [f"cannot be read or worked with, and is set aside: {named}{more}; esign doctor reads everything"]


def describe_large_log(size: int, seconds: float) -> str:
    """Return the warning that the write-ahead log of the database is large. `size` is in bytes."""
    return (
        f"the log of the database has grown to {size // 2**20} MiB: for {format_count(int(seconds // 60), 'minute')}"
        " a reader, such as a backup, has kept it from being cut; it is cut when that reader ends"
    )


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


async def check_mailer(runtime: Runtime) -> str:
    """Return whether the mail server takes e-mails. The refusal of single addresses does not count.

    The mail server's own words are left out, because this page needs no login.
    """
    stop = await mail_breaker.find_silence(runtime)
    if stop is not None and await outbox.find_next_due(runtime.db, "mail") is not None:
        return f"no mail leaves since {rfc3339(stop.stopped_at)}: {mail_breaker.SAID[stop.cause].lower()}"
    now = runtime.clock.now()
    if await outbox.is_standing_still(runtime.db, "mail", now - STILL, deliver_mail.LEASE):
        return "no mail left in the last minute, although some wait"
    stuck = await outbox.is_stuck(runtime.db, "mail", REFUSED)
    return "mails are not taken" if stuck else "ok"


async def check_queue(runtime: Runtime) -> str:
    """Return whether the jobs that are due are worked in time."""
    now = runtime.clock.now()
    for kind in ("seal", "mail"):
        due = await outbox.find_next_due(runtime.db, kind)
        if due is not None and due < now - LATE:
            return "work is late"
    return "work is late" if await deliveries.is_late(runtime.db, now - LATE) else "ok"
