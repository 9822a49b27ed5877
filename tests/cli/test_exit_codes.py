"""How commands end that a signal ends: in a sentence, with the exit code of a shell, after deleting what they made."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from esign.cli.exit_codes import EndedBySignal, end_at_once, run_command, run_steps

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """The handlers of a program in a terminal, whatever the tests were started from."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in NUMBERS[1:]:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_counts_also_where_a_library_makes_another_error_of_it(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        try:
            signal.raise_signal(number)
        except EndedBySignal:
            raise RuntimeError("what was called back has failed") from None
        return 0

    with pytest.raises(SystemExit) as ended:
        run_steps(work)
    assert ended.value.code == 128 + number
    assert capfd.readouterr().err == f"esign: ended early by {number.name}\n"


@pytest.mark.parametrize("number", NUMBERS)
def test_a_command_without_a_loop_cleans_up_undisturbed(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    steps: list[str] = []

    def work() -> int:
        try:
            signal.raise_signal(number)
        except EndedBySignal:
            for each in NUMBERS:
                signal.raise_signal(each)
            steps.append("cleaned up")
            raise
        return 0

    with pytest.raises(SystemExit) as ended:
        run_steps(work)
    assert ended.value.code == 128 + number and steps == ["cleaned up"]
    assert capfd.readouterr().err == f"esign: ended early by {number.name}\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def work() -> int:
        signal.raise_signal(signal.SIGHUP)
        return 5

    with pytest.raises(SystemExit) as ended:
        run_steps(work)
    assert ended.value.code == 5


def test_a_command_with_a_loop_does_not_end_well_after_ctrl_c(capfd: pytest.CaptureFixture[str]) -> None:
    async def work() -> int:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()
        return 0

    with pytest.raises(SystemExit) as ended:
        run_command(work)
    assert ended.value.code == 130
    assert capfd.readouterr().err == "esign: ended early by SIGINT\n"


READING = """
import asyncio, signal, threading
from esign.cli.exit_codes import end_at_once, run_command

async def work():
    reading = threading.Event()
    step = asyncio.create_task(asyncio.to_thread(lambda: (reading.set(), threading.Event().wait())))
    await asyncio.to_thread(reading.wait)
    signal.raise_signal(signal.SIGINT)
    await step

with end_at_once():
    run_command(work)
"""


def test_ctrl_c_ends_a_command_that_reads_in_the_middle_of_a_step() -> None:
    """The thread reads for ever."""
    ran = subprocess.run(
        ["env", "--default-signal=INT", sys.executable, "-c", READING],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (130, b"esign: ended early by SIGINT\n")


def test_ctrl_c_means_afterwards_what_it_meant_before() -> None:
    with end_at_once():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with end_at_once():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


async def test_a_thread_that_runs_a_command_changes_no_signal() -> None:
    def run() -> object:
        with end_at_once():
            return signal.getsignal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    assert await asyncio.to_thread(run) is before
