"""The program as a process of its own: one command run to its end, or a server that can be killed."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.journeys.api import PATIENCE, until
from tests.ports import reserve_port

COMMAND = (sys.executable, "-m", "esign")
ALL_OK = re.compile(r"^(\d+) checks: \1 ok\.$", re.MULTILINE)  # what `esign doctor` says at its end

CONFIGURATION = """
[server]
port = {port}

[storage]
data_dir = "{data}"
spare_mib = 4

{more}
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This one without settings of ours; what a program forgets to close is told on stderr."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ESIGN_")}
    return {**kept, "PYTHONWARNINGS": "default::ResourceWarning", **(more or {})}


def esign(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    command: Sequence[str | Path] = COMMAND,
    seconds: float = 60,
) -> Ran:
    """Run one command to its end. Whatever happens, nobody ever sees a traceback."""
    ended = subprocess.run(
        (*command, *arguments),
        cwd=cwd,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    ran = Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
    assert_readable(ran.err)
    return ran


async def meanwhile(*arguments: str | Path, **rest: Any) -> Ran:
    """The same while this process does other things."""
    return await asyncio.to_thread(esign, *arguments, **rest)


def assert_readable(err: str) -> None:
    """What stands on stderr is for people."""
    assert "Traceback" not in err, err
    assert not re.search(r"\w+Warning:", err), err


def configuration(folder: Path, more: str = "", data: str = "data") -> Path:
    """An `esign.toml` in `folder` with a free port and `more` tables."""
    file = folder / "esign.toml"
    file.write_text(CONFIGURATION.format(port=reserve_port(), data=data, more=more), "utf-8")
    return file


class Program:
    """`esign serve` as a process of its own; `log` keeps what every life of it wrote."""

    def __init__(
        self, config: Path, *, limit: int | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        """`limit`: the largest file in bytes that the process may write, as on a disk that is full."""
        self.config = config
        self.log = config.with_suffix(".log")
        self._limit, self._env = limit, env
        found = re.search(r"port = (\d+)", config.read_text("utf-8"))
        assert found
        self.base = f"http://127.0.0.1:{found[1]}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Return when it answers."""
        await self.begin()
        async with aiohttp.ClientSession() as session:

            async def alive() -> bool | None:
                assert self.process.returncode is None, self.said
                try:
                    async with session.get(f"{self.base}/healthz") as answer:
                        return answer.status == 200 or None
                except aiohttp.ClientConnectionError:
                    return None

            await until(alive, f"server at {self.base}")

    async def begin(self) -> None:
        """Return when there is a process, whatever it does yet."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *limit_files(self._limit),
                *COMMAND,
                "serve",
                "--config",
                self.config,
                env=environment(self._env),
                stderr=log,
            )

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8")

    def children(self) -> list[int]:
        """The processes that it started and that live."""
        listing = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in listing.read_text().split()]

    async def kill(self) -> None:
        """As a power cut would, for the process."""
        self.process.kill()
        await self.process.wait()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(number)
        return await self.wait_for_end()

    async def wait_for_end(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


def limit_files(size: int | None) -> tuple[str, ...]:
    """What runs a command with files of at most `size` bytes; only the soft limit, as `ulimit -S` sets it."""
    if size is None:
        return ()
    words = "import os, resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (int(sys.argv[1]), r.RLIM_INFINITY));"
    return (sys.executable, "-c", f"{words} os.execv(sys.argv[2], sys.argv[2:])", str(size))
