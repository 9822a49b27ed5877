"""Decide whether everything behind a signed file is proof: validation data and time stamps over the document.

ETSI EN 319 142-1, 5.4 and 5.5, define proof: a document security store (DSS) of certificates, revocation lists
and OCSP responses, and document time stamps. `revisions` reads the bytes. This module assigns a part to every
object in them: the catalog that names the DSS (`proof_catalog`), the DSS (`proof_store`), the field of a time stamp
and what leads to it (`proof_fields`). If one object has no part, or contains more than its part needs, the additions
are not proof.
"""

import io
from dataclasses import dataclass

import pikepdf

from esign.pdf.report import Addition
from esign.pdf.verify.certificate_evidence import BROKEN
from esign.pdf.verify.compare_values import require
from esign.pdf.verify.proof_catalog import judge_catalog, judge_info, judge_metadata
from esign.pdf.verify.proof_fields import judge_form
from esign.pdf.verify.proof_store import judge_store
from esign.pdf.verify.revisions import AppendedRevision, read_revisions
from esign.pdf.verify.strict_syntax import NotStrict
from esign.pdf.verify.tail_state import JudgedRevision, TailState


@dataclass(frozen=True, slots=True)
class ProofTail:
    """What was added behind a signed file; `fault` is why it is not proof alone, or None if it is.

    `stamps` are the names of the fields of the added time stamps.
    """

    additions: tuple[Addition, ...] = ()
    stamps: frozenset[str] = frozenset()
    fault: str | None = None


def judge_tail(file: bytes, signed: int) -> ProofTail:
    """Judge what stands behind the first `signed` bytes of a file."""
    try:
        with pikepdf.open(io.BytesIO(file[:signed]), attempt_recovery=False) as pdf:
            return _judge_revisions(TailState(file, signed, pdf))
    except NotStrict as error:
        return ProofTail(fault=str(error))
    except (pikepdf.PdfError, *BROKEN) as error:
        return ProofTail(fault=f"it cannot be read: {error}"[:200])


def _judge_revisions(tail: TailState) -> ProofTail:
    """Judge the revisions in order, each on top of the state that the earlier ones left. Raises `NotStrict`."""
    additions: set[Addition] = set()
    stamps: set[str] = set()
    for revision in read_revisions(tail.file, tail.before):
        turn = _judge_revision(tail, revision)
        require(turn.store_changed or bool(turn.stamped), "a revision that adds no proof")
        additions |= {"validation_data"} if turn.store_changed else set()
        additions |= {"document_timestamp"} if turn.stamped else set()
        stamps |= set(turn.stamped)
    require(bool(additions), "nothing was added")
    return ProofTail(tuple(sorted(additions, reverse=True)), frozenset(stamps))


def _judge_revision(tail: TailState, revision: AppendedRevision) -> JudgedRevision:
    """Judge one revision, and add its objects to the state. Raises `NotStrict`."""
    for generation, _ in revision.objects.values():
        require(generation == 0, "an object of a later generation")
    turn = JudgedRevision(tail, revision, {number: value for number, (_, value) in revision.objects.items()})
    number = tail.before.root.number
    old_root, root = tail.get_old(number), turn.new.get(number)
    if not isinstance(old_root, dict):
        raise NotStrict("a catalog is expected")
    current = old_root
    if root is not None:
        if not isinstance(root, dict):
            raise NotStrict("a catalog is expected")
        turn.take_part(number)
        judge_catalog(old_root, root)
        current = root
    judge_info(turn)
    judge_metadata(turn, current)
    judge_store(turn, old_root, current)
    judge_form(turn, old_root, current)
    left = turn.new.keys() - turn.parts
    require(not left, f"an object that is no proof: {min(left, default=0)}")
    tail.now |= turn.new
    return turn
