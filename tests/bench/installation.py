"""A served installation in a process of its own, as a user runs it, and a client for it."""

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.ports import reserve_port

SETTINGS = """
[server]
port = {port}
{server}
[storage]
data_dir = "./data"
[limits]
requests_per_minute = 100000
emails_per_day = 10000000
[signing]
reads_per_minute = 0
writes_per_minute = 0
"""


# More lines of [server]: with them requests say themselves from which address they come.
PROXY = 'trusted_proxies = ["127.0.0.1/32"]'


@dataclass(frozen=True)
class BenchInstallation:
    """`pid` is the serving process."""

    folder: Path
    base: str
    key: str
    pid: int
    client: aiohttp.ClientSession
    first_answer: float

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    @property
    def headers(self) -> dict[str, str]:
        return authorize(self.key)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        url = path if path.startswith("http") else f"{self.base}{path}"
        async with self.client.request(method, url, json=body) as answer:
            said = await answer.json()
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.status} {said}")
            return said

    async def text(self, url: str) -> str:
        async with self.client.get(url) as answer:
            return await answer.text()


def command(folder: Path, *arguments: str) -> str:
    """What the command line says about the installation in that folder."""
    return subprocess.run(
        [sys.executable, "-m", "esign", *arguments, "--config", str(folder / "esign.toml")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def make_key(folder: Path) -> str:
    """Return a new key of the installation in that folder."""
    return command(folder, "keys", "create", "--name", "bench").strip()


def authorize(key: str) -> dict[str, str]:
    """Return the header that names the key."""
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def install_program(
    settings: str = "", server: str = "", data: Path | None = None
) -> AsyncIterator[BenchInstallation]:
    """`esign serve` in a new folder, until the block ends; the arguments are those of `make_installation`."""
    async with make_installation(settings, server, data) as (folder, key), serve_program(folder, key) as at:
        yield at


@asynccontextmanager
async def make_installation(
    settings: str = "", server: str = "", data: Path | None = None
) -> AsyncIterator[tuple[Path, str]]:
    """A new folder with a configuration and a key, until the block ends.

    `settings` are added to its configuration, `server` are more lines of that table; `data` is a folder of data that is
    copied before.
    """
    with tempfile.TemporaryDirectory(prefix="esign-bench-") as name:
        folder = Path(name)
        (folder / "esign.toml").write_text(SETTINGS.format(port=reserve_port(), server=server) + settings)
        if data is not None:
            await asyncio.to_thread(shutil.copytree, data, folder / "data")
        yield folder, await asyncio.to_thread(make_key, folder)


@asynccontextmanager
async def serve_program(folder: Path, key: str, module: str = "esign") -> AsyncIterator[BenchInstallation]:
    """`esign serve` in the folder of an installation, until the block ends; `module` is what runs as esign."""
    found = re.search(r"^port = (\d+)$", (folder / "esign.toml").read_text(), re.MULTILINE)
    assert found
    port = int(found[1])
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, "serve", "--config", str(folder / "esign.toml")),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await until_answers(port, process)
        first = time.perf_counter() - began
        connector = aiohttp.TCPConnector(limit=40)
        async with aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {key}"}, connector=connector
        ) as client:
            yield BenchInstallation(folder, f"http://127.0.0.1:{port}", key, process.pid, client, first)
    finally:
        process.terminate()
        await process.wait()


async def until_answers(port: int, process: asyncio.subprocess.Process) -> None:
    """Return at the first 200 of /healthz from a server; raise RuntimeError if it ends before."""
    while process.returncode is None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = await reader.read(15)
            writer.close()
            if b"200" in answer:
                return
        except OSError:
            pass
        await asyncio.sleep(0.005)
    raise RuntimeError(f"the server ended with {process.returncode} before it answered")


def resident(pid: int) -> float:
    """MiB of memory of one process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def children(pid: int) -> list[int]:
    """The processes that one has started and that still run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def read_memory(*pids: int) -> float:
    """Return the memory of processes in MB, of what they share each its part (PSS)."""
    rolled = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids)
    kilobytes = [int(size) for one in rolled for size in re.findall(r"^Pss:\s+(\d+) kB", one, re.MULTILINE)]
    return sum(kilobytes) * 1024 / 1e6


def read_processor_time(*pids: int) -> float:
    """Return the seconds of a processor that processes have taken, without their children."""
    return sum(sum(read_times(pid)[:2]) for pid in pids)


def read_workers_time(pid: int) -> float:
    """Return the seconds of a processor that the workers of a server have taken, also those that have ended."""
    return sum(read_times(pid)[2:]) + read_processor_time(*children(pid))


def read_times(pid: int) -> list[float]:
    """Return the seconds of a processor that a process has taken as user and as system, and its ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return [int(value) / os.sysconf("SC_CLK_TCK") for value in fields[11:15]]


class ProcessorWatch:
    """Counts the time that a server and its workers take of a processor from here on."""

    def __init__(self, at: BenchInstallation) -> None:
        self.at = at
        self.server, self.workers = self.read()

    def read(self) -> tuple[float, float]:
        return read_processor_time(self.at.pid), read_workers_time(self.at.pid)

    def describe(self, number: int) -> str:
        """Return what each of so many requests took."""
        now = self.read()
        server, workers = (
            1000 * (b - a) / number for a, b in zip((self.server, self.workers), now, strict=True)
        )
        return f"{server:.1f} ms of a processor in the server and {workers:.1f} ms in its workers for each."


def document(pdf: bytes, name: str = "contract.pdf", recipients: int = 1) -> dict[str, Any]:
    """A create body with a signature field, a date and a text on the first page for each recipient."""
    return {
        "fileName": name,
        "file": base64.b64encode(pdf).decode(),
        "recipients": [
            {
                "email": f"signer{n}@example.com",
                "name": f"Signer {n}",
                "order": n + 1,
                "fields": [
                    {"type": "signature", "page": 1, "x": 10, "y": 80 + 8 * (n % 2)},
                    {"type": "date", "page": 1, "x": 40, "y": 80 + 8 * (n % 2)},
                    {"type": "text", "page": 1, "x": 60, "y": 80 + 8 * (n % 2), "value": "Copper Kettle"},
                ],
            }
            for n in range(recipients)
        ],
    }


def padded_pdf(size: int) -> bytes:
    """A one-page PDF with text and a picture that does not compress, of about `size` bytes."""
    import io

    import pikepdf

    pdf = pikepdf.Pdf.new()
    page = pdf.add_blank_page(page_size=(595, 842))
    noise = os.urandom(size - 1_500)
    width = 200
    picture = pikepdf.Stream(pdf, noise[: width * (len(noise) // width)])
    picture.update(
        {
            "/Type": pikepdf.Name.XObject,
            "/Subtype": pikepdf.Name.Image,
            "/Width": width,
            "/Height": len(noise) // width,
            "/ColorSpace": pikepdf.Name.DeviceGray,
            "/BitsPerComponent": 8,
        }
    )
    font = pikepdf.Dictionary(
        Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica
    )
    page.Resources = pikepdf.Dictionary(
        Font=pikepdf.Dictionary(F1=font), XObject=pikepdf.Dictionary(I=picture)
    )
    lines = "".join(
        f"BT /F1 10 Tf 60 {700 - 14 * n} Td (This line number {n} is part of it.) Tj ET\n" for n in range(30)
    )
    page.Contents = pikepdf.Stream(pdf, f"q 120 0 0 60 400 740 cm /I Do Q\n{lines}".encode())
    target = io.BytesIO()
    pdf.save(target)
    return target.getvalue()


def dumps(value: Any) -> bytes:
    return json.dumps(value).encode()
