"""Makes the anchors of the audit trails, once a day (UTC), and delivers them to the targets of the settings."""

import asyncio
import hashlib
import logging
from pathlib import Path

from esign.core.actor import Mode
from esign.core.document.anchor import Anchor, Leaf, Statement, UnreadableAnchor, make_statement, write_file
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant, to_datetime
from esign.net import RequestFailed, TargetRefused
from esign.pdf.seal.cms import load_key
from esign.pdf.seal_order import SealFailed
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.store.server import anchors, installation
from esign.system.entropy import make_id
from esign.system.vault import write_once
from esign.tsa import NoTimeStamp

log = logging.getLogger(__name__)

MOST = 2_000  # trails in one anchor; more of them make several
HEADERS = {"Content-Type": "application/json"}


async def make_due_anchors(runtime: Runtime) -> int:
    """Anchor the trails that have grown, unless that was done on this day. Return the number of anchors made.

    None is made while the clock is in doubt, nor on the day on which the installation was set up. Without an
    answer of a time-stamp authority that is configured, the anchor waits for the next try.
    """
    now = runtime.clock.now()
    if runtime.clock.doubt is not None or not await is_due(runtime, now):
        return 0
    made = 0
    while leaves := await anchors.find_grown(runtime.db, MOST):
        try:
            await make_anchor(runtime, leaves, now)
        except (NoTimeStamp, SealFailed, UnreadableAnchor) as failure:
            log.warning("the audit trails could not be anchored, which is tried again: %s", failure)
            break
        made += 1
        if len(leaves) < MOST:
            break
    return made


async def is_due(runtime: Runtime, now: Instant) -> bool:
    """Return whether a day has begun since the last anchor, or since the installation was set up."""
    last = await anchors.find_last_time(runtime.db)
    if last is not None:
        return now // DAY > last[1] // DAY
    first = await organisations.find_first(runtime.db)
    return first is not None and now // DAY > first.created_at // DAY


async def make_anchor(runtime: Runtime, leaves: list[Leaf], now: Instant) -> Anchor:
    """Make, seal, time-stamp and save the next anchor. Raises `NoTimeStamp`, `SealFailed` and `UnreadableAnchor`."""
    known = await anchors.find_identity(runtime.db)
    identity = known or make_id("ins", now)
    last = await anchors.find_last_time(runtime.db)
    before = await anchors.find(runtime.db, last[0]) if last else None
    previous = before.statement if before else None
    statement = await asyncio.to_thread(make_statement, identity, previous, leaves, now)
    cms = await seal_statement(runtime, statement, now)
    token = None
    if runtime.config.seal.tsa_urls:
        (stamp,) = await runtime.tsa.stamp_signatures([statement.canonical])
        token = stamp.token
    anchor = Anchor(statement, tuple(leaves), cms, token)

    async def write(tx: Transaction) -> None:
        if known is None:
            await installation.save(tx, anchors.IDENTITY, identity.encode())
        await anchors.add(tx, anchor, now)

    await runtime.db.write(write)
    return anchor


async def seal_statement(runtime: Runtime, statement: Statement, now: Instant) -> bytes:
    """Return a detached CMS over the statement by the organisation's seal key. Raises `SealFailed`."""
    credential = runtime.credentials[Mode.LIVE]
    key = load_key(credential.public)
    key.require_current(to_datetime(now))
    digest = hashlib.new(key.digest, statement.canonical).digest()
    [signature] = await runtime.pdf.signer.sign_digests(credential, [digest])
    return key.build_cms(key.build_signer_info(digest, signature))


async def deliver_anchors(runtime: Runtime) -> None:
    """Give each target the anchors that it lacks, in their order. A target that fails gets them at a later try."""
    last = await anchors.find_last_time(runtime.db)
    for target in runtime.config.audit.anchor_to:
        name = str(target)
        place = await anchors.find_place(runtime.db, name)
        while last is not None and place < last[0]:
            error = await deliver(runtime, target, place + 1)
            place += error is None
            await save_place(runtime, name, place, error)
            if error is not None:
                log.warning("an anchor of the audit trails could not be delivered to %s: %s", name, error)
                break


async def save_place(runtime: Runtime, target: str, place: int, error: str | None) -> None:
    """Save what the target has."""
    await runtime.db.write(lambda tx: anchors.save_place(tx, target, place, error))


async def deliver(runtime: Runtime, target: Path | str, number: int) -> str | None:
    """Give one anchor to a target, which may have it already. Return why that failed, or None."""
    try:
        anchor = await anchors.find(runtime.db, number)
    except UnreadableAnchor as error:
        return f"anchor {number} in the database: {error}"
    if anchor is None:
        return f"anchor {number} is missing in the database"
    content = write_file(anchor)
    if isinstance(target, Path):
        return await asyncio.to_thread(write_to_folder, target, anchor.file_name, content)
    try:
        answer = await runtime.http.post(target, content, HEADERS)
    except Problem as problem:
        return problem.message
    except (RequestFailed, TargetRefused) as failure:
        return str(failure)
    return None if 200 <= answer.status < 300 else f"it answered with HTTP status {answer.status}"


def write_to_folder(folder: Path, name: str, content: bytes) -> str | None:
    """Write a file unless it is there with the same bytes. Return why that failed, or None; no file is replaced."""
    try:
        write_once(folder / name, content)
        same = (folder / name).read_bytes() == content
    except OSError as error:
        return f"{folder / name} cannot be written: {error.strerror}"
    return None if same else f"{folder / name} is there with another content, and was left as it is"


async def list_warnings(runtime: Runtime) -> list[str]:
    """Return a warning for each target that did not take its last anchor, without its address."""
    targets = [str(target) for target in runtime.config.audit.anchor_to]
    failing = await anchors.find_failing(runtime.db, targets)
    count = len(failing)
    return (
        [f"{count} of {len(targets)} targets of audit.anchor_to did not take the last anchor"]
        if count
        else []
    )
