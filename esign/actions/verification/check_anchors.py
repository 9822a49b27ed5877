"""Compares the audit trails with anchors that were kept outside.

The newest anchor vouches for the earlier ones: each statement names the hash of the one before. So one file is enough
to check all anchors that the database has from before it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from esign.core.document.anchor import START, Anchor, UnreadableAnchor, compute_root
from esign.core.instant import rfc3339
from esign.store.document import trails
from esign.store.engine.database import Database
from esign.store.server import anchors
from esign.tsa.token import UnusableToken, check_seal, check_token


@dataclass(slots=True)
class AnchorReport:
    """What was found: `broken` are faults, `notes` what each anchor says of itself, the numbers what was compared."""

    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    anchors: int = 0
    trails: int = 0


async def check_anchors(db: Database, given: Sequence[Anchor], own: Sequence[bytes]) -> AnchorReport:
    """Check the given anchors, then all before the newest of them, and compare every trail in them with the database.

    `own` are the certificates (DER) that this installation's seals are known by.
    """
    report = AnchorReport()
    identity = await anchors.find_identity(db)
    by_number: dict[int, Anchor] = {}
    for anchor in given:
        check_alone(report, anchor, own, identity)
        number = anchor.statement.number
        if by_number.setdefault(number, anchor).statement.hash != anchor.statement.hash:
            report.broken.append(f"anchor {number}: two files of this number say different things")
    if report.broken:
        return report
    newest = max(by_number)
    await compare_stored(db, report, by_number[newest])
    expected = by_number[newest].statement.hash
    for number in range(newest, 0, -1):
        anchor_here = by_number.get(number) or await find_stored(db, report, number)
        if anchor_here is None:
            for rest in (by_number[n] for n in by_number if n < number):
                await compare_leaves(db, report, rest)
            return report
        statement = anchor_here.statement
        if statement.hash != expected or compute_root(anchor_here.leaves) != statement.root:
            report.broken.append(f"anchor {number}: it is not the one that anchor {number + 1} names")
            return report
        await compare_leaves(db, report, anchor_here)
        expected = statement.previous
    if expected != START:
        report.broken.append("anchor 1: it names one before it")
    return report


def check_alone(report: AnchorReport, anchor: Anchor, own: Sequence[bytes], identity: str | None) -> None:
    """Check seal, time stamp and tree of an anchor, and that it belongs to this installation."""
    statement = anchor.statement
    name = f"anchor {statement.number}"
    if statement.installation != identity:
        report.broken.append(f"{name}: it belongs to another installation")
    if statement.leaves != len(anchor.leaves) or compute_root(anchor.leaves) != statement.root:
        report.broken.append(f"{name}: its list of trails was changed")
    try:
        certificate = check_seal(anchor.cms, statement.canonical)
        if not is_own(certificate, own):
            report.broken.append(f"{name}: it was not sealed by this installation")
        if anchor.token is None:
            report.notes.append(f"{name}: says {statement.at} itself; it has no time stamp")
            return
        stamp, signer = check_token(anchor.token, hashlib.sha256(statement.canonical).digest())
    except UnusableToken as unusable:
        report.broken.append(f"{name}: {unusable}")
        return
    report.notes.append(
        f"{name}: time stamp of {rfc3339(stamp.at)} by {stamp.authority},"
        f" certificate {hashlib.sha256(signer).hexdigest()}"
    )


def is_own(certificate: bytes, own: Sequence[bytes]) -> bool:
    """Return whether the certificate is one of these, or was issued by one of them."""
    if certificate in own:
        return True
    loaded = x509.load_der_x509_certificate(certificate)
    for each in own:
        try:
            loaded.verify_directly_issued_by(x509.load_der_x509_certificate(each))
        except (ValueError, TypeError, InvalidSignature):
            continue
        return True
    return False


async def compare_stored(db: Database, report: AnchorReport, anchor: Anchor) -> None:
    """Report if the database has no such anchor, or another one of this number."""
    stored = await find_stored(db, report, anchor.statement.number)
    if stored is not None and stored.statement.hash != anchor.statement.hash:
        report.broken.append(f"anchor {anchor.statement.number}: the database has another one of this number")


async def find_stored(db: Database, report: AnchorReport, number: int) -> Anchor | None:
    """Return an anchor from the database. One that is missing or cannot be read is reported."""
    try:
        stored = await anchors.find(db, number)
    except UnreadableAnchor as error:
        report.broken.append(f"anchor {number} in the database: {error}")
        return None
    if stored is None:
        report.broken.append(f"anchor {number}: it is missing in the database")
    return stored


async def compare_leaves(db: Database, report: AnchorReport, anchor: Anchor) -> None:
    """Compare each trail of an anchor with the database."""
    report.anchors += 1
    for leaf in anchor.leaves:
        report.trails += 1
        here = await trails.get_hash(db, leaf.document_id, leaf.seq)
        if here == leaf.hash:
            continue
        if here is not None:
            fault = f"entry {leaf.seq} was rewritten"
        elif await trails.get_hash(db, leaf.document_id, 1) is None:
            fault = "the whole trail is missing"
        else:
            fault = f"entry {leaf.seq} is missing: the trail was cut off"
        report.broken.append(f"{leaf.document_id}: {fault} since anchor {anchor.statement.number}")
