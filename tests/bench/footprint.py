"""What an installation takes: memory idle and after load, and disk for the packages."""

import asyncio
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.bench.creating import FileSource
from tests.bench.finishing import install_mailing_program, prepare_acts, send_acts
from tests.bench.installation import children, install_program, read_memory, read_processor_time
from tests.bench.table import Figure

ROOT = Path(__file__).parents[2]
CREATED, SEALED = 200, 24


async def measure_idle_memory(most: float) -> Figure:
    """The server alone once it has nothing to do after its start, in MB (PSS)."""
    async with install_program() as at:
        await until_idle(at.pid)
        taken = read_memory(at.pid, *children(at.pid))
    return Figure(f"{taken:.0f} MB", taken <= most)


async def measure_loaded_memory(most: float) -> Figure:
    """The server and its workers after many documents were created, opened, signed and sealed, in MB (PSS)."""
    async with install_mailing_program() as at:
        await FileSource(at, 2).send(CREATED)
        await send_acts(at, await prepare_acts(at, SEALED))
        server, workers = read_memory(at.pid), [read_memory(pid) for pid in children(at.pid)]
    taken = server + sum(workers)
    each = " + ".join(f"{one:.0f}" for one in workers)
    return Figure(f"{taken:.0f} MB", taken <= most, f"The server {server:.0f} MB, its workers {each} MB.")


async def until_idle(pid: int) -> None:
    """Return when a process has taken no time of a processor for half a second."""
    before = -1.0
    while before != (now := read_processor_time(pid)):
        before = now
        await asyncio.sleep(0.5)


async def measure_packages(most: float) -> Figure:
    """The folder of packages after `pip install` of the locked versions and the project, without those of tests."""
    with tempfile.TemporaryDirectory(prefix="esign-bench-") as name:
        folder = Path(name)
        sizes = measure_disk(await asyncio.to_thread(install_packages, folder))
    taken = sum(sizes.values())
    largest = sorted(sizes.items(), key=lambda one: -one[1])[:8]
    note = f"The largest: {', '.join(f'{one} {size:.0f} MB' for one, size in largest)}."
    return Figure(f"{taken:.0f} MB", taken <= most, note)


def install_packages(folder: Path) -> Path:
    """Install what runs the program, without the packages of tests; return the folder of packages."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--ignore-installed",
    ]
    locked = ["--require-hashes", "--requirement", str(ROOT / "packaging" / "requirements.txt")]
    for arguments in (locked, ["--no-deps", str(ROOT)]):
        subprocess.run([*pip, "--prefix", str(folder), *arguments], check=True)
    return next(folder.glob("lib/python*/site-packages"))


def measure_disk(folder: Path) -> dict[str, float]:
    """Return the MB that each entry of a folder takes on the disk, with all that is in it."""
    sizes: defaultdict[str, float] = defaultdict(float)
    for file in folder.rglob("*"):
        sizes[file.relative_to(folder).parts[0]] += 512 * file.lstat().st_blocks / 1e6
    return sizes
