"""T26: background loops that end or hang go on; jobs that end the program or its worker are set aside."""

import asyncio
import logging
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from esign.actions.server import health
from esign.core.errors import Problem
from esign.jobs import expire, schedule, worker
from esign.jobs.schedule import ScheduledTick
from esign.pdf.worker.workers import WorkerFailed
from esign.runtime import Runtime
from esign.store.queue import set_aside
from esign.system.loop_watch import LoopWatch
from esign.system.supervision import Heartbeat, Supervisor
from tests.fakes import FakeClock
from tests.journeys.api import until
from tests.journeys.site import JourneySite, a_site

SEAL, MAIL = (next(kind for kind in worker.KINDS if kind.name == name) for name in ("seal", "mail"))
BOUND = 0.2


class InjectedTick:
    """A tick that misbehaves at its first run in the given way."""

    __module__ = "tests.injected"

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.runs = 0
        self.went_on = asyncio.Event()

    async def __call__(self, runtime: Runtime) -> int:
        self.runs += 1
        if self.runs > 1:
            self.went_on.set()
            return 0
        if self.fault == "hang":
            await asyncio.get_running_loop().create_future()
        if self.fault == "cancel":
            raise asyncio.CancelledError
        if self.fault == "deaf":
            while not self.went_on.is_set():
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    continue
        raise ValueError("injected")


class DyingPdf:
    """PDF workers of which each seal of a document ends one; that of a practice page fails as `practice` says."""

    def __init__(self, workers: Any, practice: Exception | None = None) -> None:
        self._workers = workers
        self._practice = practice
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workers, name)

    async def seal(self, *given: Any) -> Any:
        if not given[-1].source:
            if self._practice is not None:
                raise self._practice
            return await self._workers.seal(*given)
        self.asked += 1
        raise WorkerFailed("the system ended it: Segmentation fault", lasting=True)


@pytest.mark.parametrize("fault", ["raise", "cancel", "hang", "deaf"])
async def test_a_loop_goes_on_within_a_second(
    site: JourneySite, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    loops = Supervisor(check_seconds=0.05, restart_seconds=0.05, end_seconds=0.2)
    runtime, tick = replace(site.runtime, loops=loops), InjectedTick(fault)
    other = InjectedTick("none")
    other.runs = 1
    began = asyncio.get_running_loop().time()
    async with schedule.run_jobs(
        runtime, [ScheduledTick(tick, 0.1, BOUND), ScheduledTick(expire.tick, 0.1, BOUND)], []
    ):
        await asyncio.wait_for(tick.went_on.wait(), 10)
        assert asyncio.get_running_loop().time() - began < 1 + BOUND
        beat = loops.beats["injected"]
        assert beat.restarts == (fault != "raise")
        assert beat.hangs == (fault in ("hang", "deaf"))
        warnings = health.list_restarts(runtime)
        assert bool(warnings) is (fault != "raise")
        assert health.check_loops(runtime) == "ok"
    if fault == "hang":
        assert "create_future()" in caplog.text  # where it stood
    assert loops.beats == {}


async def test_a_loop_that_overcomes_its_hang_gets_no_second_one_beside_it() -> None:
    loops = Supervisor(check_seconds=0.02, restart_seconds=0.01, end_seconds=0.1)
    running = most = 0
    over = asyncio.Event()

    async def run(heartbeat: Heartbeat) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()  # until the supervisor cancels it
            for _ in range(30):  # three times as long as the supervisor waits for its end
                heartbeat.beat()
                await asyncio.sleep(0.01)
            over.set()
            await asyncio.Event().wait()
        finally:
            running -= 1

    loops.start("stubborn", run, bound=0.05)
    await asyncio.wait_for(over.wait(), 30)
    await loops.stop()
    assert most == 1


async def test_a_loop_that_was_replaced_ends_when_its_hang_is_over() -> None:
    loops = Supervisor(check_seconds=0.02, restart_seconds=0.01, end_seconds=0.05)
    running = 0
    hang, replaced, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(heartbeat: Heartbeat) -> None:
        nonlocal running
        running += 1
        try:
            if running == 1 and not replaced.is_set():
                while not hang.is_set():
                    with suppress(asyncio.CancelledError):
                        await hang.wait()
            else:
                replaced.set()
            while True:
                heartbeat.beat()
                await asyncio.sleep(0.01)
        finally:
            running -= 1
            ended.set()

    loops.start("deaf", run, bound=0.05)
    async with asyncio.timeout(30):
        await replaced.wait()
        assert running == 2
        hang.set()
        await ended.wait()
    assert running == 1
    await loops.stop()


async def test_every_loop_of_the_program_is_started_again_when_it_is_cancelled(tmp_path: Path) -> None:
    async with a_site(tmp_path / "data", working=True) as site:
        beats = site.runtime.loops.beats
        assert {each.name for each in schedule.TICKS} <= set(beats)
        assert {"seal worker", "mail worker", "webhook worker", "database writer"} <= set(beats)
        assert any(name.startswith("http server") for name in beats)
        tasks = {name: beat.task for name, beat in beats.items() if beat.task is not None}
        began = asyncio.get_running_loop().time()
        for task in tasks.values():
            task.cancel()
        while any(beats[name].task is task for name, task in tasks.items()):
            assert asyncio.get_running_loop().time() - began < 10
            await asyncio.sleep(0.01)
        assert {beats[name].restarts for name in tasks} == {1}
        document = await site.api.send_document()  # the writer writes
        assert (await site.api.get(document))["status"] == "sent"


async def test_a_loop_that_stands_still_makes_the_server_unready(site: JourneySite) -> None:
    loops = Supervisor(check_seconds=0.05, end_seconds=30)
    runtime, tick = replace(site.runtime, loops=loops), InjectedTick("deaf")
    async with schedule.run_jobs(runtime, [ScheduledTick(tick, 0.1, BOUND)], []):

        async def hangs() -> bool | None:
            return (await health.check_health(runtime))["loops"] != "ok" or None

        await until(hangs, "hang")
        assert (await health.check_health(runtime))["loops"] == "no sign of life: injected"
        tick.went_on.set()
        for task in asyncio.all_tasks():
            if task.get_name() == "injected":
                task.cancel()

        async def goes_on() -> bool | None:
            return tick.runs > 1 or None

        await until(goes_on, "second run")


async def test_a_cancelled_write_costs_only_its_group(site: JourneySite) -> None:
    async def write(tx: Any) -> None:
        await tx.run("UPDATE clock_mark SET id = id")
        raise asyncio.CancelledError

    with pytest.raises(Problem) as error:
        await site.runtime.db.write(write)
    assert error.value.code == "unavailable"
    await site.api.send_document()
    assert site.runtime.db.heartbeat.restarts == 1
    assert not site.runtime.db.failed.done()


async def test_a_seal_that_ends_its_worker_three_times_is_set_aside_and_others_go_on(
    site: JourneySite, clock: FakeClock
) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    dying = DyingPdf(site.runtime.pdf)
    runtime = replace(site.runtime, pdf=cast(Any, dying))
    for _ in range(set_aside.MOST):
        assert await worker.drain_jobs(runtime, "seal") == 1
        clock.advance(days=1)
    assert await worker.drain_jobs(runtime, "seal") == 0
    await worker.recover_jobs(runtime)  # nor at the next start
    assert await worker.drain_jobs(runtime, "seal") == 0
    assert await health.list_set_aside(runtime) == ["set aside and not tried again: 1 seal"]
    other = await site.complete_document()
    assert (await site.api.get(other))["status"] == "completed"
    await site.api.ok("POST", f"/documents/{document}/retry-seal", {})
    await site.work("seal")
    assert (await site.api.get(document))["status"] == "completed"
    assert await health.list_set_aside(runtime) == []


@pytest.mark.parametrize(
    ("practice", "warned"),
    [(WorkerFailed("it crashed", lasting=True), True), (Problem("unavailable"), False)],
    ids=["ends its worker too", "is turned away"],
)
async def test_no_seal_is_set_aside_while_no_practice_page_is_sealed(
    site: JourneySite, clock: FakeClock, caplog: pytest.LogCaptureFixture, practice: Exception, warned: bool
) -> None:
    document = await site.api.send_document()
    await site.all_sign(document)
    runtime = replace(site.runtime, pdf=cast(Any, DyingPdf(site.runtime.pdf, practice)))
    for _ in range(2 * set_aside.MOST):
        assert await worker.drain_jobs(runtime, "seal") == 1
        clock.advance(days=1)
    assert await health.list_set_aside(runtime) == []
    assert "a practice page cannot be sealed now either" in caplog.text
    assert any("whatever the document" in each for each in health.list_warnings(runtime)) is warned
    await site.work("seal")
    assert (await site.api.get(document))["status"] == "completed"
    assert not any("whatever the document" in warning for warning in health.list_warnings(runtime))


async def test_what_was_cut_off_three_times_is_set_aside(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        document = await site.api.send_document()
        await site.all_sign(document)
    for times in (1, 2, 3):
        async with a_site(tmp_path / "data", clock) as site:
            await worker.recover_jobs(site.runtime)
            if times == 3:  # a suspect rests
                assert await worker.claim_due(site.runtime, SEAL, 4) == []
                clock.advance(milliseconds=set_aside.REST)
            assert len(await worker.claim_due(site.runtime, SEAL, 4)) == 1
    async with a_site(tmp_path / "data", clock) as site:
        await worker.recover_jobs(site.runtime)
        clock.advance(days=2)
        assert await site.work("seal") == 0
        assert await set_aside.count(site.runtime.db) == {"seal": 1}
        assert (await site.api.get(document))["status"] == "sealing"
        await site.api.ok("POST", f"/documents/{document}/retry-seal", {})
        await site.work("seal")
        assert (await site.api.get(document))["status"] == "completed"


async def test_a_server_that_is_killed_during_the_rest_clears_its_suspects(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        document = await site.api.send_document()
        await site.all_sign(document)
    for _ in range(3):
        for _ in range(set_aside.SUSPECT):
            async with a_site(tmp_path / "data", clock) as site:
                await worker.recover_jobs(site.runtime)
                assert len(await worker.claim_due(site.runtime, SEAL, 4)) == 1
        async with a_site(tmp_path / "data", clock) as site:
            await worker.recover_jobs(site.runtime)
            assert await worker.claim_due(site.runtime, SEAL, 4) == []
    async with a_site(tmp_path / "data", clock) as site:
        await worker.recover_jobs(site.runtime)
        assert await site.work("seal") == 1
        assert (await site.api.get(document))["status"] == "completed"


async def test_a_suspect_is_tried_alone(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        documents = []
        for _ in range(2):
            documents.append(await site.api.send_document())
            await site.all_sign(documents[-1])
    for _ in range(set_aside.SUSPECT):
        async with a_site(tmp_path / "data", clock) as site:
            await worker.recover_jobs(site.runtime)
            assert len(await worker.claim_due(site.runtime, SEAL, 4)) == 2
    async with a_site(tmp_path / "data", clock) as site:
        await worker.recover_jobs(site.runtime)
        other = await site.api.send_document()
        await site.all_sign(other)
        [fresh] = await worker.claim_due(site.runtime, SEAL, 4)  # those that nothing is said of need not wait
        clock.advance(milliseconds=set_aside.REST)
        assert await worker.claim_due(site.runtime, SEAL, 3, is_idle=False) == []
        await worker.attempt(site.runtime, SEAL, fresh)
        [alone] = await worker.claim_due(site.runtime, SEAL, 4)
        await site.all_sign(await site.api.send_document())  # mails go on
        assert await worker.claim_due(site.runtime, SEAL, 3, is_idle=False) == []
    async with a_site(tmp_path / "data", clock) as site:  # which ended with one of them alone
        await worker.recover_jobs(site.runtime)
        assert await set_aside.count(site.runtime.db) == {"seal": 1}
        assert await set_aside.find_suspects(site.runtime.db, site.runtime.clock.now()) == []
        await site.work("seal")
        states = [(await site.api.get(document))["status"] for document in documents]
        assert sorted(states) == ["completed", "sealing"]
        [row] = await site.runtime.db.all("SELECT id FROM outbox WHERE state = 'aside'")
        assert row["id"] == alone.id


async def test_a_mail_that_was_cut_off_three_times_is_set_aside(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        await site.api.send_document()
    for times in (1, 2, 3):
        async with a_site(tmp_path / "data", clock) as site:
            await worker.recover_jobs(site.runtime)
            if times == 3:
                assert await worker.claim_due(site.runtime, MAIL, 4) == []
                clock.advance(milliseconds=set_aside.REST)
            assert len(await worker.claim_due(site.runtime, MAIL, 4)) == 1
    async with a_site(tmp_path / "data", clock) as site:
        await worker.recover_jobs(site.runtime)
        clock.advance(days=2)
        assert await site.work("mail") == 0
        assert await health.list_set_aside(site.runtime) == ["set aside and not tried again: 1 mail"]


async def test_an_orderly_end_counts_for_nothing(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        document = await site.api.send_document()
        await site.all_sign(document)
    for _ in range(set_aside.MOST + 1):
        async with a_site(tmp_path / "data", clock) as site:
            await worker.recover_jobs(site.runtime)
            assert len(await worker.claim_due(site.runtime, SEAL, 4)) == 1
            await worker.return_claims(site.runtime)
    async with a_site(tmp_path / "data", clock) as site:
        assert await site.work("seal") == 1


async def test_an_event_loop_that_stands_still_is_found(caplog: pytest.LogCaptureFixture) -> None:
    watch = LoopWatch(bound=0.1)
    async with watch.run():
        wait_here(watch)
    assert watch.standstills == 1
    assert any(
        "wait_here" in record.getMessage() for record in caplog.records if record.levelno == logging.ERROR
    )


def wait_here(watch: LoopWatch) -> None:
    """Hold up the event loop until the thread has noticed."""
    threading.Event().wait(0.5)
