"""Children that hang, crash, lie or grow never harm the server, and answers never reach a stranger."""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any, cast

import pytest
import uvloop

from esign.core.errors import Problem
from esign.pdf.inspection import NOT_CHECKED, Inspection, UploadLimits
from esign.pdf.report import VerificationCase
from esign.pdf.worker import frames
from esign.pdf.worker.queue_turn import (
    CALLER,
    CPU_SECONDS,
    DROPPED,
    STRANGERS,
    JobCaller,
    PdfJobKind,
    QueueTurn,
)
from esign.pdf.worker.workers import WorkerFailed, Workers
from tests.pdf import made
from tests.pdf.sealing import a_trail, make_seal_order
from tests.pdf.worker.kernel import ask_kernel
from tests.pki import NOW, a_seal, an_authority

ODD = (sys.executable, "-I", str(Path(__file__).parents[1] / "odd_worker.py"))
ODD_THAT_REFUSES = (*ODD, "inspect=refuse_it")


@asynccontextmanager
async def odd(**settings: Any) -> AsyncIterator[Workers]:
    workers = Workers(**({"command": ODD} | settings))
    try:
        yield workers
    finally:
        await workers.close()


async def wait_for_end(pid: int) -> None:
    """Return when that process is no more."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, over.set)
    try:
        async with asyncio.timeout(10):
            await over.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def until(holds: Callable[[], object]) -> None:
    """Let the loop run until that is so."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  what is waited for sets no event
            await asyncio.sleep(0)


def children() -> list[int]:
    """What this process has started and not yet buried."""
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_job_is_done_in_another_process(workers: Workers, limits: UploadLimits) -> None:
    inspection = await workers.inspect(made.make_scripted(), limits)
    assert isinstance(inspection, Inspection)
    assert inspection.removed == ("scripts",)
    assert len(inspection.pages) == 1
    assert workers.pids and os.getpid() not in workers.pids


async def test_a_refusal_comes_back_with_its_details(workers: Workers, limits: UploadLimits) -> None:
    with pytest.raises(Problem) as refusal:
        await workers.inspect(made.giant(), limits)
    assert refusal.value.code == "file_unsupported"
    assert refusal.value.details[0].rule == "range"


async def test_a_file_that_brings_its_worker_down_is_refused_as_too_complex(limits: UploadLimits) -> None:
    async with odd() as workers:
        for hostile in (workers.inspect(b"", limits), workers.reencode(b"")):
            with pytest.raises(Problem) as refusal:
                await hostile
            assert refusal.value.code == "invalid_file"
            assert "too complex" in refusal.value.message
        with pytest.raises(Problem) as refusal:
            await workers.verify(b"", VerificationCase((), 0))
        assert refusal.value.code == "invalid_file"
        assert refusal.value.message == NOT_CHECKED and "print" not in refusal.value.message


@pytest.mark.parametrize(
    ("task", "arguments", "reason"),
    [
        ("crash", [], "Segmentation fault"),
        ("quit", [3], "exit code 3"),
        ("swallow", [2000], "more memory"),
        ("stumble", [], "ZeroDivisionError: nobody thought of this"),
        ("lie", [], "something else than was asked"),
        ("babble", [], "something else than was asked"),
        ("echo", ["text"], "FrameError"),
        ("unheard of", [], "KeyError"),
    ],
)
async def test_a_failure_is_told_and_the_next_job_is_done(
    task: str, arguments: list[object], reason: str
) -> None:
    async with odd(size=1) as workers:
        with pytest.raises(WorkerFailed, match=reason):
            await workers.ask(task, int, *arguments)
        assert await workers.ask("echo", bytes, b"still here") == b"still here"
        survives = task in ("stumble", "echo", "unheard of")
        assert workers.lost.total() == (0 if survives else 1)


async def test_a_job_that_ran_out_of_time_and_not_of_processor_time_says_nothing_of_its_file(
    limits: UploadLimits, caplog: pytest.LogCaptureFixture
) -> None:
    async with odd(
        size=1,
        wall_seconds=0.5,
        command=(*ODD, *(f"{task}=sleep_on" for task in ("inspect", "verify", "seal"))),
    ) as workers:
        jobs = (
            lambda: workers.ask("sleep", int, 60),
            lambda: workers.inspect(b"a busy day", limits),
            lambda: workers.verify(b"a busy day", VerificationCase((), 0)),
            lambda: workers.seal(cast(Any, None), a_seal(an_authority("Test")).credential),
        )
        for job in jobs:
            with pytest.raises(Problem) as refusal:
                await job()
            assert refusal.value.code == "unavailable" and refusal.value.retry_after
        assert "longer than 0.5 seconds" in caplog.text and "longer than 1 seconds" in caplog.text, (
            "a seal has more"
        )
        assert not workers.failures._known
        workers._wall_seconds = 30
        assert await workers.ask("echo", bytes, b"still here") == b"still here"


async def test_a_worker_ended_from_outside_says_nothing_of_its_file(
    limits: UploadLimits, tmp_path: Path
) -> None:
    """The kernel ends the largest process where memory runs out, an operator any."""
    for number in (SIGKILL, SIGTERM):
        fifo = tmp_path / number.name
        os.mkfifo(fifo)
        async with odd(command=(*ODD, "inspect=wait_in")) as workers:
            job = asyncio.create_task(workers.inspect(str(fifo).encode(), limits))
            with await asyncio.to_thread(fifo.open, "w"):
                (pid,) = workers.pids
                os.kill(pid, number)
                with pytest.raises(Problem) as refusal:
                    await job
            assert refusal.value.code == "unavailable" and refusal.value.retry_after
            assert not workers.failures._known
            assert workers.lost == {"inspect": 1}


@pytest.mark.parametrize("how", ["crash", "burn", "swallow", "babble", "quit"])
async def test_a_file_that_killed_or_exhausted_a_worker_is_refused_at_once_when_it_comes_again(
    how: str, limits: UploadLimits
) -> None:
    async with odd(size=1, cpu_seconds=0, command=(*ODD, f"inspect={how}_on")) as workers:
        for _ in range(2):
            with pytest.raises(Problem) as refusal:
                await workers.inspect(b"hostile", limits)
            assert refusal.value.code == "invalid_file"
        workers._command = ODD_THAT_REFUSES
        for pid in workers.pids:
            with suppress(ProcessLookupError):  # it ends by itself
                os.kill(pid, SIGKILL)
            await wait_for_end(pid)
        await until(lambda: not workers.pids)
        with pytest.raises(Problem, match="invalid_file"):
            await workers.inspect(b"hostile", limits)
        assert not workers.pids, "no worker was asked"
        with pytest.raises(Problem, match="file_signed"):
            await workers.inspect(b"another", limits)
        with pytest.raises(Problem, match="file_signed"):
            await workers.inspect(b"hostile", limits, QueueTurn(cpu_seconds=7))


async def test_a_failure_of_a_library_is_not_remembered(limits: UploadLimits) -> None:
    async with odd(command=(*ODD, "inspect=stumble_on")) as workers:
        with pytest.raises(Problem, match="invalid_file"):
            await workers.inspect(b"odd", limits)
        assert not workers.failures._known


async def test_processor_time_is_that_of_the_turn() -> None:
    async with odd(size=1) as workers:
        for turn in (QueueTurn(cpu_seconds=3), QueueTurn(PdfJobKind.STRANGER, STRANGERS, "a")):
            limit = await workers.ask("allowance", int, turn=turn)
            assert limit in range(CPU_SECONDS[turn.kind] if turn.cpu_seconds is None else 3, 10)


@contextmanager
def run_as_caller(gone: "asyncio.Future[None]") -> Iterator[None]:
    """As a request whose connection is lost when `gone` is done."""
    token = CALLER.set(JobCaller(gone=gone))
    try:
        yield
    finally:
        CALLER.reset(token)


async def test_what_nobody_waits_for_any_more_is_dropped(tmp_path: Path) -> None:
    """At work and in the queue; but not what a signer finished before leaving."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with odd(size=1) as workers:
        gone = asyncio.get_running_loop().create_future()
        with run_as_caller(gone):
            work = [
                asyncio.create_task(workers.ask("wait_for", str, str(fifo), turn=QueueTurn(k)))
                for k in DROPPED
            ]
            signing = asyncio.create_task(
                workers.ask("echo", bytes, b"signed", turn=QueueTurn(PdfJobKind.ACT))
            )
        with await asyncio.to_thread(fifo.open, "w"):
            pids = workers.pids
            gone.set_result(None)
            for outcome in await asyncio.gather(*work, return_exceptions=True):
                assert isinstance(outcome, Problem) and outcome.code == "unavailable"
            for pid in pids:
                await wait_for_end(pid)
        assert await signing == b"signed"
        with run_as_caller(gone), pytest.raises(Problem, match="unavailable"):
            await workers.ask("echo", bytes, b"late")
        assert not workers.queue.waiting


def rank_of(pid: int) -> int:
    """How soon the kernel ends a process where memory runs out."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


async def test_a_worker_is_ended_before_the_server_where_memory_runs_out() -> None:
    async with odd() as workers:
        await workers.ask("echo", bytes, b"")
        (pid,) = workers.pids
        assert rank_of(pid) > rank_of(os.getpid()) or rank_of(pid) == 1000


async def test_processor_time_is_limited_for_each_job() -> None:
    async with odd(size=1, cpu_seconds=0) as workers:
        with pytest.raises(WorkerFailed, match="processor time"):
            await workers.ask("burn", int)


async def test_a_job_can_get_less_processor_time_than_others() -> None:
    async with odd(size=1, wall_seconds=600) as workers:
        with pytest.raises(WorkerFailed, match="processor time"):
            await workers.ask("burn", int, turn=QueueTurn(cpu_seconds=0))


async def test_a_refusal_leaves_the_worker_as_it_is() -> None:
    async with odd(size=1) as workers:
        await workers.ask("echo", bytes, b"")
        before = workers.pids
        with pytest.raises(Problem) as refusal:
            await workers.ask("refuse", int)
        assert (refusal.value.code, refusal.value.message) == ("file_signed", "Not this one.")
        assert workers.pids == before


async def test_what_a_library_prints_is_no_answer() -> None:
    async with odd(size=1) as workers:
        assert await workers.ask("chatter", str) == "heard"
        assert await workers.ask("echo", bytes, b"a") == b"a"


async def test_large_files_go_through_while_the_loop_runs_on() -> None:
    file = os.urandom(1024) * 25 * 1024
    async with odd() as workers:
        await workers.ask("echo", bytes, b"warm")
        job = asyncio.create_task(workers.ask("echo", bytes, file))
        turns = 0
        while not job.done():
            await asyncio.sleep(0)
            turns += 1
        assert await job == file
        assert turns > 100


async def test_no_more_children_than_allowed_and_each_is_used_again() -> None:
    async with odd(size=2) as workers:
        answers = await asyncio.gather(*(workers.ask("whoami", tuple[Any, ...], str(n)) for n in range(20)))
        assert [word for word, _ in answers] == [str(n) for n in range(20)]
        assert {pid for _, pid in answers} <= workers.pids
        assert len(workers.pids) <= 2


async def test_one_child_is_enough_for_one_job_after_the_other() -> None:
    async with odd(size=2) as workers:
        pids = {(await workers.ask("whoami", tuple[Any, ...], ""))[1] for _ in range(5)}
        assert pids == workers.pids
        assert len(pids) == 1


async def test_jobs_are_done_in_the_order_they_came() -> None:
    order: list[str] = []
    async with odd(size=1) as workers:

        async def job(word: str) -> None:
            order.append((await workers.ask("whoami", tuple[Any, ...], word))[0])

        await asyncio.gather(*(job(str(n)) for n in range(10)))
    assert order == [str(n) for n in range(10)]


async def test_a_cancelled_caller_takes_its_child_with_it(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with odd(size=1) as workers:
        await workers.ask("echo", bytes, b"warm")
        (pid,) = workers.pids
        job = asyncio.create_task(workers.ask("wait_for", str, str(fifo)))
        with await asyncio.to_thread(fifo.open, "w"):  # returns when the child has opened it too
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job
            await wait_for_end(pid)
        assert await workers.ask("echo", bytes, b"mine") == b"mine"
        assert pid not in workers.pids


async def test_a_caller_cancelled_at_any_moment_leaves_no_answer_behind() -> None:
    async with odd(size=1) as workers:
        for turns in range(0, 60, 3):
            job = asyncio.create_task(workers.ask("whoami", tuple[Any, ...], f"stranger {turns}"))
            for _ in range(turns):
                await asyncio.sleep(0)
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
            word, _ = await workers.ask("whoami", tuple[Any, ...], f"mine {turns}")
            assert word == f"mine {turns}"


async def test_a_cancelled_caller_in_the_queue_costs_nothing(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with odd(size=1) as workers:
        first = asyncio.create_task(workers.ask("wait_for", str, str(fifo)))
        await until(lambda: workers.pids)
        waiting = asyncio.create_task(workers.ask("echo", bytes, b""))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        pipe = await asyncio.to_thread(fifo.open, "w")
        with pipe:
            pipe.write("done")
        assert await first == "done"


async def test_children_go_when_there_is_nothing_to_do() -> None:
    async with odd(idle_seconds=0.01) as workers:
        await workers.ask("echo", bytes, b"")
        for pid in workers.pids:
            await wait_for_end(pid)
        await until(lambda: not workers.pids)
        assert await workers.ask("echo", bytes, b"again") == b"again"


@pytest.mark.parametrize("size", [1, 2])
async def test_of_the_children_of_a_burst_one_stays(tmp_path: Path, size: int) -> None:
    fifos = {n: tmp_path / f"fifo{n}" for n in range(3)}
    async with odd(size=size, idle_seconds=60, spare_seconds=0.01) as workers:
        jobs = []
        for n, fifo in fifos.items():
            os.mkfifo(fifo)
            turn = QueueTurn(tenant=f"org_{n}", source=f"key_{n}")
            jobs.append(asyncio.create_task(workers.ask("wait_for", str, str(fifo), turn=turn)))
        await until(lambda: len(workers.pids) == 3)
        for fifo in fifos.values():
            await asyncio.to_thread(fifo.write_text, "go on")
        assert await asyncio.gather(*jobs) == ["go on"] * 3
        await until(lambda: len(workers.pids) == 1)
        (left,) = workers.pids
        assert (await workers.ask("whoami", tuple[Any, ...], ""))[1] == left


async def test_a_child_that_died_while_idle_is_not_missed() -> None:
    async with odd(size=1) as workers:
        await workers.ask("echo", bytes, b"")
        (pid,) = workers.pids
        os.kill(pid, 9)
        await wait_for_end(pid)
        await until(lambda: not workers.pids)
        assert await workers.ask("echo", bytes, b"again") == b"again"


async def test_a_child_that_has_grown_makes_room_for_another() -> None:
    async with odd(size=1) as workers:
        large = await workers.ask("keep", int, 260)
        await wait_for_end(large)
        small = await workers.ask("keep", int, 1)
        assert small != large
        assert await workers.ask("keep", int, 1) == small


async def test_closing_ends_everything_and_tells_whoever_waits(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with odd(size=1) as workers:
        jobs = [asyncio.create_task(workers.ask("wait_for", str, str(fifo))) for _ in range(3)]
        await until(lambda: workers.pids)
        pids = workers.pids
        await workers.close()
        for outcome in await asyncio.gather(*jobs, return_exceptions=True):
            assert isinstance(outcome, Problem)
            assert outcome.code == "unavailable"
        for pid in pids:
            await wait_for_end(pid)
        with pytest.raises(Problem):
            await workers.ask("echo", bytes, b"")
    assert not workers.pids


@pytest.mark.parametrize(
    "command", [(sys.executable, "-I", "-m", "esign.pdf.no_such_worker"), ("/no_such_worker",)]
)
async def test_a_worker_that_cannot_start_is_no_fault_of_the_file(
    command: tuple[str, ...], limits: UploadLimits, caplog: pytest.LogCaptureFixture
) -> None:
    async with odd(command=command) as workers:
        with pytest.raises(Problem) as refusal:
            await workers.inspect(made.plain(), limits)
    assert refusal.value.code == "unavailable"
    assert "no_such_worker" in caplog.text


async def test_a_worker_gets_its_next_job_before_the_caller_of_the_last_one_goes_on() -> None:
    happened: list[str] = []

    async def ask(name: str) -> None:
        async def read() -> tuple[bytes, ...]:
            happened.append(f"{name} is sent")
            return (b"",)

        await workers.run_task_when_free("echo", bytes, read)
        happened.append(f"{name} goes on")

    async with odd(size=1) as workers:
        await asyncio.gather(ask("one"), ask("two"))
    assert happened == ["one is sent", "two is sent", "one goes on", "two goes on"]


async def test_a_failure_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "esign.pdf")
    async with odd() as workers:
        with pytest.raises(WorkerFailed):
            await workers.ask("stumble", int)
        with pytest.raises(WorkerFailed):
            await workers.ask("crash", int)
    assert "ZeroDivisionError" in caplog.text
    assert "Segmentation fault" in caplog.text


async def test_nothing_is_left_behind() -> None:
    await asyncio.to_thread(lambda: None)  # the thread pool opens what it needs
    async with odd(size=2, idle_seconds=0) as workers:
        await workers.ask("echo", bytes, b"")
    before, relatives = descriptors(), children()
    jobs: list[tuple[object, ...]] = [("echo", b"a" * 200_000), ("crash",), ("sleep", 60)]
    for task, *arguments in jobs:
        async with odd(size=2, wall_seconds=1) as workers:
            pair = [workers.ask(str(task), bytes, *arguments) for _ in range(2)]
            assert len(await asyncio.gather(*pair, return_exceptions=True)) == 2
    await until(lambda: descriptors() <= before)
    await until(lambda: children() == relatives)


async def test_a_worker_that_rests_returns_the_memory_of_its_largest_job() -> None:
    async with odd(size=1) as workers:
        small = await workers.ask("keep", int, 1)
        full = await workers.ask("crumble", int, 64)
        assert full > 64
        await until(lambda: read_resident(small) < full - 32)
        assert await workers.ask("keep", int, 1) == small


def read_resident(pid: int) -> int:
    """MiB of memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20


async def test_a_worker_that_seals_and_verifies_does_not_load_the_library_for_http() -> None:
    async with odd(command=show_memory("esign.pdf.worker.worker:run_worker")) as workers:
        sealed = await workers.seal(make_seal_order(a_trail(3)), a_seal(an_authority("Test")).credential)
        (pid,) = workers.pids
        found = await workers.verify(sealed.sealed, VerificationCase((), NOW))
        assert found["result"] != "invalid"
        mapped = read_mapped_files(pid)
    assert "pikepdf" in mapped and "aiohttp" not in mapped


IMPORT = """
import gc, sys, weakref
from contextlib import suppress
from esign.pdf.worker import worker

class Held: pass
file = Held()
file.itself, gone = file, weakref.ref(file)
gc.disable()
del file
with suppress(ImportError):
    worker._import_function(sys.argv[1])
print(gc.isenabled(), gc.get_freeze_count() > 1000, gone() is None)
"""


@pytest.mark.parametrize("place", ["esign.pdf.seal.seal:seal_document", "no_such_module:work"])
def test_garbage_of_earlier_jobs_does_not_stay_when_a_module_is_imported(place: str) -> None:
    run = subprocess.run([sys.executable, "-c", IMPORT, place], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "True", "True"]


def read_mapped_files(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


def show_memory(place: str) -> tuple[str, ...]:
    """Return the command for a process whose memory tests can read, also where they have no rights of root."""
    module, _, function = place.partition(":")
    code = (
        "from esign.system import confinement; confinement.hide_memory = lambda: None;"
        f" from {module} import {function}; {function}()"
    )
    return (sys.executable, "-I", "-c", code)


async def test_a_worker_has_nothing_it_does_not_need() -> None:
    async with odd() as workers:
        around = await workers.ask("surroundings", dict[str, Any])
    assert around["nice"] == min(19, os.nice(0) + 10)
    assert around["memory"] == 1024**3
    assert around["files"] == 32
    assert around["size"] == 256 * 1024**2
    assert around["core"] == 0
    assert set(around["environment"]) == {"LC_ALL", "MALLOC_ARENA_MAX"}


def system_lets() -> bool:
    """Whether a process here may leave the network."""
    leave = "import ctypes; raise SystemExit(bool(ctypes.CDLL(None).unshare(0x10000000 | 0x40000000)))"
    return subprocess.run([sys.executable, "-I", "-c", leave], check=False).returncode == 0


async def test_a_worker_has_no_network_where_the_system_lets() -> None:
    _, filters = ask_kernel()
    lets = system_lets() or filters
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server, odd() as workers:
        port = server.sockets[0].getsockname()[1]
        assert await workers.ask("reaches", bool, port) is not lets


PARENT = """
import asyncio, sys
from esign.pdf.worker.workers import Workers
from esign.pdf.report import VerificationCase

async def main(fifo, *command):
    workers = Workers(command=command)
    await workers.ask("echo", bytes, b"")
    print(*workers.pids, flush=True)
    await workers.ask("wait_for", str, fifo)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-c", PARENT, fifo, *ODD), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout
    pid = int(await parent.stdout.readline())
    with await asyncio.to_thread(fifo.open, "w"):  # returns when the child is at work
        parent.kill()
        await parent.wait()
        await wait_for_end(pid)


def test_the_serving_process_loads_no_pdf_library() -> None:
    libraries = ("pikepdf", "pypdfium2", "PIL", "typst", "pyhanko", "fontTools", "asn1crypto", "cryptography")
    code = f"import sys, esign.pdf.worker.workers; print([name for name in {libraries!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_workers_run_under_uvloop_too() -> None:
    async def journey() -> None:
        async with odd(size=1) as workers:
            assert await workers.ask("echo", bytes, b"a" * 3_000_000) == b"a" * 3_000_000
            with pytest.raises(WorkerFailed):
                await workers.ask("crash", int)
            workers._wall_seconds = 0.5
            with pytest.raises(Problem, match="unavailable"):
                await workers.ask("sleep", int, 60)
            workers._wall_seconds = 30
            assert await workers.ask("echo", bytes, b"b") == b"b"
        assert not workers.pids

    uvloop.run(journey())


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, 3),
        (float, 0.5),
        (str, "ä\u2028"),
        (bool, True),
        (bytes, b"\x00\xff"),
        (bytes | None, None),
        (bytes | None, b"x"),
        (str | bool | None, False),
        (tuple[bytes, ...], (b"a", b"", b"c")),
        (dict[str, Any], {"a": [1, {"b": b"c"}], "d": None}),
        (UploadLimits, UploadLimits(1, 2)),
        (tuple[UploadLimits, ...], (UploadLimits(1, 2), UploadLimits(3, 4))),
    ],
)
def test_a_value_crosses_the_pipe_unchanged(kind: Any, value: object) -> None:
    prefix, header, *parts = frames.pack_frame(value)
    assert frames.parse_header_length(prefix) == len(header)
    body, sizes = frames.parse_header(header)
    assert sizes == [len(part) for part in parts]
    assert frames.rebuild_value(kind, body, parts) == value


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (int, "3"),
        (int, True),
        (str, None),
        (bytes, "text"),
        (bytes, {"$part": 7}),
        (bytes, {"$part": -1}),
        (UploadLimits, {"file_bytes": 1}),
        (UploadLimits, {"file_bytes": 1, "pages": 2, "more": 3}),
        (UploadLimits, {"file_bytes": "1", "pages": 2}),
        (tuple[int, ...], {"a": 1}),
        (bytes | None, 5),
    ],
)
def test_a_value_of_another_kind_is_not_taken(kind: Any, plain: object) -> None:
    with pytest.raises(frames.FrameError):
        frames.rebuild_value(kind, plain, [b"only part"])


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{}",
        b'{"body":1,"parts":[-1]}',
        b'{"body":1,"parts":[9e99]}',
        b'{"body":1,"parts":[999999999]}',
    ],
)
def test_a_header_that_promises_nonsense_is_not_taken(header: bytes) -> None:
    with pytest.raises(frames.FrameError):
        frames.parse_header(header)


def test_a_header_is_not_read_to_any_length() -> None:
    with pytest.raises(frames.FrameError):
        frames.parse_header_length(b"\xff\xff\xff\xff")
