"""Starting: the first 200 of a server with data, and `esign --version` against a bare interpreter."""

import statistics
import subprocess
import sys
import time

from tests.bench import grown
from tests.bench.installation import make_installation, serve_program
from tests.bench.table import Figure

DOCUMENTS = 1_000
STARTS = 9
ROUNDS = 15


async def measure_start(most: float) -> Figure:
    """The middle of the seconds from `esign serve` to the first 200 of /healthz, and to the first list of documents.

    The server listens before it has loaded the API, so both are shown.
    """
    times, lists = [], []
    async with make_installation(data=await grown.database(DOCUMENTS)) as (folder, key):
        for _ in range(STARTS):
            async with serve_program(folder, key) as at:
                began = time.perf_counter()
                await at.call("GET", "/api/v1/documents?limit=1")
                times.append(at.first_answer)
                lists.append(at.first_answer + time.perf_counter() - began)
    middle = statistics.median(times)
    text = f"{middle:.2f} s, slowest {max(times):.2f} s; first list {statistics.median(lists):.2f} s"
    return Figure(text, middle <= most)


def time_start(*command: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


async def run() -> None:
    bare, version = [], []
    for _ in range(ROUNDS):
        bare.append(time_start(sys.executable, "-c", "pass"))
        version.append(time_start(sys.executable, "-m", "esign", "--version"))
    ratio = statistics.median(version) / statistics.median(bare)
    print(f"python -c pass    {1000 * statistics.median(bare):8.1f} ms")
    print(f"esign --version   {1000 * statistics.median(version):8.1f} ms   {ratio:.1f} x   (at most 8 x)")
