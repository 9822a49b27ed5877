"""The guarded clock: what it takes for the time while the wall clock of the machine jumps."""

import pytest

from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Instant
from esign.system.clock import FAR, Clock, ClockMark, GuardedClock, SystemClock
from tests.factories import NOW

YEAR = 365 * DAY


class Machine(Clock):
    """A machine that has been up for a day; its wall clock can be set to anything."""

    def __init__(self) -> None:
        self.up = float(24 * 3600)
        self.error: Instant = 0

    def now(self) -> Instant:
        return NOW + round(self.up * 1000) + self.error

    def monotonic(self) -> float:
        return self.up

    def passes(self, clock: GuardedClock, seconds: float, step: float = 5) -> None:
        """Let time pass while somebody looks at the clock now and then."""
        end = self.up + seconds
        while self.up < end:
            self.up = min(end, self.up + step)
            clock.now()

    @property
    def true(self) -> Instant:
        return NOW + round(self.up * 1000)


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_an_even_clock_is_believed(machine: Machine) -> None:
    clock = GuardedClock(machine)
    machine.passes(clock, 3600)
    assert clock.now() == clock.read_settled_time() == machine.now()
    assert clock.doubt is None


@pytest.mark.parametrize("error", [30 * SECOND, -30 * SECOND, MINUTE, -MINUTE])
def test_a_small_correction_is_followed_at_once(machine: Machine, error: int) -> None:
    clock = GuardedClock(machine)
    machine.passes(clock, 60)
    machine.error = error
    assert clock.now() == machine.now() and clock.doubt is None


def test_small_corrections_add_up_over_hours(machine: Machine) -> None:
    clock = GuardedClock(machine)
    for _ in range(60):
        machine.passes(clock, 900)
        machine.error += 20 * SECOND
    assert clock.now() == machine.now() and clock.doubt is None


@pytest.mark.parametrize("error", [2 * MINUTE, HOUR, 30 * DAY, YEAR, -2 * MINUTE, -DAY, -YEAR])
def test_a_jump_is_not_followed_and_leaves_no_trace(machine: Machine, error: int) -> None:
    clock = GuardedClock(machine)
    machine.passes(clock, 60)
    certain = clock.now()
    machine.error = error
    machine.passes(clock, 30)
    assert clock.now() == machine.true
    assert certain <= clock.read_settled_time() <= certain + 5 * SECOND, "nothing falls due meanwhile"
    assert clock.doubt is not None and clock.doubt.ahead == error and clock.mark() is None
    machine.error = 0
    assert clock.now() == clock.read_settled_time() == machine.true and clock.doubt is None


@pytest.mark.parametrize("error", [HOUR, YEAR, -HOUR, -YEAR])
def test_a_clock_that_stays_where_it_is_for_ten_minutes_is_believed(machine: Machine, error: int) -> None:
    clock = GuardedClock(machine)
    machine.error = error
    machine.passes(clock, 595)
    assert clock.doubt is not None and clock.now() == machine.true
    machine.passes(clock, 10)
    assert clock.doubt is None and clock.now() == clock.read_settled_time() == machine.now()


def test_each_further_jump_begins_the_ten_minutes_anew(machine: Machine) -> None:
    clock = GuardedClock(machine)
    for error in (YEAR, 2 * YEAR, -YEAR, YEAR):
        machine.error = error
        machine.passes(clock, 400)
        assert clock.doubt is not None and clock.now() == machine.true


def test_an_operator_s_word_is_enough(machine: Machine) -> None:
    clock = GuardedClock(machine)
    machine.error = YEAR
    assert clock.doubt is not None
    clock.confirm()
    assert clock.doubt is None and clock.read_settled_time() == machine.now()


# ---------- over a restart ----------


def restart_clock(machine: Machine, mark: ClockMark | None, boot_id: str = "this") -> GuardedClock:
    return GuardedClock(machine, mark, boot_id)


def a_mark(machine: Machine) -> ClockMark:
    mark = GuardedClock(machine, None, "this").mark()
    assert mark is not None
    return mark


@pytest.mark.parametrize("error", [HOUR, YEAR, -HOUR, -YEAR])
def test_a_restart_of_the_program_does_not_confirm_a_jump(machine: Machine, error: int) -> None:
    mark = a_mark(machine)
    machine.up += 120
    machine.error = error
    clock = restart_clock(machine, mark)
    assert clock.now() == machine.true and clock.doubt is not None
    machine.error = 0
    assert clock.doubt is None and clock.read_settled_time() == machine.true


def test_a_program_that_was_stopped_for_a_month_on_a_running_machine_knows_it(machine: Machine) -> None:
    mark = a_mark(machine)
    machine.up += 40 * 24 * 3600
    clock = restart_clock(machine, mark)
    assert clock.doubt is None and clock.read_settled_time() == machine.true


@pytest.mark.parametrize("off", [HOUR, 6 * DAY, FAR])
def test_a_machine_that_was_off_for_days_is_believed(machine: Machine, off: int) -> None:
    mark = a_mark(machine)
    machine.error = off
    clock = restart_clock(machine, mark, "another")
    assert clock.doubt is None and clock.read_settled_time() == machine.now()


def test_a_clock_that_starts_far_ahead_is_the_time_but_nothing_falls_due_for_ten_minutes(
    machine: Machine,
) -> None:
    mark = a_mark(machine)
    machine.error = YEAR
    clock = restart_clock(machine, mark, "another")
    machine.passes(clock, 595)
    assert clock.now() == machine.now() and clock.read_settled_time() == mark.at and clock.mark() is None
    machine.passes(clock, 10)
    assert clock.doubt is None and clock.read_settled_time() == machine.now()


def test_a_clock_that_starts_far_ahead_and_is_set_right_does_no_harm(machine: Machine) -> None:
    mark = a_mark(machine)
    machine.error = YEAR
    clock = restart_clock(machine, mark, "another")
    machine.passes(clock, 30)
    machine.error = HOUR
    assert clock.now() == clock.read_settled_time() == machine.now() and clock.doubt is None


def test_a_clock_that_starts_far_ahead_and_falls_far_behind_is_not_followed(machine: Machine) -> None:
    mark = a_mark(machine)
    machine.error = YEAR
    clock = restart_clock(machine, mark, "another")
    machine.error = -YEAR
    machine.passes(clock, 30)
    assert abs(clock.now() - mark.at) <= 31 * SECOND and clock.doubt is not None


def test_a_clock_that_starts_in_the_past_goes_on_from_what_was_certain(machine: Machine) -> None:
    mark = a_mark(machine)
    machine.error = -20 * YEAR
    clock = restart_clock(machine, mark, "another")
    assert clock.now() >= mark.at and clock.doubt is not None
    machine.error = HOUR
    machine.passes(clock, 601)
    assert clock.now() == machine.now() and clock.doubt is None


def test_the_machine_s_own_clocks_agree() -> None:
    clock = GuardedClock(SystemClock())
    assert clock.doubt is None and clock.now() == clock.read_settled_time()
