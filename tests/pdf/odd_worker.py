"""A worker with tasks that no real one has: run as a script, it answers as `esign.pdf.worker.worker` does."""

import os
import resource
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from esign.core.errors import Problem
from esign.pdf.worker import worker
from esign.pdf.worker.sandbox import read_resident_memory
from esign.pdf.worker.signature_request import SignDigests


def echo(data: bytes) -> bytes:
    return data


def whoami(word: str) -> tuple[str, int]:
    return word, os.getpid()


def wait_for(fifo: str) -> str:
    """Block until somebody writes into the named pipe."""
    return Path(fifo).read_text()


def sleep(seconds: int) -> None:
    time.sleep(seconds)


def burn() -> None:
    while True:
        pass


def swallow(mebibytes: int) -> int:
    return len(bytearray(mebibytes * 1024 * 1024))


def crumble(mebibytes: int) -> int:
    """Take memory in small pieces, give it back but for the last one, and return how large this process was."""
    pieces = [bytes(8_000) for _ in range(mebibytes * 125)]
    globals()["last"] = pieces[-1]
    return read_resident_memory() // 2**20


def keep(mebibytes: int) -> int:
    """Stay as large afterwards."""
    globals()["kept"] = os.urandom(mebibytes * 1024 * 1024)
    return os.getpid()


def sleep_on(
    one: object, two: object = None, three: object = None, four: object = None, five: object = None
) -> None:
    time.sleep(60)


def wait_in(content: bytes, limits: object) -> None:
    """Block until somebody writes into the named pipe whose path is the content."""
    Path(content.decode()).read_text()


def burn_on(content: bytes, limits: object) -> None:
    burn()


def swallow_on(content: bytes, limits: object) -> None:
    swallow(2000)


def babble_on(content: bytes, limits: object) -> None:
    babble()


def quit_on(content: bytes, limits: object) -> None:
    quit(3)


def crash_on(content: bytes, limits: object) -> None:
    crash()


def stumble_on(content: bytes, limits: object) -> None:
    stumble()


def refuse_it(content: bytes, limits: object) -> None:
    refuse()


def allowance() -> int:
    """Seconds of processor time that are left."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return resource.getrlimit(resource.RLIMIT_CPU)[0] - int(used.ru_utime + used.ru_stime)


def crash(one: object = None, two: object = None, three: object = None, four: object = None) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def quit(code: int) -> None:
    os._exit(code)


def stumble() -> None:
    raise ZeroDivisionError("nobody thought of this")


def refuse() -> None:
    raise Problem("file_signed", "Not this one.")


def chatter() -> str:
    sys.stdout.write("a line among the answers\n")
    os.write(1, b"\x00\x00\x00\x01")
    sys.stderr.write("x" * 1_000_000)
    return "heard"


def lie() -> dict[str, str]:
    return {"not": "a number"}


def babble() -> None:
    """Answer with something that is no frame."""
    for descriptor in range(3, 32):
        try:
            os.write(descriptor, b"\xff" * 8)
        except OSError:
            continue


def sign_now(sign: SignDigests) -> int:
    """Ask for a signature in a job that does not seal."""
    return len(sign([bytes(32)]))


def sign_twice(order: object, certificate: object, sign: SignDigests) -> int:
    """Ask once more in a job that seals."""
    return len(sign([bytes(32)])) + len(sign([bytes(32)]))


def reaches(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
    except OSError:
        return False


def open_files() -> list[int]:
    """Return the inodes of what is open here."""
    inodes = []
    for descriptor in range(32):
        with suppress(OSError):
            inodes.append(os.fstat(descriptor).st_ino)
    return inodes


def surroundings() -> dict[str, object]:
    return {
        "nice": os.nice(0),
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "size": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "environment": dict(os.environ),
    }


TASKS = (
    *(echo, whoami, wait_for, sleep, burn, swallow, crumble, keep, crash, quit, stumble, refuse),
    *(chatter, lie, babble, reaches, open_files, surroundings, allowance, sign_now),
)

if __name__ == "__main__":
    # Arguments such as `inspect=sleep_on` say what stands for a task.
    chosen = {task: f"__main__:{name}" for task, _, name in (given.partition("=") for given in sys.argv[1:])}
    fatal = dict.fromkeys(("inspect", "verify", "reencode"), "__main__:crash")
    worker.run_worker(
        fatal | chosen | {task.__name__: f"__main__:{task.__name__}" for task in TASKS},
        [tempfile.gettempdir()],
    )
