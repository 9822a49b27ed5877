"""Reads what strace recorded of a server's writes, and builds the files that a power cut could have left.

The model of the disk: a write lasts for certain once fdatasync or fsync of its file, begun after it, has returned.
Until then any part of it may be there, in any order. Truncating a file waits for a sync as a write does. That a file
exists, or no longer does, counts as lasting at once: SQLite removes its log only after it has synced the database.
What is mapped (`-shm`) is made anew by SQLite after a power cut and is left out.
"""

import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SYSCALLS = "pwrite64,write,writev,sendto,sendmsg,ftruncate,fdatasync,fsync,unlink,unlinkat,rename"
MOST_SHOWN = 2**26  # bytes of one call
PAGE, SECTOR = 4096, 512
LINE = re.compile(r"(\d+) +(\w+)\((.*)", re.DOTALL)
RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)", re.DOTALL)
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
PATH = re.compile(r"^\d+<((?:\\x[0-9a-f]{2})+)>")
REQUEST = re.compile(rb"HTTP/1\.1 2\d\d.*?\r\nx-request-id: ([^\r]+)\r\n", re.DOTALL | re.IGNORECASE)
VARIANTS = ("dropped", "random", "torn")


def make_prefix(trace: Path) -> tuple[str, ...]:
    """Return what runs a command and records its writes in `trace`. Needs strace."""
    return (
        *("strace", "-f", "-qq", "-y", "-xx", "-s", str(MOST_SHOWN), "--seccomp-bpf"),
        *("-e", f"trace={SYSCALLS}", "-e", "signal=none", "-o", str(trace)),
    )


@dataclass(frozen=True)
class DiskOperation:
    """One step of the trace: `kind` is write, truncate, remove, sync (begun), synced (returned) or answer."""

    kind: str
    file: str = ""
    offset: int = 0
    data: bytes = b""
    thread: str = ""


def read_trace(trace: Path, folder: Path) -> Iterator[DiskOperation]:
    """Yield what happened to the files in `folder`, and the ids of requests that were answered with 2xx."""
    waiting: dict[str, DiskOperation] = {}
    with trace.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            if resumed := RESUMED.match(line):
                if (begun := waiting.pop(resumed[1], None)) and resumed[3].rstrip().endswith("= 0"):
                    yield DiskOperation("synced", begun.file, thread=begun.thread)
                continue
            if not (called := LINE.match(line)):
                continue
            thread, name, rest = called[1], called[2], called[3]
            for operation in read_call(name, rest, folder, thread):
                yield operation
                if operation.kind == "sync":
                    if "<unfinished" in rest:
                        waiting[thread] = operation
                    elif rest.rstrip().endswith("= 0"):
                        yield DiskOperation("synced", operation.file, thread=thread)


def read_call(name: str, rest: str, folder: Path, thread: str) -> Iterator[DiskOperation]:
    """Yield what one call begins. A write that failed counts as one that may be there."""
    if name in {"unlink", "unlinkat", "rename"}:
        texts = [decode(text) for text in TEXT.findall(rest)]
        gone = Path(texts[0].decode()) if texts else None
        if gone is not None and gone.parent == folder:
            yield DiskOperation("remove", gone.name)
        return
    path = find_path(rest)
    if path is not None and path.parent == folder:
        if name == "pwrite64":
            end = re.search(r'", (\d+), (\d+)', rest)
            assert end, rest[-200:]
            yield DiskOperation("write", path.name, int(end[2]), decode(TEXT.findall(rest)[0]))
        elif name == "ftruncate":
            size = re.search(r">, (\d+)", rest)
            assert size
            yield DiskOperation("truncate", path.name, int(size[1]))
        elif name in {"fdatasync", "fsync"}:
            yield DiskOperation("sync", path.name, thread=thread)
    elif name in {"write", "writev", "sendto", "sendmsg"}:
        for id in REQUEST.findall(b"".join(map(decode, TEXT.findall(rest)))):
            yield DiskOperation("answer", data=id)


def decode(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def find_path(rest: str) -> Path | None:
    """Return the path behind the first argument, if it is a file."""
    found = PATH.match(rest)
    return Path(decode(found[1]).decode(errors="replace")) if found else None


@dataclass
class DiskFile:
    """One file: what lasts, and the writes since that may be lost; `begun` counts those before a running sync."""

    lasting: bytearray = field(default_factory=bytearray)
    pending: list[DiskOperation] = field(default_factory=list)
    begun: dict[str, int] = field(default_factory=dict)


class Disk:
    """The files of a folder as they last, while a trace is played."""

    def __init__(self, base: Path, names: tuple[str, ...]) -> None:
        self.base = base
        self.names = names
        self.files = {
            name: DiskFile(bytearray((base / name).read_bytes())) for name in names if (base / name).exists()
        }
        self.answered: set[str] = set()

    def play(self, operation: DiskOperation) -> None:
        """Do what the server did."""
        if operation.kind == "answer":
            self.answered.add(operation.data.decode())
            return
        if operation.file not in self.names:
            return
        if operation.kind == "remove":
            self.files.pop(operation.file, None)
            return
        file = self.files.setdefault(operation.file, DiskFile())
        if operation.kind == "sync":
            file.begun[operation.thread] = len(file.pending)
        elif operation.kind == "synced":
            count = file.begun.pop(operation.thread, 0)
            for each in file.pending[:count]:
                change(file.lasting, each)
            del file.pending[:count]
            file.begun = {thread: max(0, begun - count) for thread, begun in file.begun.items()}
        else:
            file.pending.append(operation)

    def leave(self, folder: Path, variant: str, chance: random.Random) -> None:
        """Make `folder` what is found after a power cut at this moment."""
        shutil.copytree(self.base, folder, ignore=shutil.ignore_patterns(*self.names, "*.db-shm"))
        for name, file in self.files.items():
            content = bytearray(file.lasting)
            for operation in choose_kept(file.pending, variant, chance):
                change(content, operation)
            (folder / name).write_bytes(content)


def choose_kept(pending: list[DiskOperation], variant: str, chance: random.Random) -> Iterator[DiskOperation]:
    """Yield the writes that reached the disk without a sync."""
    if variant == "random":
        for operation in pending:
            yield from (part for part in split_pages(operation) if chance.random() < 0.5)
    elif variant == "torn" and pending:
        last = chance.randrange(len(pending))
        yield from pending[:last]
        torn = pending[last]
        if torn.kind == "write":
            end = SECTOR * chance.randrange(len(torn.data) // SECTOR + 1)
            yield DiskOperation("write", torn.file, torn.offset, torn.data[:end])


def split_pages(operation: DiskOperation) -> Iterator[DiskOperation]:
    """Yield a write as writes of at most a page."""
    if operation.kind != "write":
        yield operation
        return
    for at in range(0, len(operation.data), PAGE):
        yield DiskOperation("write", operation.file, operation.offset + at, operation.data[at : at + PAGE])


def change(content: bytearray, operation: DiskOperation) -> None:
    """Do a write or truncation."""
    if operation.kind == "truncate":
        del content[operation.offset :]
        content.extend(bytes(operation.offset - len(content)))
        return
    end = operation.offset + len(operation.data)
    content.extend(bytes(max(0, end - len(content))))
    content[operation.offset : end] = operation.data
