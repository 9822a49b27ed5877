import json
from typing import Any

import pytest

from esign.core.document import audit, audit_file
from tests.core.document.test_audit import FACTS, chain

ODD: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "x", [], [1], {}, {"a": 1}, "\x00", 10**30)
WRITTEN = json.loads(audit_file.write_audit_file("doc_1", chain(*FACTS)))


def recompute(whole: Any) -> audit.Chain:
    return audit_file.recompute(json.dumps(whole).encode())


def test_a_trail_is_recomputed_from_its_file() -> None:
    found = recompute(WRITTEN)
    assert found.broken is None and found.entries == len(FACTS) and found.head.hex() == WRITTEN["head"]


@pytest.mark.parametrize("name", WRITTEN["data"][1])
def test_a_member_of_any_other_type_is_a_fault_and_no_failure(name: str) -> None:
    for odd in ODD:
        entry = {**WRITTEN["data"][1], name: odd}
        if entry == WRITTEN["data"][1]:
            continue
        found = recompute({**WRITTEN, "data": [WRITTEN["data"][0], entry, *WRITTEN["data"][2:]]})
        assert found.broken or (name in {"ip", "userAgent"} and odd is None), odd


@pytest.mark.parametrize("name", ["kind", "id", "name", "email"])
def test_a_member_of_the_actor_of_any_other_type_is_a_fault_and_no_failure(name: str) -> None:
    first = WRITTEN["data"][0]
    for odd in ODD:
        if odd != first["actor"][name]:
            entry = {**first, "actor": {**first["actor"], name: odd}}
            assert recompute({**WRITTEN, "data": [entry, *WRITTEN["data"][1:]]}).broken, odd


@pytest.mark.parametrize("odd", ODD[:-1])  # JCS has no number as large as the last one
def test_an_erasure_names_entries_by_numbers(odd: Any) -> None:
    """The file is made by a stranger, who computes the hashes as well."""
    [line] = chain(FACTS[0])
    changed = audit.AuditEntry(
        **{
            **{name: getattr(line, name) for name in line.__slots__},
            "type": audit.ERASED,
            "data": {"entries": odd},
        }
    )
    own = {**audit_file.describe_entry(changed), "hash": audit.hash_entry(changed).hex()}
    found = recompute({"documentId": "doc_1", "entries": 1, "head": own["hash"], "data": [own]})
    assert bool(found.broken) == (odd not in ([], [1]))
