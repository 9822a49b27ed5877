"""The server's side of the signer process: start it, hand it its keys, and ask it for signatures."""

import asyncio
import hashlib
import logging
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from esign.core.seal_credential import Credential
from esign.pdf.seal_order import SealFailed
from esign.pdf.signer import messages
from esign.system import frozen
from esign.system.confinement import Confinement
from esign.system.process_pipe import write_to_process

log = logging.getLogger("esign.seal")

COMMAND = frozen.name_child_command(frozen.Child.SIGNER)
ENVIRONMENT = frozen.make_child_environment(os.environ)
SECONDS_TO_START, SECONDS_TO_SIGN = 30, 10.0  # an RSA key of 16384 bits signs in half a second
LOADS = 6  # times as long may a key take that is loaded: the library tests the primes of a large RSA key
CLOSING_SECONDS = 2.0
TRIES = 2
TAIL = 16 * 1024  # bytes of what a process wrote that does not start
LONGEST_PAUSE = 60.0  # seconds between two attempts to give a key to the process

# Exceptions of a process that has ended, hangs, or answers with something else.
BROKEN = (OSError, TimeoutError, EOFError, messages.MessageError)

GONE = "The process that holds the seal key ended while it signed."
UNKNOWN_KEY = "The key of the seal certificate is not known to this program."

FindKey = Callable[[bytes], Awaitable[bytes]]


async def refuse_key(certificate_der: bytes) -> bytes:
    """Stand for a program that has no keys but those that it is given."""
    raise SealFailed(UNKNOWN_KEY)


class SealSigner:
    """Asks one signer process, which starts when it is needed and then stays.

    `find_key` returns the private key (DER) of a certificate (DER) from where it is kept. It is called each time the
    process starts, because nothing of the key stays here. A process that does not sign within `seconds_to_sign` is
    ended.
    """

    def __init__(
        self,
        find_key: FindKey = refuse_key,
        command: Sequence[str] = COMMAND,
        seconds_to_sign: float = SECONDS_TO_SIGN,
    ) -> None:
        self.find_key = find_key
        self._command = tuple(command)
        self._seconds_to_sign = seconds_to_sign
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._names: set[bytes] = set()
        self._faults: dict[bytes, str] = {}  # by certificate, why its key could not be used the last time
        self._pause, self._next_attempt = 0.0, 0.0
        self._has_healed = False
        self.attempts = 0  # of `keep_ready`
        self._is_known = False
        self._closed = False
        self.lost = 0  # processes that ended during a signature, or were ended for it

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None while there is none."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def prepare(self, credential: Credential) -> None:
        """Start the process and give it the key, so that the first signature does not wait. Raises nothing."""
        with suppress(SealFailed):
            await self._try(credential, ())

    async def sign_digests(self, credential: Credential, digests: Sequence[bytes]) -> list[bytes]:
        """Return the signatures of seals over files with these digests.

        A process that ends meanwhile is started again once. Raises `SealFailed`.
        """
        signatures = await self._try(credential, digests)
        if len(signatures) != len(digests):
            raise SealFailed(GONE)
        return signatures

    def find_fault(self, credential: Credential) -> str | None:
        """Return why the key of a certificate could not be used the last time, or None if it could."""
        return self._faults.get(credential.certificate_der)

    async def keep_ready(self, credentials: Sequence[Credential]) -> bool:
        """Have a process that has these keys. Return whether a key can be used again that could not before.

        That may also have shown in a signature since the last call. After a failure, or the death of the process,
        this waits 1, 2, 4 … 60 seconds before it tries again. What failed is logged once. Raises nothing.
        """
        now = asyncio.get_running_loop().time()
        if not (self._closed or now < self._next_attempt or (self.pid and self._has_all(credentials))):
            await self._make_ready(credentials, now)
        healed, self._has_healed = self._has_healed, False
        if healed:
            log.info("the seal key can be used again")
        return healed

    async def _make_ready(self, credentials: Sequence[Credential], now: float) -> None:
        self.attempts += 1
        used = {credential.certificate_der for credential in credentials}
        self._faults = {known: reason for known, reason in self._faults.items() if known in used}
        has_died = self._process is not None and self._process.returncode is not None
        is_troubled = has_died or bool(self._faults)
        if now > self._next_attempt + LONGEST_PAUSE:
            self._pause = 0.0  # all was well since
        for credential in credentials:
            await self.prepare(credential)
        # A process may take its key and die then, each time.
        is_troubled = is_troubled or bool(self._faults)
        self._pause = min(max(1.0, 2 * self._pause), LONGEST_PAUSE) if is_troubled else 0.0
        ended = asyncio.get_running_loop().time()  # an attempt may take long itself
        self._next_attempt = ended + self._pause

    def _has_all(self, credentials: Sequence[Credential]) -> bool:
        return all(name_key(credential) in self._names for credential in credentials)

    async def close(self) -> None:
        """End the process at once, and sign nothing any more."""
        self._closed = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()  # who waits for its answer waits no longer
        with suppress(TimeoutError):  # another may wait for a key from a folder that hangs
            async with asyncio.timeout(CLOSING_SECONDS):
                await self.forget_keys()

    async def forget_keys(self) -> None:
        """End the process after what it is signing now; the next signature starts another with keys read anew."""
        async with self._turn:
            await self._end()

    async def _try(self, credential: Credential, digests: Sequence[bytes]) -> list[bytes]:
        """Return the signatures, and note whether the key could be used. One that is given is only tried."""
        try:
            signatures = await self._ask_twice(credential, digests)
        except SealFailed as failure:
            if not (credential.key_der or self._has_all([credential])):  # then what it was to sign is refused
                self._note_fault(credential, failure.reason)
            raise
        if not credential.key_der:
            self._note_success(credential)
            if digests and not self._faults:
                self._pause, self._next_attempt = 0.0, 0.0
        return signatures

    def _note_fault(self, credential: Credential, reason: str) -> None:
        if self._faults.get(credential.certificate_der) != reason and not self._closed:
            log.error("The seal key cannot be used, so that seals wait: %s", reason)
        self._faults[credential.certificate_der] = reason

    def _note_success(self, credential: Credential) -> None:
        if self._faults.pop(credential.certificate_der, None) is not None:
            self._has_healed = True

    async def _ask_twice(self, credential: Credential, digests: Sequence[bytes]) -> list[bytes]:
        async with self._turn:
            for attempt in range(TRIES):
                if self._closed:
                    break
                try:
                    return await self._ask(credential, digests)
                except BROKEN as error:
                    self.lost += 1
                    level = logging.ERROR if attempt + 1 == TRIES else logging.WARNING
                    log.log(level, "The process that holds the seal key had to be started again: %r", error)
                    await self._end()
                except BaseException as error:
                    if not isinstance(error, SealFailed):
                        await self._end()  # its answer would be taken for that to the next question
                    raise
        raise SealFailed(GONE)

    async def _ask(self, credential: Credential, digests: Sequence[bytes]) -> list[bytes]:
        process = await self._start()
        name = name_key(credential)
        if name not in self._names:
            key = credential.key_der or await self.find_key(credential.certificate_der)
            await self._exchange(process, messages.LOAD, [name, credential.certificate_der, key])
            if len(self._names) >= 4:
                self._names.clear()
            self._names.add(name)
        return await self._exchange(process, messages.SIGN, [name, *digests]) if digests else []

    async def _start(self) -> Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self._end()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT, start_new_session=True
        )
        try:
            async with asyncio.timeout(SECONDS_TO_START):
                kind, fields = await self._read(self._process)
        except (EOFError, TimeoutError):
            log.error("the process that is to hold the seal key does not start: %s", await self._read_error())
            raise
        if kind != messages.READY or [len(one) for one in fields] != [3]:
            raise messages.MessageError("The signer does not say that it is ready.")
        self._tell(Confinement(fields[0][0], bool(fields[0][1]), bool(fields[0][2])))
        return self._process

    def _tell(self, confined: Confinement) -> None:
        """Log once what confines the process that holds the key."""
        if not self._is_known:
            self._is_known = True
            level = logging.INFO if confined.is_complete else logging.WARNING
            log.log(level, "the seal key is in a process of its own. %s", " ".join(confined.describe()))

    async def _exchange(self, process: Process, kind: bytes, fields: Sequence[bytes]) -> list[bytes]:
        assert process.stdin
        write_to_process(process.stdin, messages.pack_message(kind, fields))
        async with asyncio.timeout(self._seconds_to_sign * (LOADS if kind == messages.LOAD else 1)):
            await process.stdin.drain()
            answer, found = await self._read(process)
        if answer == messages.REFUSED and len(found) == 1:
            raise SealFailed(found[0].decode(errors="replace"))
        if answer != messages.SIGNED:
            raise messages.MessageError("The signer answers with something else than was asked.")
        return found

    async def _read(self, process: Process) -> tuple[bytes, list[bytes]]:
        assert process.stdout
        read = process.stdout.readexactly
        kind, count = messages.parse_head(await read(messages.HEAD))
        return kind, [await read(messages.parse_length(await read(messages.LENGTH))) for _ in range(count)]

    async def _read_error(self) -> str:
        """End the process, which has no key yet, and return the last lines that it wrote about itself."""
        assert self._process is not None and self._process.stderr
        with suppress(ProcessLookupError):
            self._process.kill()
        said = (await self._process.stderr.read(TAIL)).decode(errors="replace")
        return " | ".join(said.split("\n")[-4:]).strip(" |") or "it wrote nothing"

    async def _end(self) -> None:
        self._names.clear()
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            self._process = None


def name_key(credential: Credential) -> bytes:
    """Return the name under which the process has a key: it says nothing about the key to who does not know it."""
    return hashlib.sha256(
        b"%d:" % len(credential.key_der) + credential.key_der + credential.certificate_der
    ).digest()
