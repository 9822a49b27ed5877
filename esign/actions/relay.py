"""The breaker of the mail server: one that takes nothing is asked once a minute, not once for each mail.

It opens when the server cannot be reached or refuses to work for us, whatever the mail, or has put off several mails
in a row. What waits meanwhile is not charged an attempt; as soon as one mail is taken, all of them are due.
"""

import logging
from dataclasses import dataclass

from esign.core.document import Mode
from esign.core.instant import MINUTE, Instant, Millis, rfc3339
from esign.mail.failure import AuthenticationFailure, RelayFailure
from esign.runtime import Runtime
from esign.store import outbox, relay
from esign.store.database import Reader, Transaction
from esign.store.outbox import Job
from esign.store.relay import Stop

log = logging.getLogger("esign.mail")

IN_A_ROW = 8  # mails put off at their first attempt
LOGIN, REFUSED, DEFERRED = "login", "refused", "deferred"
PROBED: dict[str, Millis] = {  # a server may lock an account whose password is wrong too often
    LOGIN: 15 * MINUTE,
    REFUSED: MINUTE,
    DEFERRED: MINUTE,
}
SAID = {
    LOGIN: "The mail server does not take the user name or password",
    REFUSED: "The mail server takes no mail",
    DEFERRED: "The mail server puts off every mail",
}


async def find_stop(runtime: Runtime, reader: Reader | None = None) -> Stop | None:
    """Return since when and why no mail leaves; None while mails leave, and where there is no mail server."""
    if runtime.config.mail.host is None:
        return None
    return await relay.find_stop(reader or runtime.db)


@dataclass(frozen=True, slots=True)
class Outage:
    """Why no mail leaves, as a sentence; `since` when, where it is not by the settings."""

    sentence: str
    since: Instant | None = None


NO_SERVER = "No mail server is set up, so mails are kept here and reach nobody."
CAPTURED = "Mails of test mode are kept here and reach nobody, as the settings of this server have it."


async def find_outage(runtime: Runtime, mode: Mode) -> Outage | None:
    """Return why mails of a mode reach nobody now; None while they leave."""
    if runtime.config.mail.host is None:
        return Outage(NO_SERVER)
    if mode is Mode.TEST and runtime.config.test.mails == "capture":
        return Outage(CAPTURED)
    stop = await find_stop(runtime)
    return Outage(f"{SAID[stop.cause]}, so mails wait here.", stop.stopped_at) if stop else None


def name_cause(stop: Stop) -> str:
    """Return the cause in words, with those of the server."""
    return f"{SAID[stop.cause]}: {stop.reason.rstrip('.')}."


async def claim(runtime: Runtime, tx: Transaction, now: Instant) -> bool:
    """Return whether a mail may be tried now; with the breaker open this takes its probe."""
    stop = await relay.find_stop(tx)
    return stop is None or await relay.take_probe(tx, now, now + PROBED[stop.cause])


async def note_refusal(tx: Transaction, job: Job, failure: RelayFailure, now: Instant, words: bytes) -> None:
    """Open the breaker, or keep it open, and give the mail back uncharged."""
    cause = LOGIN if isinstance(failure, AuthenticationFailure) else REFUSED
    await outbox.give_back(tx, job, now, failure.reason, words)
    await _open(tx, cause, failure.reason, now)


async def note_deferral(tx: Transaction, job: Job, reason: str, now: Instant) -> None:
    """Count a mail that was put off at its first attempt; several in a row open the breaker."""
    if job.attempts == 1 and await relay.count_failure(tx) >= IN_A_ROW:
        await _open(tx, DEFERRED, reason, now)


async def _open(tx: Transaction, cause: str, reason: str, now: Instant) -> None:
    probe_at = now + PROBED[cause]
    if await relay.stop(tx, cause, reason, now, probe_at):
        remedy = "; check [mail] username and password" if cause == LOGIN else ""
        log.error(
            "no mail leaves: %s: %s%s; one is tried again at %s",
            SAID[cause].lower(),
            reason,
            remedy,
            rfc3339(probe_at),
        )


async def note_success(tx: Transaction, now: Instant) -> bool:
    """Close the breaker: the server took a mail. True where it was open, and everything that waits is due now."""
    before = await relay.clear(tx)
    if before is None:
        return False
    count = await outbox.hasten(tx, "mail", now)
    log.warning("mails leave again, after they stood still since %s", rfc3339(before.stopped_at))
    if count:
        log.info("%s mails that were put off are due now", count)
    return True


async def resume(runtime: Runtime) -> None:
    """At the start, or when somebody asks: try one mail now. Without a mail server there is nothing to wait for."""
    now = runtime.clock.now()

    async def write(tx: Transaction) -> None:
        if runtime.config.mail.host is None:
            await relay.clear(tx)
        else:
            await relay.hasten_probe(tx, now)

    await runtime.db.write(write)
    runtime.bell.ring()
