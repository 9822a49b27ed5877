"""The table of the state machine over every status and act: what the functions do, and what contract 2.1 says."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from esign.actions.document.files import find_hash
from esign.actions.signing.unblock_recipient import require_code
from esign.core.document.challenge import Method
from esign.core.document.document import Document, Recipient, RecipientStatus, Role, Status
from esign.core.document.state import (
    TABLE,
    Act,
    is_allowed,
    is_past_expiry,
    lifecycle,
    remind,
    renew_link,
    require,
)
from esign.core.document.state.edit import correct, edit
from esign.core.errors import CATALOGUE, Problem
from esign.core.instant import DAY, HOUR
from esign.core.people.account import Reminders
from tests.factories import AUTHOR, NOW, ORIGIN, a_document, a_recipient, a_seal

CONTRACT = Path(__file__).parents[4] / "docs/dev/contract.md"
LATER = NOW + HOUR
NONE = None
KNOWN = "office@northlight.example"


def change(member: str, value: object) -> Callable[[Document], Document]:
    return lambda d: edit(d, {member: value}, AUTHOR, LATER).document


def stay(perform: Callable[[Document], object]) -> Callable[[Document], Document]:
    """What is not a transition leaves the document as it is."""

    def run(document: Document) -> Document:
        perform(document)
        return document

    return run


def first(document: Document) -> Recipient:
    return document.recipients[0]


def erase(document: Document) -> None:
    """`store.document.erase_document` removes the document of this outcome."""
    assert lifecycle.delete(document, AUTHOR, LATER).document == document


def complete(document: Document) -> Document:
    return lifecycle.complete(document, first(document), "I agree", ORIGIN, LATER).document


# Each act as the program performs it; None is a document that is gone.
FUNCTIONS: Mapping[Act, Callable[[Document], Document | None]] = {
    Act.EDIT: change("title", "New"),
    Act.EDIT_EXPIRY: change("expires_at", NOW + 40 * DAY),
    Act.EDIT_REMINDERS: change("reminders", Reminders(enabled=False)),
    Act.EDIT_REFERENCE: change("external_id", "x-1"),
    Act.SEND: lambda d: lifecycle.send(d, AUTHOR, LATER).document,
    Act.CORRECT: lambda d: correct(d, replace(first(d), name="New"), AUTHOR, LATER).document,
    Act.REMIND: lambda d: remind.send_reminder(d, first(d), LATER).document,
    Act.LINK: stay(lambda d: require(d, Act.LINK, LATER)),
    Act.UNBLOCK: stay(lambda d: require_code(d, replace(first(d), authentication=Method.EMAIL_CODE))),
    Act.CANCEL: lambda d: lifecycle.cancel(d, None, True, AUTHOR, LATER).document,
    Act.DELETE: erase,
    Act.DOWNLOAD_SEALED: stay(lambda d: find_hash(replace(d, seal=a_seal()), "sealed")),
    Act.VIEW: lambda d: lifecycle.view(d, first(d), ORIGIN, LATER).document,
    Act.FILL_IN: stay(lambda d: require(d, Act.FILL_IN, LATER)),
    Act.COMPLETE: complete,
    Act.DECLINE: lambda d: lifecycle.decline(d, first(d), None, ORIGIN, LATER).document,
    Act.ASK_FOR_LINK: lambda d: renew_link.ask_for_link(d, first(d), KNOWN, ORIGIN, LATER).document,
    Act.EXPIRE: lambda d: lifecycle.expire(d, NOW + 30 * DAY).document,
    Act.SEAL: lambda d: lifecycle.seal(d, a_seal(), LATER).document,
    Act.FAIL_TO_SEAL: lambda d: lifecycle.seal_failed(d, "no disk", LATER)[0].document,
    Act.RETRY_SEAL: lambda d: lifecycle.retry_seal(replace(d, seal_error="no disk"), AUTHOR, LATER).document,
}


def make_documents(status: Status) -> list[Document]:
    """One that waits for a single signer, and one that waits for a second as well."""
    invited = RecipientStatus.CREATED if status is Status.DRAFT else RecipientStatus.SENT
    ana = a_recipient("Ana", status=invited)
    return [
        a_document(ana, status=status),
        a_document(ana, a_recipient("Bo", role=Role.APPROVER), status=status),
    ]


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("act", FUNCTIONS)
def test_each_act_in_each_status_leads_where_the_table_says_or_is_refused_with_its_code(
    act: Act, status: Status
) -> None:
    rule, documents = TABLE[act], make_documents(status)
    assert is_allowed(documents[0], act) is (status in rule.next)
    if status in rule.next:
        found = [FUNCTIONS[act](document) for document in documents]
        assert {document and document.status for document in found} == set(rule.next[status])
        return
    for document in documents:
        with pytest.raises(Problem) as refused:
            FUNCTIONS[act](document)
        code = rule.codes.get(status, rule.otherwise)
        assert (refused.value.code, refused.value.current_status) == (code, status)
        assert refused.value.status == 409


def test_the_table_has_every_act_and_only_codes_of_the_catalogue() -> None:
    assert list(TABLE) == list(Act) and FUNCTIONS.keys() == set(Act) - {Act.CREATE}
    for act, rule in TABLE.items():
        refusing = set(Status) - rule.next.keys()
        assert all(rule.codes.get(s, rule.otherwise) in CATALOGUE for s in refusing if act is not Act.CREATE)
        assert rule.codes.keys() <= refusing


def test_a_new_document_begins_where_the_table_says() -> None:
    (outcome,) = [lifecycle.create(a_document(), ORIGIN, NOW)]
    assert TABLE[Act.CREATE].next == {NONE: (outcome.document.status,)}


@pytest.mark.parametrize("act", [a for a, rule in TABLE.items() if rule.next.keys() == {Status.SENT}])
def test_with_the_time_a_document_past_its_expiry_counts_as_expired(act: Act) -> None:
    document = a_document(status=Status.SENT, expires_at=LATER)
    require(document, act, LATER - 1)
    require(document, act)
    assert is_past_expiry(document, LATER)
    with pytest.raises(Problem) as refused:
        require(document, act, LATER)
    rule = TABLE[act]
    assert (refused.value.code, refused.value.current_status) == (rule.otherwise, Status.EXPIRED)


def test_the_moves_of_the_contract_are_those_of_the_table() -> None:
    """D1 to D12 of contract 2.1: from, to, and nothing besides."""
    names: dict[str, tuple[Status | None, ...]] = {
        **{status.value: (status,) for status in Status},
        **{"–": (NONE,), "deleted": (NONE,)},
        "terminal": (Status.COMPLETED, Status.DECLINED, Status.EXPIRED, Status.CANCELLED),
    }
    lines = re.findall(r"^\| (D\d+) \| (\S+) → (\S+) \|", CONTRACT.read_text("utf-8"), re.MULTILINE)
    written = {(n, a, b) for n, before, after in lines for a in names[before] for b in names[after]}
    assert [number for number, _, _ in lines] == [f"D{n}" for n in range(1, 13)]
    moves = {(a, b) for rule in TABLE.values() for a, after in rule.next.items() for b in after}
    assert {(a, b) for _, a, b in written if a != b} == {(a, b) for a, b in moves if a != b}
    for number, before, to in written:
        acts = [act for act, rule in TABLE.items() if number in rule.numbers.split()]
        assert any(to in TABLE[act].next.get(before, ()) for act in acts), number
    for rule in TABLE.values():
        numbers = set(rule.numbers.split())
        steps = {(a, b) for a, after in rule.next.items() for b in after}
        assert not numbers or steps <= {(a, b) for n, a, b in written if n in numbers}
