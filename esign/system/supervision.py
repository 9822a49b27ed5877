"""Keeps the background loops of the program running: starts again what ended, and finds what hangs.

A loop tells each sign of life by `Heartbeat.beat`, with the time for which it will rest now. When the next one is
overdue by more than its bound, the loop hangs: that is logged once with the place where it stands, and the loop is
cancelled and started again where that is safe. Nothing here is a task that could end itself: restarts and checks are
timers of the event loop.

What runs without a supervisor, because it must restart itself (the writer of the database), has its heartbeat watched.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from types import FrameType
from typing import Any

log = logging.getLogger("esign.jobs")

RESTART_SECONDS = 0.2
CHECK_SECONDS = 5.0
BOUND_SECONDS = 50.0  # with the interval of the checks, a hang is found within a minute
END_SECONDS = 10.0  # for which a loop that was cancelled may take its time
REMEMBERED_SECONDS = 3600.0  # for which a restart is told
FAILING = 3  # failures in a row after which a loop counts as failing
FRAMES = 25  # of the stack of a loop that hangs

_PRESENT: ContextVar["Heartbeat | None"] = ContextVar("heartbeat", default=None)


def beat() -> None:
    """Tell that the loop in which this is called gets on, as after each row of many."""
    present = _PRESENT.get()
    if present is not None:
        present.beat()


class Heartbeat:
    """The signs of life of one background loop, in seconds of the event loop's clock, and what happened to it.

    `bound` is how many seconds one run may take. `hung_since` is None unless the loop hangs now. `task` is what is
    cancelled when it hangs; without one, a hang is only told.
    """

    def __init__(self, name: str, bound: float = BOUND_SECONDS) -> None:
        self.name, self.bound = name, bound
        self.task: asyncio.Task[Any] | None = None
        self.restarts = self.hangs = self.failures = 0
        self.beat_at = self.due = asyncio.get_running_loop().time()
        self.hung_since: float | None = None
        self.restarted_at: float | None = None
        self.reason = ""
        self.beat()

    def beat(self, rest: float = 0.0) -> None:
        """Note a sign of life; the next one is expected after `rest` seconds."""
        self.beat_at = asyncio.get_running_loop().time()
        self.due = self.beat_at + rest + self.bound
        self.hung_since = None

    def note_run(self, failure: Exception | None = None) -> None:
        """Note that a run ended, and whether it failed."""
        self.failures = self.failures + 1 if failure is not None else 0
        if failure is not None:
            self.reason = type(failure).__name__
        self.beat()

    def note_restart(self, reason: str) -> None:
        """Count a restart and its reason."""
        self.restarts += 1
        self.restarted_at, self.reason = asyncio.get_running_loop().time(), reason

    @property
    def is_failing(self) -> bool:
        """Return whether the last runs failed, one after the other."""
        return self.failures >= FAILING

    def was_restarted(self) -> bool:
        """Return whether the loop was started again a short time ago."""
        now = asyncio.get_running_loop().time()
        return self.restarted_at is not None and now - self.restarted_at < REMEMBERED_SECONDS


class Supervisor:
    """All background loops of one run of the program, by name."""

    def __init__(
        self,
        check_seconds: float = CHECK_SECONDS,
        restart_seconds: float = RESTART_SECONDS,
        end_seconds: float = END_SECONDS,
    ) -> None:
        self.beats: dict[str, Heartbeat] = {}
        self._check_seconds = check_seconds
        self._restart_seconds = restart_seconds
        self._end_seconds = end_seconds
        self._runs: dict[str, Callable[[Heartbeat], Awaitable[None]]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._left: set[asyncio.Task[Any]] = set()  # tasks that were cancelled and have not ended yet
        self._is_closed = False

    def adopt(self, heartbeat: Heartbeat) -> None:
        """Watch the heartbeat of a loop that restarts itself."""
        self.beats[heartbeat.name] = heartbeat
        self._check_later()

    def start(
        self, name: str, run: Callable[[Heartbeat], Awaitable[None]], bound: float = BOUND_SECONDS
    ) -> None:
        """Run a loop until `stop`. It is started again when it ends, whatever ended it."""
        self.adopt(Heartbeat(name, bound))
        self._runs[name] = run
        self._begin(name)

    def note_hung_job(self, name: str) -> None:
        """Count that a job of this loop did not end in its time and was cancelled."""
        if name in self.beats:
            self.beats[name].hangs += 1

    async def stop(self) -> None:
        """Cancel every loop that was started here, and wait until they have ended."""
        self._is_closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        tasks = {beat.task for name, beat in self.beats.items() if name in self._runs and beat.task}
        tasks |= self._left
        for task in tasks:
            task.cancel()
        if tasks:
            # A loop that does not listen is left behind; the program ends anyway.
            await asyncio.wait(tasks, timeout=self._end_seconds)
        for name in self._runs:
            del self.beats[name]
        self._runs.clear()
        self._is_closed = False

    def _begin(self, name: str) -> None:
        heartbeat = self.beats[name]
        heartbeat.beat()
        heartbeat.task = asyncio.create_task(self._run(heartbeat), name=name)
        heartbeat.task.add_done_callback(lambda task: self._note_end(name, task))

    async def _run(self, heartbeat: Heartbeat) -> None:
        _PRESENT.set(heartbeat)
        await self._runs[heartbeat.name](heartbeat)

    def _note_end(self, name: str, task: asyncio.Task[Any]) -> None:
        """Start the loop again in a moment, unless the program ends or another task has taken its place."""
        self._left.discard(task)
        error = None if task.cancelled() else task.exception()
        heartbeat = self.beats.get(name)
        if self._is_closed or heartbeat is None or heartbeat.task is not task:
            return
        is_hung = heartbeat.hung_since is not None
        reason = describe_end(task.cancelled(), error, is_hung)
        log.error("the background loop %s ended and is started again: %s", name, reason, exc_info=error)
        self._restart(name, reason)

    def _restart(self, name: str, reason: str) -> None:
        self.beats[name].note_restart(reason)
        self._set_timer(name, self._restart_seconds, lambda: self._begin(name))

    def _set_timer(self, name: str, seconds: float, then: Callable[[], None]) -> None:
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, then)

    # ---------- hangs ----------

    def _check_later(self) -> None:
        if not self._is_closed and "" not in self._timers:
            self._set_timer("", self._check_seconds, self._check)

    def _check(self) -> None:
        """Find the loops whose sign of life is overdue, and cancel again those that another has replaced."""
        del self._timers[""]
        self._check_later()
        for task in self._left:
            task.cancel()  # one that did not listen goes on beside the other when its hang is over
        now = asyncio.get_running_loop().time()
        for heartbeat in self.beats.values():
            if now > heartbeat.due and heartbeat.hung_since is None:
                self._handle_hang(heartbeat, now)

    def _handle_hang(self, heartbeat: Heartbeat, now: float) -> None:
        heartbeat.hung_since = heartbeat.beat_at
        heartbeat.hangs += 1
        task = heartbeat.task
        log.error(
            "the background loop %s gave no sign of life for %.0f seconds. It stands at:\n%s",
            heartbeat.name,
            now - heartbeat.beat_at,
            describe_stack(task) if task else "(no task of it is known)",
        )
        if task is None or heartbeat.name not in self._runs:
            return
        task.cancel()
        self._set_timer(heartbeat.name, self._end_seconds, lambda: self._replace(heartbeat, task))

    def _replace(self, heartbeat: Heartbeat, task: asyncio.Task[Any]) -> None:
        """Start another task in place of one that hangs and does not end although it was cancelled."""
        if heartbeat.task is not task or task.done() or self._is_closed:
            return
        if heartbeat.hung_since is None:
            return  # it overcame the hang and goes on: another would be a second one
        self._left.add(task)
        heartbeat.task = None
        log.error("the background loop %s does not end; another takes its place", heartbeat.name)
        self._restart(heartbeat.name, "it hung and did not end")


def describe_end(is_cancelled: bool, error: BaseException | None, is_hung: bool) -> str:
    """Return in words how a loop ended."""
    if is_hung:
        return "it hung"
    if is_cancelled:
        return "it was cancelled"
    return type(error).__name__ if error is not None else "it returned"


def describe_stack(task: asyncio.Task[Any]) -> str:
    """Return where a task waits, outermost call first; a task itself knows only the outermost."""
    frames = [(frame, frame.f_lineno) for frame in list_frames(task.get_coro())]
    summary = traceback.StackSummary.extract(iter(frames[:FRAMES]))
    return "".join(summary.format()) or "(nowhere)"


def list_frames(waiting: object) -> Iterator[FrameType]:
    """Yield the frames of a coroutine and of what it waits for."""
    while waiting is not None:
        frame = next(
            (
                found
                for name in ("cr_frame", "gi_frame", "ag_frame")
                if (found := getattr(waiting, name, None))
            ),
            None,
        )
        if frame is None:
            return
        yield frame
        waiting = next(
            (
                found
                for name in ("cr_await", "gi_yieldfrom", "ag_await")
                if (found := getattr(waiting, name, None))
            ),
            None,
        )
