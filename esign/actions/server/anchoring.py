"""Makes the anchors of the audit trails, once a day (UTC). `anchor_targets` delivers them."""

import asyncio
import hashlib
import logging

from esign.actions.mail import notices
from esign.actions.mail.notices import News
from esign.config.values import OWNERS
from esign.core.actor import Mode
from esign.core.document.anchor import Anchor, Leaf, Statement, make_statement
from esign.core.instant import DAY, Instant, to_datetime
from esign.pdf.seal.cms import load_key
from esign.pdf.seal_order import SealFailed
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.store.server import anchors, installation
from esign.system.entropy import make_id
from esign.system.supervision import beat
from esign.tsa import NoTimeStamp

log = logging.getLogger("esign.anchor")

MOST = 2_000  # trails in one anchor; more of them make several
LETTER = "anchor_made"
NO_OWNER = "no owner is active"


async def make_due_anchors(runtime: Runtime, most: int = MOST) -> int:
    """Anchor the trails that have grown, unless that was done on this day. Return the number of anchors made.

    None is made while the clock is in doubt, nor on the day on which the installation was set up. Without an
    answer of a time-stamp authority that is configured, the anchor waits for the next try.
    """
    now = runtime.clock.now()
    since = await find_due_time(runtime, most)
    if runtime.clock.doubt is not None or since is None or since > now:
        return 0
    made, more = 0, True
    while more and (leaves := await anchors.find_grown(runtime.db, most + 1)):
        more = len(leaves) > most
        try:
            await make_anchor(runtime, leaves[:most], now, is_last=not more)
        except (NoTimeStamp, SealFailed) as failure:
            runtime.measures.anchors["failed"] += 1
            log.warning("the audit trails could not be anchored, which is tried again: %s", failure)
            break
        runtime.measures.anchors["made"] += 1
        made += 1
        beat()
    return made


async def find_due_time(runtime: Runtime, most: int = MOST) -> Instant | None:
    """Return when the next anchor is due: when the day of the last one, or of the set-up, ends.

    After a full anchor it is due at once: others of that day may have failed. None before the set-up.
    """
    last = await anchors.find_last_time(runtime.db)
    if last is None:
        first = await organisations.find_first(runtime.db)
        return None if first is None else (first.created_at // DAY + 1) * DAY
    number, made_at = last
    is_full = await anchors.count_leaves(runtime.db, number) >= most
    return made_at if is_full else (made_at // DAY + 1) * DAY


async def make_anchor(runtime: Runtime, leaves: list[Leaf], now: Instant, *, is_last: bool) -> Anchor:
    """Make, seal, time-stamp and save the next anchor; the last of a day is mailed to the owners if that is set.

    Raises `NoTimeStamp` and `SealFailed`.
    """
    known = await anchors.find_identity(runtime.db)
    identity = known or make_id("ins", now)
    before = await anchors.find_end(runtime.db)
    statement = await asyncio.to_thread(make_statement, identity, before, leaves, now)
    cms = await seal_statement(runtime, statement, now)
    token = None
    if runtime.config.seal.tsa_urls:
        (stamp,) = await runtime.tsa.stamp_signatures([statement.canonical])
        token = stamp.token
    anchor = Anchor(statement, tuple(leaves), cms, token)
    mailed = is_last and OWNERS in runtime.config.audit.anchor_to

    async def write(tx: Transaction) -> None:
        if known is None:
            await installation.save(tx, anchors.IDENTITY, identity.encode())
        await anchors.add(tx, anchor, now)
        if mailed:
            await queue_mails(tx, runtime, statement, now)

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


async def queue_mails(tx: Transaction, runtime: Runtime, statement: Statement, now: Instant) -> None:
    """Queue a mail with the anchor to each owner of the organisation that was set up first, one a day."""
    first = await organisations.find_first(tx)
    count = 0
    if first is not None:
        facts: dict[str, str | int] = {
            "number": statement.number,
            "fingerprint": statement.fingerprint,
            "done_at": now,
        }
        news = News(LETTER, write_day(now), facts)
        count = await notices.queue_for_owners(tx, runtime.vault, first.id, news, now)
    await anchors.save_place(tx, OWNERS, statement.number, None if count else NO_OWNER)


def write_day(now: Instant) -> str:
    """Return the day (UTC) by which the mails of an anchor are known."""
    return f"{to_datetime(now):%Y-%m-%d}"
