"""Runs PDF work in a few limited child processes, so that no file can harm or hold up the server."""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from signal import SIGXCPU, strsignal
from typing import Any, Literal, cast

from esign.core.credential import Credential
from esign.core.errors import CATALOGUE, Detail, Problem
from esign.core.instant import Instant
from esign.pdf import frames
from esign.pdf.inspection import TOO_COMPLEX, Blanks, Inspection, Letters, Limits, Picture
from esign.pdf.order import Drawn, Sealed, SealOrder
from esign.pdf.verification import Verification

Ders = Sequence[bytes]
log = logging.getLogger("esign.pdf")

COMMAND = (sys.executable, "-I", "-m", "esign.pdf.worker")

# Nothing of the server's. Threads get no arenas of their own: each maps 64 MiB of the 1 GiB that a worker may map.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}

# What reading from or writing to a child raises when the child is no more, or is no longer itself.
BROKEN = (frames.FrameError, asyncio.IncompleteReadError, ConnectionError)

CHUNK, TAIL = 256 * 1024, 4096


class WorkerFailed(Exception):
    """A job ended without an answer; `reason` is for the operator. The same job may be asked again."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Workers:
    """Starts a child when a job needs one, at most `size`, and lets it go after `idle_seconds` without any.

    Jobs wait in the order they came. `wall_seconds` and `cpu_seconds` bound one job. A caller that is cancelled takes
    its child with it, so an answer never reaches anybody else. Whoever asks for readers holds `reading` meanwhile,
    whoever asks while somebody types holds `typing`, whoever asks about a stranger's file holds `checking`: one of each
    at a time, so that seals find a worker.
    """

    def __init__(
        self,
        size: int = 2,
        idle_seconds: float = 60,
        wall_seconds: float = 29,  # its answer is there within 30
        cpu_seconds: int = 20,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self.reading = asyncio.Lock()
        self.typing = asyncio.Lock()
        self.checking = asyncio.Lock()
        self._slots = asyncio.Semaphore(size)
        self._idle_seconds = idle_seconds
        self._wall_seconds = wall_seconds
        self._cpu_seconds = cpu_seconds
        self._command = tuple(command)
        self._children: set[_Child] = set()
        self._idle: list[_Child] = []
        self._closed = False

    @property
    def pids(self) -> frozenset[int]:
        """The processes that live now."""
        return frozenset(child.process.pid for child in self._children if child.process.returncode is None)

    async def inspect(self, upload: bytes, limits: Limits) -> Inspection:
        """`esign.pdf.inspect.inspect`; a file that brings a worker down is refused as `invalid_file`."""
        return cast(Inspection, await self._judge("inspect", Inspection, upload, limits))

    async def verify(
        self, file: bytes, roots: Ders, now: Instant, own: Ders = (), fetched: Ders | None = None
    ) -> Verification:
        """`esign.pdf.verify.verify`; a file that brings a worker down is refused as `invalid_file`."""
        return cast(Verification, await self._judge("verify", Verification, file, roots, now, own, fetched))

    async def reencode(self, image: bytes, task: Literal["reencode", "logo"] = "reencode") -> Picture:
        """`esign.pdf.picture.reencode`, or `logo.redraw`; what brings a worker down is refused as `invalid_file`."""
        return cast(Picture, await self._judge(task, Picture, image))

    async def seal(self, order: SealOrder, credential: Credential) -> Sealed:
        """`esign.pdf.seal.seal`; raises `WorkerFailed` with the reason when there is no sealed file."""
        return cast(Sealed, await self.ask("seal", Sealed, order, credential))

    async def blanks(self, upload: bytes, prepared: bytes) -> Blanks:
        """`esign.pdf.blanks.find`: what a file asks to be filled in."""
        return cast(Blanks, await self.ask("blanks", Blanks, upload, prepared))

    async def letters(
        self, text: str, hand: str | None, lang: str | None, font_paths: Sequence[str] = ()
    ) -> Letters:
        """`esign.pdf.letters.letters`: a typed signature as it will be sealed."""
        return cast(Letters, await self.ask("letters", Letters, text, hand, lang, font_paths))

    async def missing(self, texts: Sequence[str], font_paths: Sequence[str] = ()) -> list[str]:
        """The characters that neither the shipped fonts nor those of the system can draw."""
        return list(await self.ask("missing", list[str], texts, font_paths))

    async def unfit(
        self,
        fields: Sequence[Drawn],
        sizes: Sequence[tuple[float, float]],
        now: Instant,
        font_paths: Sequence[str] = (),
    ) -> list[str]:
        """`esign.pdf.overlay.unfit`: the ids of the texts too long for their boxes."""
        return list(await self.ask("unfit", list[str], fields, sizes, now, font_paths))

    async def ask(self, task: str, kind: Any, *arguments: object) -> Any:
        """Have one job done and its answer rebuilt as `kind`; raises the job's `Problem`, else `WorkerFailed`."""
        job = frames.pack({"task": task, "arguments": arguments, "cpu_seconds": self._cpu_seconds})
        async with self._slots:
            return await self._work(task, kind, job)

    async def close(self) -> None:
        """End every child at once; jobs under way raise `unavailable`, and so does whoever asks from now on."""
        self._closed = True
        for child in self._children:
            child.kill()
        await asyncio.gather(*(child.gone() for child in self._children))

    async def _judge(self, task: str, kind: Any, *arguments: object) -> Any:
        try:
            return await self.ask(task, kind, *arguments)
        except WorkerFailed as failure:
            raise Problem("invalid_file", TOO_COMPLEX) from failure

    async def _work(self, task: str, kind: Any, job: list[bytes]) -> Any:
        child: _Child | None = None
        kept = False
        try:
            async with asyncio.timeout(self._wall_seconds):
                child = await self._take()
                body, parts = await child.answer(job)
            outcome = _outcome(kind, body, parts)
            kept = not body["last"]
        except TimeoutError:
            outcome = WorkerFailed(f"it took longer than {self._wall_seconds:g} seconds")
        except frames.FrameError:
            outcome = WorkerFailed("it answered with something else than was asked")
        except BROKEN:
            outcome = WorkerFailed(await child.fate() if child else "it did not start")
        finally:
            if child:
                self._release(child, kept)
        if isinstance(outcome, WorkerFailed):
            outcome = self._explained(task, outcome, child)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _explained(self, task: str, failure: WorkerFailed, child: "_Child | None") -> Exception:
        if self._closed or child is None:
            return Problem("unavailable")
        log.warning("A PDF worker gave up on a job (%s): %s", task, failure.reason)
        log.debug("It said: %s", child.said.decode(errors="replace"))
        return failure

    async def _take(self) -> "_Child":
        while self._idle:
            child = self._idle.pop()
            if child.wake():
                return child
        return await self._start()

    async def _start(self) -> "_Child":
        if self._closed:
            raise Problem("unavailable")
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=ENVIRONMENT,
                limit=CHUNK,
                start_new_session=True,
            )
        except OSError as error:
            log.error("A PDF worker could not be started: %s", error)
            raise Problem("unavailable") from error
        child = _Child(process)
        self._children.add(child)
        child.end.add_done_callback(lambda _: self._children.discard(child))
        try:
            await child.ready()
        except BROKEN:
            log.error(
                "A PDF worker did not start: %s\n%s", await child.fate(), child.said.decode(errors="replace")
            )
            raise Problem("unavailable") from None
        except asyncio.CancelledError:
            child.kill()
            raise
        return child

    def _release(self, child: "_Child", kept: bool) -> None:
        if kept and not self._closed:
            self._idle.append(child)
            child.rest(self._idle_seconds, self._retire)
        else:
            child.kill()

    def _retire(self, child: "_Child") -> None:
        self._idle.remove(child)
        child.kill()


class _Child:
    """One worker process and the pipes to it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.said = b""
        self.end = asyncio.create_task(self._listen())
        self._alarm: asyncio.TimerHandle | None = None

    async def ready(self) -> None:
        """Return when it waits for jobs."""
        await self._frame()

    async def answer(self, job: list[bytes]) -> tuple[Any, list[bytes]]:
        """Send a job and read the frame that answers it."""
        assert self.process.stdin
        for chunk in job:
            for at in range(0, len(chunk), CHUNK):
                self.process.stdin.write(chunk[at : at + CHUNK])
                await self.process.stdin.drain()
        return await self._frame()

    async def _frame(self) -> tuple[Any, list[bytes]]:
        assert self.process.stdout
        read = self.process.stdout.readexactly
        header = await read(frames.header_length(await read(frames.PREFIX.size)))
        body, sizes = frames.part_lengths(header)
        return body, [await read(size) for size in sizes]

    async def fate(self) -> str:
        """Why there was no answer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self.process.wait()
        match self.process.returncode:
            case None:
                return "it said no more"
            case code if code == -SIGXCPU:
                return "it used more processor time than a job may"
            case code if code < 0:
                return f"the system ended it: {strsignal(-code)}"
            case code:
                return f"it ended with exit code {code}"

    def rest(self, seconds: float, then: Callable[["_Child"], None]) -> None:
        """Call `then` unless woken before."""
        self._alarm = asyncio.get_running_loop().call_later(seconds, then, self)

    def wake(self) -> bool:
        """Whether it still lives."""
        if self._alarm:
            self._alarm.cancel()
        return self.process.returncode is None and not self.end.done()

    def kill(self) -> None:
        """End it now, whatever it does."""
        if self._alarm:
            self._alarm.cancel()
        with suppress(ProcessLookupError):
            self.process.kill()

    async def gone(self) -> None:
        """Return when nothing of it is left."""
        await self.end

    async def _listen(self) -> None:
        assert self.process.stderr
        while chunk := await self.process.stderr.read(TAIL):
            self.said = (self.said + chunk)[-TAIL:]
        await self.process.wait()


def _outcome(kind: Any, body: Any, parts: list[bytes]) -> Any:
    """The value, or the exception that stands for it; `FrameError` when the answer is neither."""
    match body:
        case {"value": plain, "last": bool()}:
            return frames.rebuild(kind, plain, parts)
        case {"problem": {"code": str(code), "message": str(message), "details": details}, "last": bool()}:
            if code in CATALOGUE:
                return Problem(code, message, details=frames.rebuild(tuple[Detail, ...], details, parts))
        case {"failed": str(reason), "last": bool()}:
            return WorkerFailed(reason)
    raise frames.FrameError("The answer is none.")
