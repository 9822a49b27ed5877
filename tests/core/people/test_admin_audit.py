"""Which failed sign-ins become entries, and the chain of an administrative log whose personal data are erased."""

from dataclasses import replace

import pytest

from esign.core.actor import Actor, Origin
from esign.core.document import audit
from esign.core.document.audit import AuditEntry, Chain
from esign.core.document.state.outcome import Event
from esign.core.people.admin_audit import is_entered

ORGANISATION = "org_1"


def a_log(*types: str, **last: object) -> list[AuditEntry]:
    lines: list[AuditEntry] = []
    for seq, type in enumerate(types, 1):
        data = dict(last) if seq == len(types) else {}
        event = Event(
            type, seq, Actor("member", "mem_1", "Ada", "ada@example.test"), None, Origin("::1"), data
        )
        previous = lines[-1].hash if lines else audit.START
        lines.append(audit.make_entry(event, ORGANISATION, seq, previous, bytes(16)))
    return lines


def verdict(lines: list[AuditEntry]) -> str | None:
    chain = Chain(lines[0].document_id)
    for line in lines:
        chain.follow(line.seq, line)
    chain.end()
    return chain.broken


def erase_entry(line: AuditEntry) -> AuditEntry:
    return replace(line, personal=None, salt=None)


def test_of_a_million_failures_in_an_hour_few_become_entries() -> None:
    entered = [n for n in range(1, 1_000_001) if is_entered(n)]
    assert entered[:9] == [1, 2, 3, 4, 5, 10, 20, 40, 80] and len(entered) < 25


def test_a_log_names_its_organisation_so_that_its_entries_fit_no_document() -> None:
    [line] = a_log("member.signed_in")
    assert verdict([line]) is None
    assert verdict([replace(line, document_id="org_2")]) is not None
    assert verdict([replace(line, document_id="doc_1")]) is not None


@pytest.mark.parametrize("announced", [[1, 2], [1], []])
def test_personal_data_that_went_without_an_entry_are_missed(announced: list[int]) -> None:
    one, two, three, last = a_log(
        "member.signed_in", "member.invited", "api_key.created", "audit.erased", entries=announced
    )
    lines = [erase_entry(one), erase_entry(two), three, last]
    broken = verdict(lines)
    assert (broken is None) == (announced == [1, 2])
    if broken:
        assert f"entry {3 - (2 - len(announced)) if announced else 1}" in broken and "personal" in broken


def test_every_change_inside_a_log_shows() -> None:
    lines = a_log("member.signed_in", "member.invited", "api_key.created")
    assert verdict(lines) is None
    assert verdict([lines[0], replace(lines[1], type="member.removed"), lines[2]]) is not None
    assert verdict([lines[0], lines[2]]) is not None
    assert verdict([lines[0], replace(lines[1], personal={"actor": {}}), lines[2]]) is not None
