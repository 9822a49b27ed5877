"""Compares the audit trails with anchors that were kept outside.

The newest anchor vouches for the earlier ones: each statement names the hash of the one before. So one file is enough
to check all anchors that the database has from before it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from esign.core.document.anchor import START, Anchor, UnreadableAnchor, compute_root
from esign.core.instant import HOUR, Instant, parse, rfc3339
from esign.store.document import trails
from esign.store.engine.database import Database
from esign.store.server import anchors
from esign.tsa.token import UnusableToken, check_seal, check_token
from esign.tsa.trust import is_issued_by, leads_to_root

CLOCKS_APART = HOUR  # a time stamp that is farther from an anchor's own time was not made with it


@dataclass(frozen=True, slots=True)
class AnchorWitnesses:
    """By what anchors are judged: the certificates of this installation's seals, trusted roots (DER), and the time."""

    own: Sequence[bytes]
    roots: Sequence[bytes]
    now: Instant


@dataclass(slots=True)
class AnchorReport:
    """What was found: `broken` are faults, `notes` what each anchor says of itself, the numbers what was compared.

    `is_older` says that the database ends before the newest of the anchors was made.
    """

    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    anchors: int = 0
    trails: int = 0
    is_older: bool = False


async def check_anchors(db: Database, given: Sequence[Anchor], known: AnchorWitnesses) -> AnchorReport:
    """Check the given anchors and all before the newest of them, and compare every trail in them with the database."""
    report = AnchorReport()
    identity = await anchors.find_identity(db)
    by_number: dict[int, Anchor] = {}
    for anchor in given:
        await check_alone(report, anchor, known, identity)
        number = anchor.statement.number
        if by_number.setdefault(number, anchor).statement.hash != anchor.statement.hash:
            report.broken.append(f"anchor {number}: two files of this number say different things")
    if report.broken:
        return report
    newest, last = max(by_number), await anchors.find_last_time(db)
    compare_ends(report, newest, last[0] if last else 0)
    expected: bytes | None = by_number[newest].statement.hash
    for number in range(newest, 0, -1):
        stored = await find_stored(db, report, number) if last and number <= last[0] else None
        here = by_number.get(number) or stored
        if here is None:
            expected = None  # that it is missing was reported
            continue
        statement = here.statement
        if stored is not None and stored.statement.hash != statement.hash:
            report.broken.append(
                f"anchor {number}: the database has another one of this number; it was restored from an older copy"
                " and went on, or its anchors were made anew"
            )
        if expected not in (None, statement.hash) or compute_root(here.leaves) != statement.root:
            report.broken.append(f"anchor {number}: it is not the one that anchor {number + 1} names")
        await compare_leaves(db, report, here)
        expected = statement.previous
    if expected not in (None, START):
        report.broken.append("anchor 1: it names one before it")
    return report


async def check_alone(
    report: AnchorReport, anchor: Anchor, known: AnchorWitnesses, identity: str | None
) -> None:
    """Check seal, time, time stamp and tree of an anchor, and that it belongs to this installation."""
    statement = anchor.statement
    name = f"anchor {statement.number}"
    if statement.number < 1:
        report.broken.append(f"{name}: there is no such number")
    if statement.installation != identity:
        report.broken.append(f"{name}: it belongs to another installation")
    if statement.leaves != len(anchor.leaves) or compute_root(anchor.leaves) != statement.root:
        report.broken.append(f"{name}: its list of trails was changed")
    report.notes.append(f"{name}: fingerprint {statement.fingerprint}")
    try:
        certificate = check_seal(anchor.cms, statement.canonical)
        if certificate not in known.own and not any(is_issued_by(certificate, one) for one in known.own):
            report.broken.append(f"{name}: it was not sealed by this installation")
        at = parse(statement.at)
        if at > known.now + CLOCKS_APART:
            report.broken.append(f"{name}: it is from the future; the clock here says {rfc3339(known.now)}")
        if anchor.token is None:
            report.notes.append(f"{name}: says {statement.at} itself; it has no time stamp")
        else:
            await check_stamp(report, anchor, anchor.token, at, known.roots)
    except UnusableToken as unusable:
        report.broken.append(f"{name}: {unusable}")
    except ValueError:
        report.broken.append(f"{name}: its time cannot be read")


async def check_stamp(
    report: AnchorReport, anchor: Anchor, token: bytes, at: Instant, roots: Sequence[bytes]
) -> None:
    """Check the time stamp of an anchor, and note whose it is. Raises `UnusableToken`."""
    name = f"anchor {anchor.statement.number}"
    stamp, signer = check_token(token, hashlib.sha256(anchor.statement.canonical).digest())
    if abs(stamp.at - at) > CLOCKS_APART:
        report.broken.append(
            f"{name}: says {anchor.statement.at} itself, but its time stamp is of {rfc3339(stamp.at)}"
        )
    trusted = await leads_to_root(token, signer, roots, stamp.at)
    judged = "a root in seal.trust" if trusted else "no root in seal.trust: compare the certificate yourself"
    report.notes.append(
        f"{name}: time stamp of {rfc3339(stamp.at)} by {stamp.authority},"
        f" certificate {hashlib.sha256(signer).hexdigest()}, which leads to {judged}"
    )


def compare_ends(report: AnchorReport, newest: int, last: int) -> None:
    """Report if the database ends before the newest anchor; note if it goes on after it."""
    if last < newest:
        report.is_older = True
        here = f"the newest in the database is anchor {last}" if last else "the database has no anchor"
        report.broken.append(f"anchor {newest}: it is missing; {here}")
    elif last > newest:
        report.notes.append(
            f"The database has anchors up to {last}. Nothing vouches here for what came after anchor {newest}."
        )


async def find_stored(db: Database, report: AnchorReport, number: int) -> Anchor | None:
    """Return an anchor from the database. One that is missing or cannot be read is reported."""
    try:
        return await anchors.get(db, number)
    except UnreadableAnchor as error:
        report.broken.append(f"anchor {number} in the database: {error}")
        return None


async def compare_leaves(db: Database, report: AnchorReport, anchor: Anchor) -> None:
    """Compare each trail of an anchor with the database."""
    report.anchors += 1
    number = anchor.statement.number
    for leaf in anchor.leaves:
        report.trails += 1
        here = await trails.get_hash(db, leaf.document_id, leaf.seq)
        if here == leaf.hash:
            continue
        if here is not None:
            fault = f"entry {leaf.seq} was rewritten since anchor {number}"
        elif await trails.get_hash(db, leaf.document_id, 1) is None:
            fault = f"the whole trail is missing, which anchor {number} has up to entry {leaf.seq}"
        else:
            fault = f"the trail is shorter than in anchor {number}, which has entry {leaf.seq}"
        report.broken.append(f"{leaf.document_id}: {fault}")
