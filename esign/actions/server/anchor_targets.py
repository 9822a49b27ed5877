"""Delivers the anchors of the audit trails to the targets of `[audit] anchor_to`, and says which of them lack some.

Mails to owners are queued with the anchor (`anchoring`); whether a mail server took them is read from the queue.
"""

import asyncio
import hashlib
import logging
from pathlib import Path
from urllib.parse import urlsplit

from esign.actions.mail import notices
from esign.actions.mail.deliver_mail import NOT_MAILED
from esign.actions.server import anchoring
from esign.actions.server.anchoring import LETTER, write_day
from esign.config.values import OWNERS
from esign.core.document.anchor import Anchor, write_file
from esign.core.instant import DAY, Millis
from esign.net import RequestFailed, TimeLimits
from esign.runtime import Runtime
from esign.store.engine.database import Reader
from esign.store.people import organisations
from esign.store.queue import outbox
from esign.store.server import anchors
from esign.system.supervision import beat

log = logging.getLogger("esign.anchor")

HEADERS = {"Content-Type": "application/json"}
LIMITS = TimeLimits(whole=30.0)
ANSWER = 1_000  # bytes of an answer that are read, and not used


async def deliver_anchors(runtime: Runtime) -> None:
    """Give each target the anchors that it lacks, in their order. A target that fails gets them at a later try.

    The targets do not wait for one another.
    """
    last = await anchors.find_last_time(runtime.db)
    if last is not None:
        targets = [target for target in runtime.config.audit.anchor_to if target != OWNERS]
        await asyncio.gather(*(deliver_missing(runtime, target, last[0]) for target in targets))


async def deliver_missing(runtime: Runtime, target: Path | str, last: int) -> None:
    """Give one target what it lacks, up to the first failure. An anchor that is damaged here is passed over."""
    name, error = name_target(target), None
    place = await anchors.find_place(runtime.db, name)
    while place < last and error is None:
        anchor = await anchors.find_whole(runtime.db, place + 1)
        if anchor is not None:
            error = await deliver(runtime, target, anchor)
            runtime.measures.anchors["undelivered" if error else "delivered"] += 1
        place += error is None
        await save_place(runtime, name, place, error)
        beat()
    if error is not None:
        log.warning("anchor %d of the audit trails was not delivered to %s: %s", place + 1, name, error)


def name_target(target: Path | str) -> str:
    """Return the name under which a target is kept and logged: of an address the host alone, as tokens may follow.

    The hash tells addresses of one host apart.
    """
    if isinstance(target, Path) or target == OWNERS:
        return str(target)
    return f"https://{urlsplit(target).hostname} ({hashlib.sha256(target.encode()).hexdigest()[:8]})"


async def save_place(runtime: Runtime, target: str, place: int, error: str | None) -> None:
    """Save what the target has."""
    await runtime.db.write(lambda tx: anchors.save_place(tx, target, place, error))


async def deliver(runtime: Runtime, target: Path | str, anchor: Anchor) -> str | None:
    """Give one anchor to a target, which may have it already. Return why that failed, or None."""
    content = write_file(anchor)
    if isinstance(target, Path):
        return await runtime.folders.write(target, anchor.file_name, content)
    try:
        status, _ = await runtime.direct.post(target, content, HEADERS, LIMITS, most=ANSWER)
    except RequestFailed as failure:
        return str(failure)
    return None if 200 <= status < 300 else f"it answered with HTTP status {status}"


# ---------- what is shown of it ----------


async def list_failing(runtime: Runtime) -> list[str]:
    """Return the targets of the settings that did not take the last anchor that they were given."""
    targets = [name_target(target) for target in runtime.config.audit.anchor_to]
    failing = [*await anchors.find_failing(runtime.db, targets)]
    if OWNERS in targets and OWNERS not in failing and await count_unmailed(runtime.db):
        failing.append(OWNERS)
    return failing


async def count_unmailed(reader: Reader) -> int:
    """Return how many owners have not got the last anchor that was mailed: no mail server took it, after one try."""
    place = await anchors.find_place(reader, OWNERS)
    made_at = await anchors.find_time(reader, place)
    first = await organisations.find_first(reader)
    if made_at is None or first is None:
        return 0
    count = 0
    for owner in await notices.list_owners(reader, first.id):
        key = notices.name_owners_job(LETTER, write_day(made_at), owner.id)
        found = await outbox.find_result(reader, key)
        count += found is not None and (found.error is not None or found.reply in NOT_MAILED)
    return count


async def measure_lateness(runtime: Runtime) -> Millis:
    """Return how long the next anchor has been due, in milliseconds; 0 if no trail has grown."""
    since = await anchoring.find_due_time(runtime)
    late = 0 if since is None else max(0, runtime.clock.now() - since)
    return late if late and await anchors.find_grown(runtime.db, 1) else 0


async def list_warnings(runtime: Runtime) -> list[str]:
    """Return warnings about targets that did not take their last anchor, without addresses, and a late anchor."""
    found, failing = [], await list_failing(runtime)
    if failing:
        count = len(runtime.config.audit.anchor_to)
        found.append(f"{len(failing)} of {count} targets of audit.anchor_to did not take the last anchor")
    if runtime.measures.anchors["failed"] and (late := await measure_lateness(runtime)) >= DAY:
        found.append(f"the anchor of the audit trails has been due for {late // DAY + 1} days; see the log")
    return found
