"""The chain is computed a second time here, by a plain JSON writer that is RFC 8785 for what stands in it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from esign.core.actor import SYSTEM, Actor, Origin
from esign.core.document import audit
from esign.core.document.audit import AuditEntry
from esign.core.document.state.outcome import Event
from tests.factories import NOW, ORIGIN, SENDER, is_intact

ANA = Actor("recipient", "rcp_1", "Ana Ö", "ana@example.com")
FACTS = (
    Event("document.created", NOW, SENDER, origin=ORIGIN, data={"pageCount": 3, "fileSha256": "ab" * 32}),
    Event("recipient.sent", NOW + 1, SYSTEM, "rcp_1", detail={"email": "ana@example.com"}),
    Event("recipient.viewed", NOW + 2, ANA, "rcp_1", Origin("2001:db8::1")),
    Event(
        "recipient.declined", NOW + 3, ANA, "rcp_1", Origin("2001:db8::1"), detail={"reason": "Zu teuer “”"}
    ),
)


def jcs(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def chain(*facts: Event) -> list[AuditEntry]:
    lines: list[AuditEntry] = []
    for seq, event in enumerate(facts, 1):
        previous = lines[-1].hash if lines else audit.START
        lines.append(audit.make_entry(event, "doc_1", seq, previous, bytes([seq]) * 16))
    return lines


def erase_entry(line: AuditEntry) -> AuditEntry:
    return replace(line, personal=None, salt=None)


def test_the_chain_is_the_one_the_contract_defines() -> None:
    first, second, *_ = chain(*FACTS)

    personal = {
        "actor": {"name": "ci", "email": None},
        "ip": ORIGIN.ip,
        "userAgent": ORIGIN.user_agent,
        "detail": None,
    }
    public = {
        "seq": 1,
        "at": "2026-11-21T00:00:00.000Z",
        "type": "document.created",
        "documentId": "doc_1",
        "actor": {"kind": "api_key", "id": "key_1"},
        "recipientId": None,
        "data": {"pageCount": 3, "fileSha256": "ab" * 32},
    }
    personal_hash = sha256(b"\x01" * 16, jcs(personal))
    head = sha256(bytes(32), jcs(public), personal_hash)
    assert (first.prev_hash, first.personal_hash, first.hash) == (bytes(32), personal_hash, head)

    personal = {
        "actor": {"name": None, "email": None},
        "ip": None,
        "userAgent": None,
        "detail": {"email": "ana@example.com"},
    }
    public = {
        "seq": 2,
        "at": "2026-11-21T00:00:00.001Z",
        "type": "recipient.sent",
        "documentId": "doc_1",
        "actor": {"kind": "system", "id": None},
        "recipientId": "rcp_1",
        "data": {},
    }
    personal_hash = sha256(b"\x02" * 16, jcs(personal))
    assert second.prev_hash == head
    assert second.hash == sha256(head, jcs(public), personal_hash)


def test_no_public_member_holds_anything_personal() -> None:
    line = audit.make_entry(FACTS[3], "doc_1", 1, audit.START, bytes(16))
    public = repr(erase_entry(line))
    for word in ("Ana", "ana@", "2001:db8", "teuer"):
        assert word not in public


@pytest.mark.parametrize("length", range(len(FACTS) + 1))
def test_a_trail_as_it_was_written_is_intact(length: int) -> None:
    assert is_intact(chain(*FACTS[:length]))


@pytest.mark.parametrize("at", range(len(FACTS)))
@pytest.mark.parametrize(
    "change",
    [
        lambda line: replace(line, document_id="doc_2"),
        lambda line: replace(line, seq=line.seq + 1),
        lambda line: replace(line, at=line.at + 1),
        lambda line: replace(line, type="recipient.completed"),
        lambda line: replace(line, actor_kind="member"),
        lambda line: replace(line, actor_id="rcp_2"),
        lambda line: replace(line, recipient_id="rcp_2"),
        lambda line: replace(line, data={**line.data, "more": 1}),
        lambda line: replace(line, personal={**line.personal, "ip": "192.0.2.1"}),
        lambda line: replace(line, personal={**line.personal, "ip": "192.0.2.1"}, salt=None),
        lambda line: replace(line, personal=None),
        lambda line: replace(line, salt=bytes(16)),
        lambda line: replace(line, salt=None),
        lambda line: replace(line, personal_hash=bytes(32)),
        lambda line: replace(line, prev_hash=b"\x01" * 32),
        lambda line: replace(line, hash=bytes(32)),
    ],
)
def test_any_change_of_any_line_is_noticed(at: int, change: Callable[[AuditEntry], AuditEntry]) -> None:
    trail = chain(*FACTS)
    trail[at] = change(trail[at])
    assert not is_intact(trail)


@pytest.mark.parametrize("at", range(len(FACTS) - 1))
def test_a_missing_line_is_noticed(at: int) -> None:
    trail = chain(*FACTS)
    del trail[at]
    assert not is_intact(trail)


@pytest.mark.parametrize("at", range(len(FACTS) - 1))
def test_two_lines_in_the_other_order_are_noticed(at: int) -> None:
    trail = chain(*FACTS)
    trail[at], trail[at + 1] = trail[at + 1], trail[at]
    assert not is_intact(trail)
    # not even when their numbers are put right
    trail[at], trail[at + 1] = replace(trail[at], seq=at + 1), replace(trail[at + 1], seq=at + 2)
    assert not is_intact(trail)


def test_a_line_put_in_later_is_noticed() -> None:
    trail = chain(*FACTS)
    again = audit.make_entry(FACTS[1], "doc_1", 3, trail[1].hash, bytes(16))
    assert not is_intact([*trail[:2], again, *trail[2:]])


@pytest.mark.parametrize("numbers", [(2, 3), (0, 1), (1, 1), (1, 3)])
def test_lines_are_numbered_from_one_without_a_gap(numbers: tuple[int, int]) -> None:
    first = audit.make_entry(FACTS[0], "doc_1", numbers[0], audit.START, bytes(16))
    second = audit.make_entry(FACTS[1], "doc_1", numbers[1], first.hash, bytes(16))
    assert not is_intact([first, second])


def test_a_rewritten_line_does_not_fit_the_one_after_it() -> None:
    trail = chain(*FACTS)
    trail[1] = audit.make_entry(replace(FACTS[1], at=NOW), "doc_1", 2, trail[0].hash, bytes(16))
    assert not is_intact(trail)


@pytest.mark.parametrize("kept", range(len(FACTS) + 1))
def test_erasing_what_is_personal_keeps_the_chain_verifying(kept: int) -> None:
    trail = chain(*FACTS)
    assert is_intact([*trail[:kept], *map(erase_entry, trail[kept:])])


def test_the_same_personal_data_hash_differently_under_another_salt() -> None:
    first = audit.make_entry(FACTS[0], "doc_1", 1, audit.START, bytes(16))
    second = audit.make_entry(FACTS[0], "doc_1", 1, audit.START, b"\x01" * 16)
    assert first.personal_hash != second.personal_hash
