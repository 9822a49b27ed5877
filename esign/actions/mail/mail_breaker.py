"""Circuit breakers for the mail server: while it takes no mail, it is probed once in a while, not once for each e-mail.

The breaker of all e-mails opens when the server cannot be reached, or refuses to work for this installation,
whatever the e-mail. E-mails that wait meanwhile are not charged an attempt. As soon as the server answers for a
recipient, all of them are due. The breaker of an organisation opens when the server has deferred several of its
e-mails in a row. It does not hold up other organisations.
"""

import logging
from dataclasses import dataclass
from typing import Literal

from esign.core.actor import Mode
from esign.core.instant import MINUTE, Instant, Millis, rfc3339
from esign.core.sentence import say
from esign.mail.failure import AuthenticationFailure, RelayFailure, TemporaryFailure
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import mail_breaker, outbox
from esign.store.queue.mail_breaker import MailStop
from esign.store.queue.outbox import Job

log = logging.getLogger("esign.mail")

IN_A_ROW = 8  # e-mails of one organisation that were deferred at their first attempt
LOGIN, REFUSED, DEFERRED = "login", "refused", "deferred"
PROBED: dict[str, Millis] = {  # a server may lock an account whose password is wrong too often
    LOGIN: 15 * MINUTE,
    REFUSED: MINUTE,
    DEFERRED: MINUTE,
}
SAID = {
    LOGIN: "The mail server does not take the user name or password",
    REFUSED: "The mail server takes no mail",
    DEFERRED: "The mail server puts off one mail after the other",
}
WAITING = {  # the same, for people whose mails wait
    LOGIN: "The mail server rejects the user name or password, so emails wait in the outbox.",
    REFUSED: "The mail server accepts no emails, so they wait in the outbox.",
    DEFERRED: "The mail server keeps postponing emails, so they wait in the outbox.",
}
BECAUSE = {  # the same, with the mail server's own words
    LOGIN: "The mail server rejects the user name or password: {reason}.",
    REFUSED: "The mail server accepts no emails: {reason}.",
    DEFERRED: "The mail server keeps postponing emails: {reason}.",
}


async def find_stop(runtime: Runtime, organisation_id: str | None = None) -> MailStop | None:
    """Return since when and why no e-mail leaves, of any organisation or of the given one.

    Return None while e-mails leave, and without a mail server.
    """
    if runtime.config.mail.host is None:
        return None
    return await mail_breaker.find_stop(runtime.db.points, organisation_id)


async def find_state(runtime: Runtime) -> Literal["closed", "open", "half_open"]:
    """Return whether mails leave, none does, or one may try whether the mail server takes mail again."""
    stop = await find_stop(runtime)
    if stop is None:
        return "closed"
    return "open" if runtime.clock.now() < stop.probe_at else "half_open"


async def find_silence(runtime: Runtime) -> MailStop | None:
    """Return since when and why no e-mail of any organisation leaves.

    The cause may be the breaker of one organisation, if no e-mail of any other has left since it opened. Return
    None while e-mails leave, and without a mail server.
    """
    if runtime.config.mail.host is None:
        return None
    return await mail_breaker.find_stop(runtime.db) or await mail_breaker.find_silence(runtime.db)


@dataclass(frozen=True, slots=True)
class Outage:
    """Why no e-mail leaves, as a sentence. `since` is None if the settings are the cause."""

    sentence: str
    since: Instant | None = None


NO_SERVER = "No mail server is set up, so emails stay in the outbox and reach no one."
CAPTURED = "Emails of test mode stay in the outbox and reach no one. That is set on this server."


async def find_outage(runtime: Runtime, mode: Mode, organisation_id: str | None = None) -> Outage | None:
    """Return why e-mails of a mode, and of an organisation, reach nobody now, or None while they are sent."""
    if runtime.config.mail.host is None:
        return Outage(NO_SERVER)
    if mode is Mode.TEST and runtime.config.test.mails == "capture":
        return Outage(CAPTURED)
    stop = await find_stop(runtime, organisation_id)
    return Outage(WAITING[stop.cause], stop.stopped_at) if stop else None


def name_cause(stop: MailStop) -> str:
    """Return the cause in words, with the mail server's own reason."""
    return say(BECAUSE[stop.cause], reason=stop.reason.rstrip("."))


async def claim(runtime: Runtime, tx: Transaction, now: Instant) -> bool:
    """Return whether an e-mail may be tried now. With the breaker open this takes the due probe."""
    stop = await mail_breaker.find_stop(tx.points)
    return stop is None or await mail_breaker.take_probe(tx, now, now + PROBED[stop.cause])


async def note_refusal(tx: Transaction, job: Job, failure: RelayFailure, now: Instant, words: bytes) -> None:
    """Open the breaker, or keep it open, and put the e-mail back without charging it an attempt."""
    cause = LOGIN if isinstance(failure, AuthenticationFailure) else REFUSED
    await outbox.give_back(tx, job, now, failure.reason, words)
    await _open_breaker(tx, cause, failure.reason, now)


async def note_deferral(tx: Transaction, job: Job, failure: TemporaryFailure, now: Instant) -> None:
    """Count an e-mail that was deferred at its first attempt. Several in a row open the breaker of the organisation.

    If the server has answered for a recipient, the breaker of all e-mails closes.
    """
    if failure.heard:
        await _close_breaker(tx, now)
    stop = MailStop(now, DEFERRED, failure.reason, now + PROBED[DEFERRED])
    opened = await mail_breaker.count_deferral(
        tx, job.organisation_id or outbox.NOBODY, stop, is_first=job.attempts == 1, most=IN_A_ROW
    )
    if opened:
        log.error(
            "the mails of %s wait, one is tried again at %s: the mail server puts off one after the other",
            job.organisation_id,
            rfc3339(stop.probe_at),
        )


async def _open_breaker(tx: Transaction, cause: str, reason: str, now: Instant) -> None:
    probe_at = now + PROBED[cause]
    if await mail_breaker.open_breaker(tx, MailStop(now, cause, reason, probe_at)):
        remedy = "; check its user name and password" if cause == LOGIN else ""
        log.error(
            "no mail leaves: %s: %s%s; one is tried again at %s",
            SAID[cause].lower(),
            reason,
            remedy,
            rfc3339(probe_at),
        )


async def note_success(tx: Transaction, job: Job, now: Instant) -> None:
    """Close the breakers, since the server took an e-mail of this organisation. The e-mails that waited are due now."""
    await _close_breaker(tx, now)
    owner = job.organisation_id or outbox.NOBODY
    if await mail_breaker.clear_deferral(tx, owner) is not None:
        count = await outbox.hasten_mails(tx, owner, now)
        log.warning("mails of %s leave again; %s that were put off are due now", owner, count)


async def _close_breaker(tx: Transaction, now: Instant) -> None:
    before = await mail_breaker.close_breaker(tx)
    if before is not None:
        count = await outbox.hasten(tx, "mail", now)
        log.warning("mails leave again, after they stood still since %s", rfc3339(before.stopped_at))
        if count:
            log.info("%s mails that were put off are due now", count)


async def start_over(tx: Transaction, now: Instant) -> None:
    """Close every breaker and make each mail that waits due now, because another mail server takes them."""
    await mail_breaker.close_all(tx)
    await outbox.hasten(tx, "mail", now)
    tx.wake_workers()


async def resume(runtime: Runtime) -> None:
    """Make the next probe due now, at the start or on request. Without a mail server, close the breaker."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        if runtime.config.mail.host is None:
            await mail_breaker.close_breaker(tx)
        else:
            await mail_breaker.hasten_probe(tx, now)

    await runtime.db.write(write)
