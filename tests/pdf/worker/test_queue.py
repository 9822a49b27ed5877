"""Who is next at the PDF workers: the order, what one organisation or all strangers may hold, and what is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from esign.core.errors import Problem
from esign.pdf.worker.queue import (
    LAST,
    LONGEST_ADVICE,
    OVERTAKEN,
    WAITING,
    WAITING_OF_PARTY,
    WAITING_OF_STRANGERS,
    WAITING_OF_TENANT,
    WorkerQueue,
)
from esign.pdf.worker.queue_turn import STRANGERS, PdfJobKind, QueueTurn


class LabelledQueue:
    """A queue with jobs that end when they are told; `begun` are the labels of those that got a worker, in order."""

    def __init__(self, size: int = 2, patience: float = 30) -> None:
        self.queue = WorkerQueue(size, patience)
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def ask(self, label: str, kind: PdfJobKind, tenant: str = "A", source: str = "a") -> None:
        """Queue a job, and let it begin if it may."""
        end = self._ends[label] = asyncio.Event()

        async def work() -> None:
            async with self.queue.place(QueueTurn(kind, tenant, source)):
                self.begun.append(label)
                await end.wait()

        self.tasks[label] = asyncio.create_task(work())
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def finish(self, label: str) -> None:
        self._ends[label].set()
        await self.tasks[label]
        await self.settle()

    async def rest(self) -> list[str]:
        """Let all go on one after the other; those that begin from now on, in order."""
        before = len(self.begun)
        for at in range(len(self.tasks)):
            await self.finish(self.begun[at])
        return self.begun[before:]

    async def end(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        assert not self.queue._waiting and not self.queue._running and not self.queue._spent, (
            "all is forgotten"
        )


@asynccontextmanager
async def a_line(size: int = 2, patience: float = 30) -> AsyncIterator[LabelledQueue]:
    line = LabelledQueue(size, patience)
    try:
        yield line
    finally:
        await line.end()


async def fill(line: LabelledQueue, places: int = 4) -> None:
    """Take regular and spare workers, each for an organisation of its own."""
    for n in range(places):
        await line.ask(f"busy {n}", PdfJobKind.UPLOAD, f"busy {n}")
    assert len(line.begun) == places


async def test_seals_go_before_acts_uploads_previews_and_strangers() -> None:
    async with a_line() as line:
        await fill(line)
        for kind in reversed(PdfJobKind):
            tenant = STRANGERS if kind is PdfJobKind.STRANGER else "A"
            await line.ask(kind.name, kind, tenant)
        assert await line.rest() == [kind.name for kind in PdfJobKind]


async def test_jobs_of_one_party_keep_their_order() -> None:
    async with a_line(size=1) as line:
        for n in range(6):
            await line.ask(str(n), PdfJobKind.UPLOAD)
        await line.rest()
        assert line.begun == list("012345")


async def test_organisations_take_turns_however_much_one_of_them_asks_for() -> None:
    async with a_line() as line:
        await fill(line)
        for n in range(6):
            await line.ask(f"A{n}", PdfJobKind.UPLOAD, "A", f"key {n % 2}")
        for tenant in "BC":
            for n in range(2):
                await line.ask(f"{tenant}{n}", PdfJobKind.UPLOAD, tenant)
        order = await line.rest()
        assert max(order.index(label) for label in ("B0", "C0")) <= 2, order
        assert max(order.index(label) for label in ("B1", "C1")) < order.index("A3"), order


async def test_those_who_ask_in_one_organisation_take_turns() -> None:
    async with a_line() as line:
        await fill(line)
        for n in range(6):
            await line.ask(f"robot {n}", PdfJobKind.UPLOAD, "A", "robot")
        await line.ask("person", PdfJobKind.UPLOAD, "A", "person")
        assert (await line.rest()).index("person") <= 1


async def test_a_flood_of_one_key_leaves_a_worker_to_other_keys_and_to_other_organisations() -> None:
    async with a_line() as line:
        for n in range(8):
            await line.ask(f"flood {n}", PdfJobKind.UPLOAD, "A", "robot")
        assert line.begun == ["flood 0", "flood 1"], "the spare workers are for others"
        await line.ask("person", PdfJobKind.UPLOAD, "A", "person")
        await line.ask("third", PdfJobKind.UPLOAD, "A", "third")
        assert line.begun[2:] == ["person"], "the last one is for another organisation"
        await line.ask("other", PdfJobKind.PREVIEW, "B")
        assert line.begun[3:] == ["other"]


async def test_the_seals_of_an_organisation_find_a_worker_beside_its_own_uploads() -> None:
    async with a_line() as line:
        for n in range(8):
            await line.ask(f"flood {n}", PdfJobKind.UPLOAD, "A", "robot")
        await line.ask("seal", PdfJobKind.SEAL)
        assert line.begun[2:] == ["seal"]


async def test_previews_of_one_organisation_take_one_worker_and_one_link_one() -> None:
    async with a_line(size=3) as line:
        for n in range(4):
            await line.ask(f"page {n}", PdfJobKind.PREVIEW, "A", "link")
        assert line.begun == ["page 0"]
        for n in range(4):
            await line.ask(f"other {n}", PdfJobKind.PREVIEW, "A", f"link {n}")
        assert line.begun == ["page 0", "other 0"], "all but one of the regular workers"
        await line.ask("signer of B", PdfJobKind.PREVIEW, "B", "link of B")
        assert line.begun[2:] == ["signer of B"]


async def test_strangers_never_hold_all_workers_and_one_network_holds_one() -> None:
    async with a_line(size=3) as line:
        for n in range(2):
            await line.ask(f"slow {n}", PdfJobKind.STRANGER, STRANGERS, "198.51.100.1")
        assert line.begun == ["slow 0"]
        for n in range(4):
            await line.ask(f"other {n}", PdfJobKind.STRANGER, STRANGERS, f"192.0.2.{n}")
        assert line.begun == ["slow 0", "other 0"]
        for label, kind in (
            ("upload", PdfJobKind.UPLOAD),
            ("page", PdfJobKind.PREVIEW),
            ("seal", PdfJobKind.SEAL),
        ):
            await line.ask(label, kind, label)
        assert line.begun[2:] == ["upload", "page", "seal"]


async def test_strangers_take_turns_by_network() -> None:
    async with a_line() as line:
        for n in range(3):
            await line.ask(f"slow {n}", PdfJobKind.STRANGER, STRANGERS, "198.51.100.1")
        await line.ask("honest", PdfJobKind.STRANGER, STRANGERS, "192.0.2.1")
        await line.finish("slow 0")
        assert line.begun == ["slow 0", "honest"]


async def test_nobody_is_overtaken_for_ever() -> None:
    """A stranger's file goes on though uploads of ever new organisations come."""
    async with a_line(size=1) as line:
        await fill(line, 3)
        await line.ask("stranger", PdfJobKind.STRANGER, STRANGERS)
        for n in range(5 * OVERTAKEN):
            await line.ask(f"upload {n}", PdfJobKind.UPLOAD, f"organisation {n}")
        order = await line.rest()
        assert OVERTAKEN <= order.index("stranger") <= LAST * OVERTAKEN


async def test_a_party_that_may_not_run_gains_nothing_by_waiting() -> None:
    async with a_line() as line:
        for n in range(20):
            await line.ask(f"flood {n}", PdfJobKind.UPLOAD, "A", "robot")
        for n in range(3 * OVERTAKEN):  # each overtakes the whole flood, on a spare worker
            await line.ask(f"other {n}", PdfJobKind.UPLOAD, "B")
            await line.finish(f"other {n}")
        assert {entry.overtaken for entry in line.queue._waiting} == {0}


async def test_one_who_leaves_the_queue_or_the_work_makes_room() -> None:
    async with a_line(size=1) as line:
        for n in range(3):
            await line.ask(str(n), PdfJobKind.UPLOAD)
        for label in ("1", "0"):
            line.tasks[label].cancel()
            await asyncio.gather(line.tasks[label], return_exceptions=True)
        await line.settle()
        assert line.begun == ["0", "2"]


async def test_who_is_cancelled_at_the_moment_of_the_grant_leaves_no_place_taken() -> None:
    async with a_line(size=1) as line:
        for n in range(3):
            await line.ask(str(n), PdfJobKind.UPLOAD)
        line._ends["0"].set()
        line.tasks["1"].cancel()
        await line.settle()
        assert line.begun == ["0", "2"]


@pytest.mark.parametrize("kind", [PdfJobKind.ACT, PdfJobKind.UPLOAD, PdfJobKind.PREVIEW, PdfJobKind.STRANGER])
async def test_what_waits_for_one_party_is_bounded_and_told_so(kind: PdfJobKind) -> None:
    tenant = STRANGERS if kind is PdfJobKind.STRANGER else "A"
    async with a_line(size=1) as line, AsyncExitStack() as stack:
        for n in range(3):
            await stack.enter_async_context(line.queue.place(QueueTurn(PdfJobKind.SEAL, f"busy {n}")))
        for n in range(WAITING_OF_PARTY[kind]):
            await line.ask(str(n), kind, tenant)
        with pytest.raises(Problem) as refused:
            async with line.queue.place(QueueTurn(kind, tenant, "a")):
                pass
        assert (
            refused.value.code == "rate_limited" and 1 <= (refused.value.retry_after or 0) <= LONGEST_ADVICE
        )
        await line.ask("another", kind, tenant, "b")
        assert len(line.queue.waiting) == WAITING_OF_PARTY[kind] + 1
        assert not line.queue.is_saturated, "others are not kept waiting by it"


async def test_what_waits_for_one_organisation_for_strangers_and_in_all_is_bounded() -> None:
    async with a_line(size=1) as line:
        await fill(line, 3)
        for n in range(WAITING_OF_TENANT):
            await line.ask(f"A {n}", PdfJobKind.UPLOAD, "A", str(n))
        with pytest.raises(Problem, match="rate_limited"):
            async with line.queue.place(QueueTurn(PdfJobKind.UPLOAD, "A", "new")):
                pass
        for n in range(WAITING_OF_STRANGERS):
            await line.ask(f"stranger {n}", PdfJobKind.STRANGER, STRANGERS, str(n))
        with pytest.raises(Problem, match="unavailable"):
            async with line.queue.place(QueueTurn(PdfJobKind.STRANGER, STRANGERS, "new")):
                pass
        for n in range(WAITING - len(line.queue.waiting)):
            await line.ask(f"other {n}", PdfJobKind.UPLOAD, f"organisation {n}")
        for n in range(WAITING_OF_TENANT + WAITING_OF_STRANGERS - 2):  # all who have more than one make room
            await line.ask(f"more {n}", PdfJobKind.UPLOAD, f"one more {n}")
            assert len(line.queue.waiting) == WAITING
        with pytest.raises(Problem) as refused:
            async with line.queue.place(QueueTurn(PdfJobKind.UPLOAD, "late", "late")):
                pass
        assert (refused.value.code, refused.value.retry_after) == ("unavailable", LONGEST_ADVICE)
        assert line.queue.is_saturated
        await line.ask("seal", PdfJobKind.SEAL, "A")
        assert line.queue.waiting[-1].kind is PdfJobKind.SEAL, "a seal is never refused"


async def test_who_has_waited_long_enough_is_told_to_come_again_but_a_seal_waits_on() -> None:
    async with a_line(size=1, patience=0.05) as line:
        await fill(line, 3)
        await line.ask("seal", PdfJobKind.SEAL)
        with pytest.raises(Problem) as refused:
            async with line.queue.place(QueueTurn(PdfJobKind.UPLOAD, "A", "a")):
                pass
        assert refused.value.code == "unavailable" and refused.value.retry_after
        assert line.queue.is_saturated
        assert [turn.kind for turn in line.queue.waiting] == [PdfJobKind.SEAL]


async def test_organisations_that_fill_the_queue_make_room_for_one_that_has_nothing_in_it() -> None:
    """Each stays below its own bound, and all of them together reach that of the queue."""
    async with a_line() as line:
        await fill(line)
        tenants = -(-WAITING // WAITING_OF_TENANT)
        for n in range(WAITING):
            await line.ask(f"{n}", PdfJobKind.UPLOAD, f"hostile {n % tenants}", str(n))
        assert len(line.queue.waiting) == WAITING
        for kind in (PdfJobKind.ACT, PdfJobKind.UPLOAD, PdfJobKind.PREVIEW):
            await line.ask(f"honest {kind.name}", kind, "honest", "honest")
            assert line.queue.waiting[-1].tenant == "honest"
            assert len(line.queue.waiting) == WAITING
        turned_away = [task for task in line.tasks.values() if task.done()]
        assert len(turned_away) == 3
        for task in turned_away:
            with pytest.raises(Problem) as refused:
                task.result()
            assert refused.value.code == "unavailable" and refused.value.retry_after
        await line.finish("busy 0")
        assert line.begun[-1] == "honest ACT"


async def test_who_is_cancelled_at_the_moment_of_making_room_leaves_nothing_behind() -> None:
    async with a_line() as line:
        await fill(line)
        tenants = -(-WAITING // WAITING_OF_TENANT)
        for n in range(WAITING):
            await line.ask(f"{n}", PdfJobKind.UPLOAD, f"hostile {n % tenants}", str(n))
        for n in range(WAITING):
            line.tasks[str(n)].cancel()
        await line.ask("honest", PdfJobKind.UPLOAD, "honest")
        assert [turn.tenant for turn in line.queue.waiting] == ["honest"]
