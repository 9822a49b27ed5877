"""What is remembered of work that failed: for a while, and never more than so much."""

from esign.pdf.worker.failure_memory import FailureMemory


def test_a_failure_is_known_until_its_time_is_over() -> None:
    failures = FailureMemory(seconds=10)
    failures.add("inspect abc", "too much memory", now=100)
    assert failures.find("inspect abc", now=109.9) == "too much memory"
    assert failures.find("verify abc", now=101) is None
    assert failures.find("inspect abc", now=110) is None
    assert failures.find("inspect abc", now=101) is None, "forgotten"


def test_the_oldest_make_room() -> None:
    failures = FailureMemory(most=3)
    for name in "abcad":
        failures.add(name, "crashed", now=0)
    assert [name for name in "abcd" if failures.find(name, now=1)] == ["a", "c", "d"]
