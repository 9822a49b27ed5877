"""Run PDF work in a few limited child processes, so that no file can harm or hold up the server."""

import asyncio
import hashlib
import logging
import os
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from io import BytesIO
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGXCPU, strsignal
from typing import Literal, TypeVar

from esign.core.errors import CATALOGUE, Detail, Problem
from esign.core.instant import Instant
from esign.core.seal_credential import Credential
from esign.core.sentence import read_back
from esign.pdf.inspection import (
    NOT_CHECKED,
    TOO_COMPLEX,
    WORKER_FORMS,
    DetectedFields,
    Inspection,
    RedrawnPicture,
    TypedLetters,
    UploadLimits,
)
from esign.pdf.report import Verification, VerificationCase
from esign.pdf.seal_order import BegunSeal, CertificateOrder, DrawnField, SealedFiles, SealFailed, SealOrder
from esign.pdf.signer.seal_signer import SealSigner
from esign.pdf.worker import frames, signature_request
from esign.pdf.worker.confinement_report import rebuild_confinement
from esign.pdf.worker.failure_memory import FailureMemory
from esign.pdf.worker.fitting_texts import FittingTexts, make_key
from esign.pdf.worker.queue import WorkerQueue
from esign.pdf.worker.queue_turn import CALLER, CPU_SECONDS, DROPPED, PdfJobKind, QueueTurn
from esign.pdf.worker.signature_request import SIGNING_TASKS
from esign.system import frozen
from esign.system.font_folders import FONTS
from esign.system.process_pipe import write_to_process

T = TypeVar("T")
log = logging.getLogger("esign.pdf")

COMMAND = frozen.name_child_command(frozen.Child.WORKER)

# Nothing of the server's environment. One malloc arena: each maps 64 MiB of the 1 GiB that a worker may map.
ENVIRONMENT = frozen.make_child_environment(os.environ)

# Exceptions of reading from or writing to a child that has ended or has been taken over.
BROKEN = (frames.FrameError, asyncio.IncompleteReadError, ConnectionError)

CHUNK, TAIL = 256 * 1024, 4096
END_SECONDS = 10.0  # for which the end of a process whose pipe has ended may take on a busy machine
OFF_THE_LOOP = 1024 * 1024

# Signals sent by an administrator, or by the kernel when memory runs out; a file does not cause them by itself.
FROM_OUTSIDE = (SIGKILL, SIGTERM, SIGINT, SIGHUP)

BUSY = "The server is too busy right now. Try again in a moment."
LEFT = "The person who requested this has left."


class WorkerFailed(Exception):
    """Raised if a job ended without an answer because of its input; `reason` is for the operator.

    `lasting` says that it killed or exhausted its worker, and would do so again.
    """

    def __init__(self, reason: str, lasting: bool = False) -> None:
        self.reason = reason
        self.lasting = lasting
        super().__init__(reason)


class WorkerBusy(Exception):
    """Raised if a job ended without an answer because of the machine; `reason` is for the operator."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Workers:
    """Starts a child when a job needs one, and ends it after `idle_seconds` without a job.

    While another is idle already, it is ended after `spare_seconds`: it was for a burst, and has up to 90 MB.
    Jobs wait in the `Queue`, which decides how many run at once; `size` is the number of regular workers. A job
    is ended after the processor time that its `QueueTurn` allows, or `cpu_seconds`; this limit and that of memory
    lead to `invalid_file`. It is also ended after `wall_seconds`, a seal after twice as long. Then the machine
    is busy or the child hangs, and the job is `unavailable`. If the caller is cancelled or its connection is
    lost (`queue_turn.CALLER`), its child is ended too, so an answer never reaches another caller.

    `signer` has the key of the seal, which no child sees. `font_paths` are folders of fonts that the children may read
    beside those of the system.
    """

    def __init__(
        self,
        size: int = 2,
        idle_seconds: float = 60,
        spare_seconds: float = 10,
        wall_seconds: float = 55,  # proxies give up on an answer after 60
        cpu_seconds: int | None = None,
        command: Sequence[str] = COMMAND,
        signer: SealSigner | None = None,
        font_paths: Sequence[str] = (),
    ) -> None:
        self.signer = signer or SealSigner()
        self._environment = {**ENVIRONMENT, **({FONTS: os.pathsep.join(font_paths)} if font_paths else {})}
        self._told_confinement = False
        self._preparing: set[asyncio.Task[None]] = set()  # the loop itself does not keep its tasks
        self.queue = WorkerQueue(size)
        self.failures = FailureMemory()
        self.fitting = FittingTexts()
        self._size = size
        self._idle_seconds = idle_seconds
        self._spare_seconds = spare_seconds
        self._wall_seconds = wall_seconds
        self._cpu_seconds = cpu_seconds
        self._command = tuple(command)
        self._children: set[_WorkerProcess] = set()
        self._idle: list[_WorkerProcess] = []
        self._making: dict[str, tuple[asyncio.Lock, int]] = {}
        self._closed = False
        self.lost: Counter[str] = Counter()  # children that ended during a job or were killed for it, by task

    @property
    def pids(self) -> frozenset[int]:
        """Return the ids of the processes that are alive now."""
        return frozenset(child.process.pid for child in self._children if child.process.returncode is None)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """Make one thing at a time under a name, so that a second caller waits and then finds it made."""
        lock, users = self._making.get(name, (asyncio.Lock(), 0))
        self._making[name] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            lock, users = self._making.pop(name)
            if users > 1:
                self._making[name] = lock, users - 1

    async def inspect(
        self, upload: bytes, limits: UploadLimits, turn: QueueTurn | None = None, sha256: str | None = None
    ) -> Inspection:
        """Run `intake.inspect.inspect_upload`. A file that brings a worker down is refused as `invalid_file`.

        Pass `sha256` when it is known, because hashing takes time.
        """
        return await self._judge_content("inspect", Inspection, upload, limits, turn=turn, sha256=sha256)

    async def verify(
        self, file: bytes, case: VerificationCase, turn: QueueTurn | None = None
    ) -> Verification:
        """Run `verify.validate.verify_signatures`. A file that brings a worker down is refused as `invalid_file`."""
        given = (file, case.roots, case.now, case.own, case.fetched)
        return await self._judge_content("verify", Verification, *given, turn=turn)

    async def reencode(
        self, image: bytes, task: Literal["reencode", "logo"] = "reencode", turn: QueueTurn | None = None
    ) -> RedrawnPicture:
        """Run `signature_picture.reencode_signature` or `logo.redraw_logo`.

        A picture that brings a worker down is refused as `invalid_file`.
        """
        return await self._judge_content(task, RedrawnPicture, image, turn=turn or QueueTurn(PdfJobKind.ACT))

    async def seal(
        self, order: SealOrder, credential: Credential, turn: QueueTurn | None = None
    ) -> SealedFiles:
        """Run `esign.pdf.seal.seal.seal_document`. Raises `WorkerFailed` with the reason if there is no sealed file."""
        given = (order, credential.public)
        return await self._ask_with_key("seal", SealedFiles, given, credential, turn)

    async def begin_seal(
        self, order: SealOrder, credential: Credential, turn: QueueTurn | None = None
    ) -> BegunSeal:
        """Run `esign.pdf.seal.seal.begin_seal`. Raises `WorkerFailed` with the reason if there are no signatures."""
        return await self._ask_with_key("begin", BegunSeal, (order, credential.public), credential, turn)

    async def finish_seal(
        self, begun: BegunSeal, tokens: Sequence[bytes], credential: Credential, turn: QueueTurn | None = None
    ) -> SealedFiles:
        """Run `esign.pdf.seal.seal.finish_seal`. Raises `WorkerFailed` with the reason if there is no sealed file."""
        given = (begun, tokens, credential.public)
        return await self.ask("finish", SealedFiles, *given, turn=turn or QueueTurn(PdfJobKind.SEAL))

    async def seal_certificate_pages(
        self, order: CertificateOrder, credential: Credential, turn: QueueTurn | None = None
    ) -> bytes:
        """Run `esign.pdf.seal.sealed_parts.seal_certificate_pages`. Raises `WorkerFailed` with the reason."""
        return await self._ask_with_key("certificate", bytes, (order, credential.public), credential, turn)

    async def _ask_with_key(
        self,
        task: str,
        kind: type[T],
        arguments: Sequence[object],
        credential: Credential,
        turn: QueueTurn | None,
    ) -> T:
        """Do a job whose worker may ask once for signatures by this credential."""

        async def read_arguments() -> Sequence[object]:
            preparing = asyncio.create_task(self.signer.prepare(credential), name="prepare the signer")
            self._preparing.add(preparing)
            preparing.add_done_callback(self._preparing.discard)
            return arguments

        return await self.run_task_when_free(
            task, kind, read_arguments, turn=turn or QueueTurn(PdfJobKind.SEAL), credential=credential
        )

    async def find_fields(
        self, upload: bytes, prepared: bytes, turn: QueueTurn | None = None
    ) -> DetectedFields:
        """Run `esign.pdf.fields.detect_fields.find_fields`, and return what a file asks to be filled in."""
        return await self.ask(
            "blanks", DetectedFields, upload, prepared, turn=turn or QueueTurn(PdfJobKind.PREVIEW)
        )

    async def letters(
        self,
        text: str,
        hand: str | None,
        lang: str | None,
        font_paths: Sequence[str] = (),
        turn: QueueTurn | None = None,
    ) -> TypedLetters:
        """Run `esign.pdf.drawing.typed_signature.draw_letters`, and return a typed signature as it will be sealed."""
        given = (text, hand, lang, font_paths)
        return await self.ask("letters", TypedLetters, *given, turn=turn or QueueTurn(PdfJobKind.ACT))

    async def find_missing_characters(
        self, texts: Sequence[str], font_paths: Sequence[str] = (), turn: QueueTurn | None = None
    ) -> list[str]:
        """Return the characters that neither the shipped fonts nor those of the system can draw."""
        return await self.ask("missing", list[str], texts, font_paths, turn=turn or QueueTurn(PdfJobKind.ACT))

    async def find_unfit_texts(
        self,
        fields: Sequence[DrawnField],
        sizes: Sequence[tuple[float, float]],
        now: Instant,
        font_paths: Sequence[str] = (),
        turn: QueueTurn | None = None,
    ) -> list[str]:
        """Run `drawing.overlay.find_unfit_texts`, and return the ids of the texts that are too long for their boxes.

        A worker is asked only about texts that were not found to fit before: a recipient mostly keeps those that the
        sender wrote.
        """
        turn = turn or QueueTurn(PdfJobKind.ACT)
        keys = {field.id: make_key(turn.tenant, field, sizes[field.page - 1], font_paths) for field in fields}
        asked = [field for field in fields if keys[field.id] not in self.fitting]
        if not asked:
            return []
        given = (asked, sizes, now, font_paths)
        unfit = await self.ask("unfit", list[str], *given, turn=turn)
        self.fitting.add(keys[field.id] for field in asked if field.id not in unfit)
        return unfit

    async def ask(self, task: str, kind: type[T], *arguments: object, turn: QueueTurn | None = None) -> T:
        """Do one job, and return its answer rebuilt as `kind`.

        Raises the job's `Problem`, `rate_limited` or `unavailable` if there is no room or the machine is too
        busy, and otherwise `WorkerFailed`.
        """

        async def read_arguments() -> Sequence[object]:
            return arguments

        return await self.run_task_when_free(task, kind, read_arguments, turn=turn)

    async def run_task_when_free(
        self,
        task: str,
        kind: type[T],
        read: Callable[[], Awaitable[Sequence[object]]],
        *,
        turn: QueueTurn | None = None,
        name: str | None = None,
        credential: Credential | None = None,
    ) -> T:
        """Do the same with arguments that are read once a worker is free, so that waiting jobs take no memory.

        Under a `name`, which stands for everything that the work depends on, a failure that would happen again
        is remembered. With a `credential`, the worker may ask once for signatures by it.
        """
        turn = turn or QueueTurn()
        limit = self._choose_limit(turn)
        if name is not None:
            name = f"{name} {limit}"
            self._refuse_known(name)
        try:
            async with self._stop_when_unwanted(turn), self.queue.place(turn):
                job = frames.pack_frame({"task": task, "arguments": await read(), "cpu_seconds": limit})
                outcome = await self._do_work(task, kind, job, turn, credential)
            await asyncio.sleep(0)  # whoever got the place now sends its job before this caller goes on
            return outcome
        except WorkerFailed as failure:
            if name is not None and failure.lasting:
                self.failures.add(name, failure.reason, asyncio.get_running_loop().time())
            raise

    def _choose_limit(self, turn: QueueTurn) -> int:
        """Return the seconds of processor time that a job may use."""
        if turn.cpu_seconds is not None:
            return turn.cpu_seconds
        return CPU_SECONDS[turn.kind] if self._cpu_seconds is None else self._cpu_seconds

    def _refuse_known(self, name: str) -> None:
        reason = self.failures.find(name, asyncio.get_running_loop().time())
        if reason is not None:
            raise WorkerFailed(f"{reason}; the same was tried before", lasting=False)

    @asynccontextmanager
    async def _stop_when_unwanted(self, turn: QueueTurn) -> AsyncIterator[None]:
        """Stop what happens inside when the caller's connection is lost, if the answer is of no use to others."""
        gone = CALLER.get().gone if turn.kind in DROPPED else None
        if gone is None:
            yield
            return
        loop = asyncio.get_running_loop()
        limit = asyncio.timeout(None)

        def end(_: object) -> None:
            limit.reschedule(loop.time())

        try:
            async with limit:
                if gone.done():
                    end(gone)
                else:
                    gone.add_done_callback(end)
                try:
                    yield
                finally:
                    gone.remove_done_callback(end)
        except TimeoutError:
            if not limit.expired():
                raise
            raise Problem("unavailable", LEFT) from None

    async def close(self) -> None:
        """End every child at once. Running jobs raise `unavailable`, and so do later ones."""
        self._closed = True
        for child in self._children:
            child.kill()
        await asyncio.gather(self.signer.close(), *(child.wait_until_gone() for child in self._children))

    async def _judge_content(
        self,
        task: str,
        kind: type[T],
        content: bytes,
        *more: object,
        turn: QueueTurn | None,
        sha256: str | None = None,
    ) -> T:
        async def read_arguments() -> Sequence[object]:
            return (content, *more)

        try:
            return await self.run_task_when_free(
                task, kind, read_arguments, turn=turn, name=f"{task} {sha256 or await hash_content(content)}"
            )
        except WorkerFailed as failure:
            raise Problem("invalid_file", NOT_CHECKED if task == "verify" else TOO_COMPLEX) from failure

    async def _do_work(
        self,
        task: str,
        kind: type[T],
        job: list[bytes],
        turn: QueueTurn,
        credential: Credential | None = None,
    ) -> T:
        child: _WorkerProcess | None = None
        kept = False
        seconds = self._wall_seconds * (2 if turn.kind is PdfJobKind.SEAL else 1)
        outcome: T | Exception
        try:
            async with asyncio.timeout(seconds):
                child = await self._take_child()
                body, parts = await child.answer(job)
                if credential is not None and task in SIGNING_TASKS and signature_request.is_request(body):
                    body, parts = await child.answer(await self._sign(credential, body, parts))
            outcome, last = _rebuild_outcome(kind, body, parts)
            kept = not last
        except TimeoutError:
            outcome = WorkerBusy(f"it took longer than {seconds:g} seconds")
        except frames.FrameError:
            outcome = WorkerFailed("it answered with something else than was asked", lasting=True)
        except BROKEN:
            outcome = await child.explain_end() if child else WorkerBusy("it did not start")
        finally:
            if child:
                self._release_child(child, kept)
        if isinstance(outcome, WorkerFailed | WorkerBusy):
            self.lost[task] += child is not None and not kept and not self._closed
            outcome = self._explain_failure(task, outcome, child)
        if not isinstance(outcome, Exception):
            return outcome
        try:
            raise outcome
        finally:  # it refers to this call, and would keep the job until garbage is collected
            del outcome

    async def _sign(self, credential: Credential, body: object, parts: list[bytes]) -> list[bytes]:
        """Return the answer to a worker that asks for signatures. Raises `FrameError` if it asks for something else."""
        digests = signature_request.read_request(body, parts)
        try:
            return signature_request.pack_signatures(await self.signer.sign_digests(credential, digests))
        except SealFailed as failure:
            return signature_request.pack_refusal(failure.reason)

    def _tell_confinement(self, body: object) -> None:
        """Log once what confines the workers, as the first of them says. Raises `FrameError` if it says nothing."""
        confined = rebuild_confinement(body)
        if not self._told_confinement:
            self._told_confinement = True
            level = logging.DEBUG if confined.is_complete else logging.WARNING
            log.log(level, "each file is opened in a process of its own. %s", " ".join(confined.describe()))

    def _explain_failure(
        self, task: str, failure: "WorkerFailed | WorkerBusy", child: "_WorkerProcess | None"
    ) -> Exception:
        if self._closed:
            return Problem("unavailable")
        log.warning("A PDF worker gave up on a job (%s): %s", task, failure.reason)
        if child is not None:
            log.debug("It said: %s", child.said.decode(errors="replace"))
        if isinstance(failure, WorkerBusy):
            return Problem("unavailable", BUSY, retry_after=self.queue.advice)
        return failure

    async def _take_child(self) -> "_WorkerProcess":
        while self._idle:
            child = self._idle.pop()
            if child.wake():
                return child
        return await self._start_child()

    async def _start_child(self) -> "_WorkerProcess":
        if self._closed:
            raise Problem("unavailable")
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=self._environment,
                limit=CHUNK,
                start_new_session=True,
            )
        except OSError as error:
            log.error("A PDF worker could not be started: %s", error)
            raise Problem("unavailable") from error
        child = _WorkerProcess(process)
        self._children.add(child)
        child.end.add_done_callback(lambda _: self._forget_child(child))
        try:
            self._tell_confinement(await child.wait_until_ready())
        except BROKEN:
            log.error(
                "A PDF worker did not start: %s\n%s",
                (await child.explain_end()).reason,
                child.said.decode(errors="replace"),
            )
            raise Problem("unavailable") from None
        except asyncio.CancelledError:
            child.kill()
            raise
        return child

    def _forget_child(self, child: "_WorkerProcess") -> None:
        """Forget a child that has ended. If only the task that listens to it has, end the child too."""
        if child.process.returncode is None:
            log.error("the task that listens to a PDF worker ended; the worker is replaced")
            child.kill()
        self._children.discard(child)

    def _release_child(self, child: "_WorkerProcess", kept: bool) -> None:
        if kept and not self._closed:
            seconds = self._spare_seconds if self._idle else self._idle_seconds
            self._idle.append(child)
            child.rest(seconds, self._retire_child)
        else:
            child.kill()

    def _retire_child(self, child: "_WorkerProcess") -> None:
        self._idle.remove(child)
        child.kill()


class _WorkerProcess:
    """One worker process and the pipes to it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.said = b""
        self.end = asyncio.create_task(self._listen())
        self._alarm: asyncio.TimerHandle | None = None

    async def wait_until_ready(self) -> object:
        """Return what the process says of itself when it waits for jobs."""
        body, _ = await self._read_frame()
        return body

    async def answer(self, job: list[bytes]) -> tuple[object, list[bytes]]:
        """Send a job and read the frame that answers it."""
        assert self.process.stdin
        for chunk in job:
            for at in range(0, len(chunk), CHUNK):
                write_to_process(self.process.stdin, chunk[at : at + CHUNK])
                await self.process.stdin.drain()
        return await self._read_frame()

    async def _read_frame(self) -> tuple[object, list[bytes]]:
        assert self.process.stdout
        read = self.process.stdout.readexactly
        header = await read(frames.parse_header_length(await read(frames.PREFIX.size)))
        body, sizes = frames.parse_header(header)
        return body, [await self._read_part(size) for size in sizes]

    async def _read_part(self, size: int) -> bytes:
        """Return the next `size` bytes. `readexactly` would hold a large part twice, and copy it at once."""
        assert self.process.stdout
        part = BytesIO()
        while missing := size - part.tell():
            piece = await self.process.stdout.read(min(missing, CHUNK))
            if not piece:
                raise asyncio.IncompleteReadError(b"", missing)
            part.write(piece)
        return part.getvalue()

    async def explain_end(self) -> "WorkerFailed | WorkerBusy":
        """Return why there was no answer. What the process said at last is in `said` then."""
        await asyncio.wait({self.end}, timeout=END_SECONDS)
        match self.process.returncode:
            case None:
                return WorkerFailed("it said no more", lasting=True)
            case code if code == -SIGXCPU:
                return WorkerFailed("it used more processor time than a job may", lasting=True)
            case code if -code in FROM_OUTSIDE:
                return WorkerBusy(f"it was ended from outside: {strsignal(-code)}")
            case code if code < 0:
                return WorkerFailed(f"the system ended it: {strsignal(-code)}", lasting=True)
            case code:
                return WorkerFailed(f"it ended with exit code {code}", lasting=True)

    def rest(self, seconds: float, then: Callable[["_WorkerProcess"], None]) -> None:
        """Call `then` after `seconds` unless woken before."""
        self._alarm = asyncio.get_running_loop().call_later(seconds, then, self)

    def wake(self) -> bool:
        """Cancel the timer of `rest`, and return whether the process is still alive."""
        if self._alarm:
            self._alarm.cancel()
        return self.process.returncode is None and not self.end.done()

    def kill(self) -> None:
        """End the process now, whatever it does."""
        if self._alarm:
            self._alarm.cancel()
        with suppress(ProcessLookupError):
            self.process.kill()

    async def wait_until_gone(self) -> None:
        """Return when nothing of the process is left."""
        await self.end

    async def _listen(self) -> None:
        assert self.process.stderr
        while chunk := await self.process.stderr.read(TAIL):
            self.said = (self.said + chunk)[-TAIL:]
        await self.process.wait()


def _rebuild_outcome(kind: type[T], body: object, parts: list[bytes]) -> tuple[T | Exception, bool]:
    """Return the value, or the exception that stands for it, and whether the worker ends with this answer.

    Raises `FrameError` if the answer is neither.
    """
    match body:
        case {"value": plain, "last": bool(last)}:
            return frames.rebuild_value(kind, plain, parts), last
        case {
            "problem": {"code": str(code), "message": str(message), "details": details},
            "last": bool(last),
        }:
            if code in CATALOGUE:
                found = frames.rebuild_value(tuple[Detail, ...], details, parts)
                said = [replace(one, message=read_back(one.message, WORKER_FORMS)) for one in found]
                return Problem(code, read_back(message, WORKER_FORMS), details=said), last
        case {"failed": str(reason), "memory": True, "last": bool(last)}:
            return WorkerFailed(reason, lasting=True), last
        case {"failed": str(reason), "last": bool(last)}:
            return WorkerFailed(reason), last
    raise frames.FrameError("The answer is none.")


async def hash_content(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal; a large file is hashed in a thread."""
    if len(content) > OFF_THE_LOOP:
        return (await asyncio.to_thread(hashlib.sha256, content)).hexdigest()
    return hashlib.sha256(content).hexdigest()
