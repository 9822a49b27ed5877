"""What the program needs to do its work, and whether it has it (`GET /readyz`)."""

import os
import sqlite3

from cryptography import x509

from esign.actions import levels
from esign.core.errors import Problem
from esign.core.instant import MINUTE
from esign.runtime import Runtime
from esign.store import deliveries, outbox
from esign.store.database import Transaction

RESERVE = 256 * 2**20
LATE = 10 * MINUTE
REFUSED = 3  # attempts


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
    try:
        room = os.statvfs(runtime.config.storage.data_dir)
    except OSError:
        return "failed"
    return "ok" if room.f_bavail * room.f_frsize >= RESERVE else "disk full"


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
    silent = ["no time-stamp authority answers"] if levels.state(runtime).silent else []
    return [notice.brief for notice in runtime.keyring.authority.notices] + silent


async def mailer(runtime: Runtime) -> str:
    """The mail server takes mails: one that a single address refuses for now is none of its faults."""
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
