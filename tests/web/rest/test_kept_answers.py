import pytest

from esign.core.actor import Mode
from esign.web.http.answer import ApiAnswer
from esign.web.rest.kept_answers import OVERHEAD, KeptAnswers, Place


def place(number: int) -> Place:
    return "org_1", Mode.LIVE, b"/%d" % number


def answer(revision: int, size: int = 1000) -> ApiAnswer:
    return ApiAnswer(200, b"x" * size, ((b"etag", b'"%d"' % revision),))


def test_an_answer_is_found_by_its_place_and_revision_alone() -> None:
    kept, first = KeptAnswers(), answer(1)
    kept.keep(place(1), first)
    assert kept.find(place(1), b'"1"') is first
    assert kept.find(place(1), b'"2"') is None
    assert kept.find(place(2), b'"1"') is None
    assert kept.find(("org_2", Mode.LIVE, b"/1"), b'"1"') is None
    assert kept.find(("org_1", Mode.TEST, b"/1"), b'"1"') is None


def test_the_newer_answer_of_a_place_takes_the_room_of_the_older() -> None:
    kept = KeptAnswers(room=20 * (1000 + OVERHEAD))
    for revision in range(100):
        kept.keep(place(1), answer(revision))
    for number in range(2, 21):
        kept.keep(place(number), answer(1))
    assert kept.find(place(1), b'"99"') is not None


def test_those_unused_for_longest_make_room() -> None:
    kept = KeptAnswers(room=10 * (1000 + OVERHEAD))
    for number in range(10):
        kept.keep(place(number), answer(1))
    assert kept.find(place(0), b'"1"') is not None
    kept.keep(place(10), answer(1))
    assert kept.find(place(1), b'"1"') is None
    assert all(kept.find(place(number), b'"1"') is not None for number in (0, *range(2, 11)))


@pytest.mark.parametrize("sizes", [[1] * 5000, [50, 100_000, 300], [130_000] * 20, [2_000_000]])
def test_all_answers_together_stay_within_the_room(sizes: list[int]) -> None:
    room = 1_000_000
    kept = KeptAnswers(room)
    for number, size in enumerate(sizes):
        kept.keep(place(number), answer(1, size))
    found = [kept.find(place(number), b'"1"') for number in range(len(sizes))]
    assert sum(len(one.body) + OVERHEAD for one in found if one is not None) <= room
