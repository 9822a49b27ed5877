"""What is printed of an audit trail: all of it, or of what repeats a part and where the rest was."""

from itertools import pairwise

import pytest

from esign.core.actor import Actor
from esign.core.document import audit
from esign.core.document.audit import AuditEntry
from esign.core.document.printed_trail import MOST, Gap, choose_entries
from esign.core.document.state.outcome import Event

PERSON, KEY = Actor("recipient", "rcp_1", "Ann"), Actor("api_key", "key_1", "sync")


def a_trail(*events: Event) -> list[AuditEntry]:
    return [
        audit.make_entry(event, "doc_1", seq, audit.START, bytes(16)) for seq, event in enumerate(events, 1)
    ]


def list_fetched(count: int) -> list[Event]:
    return [Event("document.downloaded", n, KEY) for n in range(count)]


def numbers(lines: list[AuditEntry | Gap]) -> list[int]:
    """Of each line those it stands for, in its order."""
    return [
        n
        for line in lines
        for n in (range(line.first, line.last + 1) if isinstance(line, Gap) else [line.seq])
    ]


def test_a_trail_up_to_the_limit_is_printed_whole() -> None:
    trail = a_trail(*list_fetched(MOST))
    assert choose_entries(trail) == trail


def test_of_what_repeats_the_first_and_the_last_are_printed_and_all_else_whole() -> None:
    acts = [
        Event(f"recipient.{act}", n, PERSON, "rcp_1") for n, act in enumerate(("sent", "viewed", "completed"))
    ]
    trail = a_trail(*acts[:2], *list_fetched(5000), acts[2])
    lines = choose_entries(trail)
    [gap] = [line for line in lines if isinstance(line, Gap)]
    assert gap == Gap(103, 4902) and lines[-1] == trail[-1] and lines[:2] == trail[:2]
    assert numbers(lines) == [entry.seq for entry in trail]


def test_an_entry_that_would_be_left_out_alone_is_printed() -> None:
    events = [
        event
        for n, fetch in enumerate(list_fetched(3000))
        for event in (fetch, Event(f"odd.{n // 20}", n, KEY))
    ]
    lines = choose_entries(a_trail(*events))
    assert all(line.first < line.last for line in lines if isinstance(line, Gap))
    assert numbers(lines) == [*range(1, 6001)]


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [1, 7, 600, 4000])
def test_there_are_never_more_lines_than_a_worker_can_draw(kinds: int) -> None:
    trail = a_trail(*(Event(f"odd.{n % kinds}", n, KEY) for n in range(12_000)))
    lines = choose_entries(trail)
    assert sum(isinstance(line, AuditEntry) for line in lines) <= 2 * MOST and len(lines) <= 2 * MOST + 1
    assert numbers(lines) == [entry.seq for entry in trail]
    assert not [pair for pair in pairwise(lines) if all(isinstance(line, Gap) for line in pair)]
